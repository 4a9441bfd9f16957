/** Lists functions of a module: each is passed to `$bridge("found", name, source)`. */

import type { Core } from "../core";

export default function (core: Core) {
  // Code that is not guarded cannot have replaced these.
  const std = core.boot.guarded
    ? core.std
    : {
        ownKeys: Reflect.ownKeys,
        descriptor: Object.getOwnPropertyDescriptor,
        functionText: (value: unknown) => Function.prototype.toString.call(value),
      };

  const list = (name: string) => {
    const value = std.descriptor(core.globals, name)?.value as unknown;
    if (typeof value === "function") core.$bridge("found", name, std.functionText(value));
  };

  /** Those whose names begin as one of `kinds`, and `others`. */
  return (kinds: string[], others: string[]): void => {
    const names = std.ownKeys(core.globals);
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      // a name that begins so stands between the beginning and the beginning with the last of all letters behind it
      for (let at = 0; typeof name === "string" && at < kinds.length; at++) {
        if (name >= kinds[at] && name < kinds[at] + "\uffff" && name !== "TestMain") list(name);
      }
    }
    for (let i = 0; others[i]; i++) list(others[i]);
  };
}
