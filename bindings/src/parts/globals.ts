/** Installs the globals that a module names; each is made when it is first read, and assigning replaces it. */

import type { Core } from "../core";

export default function (core: Core) {
  const { globals } = core;
  // Reflect's answers false where Object's throws: a frozen global object keeps the accessor.
  const { defineProperty } = Reflect;

  function install(name: string, part: string): void {
    const set = (value: unknown) => {
      defineProperty(globals, name, { __proto__: null, value, writable: true, configurable: true } as PropertyDescriptor);
    };
    const get = () => {
      const supplied = core.part<Record<string, unknown>>(part);
      const value = ((supplied.globals as typeof supplied) ?? supplied)[name];
      set(value);
      return value;
    };
    defineProperty(globals, name, { get, set, configurable: true });
  }

  /** Takes `name:part` pairs. */
  return (pairs: string[]): void => {
    for (const pair of pairs) {
      const [name, part] = pair.split(":");
      install(name, part);
    }
  };
}
