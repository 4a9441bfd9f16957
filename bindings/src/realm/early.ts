/**
 * What is read before its line is a ReferenceError, also where the compiler has made variables of `const`, `let` and
 * `class`: in modules that run when `import()` loads them. And whoever catches such an error reads in it what other
 * engines say.
 */

import type { Core, Early } from "../core-state";
import type { Awaits } from "./awaits";

const tooEarly = /^([\w$]+) is not initialized$/;

export default function (core: Core): Early {
  const { std } = core;
  const written = { __proto__: null } as unknown as Record<string, string>;

  const said = (name: string): string =>
    name === "this"
      ? "Must call super constructor in derived class before accessing 'this' or returning from derived constructor"
      : `Cannot access '${written[name] ?? (core.globals.__yaoWritten as typeof written | undefined)?.[name] ?? name}' before initialization`;

  /** Makes globals that can be read when something has been assigned to them. `names`: as in the code → as written. */
  function __yaoEarly(names: Record<string, string>): void {
    std.assign(written, names);
    const printed = std.ownKeys(names) as string[];
    for (let i = 0; i < printed.length; i++) {
      const name = printed[i];
      const get = (): never => {
        const error = new ReferenceError(said(name));
        core.part<Awaits>("awaits").note(error, name);
        throw error;
      };
      const set = (value: unknown): void => {
        std.define(core.globals, name, { __proto__: null, value, writable: true, enumerable: true, configurable: true } as PropertyDescriptor);
      };
      std.define(core.globals, name, { __proto__: null, get, set, enumerable: true, configurable: true } as PropertyDescriptor);
    }
  }

  function tell(error: Error): void {
    const found = std.exec(tooEarly, error.message);
    if (!found) return;
    core.part<Awaits>("awaits").note(error, found[1]);
    error.message = said(found[1]);
  }

  return { tell, globals: { __yaoEarly } };
}
