/**
 * `ctx.memory`: four namespaces, which use the stores `memory:<space>:<id>`, as in Yao's documentation.
 *
 * | space | id | lasts |
 * | --- | --- | --- |
 * | user, team | `user_id` or `team_id` of `ctx.authorized` | for the test |
 * | chat | `ctx.chat_id` | for the test |
 * | context | `ctx.chat_id` | until `ctx.Release()` |
 *
 * A namespace is undefined while its id is empty. A missing key gives null. A time to live is in seconds. The list methods
 * are those of the documentation, which differ from those of `Store`: `Push(key, values)` takes a list; `Pull(key, count)`
 * and `PullAll(key)` return what they remove; `ArraySlice(key, start, end)` counts negative positions from the end, and a
 * negative `end` is included: `(-10, -1)` are the last ten elements.
 */

import type { Kernel } from "../kernel";

const spaces = ["user", "team", "chat", "context"] as const;
const direct = "Get Set Has Del GetDel Keys Len Clear Incr Decr AddToSet ArrayLen ArraySet ArrayPage ArrayAll".split(
  " ",
);

export default function (kernel: Kernel) {
  function namespace(space: string, id: string): Record<string, unknown> {
    const call = (method: string, ...args: unknown[]): unknown =>
      kernel.call(`stores.memory:${space}:${id}.${method}`, args) ?? null;
    const all = (key: unknown) => (call("ArrayAll", key) ?? []) as unknown[];
    const keep = (key: unknown, items: unknown[]) => (items.length ? call("Set", key, items) : call("Del", key));
    const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);
    const result: Record<string, unknown> = { id, space };
    for (const method of direct) result[method] = (...args: unknown[]) => call(method, ...args);
    return Object.assign(result, {
      Push: (key: unknown, values: unknown, ...more: unknown[]) => call("Push", key, ...list(values), ...more),
      Pop: (key: unknown) => call("Pop", key, 1),
      Pull(key: unknown, count: unknown = 1): unknown[] {
        const items = all(key);
        const taken = items.splice(Math.max(0, items.length - Math.max(0, Number(count) || 0)));
        keep(key, items);
        return taken;
      },
      PullAll(key: unknown): unknown[] {
        const items = all(key);
        call("Del", key);
        return items;
      },
      ArrayGet: (key: unknown, index: unknown) => all(key).at(Number(index)) ?? null,
      ArraySlice(key: unknown, start?: unknown, end?: unknown): unknown[] {
        const items = all(key);
        const stop = end === undefined || end === null ? items.length : Number(end);
        return items.slice(Number(start) || 0, stop < 0 ? items.length + stop + 1 : stop);
      },
    });
  }

  return {
    members(ctx: object): Record<string, unknown> {
      const fields = ctx as { chat_id?: unknown; authorized?: Record<string, unknown> | null };
      const idOf = {
        user: () => fields.authorized?.user_id,
        team: () => fields.authorized?.team_id,
        chat: () => fields.chat_id,
        context: () => fields.chat_id,
      };
      const memory = {};
      const made = new Map<string, unknown>();
      for (const space of spaces) {
        Object.defineProperty(memory, space, {
          enumerable: true,
          configurable: true,
          get() {
            const id = String(idOf[space]() ?? "");
            if (!id) return undefined;
            const key = space + ":" + id;
            if (!made.has(key)) made.set(key, namespace(space, id));
            return made.get(key);
          },
          set(value: unknown) {
            Object.defineProperty(memory, space, { value, writable: true, enumerable: true, configurable: true });
          },
        });
      }
      const release = (): void => void (memory as { context?: { Clear(): void } }).context?.Clear();
      return { memory, Release: release, __release: release };
    },
  };
}
