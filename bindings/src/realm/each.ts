/** `t.each`: one subtest for each row, named after a template as vitest's `test.for` has it. */

import type { Core, T } from "../core-state";
import type { Explain } from "../check/explain";
import { isObject } from "../objects";

type Run = (t: T, name: string, body: (t: T, ctx: unknown) => unknown, written: unknown, stack?: string) => boolean | Promise<boolean>;
type Body = (t: T, row: unknown, ctx: unknown) => unknown;

/** `%s`, or `$name` with members behind dots. */
const placeholder = /%([sdifjoO#$%])|\$(#|[A-Za-z_$][\w$]*(?:\.[\w$]+)*)/;

export default function (core: Core) {
  const { std } = core;
  const inspect = (value: unknown) => core.part<Explain>("explain").inspect(value, { depth: 2, items: 10, length: 200 });
  const plain = (value: unknown) => (typeof value === "string" ? value : inspect(value));

  function printed(verb: string, value: unknown): string {
    if (verb === "s") return isObject(value) || typeof value === "function" ? inspect(value) : std.String(value);
    if (verb === "j") return std.String(std.stringify(value));
    if (verb === "o" || verb === "O") return inspect(value);
    const number = typeof value === "bigint" ? value : typeof value === "symbol" ? NaN : std.Number(value);
    if (verb === "f" || typeof number === "bigint" || number - number !== 0) return std.String(number);
    return std.String(verb === "i" ? (number < 0 ? -std.floor(-number) : std.floor(number)) : number);
  }

  /** A member of a row, by names with dots between; undefined if there is none. */
  function member(row: unknown, path: string): { value: unknown } | undefined {
    const keys = std.split(path, ".");
    for (let i = 0; i < keys.length; i++) {
      if (!isObject(row) || !(keys[i] in row)) return undefined;
      row = row[keys[i]];
    }
    return { value: row };
  }

  /** The values of a list fill `%s` and the like one after the other; any other row fills the first, and all values are used once. */
  function named(template: string, row: unknown, index: number): string {
    const values = std.isArray(row) ? row : [row];
    let used = 0;
    let name = "";
    let rest = template;
    for (let found = std.exec(placeholder, rest); found; found = std.exec(placeholder, rest)) {
      const [all, verb, path] = [found[0], found[1], found[2]];
      const from = found.index;
      name += std.slice(rest, 0, from);
      rest = std.slice(rest, from + all.length);
      if (verb === "%") name += "%";
      else if (verb === "#" || path === "#") name += index;
      else if (verb === "$") name += index + 1;
      else if (verb) name += used < values.length ? printed(verb, values[used++]) : all;
      else {
        const value = member(row, path);
        name += value ? plain(value.value) : all;
      }
    }
    return name + rest;
  }

  return (t: T, run: Run, given: readonly unknown[]): boolean | Promise<boolean> => {
    const [rows, template, body] = [given[0], given[1], given[2]];
    const iterable = isObject(rows) && typeof rows[std.Symbol.iterator] === "function";
    if (!iterable || typeof template !== "string" || typeof body !== "function") throw new std.TypeError("t.each takes (rows, name, (t, row) => ...)");
    const list = std.list<unknown>();
    for (const row of rows as unknown as Iterable<unknown>) list[list.length] = row;
    if (!list.length) throw new std.Error("t.each has no rows, so it would check nothing");
    let passed = true;
    let stack: string | undefined;

    function next(from: number): boolean | Promise<boolean> {
      for (let i = from; i < list.length; i++) {
        const row = list[i];
        const ended = run(t, named(template as string, row, i), (subtest, ctx) => (body as Body)(subtest, row, ctx), body, stack);
        if (typeof ended === "boolean") passed &&= ended;
        else {
          stack ??= core.here();
          return std.then(ended, (held) => {
            passed &&= held as boolean;
            return next(i + 1);
          }) as Promise<boolean>;
        }
      }
      return passed;
    }

    const ended = next(0);
    if (typeof ended !== "boolean") {
      const { pending } = core.stateOf(t);
      pending[pending.length] = ended;
    }
    return ended;
  };
}
