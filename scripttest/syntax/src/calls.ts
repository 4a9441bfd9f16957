/** The calls in code, with their texts. A text that is built at run time has `*` where it is not known. */

import { type Node, allChildren, allNodes, child, children, isCall, isMember, programOf } from "./tree";

export interface Call {
  /** `Process`, `ctx.agent.Call`, `new Query`; of a property that is given a text its name and a colon, `process:` */
  callee: string;
  /** the first ones; null for what is not a text */
  arguments: (string | null)[];
  /** the callee among whose arguments it stands, the innermost */
  within: string;
  /** the offset of the name */
  start: number;
  /** of a property: the names of all properties of its object */
  beside: string[];
}

/** Arguments of a call that are read. */
const MOST = 4;
const UNKNOWN = "*";
/** What computes something else than a sum of texts. */
const COMPUTES = new Set(
  "ArrowFunctionExpression AssignmentExpression BinaryExpression ConditionalExpression LogicalExpression" .split(" "),
).union(new Set(["SequenceExpression", "SpreadElement", "UpdateExpression"]));

export function callsIn(code: string): Call[] {
  return new Reader(code).calls();
}

class Reader {
  readonly #code: string;
  readonly #program: Node;
  readonly #found: Call[] = [];
  /** Names that are declared once, and as a text, and `name.property` for the texts in an object → the text. */
  readonly #constants = new Map<string, string>();
  /** The names that the script has for `Process`, each declared once. */
  readonly #processes = new Set(["Process"]);
  /** The offsets of the names that declare these. */
  readonly #declared = new Set<number>();

  constructor(code: string) {
    this.#code = code;
    this.#program = programOf(code, ".js", true);
    this.#readAssignments();
  }

  calls(): Call[] {
    this.#visit(this.#program, "");
    return this.#found.sort((a, b) => a.start - b.start);
  }

  #readAssignments(): void {
    const assigned = [...assignments(this.#program)].map(([target, value]) => ({ target, name: dotted(target), value }));
    const count = new Map<string, number>();
    for (const { name } of assigned) count.set(name, (count.get(name) ?? 0) + 1);
    for (const { target, name, value } of assigned) {
      if (target.type === "ObjectPattern" && dotted(value) === "globalThis") this.#takeProcess(target);
      if (name === "" || count.get(name) !== 1) continue;
      const text = literalText(value);
      if (text !== null && !name.includes(".")) this.#constants.set(name, text);
      if (["Process", "globalThis.Process"].includes(dotted(value))) {
        this.#processes.add(name);
        this.#declared.add(target.start).add(lastName(value!)!.start);
      }
      if (value?.type !== "ObjectExpression") continue;
      for (const property of children(value, "properties")) {
        const path = `${name}.${keyOf(property)}`;
        const known = property.type === "ObjectProperty" ? literalText(child(property, "value")) : null;
        if (known && !count.has(path)) this.#constants.set(path, known);
      }
    }
  }

  /** Takes note of `Process` in the braces of `{ ... } = globalThis`. */
  #takeProcess(pattern: Node): void {
    for (const property of children(pattern, "properties")) {
      if (keyOf(property) !== "Process") continue;
      const value = child(property, "value")!;
      this.#declared.add(property.start).add(value.start);
      if (value.type === "Identifier") this.#processes.add(value.name as string);
    }
  }

  #visit(node: Node, within: string, parent: Node | null = null): void {
    if (isCall(node) && this.#code[node.end - 1] === ")") {
      this.#call(node, within);
      return;
    }
    if (node.type === "ObjectProperty" && parent?.type === "ObjectExpression") this.#property(node, parent, within);
    if (node.type === "Identifier" && this.#isPassed(node, parent)) {
      this.#add("Process", [null], within, node.start);
    }
    for (const inner of allChildren(node)) {
      if (node.shorthand && inner === child(node, "key")) continue; // its value is at the same place
      this.#visit(inner, within, node);
    }
  }

  #call(node: Node, within: string): void {
    const callee = child(node, "callee")!;
    const given = children(node, "arguments");
    const name = lastName(callee);
    const names = namesOf(callee);
    const written = name ? `${node.type === "NewExpression" ? "new " : ""}${names.join(".")}` : "";
    if (name) {
      const first = given[0] ? namesOf(given[0])[0] : undefined;
      const texts = given.slice(0, MOST).map((one) => this.#text(one));
      if (written === "Use" && first !== undefined) {
        this.#add(`new ${first}`, texts.slice(1), within, name.start);
      } else {
        this.#add(this.#processes.has(written) ? "Process" : written, texts, within, name.start);
      }
    }
    if (isMember(callee)) for (const inner of allChildren(callee)) this.#visitUnlessName(inner, name, within, callee);
    else if (name === null) this.#visit(callee, within, node);
    for (const one of given) this.#visit(one, written || within, node);
  }

  #visitUnlessName(node: Node, name: Node | null, within: string, parent: Node): void {
    if (node !== name) this.#visit(node, within, parent);
  }

  #property(node: Node, object: Node, within: string): void {
    const text = node.computed ? null : this.#text(child(node, "value")!);
    if (text === null) return;
    const beside = children(object, "properties").flatMap((one) => keyOf(one) ?? []);
    this.#add(`${keyOf(node)}:`, [text], within, node.start, beside);
  }

  #add(callee: string, given: (string | null)[], within: string, start: number, beside: string[] = []): void {
    this.#found.push({ callee, arguments: given, within, start, beside });
  }

  /** Whether a name of `Process` is used in another way than to call it, so that others may call it. */
  #isPassed(node: Node, parent: Node | null): boolean {
    const name = node.name as string;
    if (!this.#processes.has(name) || this.#declared.has(node.start) || parent === null) return false;
    if (parent.type === "UnaryExpression" && parent.operator === "typeof") return false;
    if (parent.type === "ObjectProperty" && child(parent, "key") === node && !parent.computed) return false;
    if (name === "Process") return true;
    const isTarget = child(parent, "id") === node || (parent.type.startsWith("Assignment") && child(parent, "left") === node);
    return !isTarget && !(isMember(parent) && child(parent, "property") === node && !parent.computed);
  }

  /** What an expression is as a text; null when no part of it is written out. The texts of a list stand with blanks
   * between them, as the words of a command do. */
  #text(node: Node): string | null {
    if (node.type === "ArrayExpression") {
      const found = children(node, "elements").slice(0, MOST).map((one) => (one && this.#text(one)) || UNKNOWN);
      return found.length > 0 && found[0] !== UNKNOWN ? found.join(" ") : null;
    }
    const parts: string[] = [];
    for (const operand of operands(node)) {
      const part = this.#operand(operand);
      if (part === null) return null;
      if (part !== UNKNOWN || parts.at(-1) !== UNKNOWN) parts.push(part);
    }
    return parts.some((part) => part !== UNKNOWN) ? parts.join("") : null;
  }

  /** The text of what is added; null where it is more than a part of a sum. */
  #operand(node: Node): string | null {
    const known = literalText(node);
    if (known !== null) return known;
    if (node.type === "TemplateLiteral") {
      const values = children(node, "expressions").map((one) => this.#constants.get(dotted(one)) ?? UNKNOWN);
      return children(node, "quasis").map((quasi, at) => cooked(quasi) + (values[at] ?? "")).join("");
    }
    if (node.type === "ParenthesizedExpression") return this.#text(child(node, "expression")!) ?? UNKNOWN;
    if (COMPUTES.has(node.type)) return null;
    if (node.type === "UnaryExpression" && /\W/.test(node.operator as string)) return null;
    return this.#constants.get(dotted(node)) ?? UNKNOWN;
  }
}

/** What is assigned in a program, and to what. */
function* assignments(program: Node): Generator<[Node, Node | null]> {
  for (const node of allNodes(program)) {
    if (node.type === "VariableDeclarator" && child(node, "init")) yield [child(node, "id")!, child(node, "init")];
    else if (node.type === "AssignmentPattern") yield [child(node, "left")!, child(node, "right")];
    else if (node.type === "AssignmentExpression" && node.operator === "=") {
      yield [child(node, "left")!, child(node, "right")];
    }
  }
}

function* operands(node: Node): Generator<Node> {
  if (node.type !== "BinaryExpression" || node.operator !== "+") yield node;
  else for (const field of ["left", "right"]) yield* operands(child(node, field)!);
}

/** `a.b.c`, if an expression is names with dots between them; else empty. */
function dotted(node: Node | null): string {
  if (node === null || !(node.type === "Identifier" || isMember(node))) return "";
  const names = namesOf(node);
  const depth = node.type === "Identifier" ? 1 : 1 + dotted(child(node, "object")).split(".").filter(Boolean).length;
  return names.length === depth && (depth > 1 || node.type === "Identifier") ? names.join(".") : "";
}

/** The names at the end of an expression that have only dots between them. */
function namesOf(node: Node): string[] {
  if (node.type === "Identifier") return [node.name as string];
  if (node.type === "ThisExpression") return ["this"];
  if (node.type === "Super") return ["super"];
  const last = isMember(node) ? lastName(node) : null;
  return last ? [...namesOf(child(node, "object")!), last.name as string] : [];
}

/** The name with which `a.b.c` ends, or that is the expression; null where there is none. */
function lastName(node: Node): Node | null {
  const name = isMember(node) && !node.computed ? child(node, "property")! : node;
  return name.type === "Identifier" ? name : null;
}

function keyOf(property: Node): string | null {
  const key = property.computed ? null : child(property, "key");
  return key ? String(key.name ?? key.value ?? "") : null;
}

function literalText(node: Node | null): string | null {
  if (node?.type === "StringLiteral") return node.value as string;
  const isPlain = node?.type === "TemplateLiteral" && children(node, "expressions").length === 0;
  return isPlain ? cooked(children(node!, "quasis")[0]) : null;
}

function cooked(quasi: Node): string {
  const { cooked, raw } = quasi.value as { cooked: string | null; raw: string };
  return cooked ?? raw;
}
