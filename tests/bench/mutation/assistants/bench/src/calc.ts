/** A parser: formulas with names, brackets and functions. */
type Token = { kind: "number" | "name" | "sign"; text: string };

export function tokens(text: string): Token[] {
  const found: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const rest = text.slice(at);
    const space = /^\s+/.exec(rest);
    const number = /^\d+(?:\.\d+)?/.exec(rest);
    const name = /^[a-z_]\w*/i.exec(rest);
    if (space) at += space[0].length;
    else if (number) at += found.push({ kind: "number", text: number[0] }) && number[0].length;
    else if (name) at += found.push({ kind: "name", text: name[0] }) && name[0].length;
    else if ("+-*/^(),".includes(rest[0])) at += found.push({ kind: "sign", text: rest[0] }) && 1;
    else throw new SyntaxError(`what is ${rest[0]} at ${at + 1}?`);
  }
  return found;
}

const FUNCTIONS: Record<string, (...values: number[]) => number> = {
  min: Math.min,
  max: Math.max,
  abs: Math.abs,
  avg: (...values) => values.reduce((sum, value) => sum + value, 0) / values.length,
};

export function calculate(text: string, names: Record<string, number> = {}): number {
  const list = tokens(text);
  let at = 0;
  const peek = () => list[at]?.text;
  const take = (wanted?: string): Token => {
    const token = list[at++];
    if (!token || (wanted !== undefined && token.text !== wanted)) throw new SyntaxError(`${wanted ?? "a value"} is missing`);
    return token;
  };

  function sum(): number {
    let value = product();
    while (peek() === "+" || peek() === "-") value = take().text === "+" ? value + product() : value - product();
    return value;
  }

  function product(): number {
    let value = power();
    while (peek() === "*" || peek() === "/") {
      const sign = take().text;
      const other = power();
      if (sign === "/" && other === 0) throw new RangeError("divided by 0");
      value = sign === "*" ? value * other : value / other;
    }
    return value;
  }

  function power(): number {
    const value = unary();
    return peek() === "^" ? (take(), value ** power()) : value;
  }

  function unary(): number {
    if (peek() === "-") {
      take();
      return -unary();
    }
    return atom();
  }

  function atom(): number {
    const token = take();
    if (token.kind === "number") return Number(token.text);
    if (token.text === "(") {
      const value = sum();
      take(")");
      return value;
    }
    if (token.kind !== "name") throw new SyntaxError(`${token.text} is no value`);
    if (peek() === "(") return call(token.text);
    const value = names[token.text];
    if (value === undefined) throw new ReferenceError(`${token.text} is not known`);
    return value;
  }

  function call(name: string): number {
    take("(");
    const values = [sum()];
    while (peek() === ",") {
      take();
      values.push(sum());
    }
    take(")");
    const known = FUNCTIONS[name.toLowerCase()];
    if (!known) throw new ReferenceError(`there is no function ${name}`);
    return known(...values);
  }

  const value = sum();
  if (at < list.length) throw new SyntaxError(`${peek()} is too much`);
  return value;
}
