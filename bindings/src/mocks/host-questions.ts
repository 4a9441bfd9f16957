/**
 * Questions of the host to the realm of a script test, while the test waits for a call. The called agent or function may
 * need a mock or a store of the test.
 */

import type { Core } from "../core-state";
import type { Stores } from "../yao/store";

export default function (core: Core): Record<string, (...args: unknown[]) => unknown> {
  const stores = () => core.part<Stores>("store");
  return {
    /** The answer of the mock with this number to a call of `name`. */
    reply(number, name, ...args) {
      const { process, agent, http, exec } = core.mocks;
      const mock = [...process, ...agent, ...http, ...exec].find((mock) => mock.number === number);
      if (!mock) throw new core.Exception(`The mock that answers ${String(name)} was removed in the meantime`);
      return mock.reply.apply({ name }, args) ?? null;
    },
    /** The entries of a store: `[key, JSON text, expiry or null]`. */
    load: (id) => stores().load(id as string),
    /** Replaces a store by `after` if it still equals `before`. Returns whether it did. */
    save: (id, before, after) => stores().save(id as string, before as never, after as never),
  };
}
