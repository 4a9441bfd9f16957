/** Lists functions of a module. Calls `$bridge("found", name, source)` for each. */

import type { Core } from "../core-state";
import { declaredFunction } from "../lexical";

export default function (core: Core) {
  // Scripts that are not guarded cannot have replaced these.
  const std = core.boot.guarded
    ? core.std
    : {
        ownKeys: Reflect.ownKeys,
        descriptor: Object.getOwnPropertyDescriptor,
        functionText: core.functionText ?? ((value: unknown) => Function.prototype.toString.call(value)),
      };

  const list = (name: string) => {
    const own = std.descriptor(core.globals, name);
    const value = own ? (own.value as unknown) : declaredFunction(core, name);
    if (typeof value === "function") core.$bridge("found", name, std.functionText(value));
  };

  /** Lists the functions whose names begin with one of `kinds`, and those named in `others`. */
  return (kinds: string[], others: string[]): void => {
    const names = std.ownKeys(core.globals);
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      // compares strings, because scripts could have replaced `startsWith`
      for (let at = 0; typeof name === "string" && at < kinds.length; at++) {
        if (name >= kinds[at] && name < kinds[at] + "\uffff" && name !== "TestMain") list(name);
      }
    }
    for (let i = 0; others[i]; i++) list(others[i]);
  };
}
