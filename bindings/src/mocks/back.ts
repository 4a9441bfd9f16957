/** What the host asks the realm of a script test, while that waits for a call, on behalf of what was called. */

import type { Core } from "../core";
import type { Stores } from "../yao/store";

export default function (core: Core): Record<string, (...args: unknown[]) => unknown> {
  const stores = () => core.part<Stores>("store");
  return {
    /** What the mock of a number answers to the call of a name. */
    reply(number, name, ...args) {
      const { process, agent, http, exec } = core.mocks;
      const mock = [...process, ...agent, ...http, ...exec].find((mock) => mock.number === number);
      if (!mock) throw new core.Exception(`The mock that answers ${String(name)} was taken away meanwhile`);
      return mock.reply.apply({ name }, args) ?? null;
    },
    /** The entries of a store: `[key, JSON text, expiry or null]`. */
    load: (id) => stores().load(id as string),
    /** Whether a store was still as `before`; it is `after` then. */
    save: (id, before, after) => stores().save(id as string, before as never, after as never),
  };
}
