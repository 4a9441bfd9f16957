/** `t.any`, `t.matching`, `t.close` and `t.contains`: what equals every value of a kind; `check/equal.ts` asks them. */

import { kindOf } from "../assert/kind";
import { matches } from "../assert/match";
import { equal, explain, typeName } from "../assert/support";
import { names, typeProblem } from "../assert/type";
import type { Kernel, MakeMatcher, Matcher } from "../kernel";
import { isObject } from "../objects";

const depthLimit = 100;

/** Looks like the call that made it, where it is made a text or JSON. */
class Placeholder {
  declare toString: () => string;
  declare toJSON: () => string;
}

export default function (kernel: Kernel): MakeMatcher {
  const { std } = kernel;
  const shown = (value: unknown) => explain(kernel).inspect(value);
  const refuse = (text: string): never => {
    throw new std.TypeError(text);
  };

  function any(expected: unknown): Matcher["holds"] {
    if (typeof expected === "string" && !typeProblem(kernel, expected)) return (value) => typeName(kernel, value) === expected;
    if (typeof expected !== "function" || !isObject(expected.prototype)) {
      return refuse("t.any takes the name of a type (" + names + ") or a class, such as Date; got " + shown(expected));
    }
    const wrapped = expected === std.String ? "string" : expected === std.Number ? "number" : expected === std.Boolean ? "boolean" : expected === std.BigInt ? "bigint" : "";
    return (value) => typeof value === wrapped || (isObject(value) && value instanceof (expected as unknown as typeof Date));
  }

  function matching(pattern: unknown): Matcher["holds"] {
    const first = matches(kernel, "", pattern); // says at once what is wrong with a pattern
    if (typeof first === "object") refuse("t.matching: " + first.reason);
    return (value) => typeof value === "string" && matches(kernel, value, pattern) === true;
  }

  function close(expected: unknown, digits: unknown = 2): Matcher["holds"] {
    if (typeof expected !== "number") return refuse("t.close takes a number, got " + shown(expected));
    if (typeof digits !== "number" || digits < 0 || digits > 20 || std.floor(digits) !== digits) {
      return refuse("t.close takes a number of decimal places, 0 to 20, got " + shown(digits));
    }
    const most = 0.5 / 10 ** digits;
    return (value) => typeof value === "number" && (std.is(value, expected) || (value > expected ? value - expected : expected - value) < most);
  }

  function contains(expected: unknown): Matcher["holds"] {
    if (typeof expected === "string") return (value) => typeof value === "string" && std.indexOf(value, expected) >= 0;
    if (!isObject(expected) || (!std.isArray(expected) && kindOf(std, expected) !== "Object")) {
      return refuse("t.contains takes an object, a list or a string, got " + shown(expected));
    }
    return (value) => part(expected, value, 0);
  }

  /** Whether a value has at least what is expected: an object these properties, a list these items in any order. */
  function part(expected: unknown, value: unknown, depth: number): boolean {
    if (depth > depthLimit) throw new std.Error("t.contains: values are nested more than " + depthLimit + " deep");
    if (!isObject(expected) || !isObject(value) || std.weakGet(kernel.matchers!, expected)) return equal(kernel, value, expected);
    const kind = kindOf(std, expected);
    if (kind === "Array") {
      if (!std.isArray(value)) return false;
      for (let i = 0; i < (expected.length as number); i++) if (!some(value, expected[i], depth)) return false;
      return true;
    }
    if (kind !== "Object") return equal(kernel, value, expected);
    const keys = std.keys(expected);
    for (let i = 0; i < keys.length; i++) if (!part(expected[keys[i]], value[keys[i]], depth + 1)) return false;
    return true;
  }

  function some(list: unknown[], item: unknown, depth: number): boolean {
    for (let i = 0; i < list.length; i++) if (part(item, list[i], depth + 1)) return true;
    return false;
  }

  const makers: Record<string, (a: unknown, b: unknown) => Matcher["holds"]> = { __proto__: null as never, any, matching, close, contains };
  const params: Record<string, string[]> = { __proto__: null as never, any: ["type"], matching: ["pattern"], close: ["number", "digits?"], contains: ["part"] };

  return (name, args) => {
    if (!args.length || args.length > params[name].length) refuse("t." + name + " takes (" + std.join(params[name], ", ") + "), got " + args.length + " arguments");
    const holds = makers[name](args[0], args[1]);
    const made = new Placeholder();
    const text = () => shown(made);
    std.define(made, "toString", { __proto__: null, value: text } as PropertyDescriptor);
    std.define(made, "toJSON", { __proto__: null, value: text } as PropertyDescriptor);
    std.weakSet((kernel.matchers ??= new std.WeakMap()), made, { name, args, holds } satisfies Matcher);
    return made;
  };
}
