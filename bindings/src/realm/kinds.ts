/**
 * Lets the built-ins that tell which kind a function is load `functions.ts`, which puts others in their place. Loaded with a
 * realm whose script has asynchronous functions and names one of these built-ins.
 */

import type { Core } from "../core-state";

export default function (core: Core): object {
  const { prototype } = Function;
  const { defineProperty, get: read } = Reflect;
  const target = core.globals.Object as ObjectConstructor; // that of scripts, not the copy of parts
  const found: [target: object, name: PropertyKey, value: unknown][] = [
    [prototype, "constructor", Function],
    [prototype, Symbol.toStringTag, undefined],
    [target, "getPrototypeOf", target.getPrototypeOf],
  ];
  const put = (index: number, more: object) =>
    defineProperty(found[index][0], found[index][1], { __proto__: null, configurable: true, ...more } as PropertyDescriptor);
  for (let i = 0; found[i]; i++) {
    const [of, name] = found[i];
    const get = function (this: unknown): unknown {
      for (let at = 0; found[at]; at++) put(at, { value: found[at][2], writable: true });
      core.part("functions");
      return read(of, name, this);
    };
    put(i, { get, set: undefined });
  }
  return found;
}
