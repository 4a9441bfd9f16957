/** Lists the functions that may be tests: each is passed to `$host("found", name, source)`. */

import type { Core } from "../core";

export default function (core: Core) {
  // Code that is not guarded cannot have replaced these.
  const std = core.boot.guarded
    ? core.std
    : {
        ownKeys: Reflect.ownKeys,
        descriptor: Object.getOwnPropertyDescriptor,
        functionText: (value: unknown) => Function.prototype.toString.call(value),
        indexOf: (text: string, part: string) => text.indexOf(part),
      };

  /** `renamed`: ` name name ` of functions that the compiler exports under another name. */
  return (renamed: string): void => {
    const names = std.ownKeys(core.globals);
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      if (typeof name !== "string" || name === "TestMain") continue;
      const isTest = name >= "Test" && name < "Tesu";
      if (!isTest && (!renamed || std.indexOf(renamed, " " + name + " ") < 0)) continue;
      const value = std.descriptor(core.globals, name)?.value as unknown;
      if (typeof value === "function") core.door("found", name, std.functionText(value));
    }
  };
}
