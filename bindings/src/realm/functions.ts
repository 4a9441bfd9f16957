/**
 * What kind a function is. The compiler makes `async` functions and asynchronous generators of plain ones, so that the
 * bindings can run them; `constructor`, `Object.prototype.toString`, `Object.getPrototypeOf` and `instanceof` still say
 * what was written. Loaded when one of these is asked for.
 */

import type { Core } from "../core-state";

/** The beginning of what the compiler makes: a body that is a call of a helper. */
const made = /^(?:(?:\[[^\n]*\]\([^\n]*|[^{(]*\([^(){}]*)\)\s*\{\s*return |\([^(){}]*\) => )__async(Generator)?\(/;

export default function (core: Core): object {
  const plain = Function.prototype;
  const { apply, defineProperty, getPrototypeOf } = Reflect;
  const textOf = plain.toString;
  const [ofAsync, ofGenerator] = ["", "*"].map((star) => getPrototypeOf(core.evaluate(`(async function${star} () {})`) as object)!);

  /** The prototype of an asynchronous function or generator; nothing for all others. */
  function kindOf(value: unknown): object | undefined {
    if (typeof value !== "function" || getPrototypeOf(value) !== plain) return undefined;
    const found = made.exec(apply(textOf, value, []));
    return found ? (found[1] ? ofGenerator : ofAsync) : undefined;
  }

  const put = (target: object, name: PropertyKey, value: unknown): void => {
    defineProperty(target, name, { value, writable: true, configurable: true });
  };
  defineProperty(plain, "constructor", {
    get(this: unknown) {
      return kindOf(this)?.constructor ?? Function;
    },
    set(this: object, value: unknown) {
      put(this, "constructor", value);
    },
    configurable: true,
  });
  defineProperty(plain, Symbol.toStringTag, {
    get(this: unknown) {
      return (kindOf(this) as { [Symbol.toStringTag]?: string } | undefined)?.[Symbol.toStringTag];
    },
    configurable: true,
  });
  const { getPrototypeOf: prototypeOf } = {
    getPrototypeOf: (value: unknown): unknown => kindOf(value) ?? getPrototypeOf(value === null || value === undefined ? (value as never) : Object(value)),
  };
  put(core.globals.Object as object, "getPrototypeOf", prototypeOf); // that of scripts, not the copy of parts
  for (const kind of [ofAsync, ofGenerator]) {
    const is = kind.constructor[Symbol.hasInstance];
    put(kind.constructor, Symbol.hasInstance, function (this: unknown, value: unknown) {
      return apply(is, this, [value]) || (this === kind.constructor && kindOf(value) === kind);
    });
  }
  return {};
}
