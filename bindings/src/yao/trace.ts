/**
 * `ctx.trace` and `new Trace(options)`. They write nothing, as in Yao without a trace driver, which is the default there.
 *
 * For tests, a trace records its calls: `records` has `{node, method, args}` of each (`node` is null for the trace itself),
 * and `nodes` has the nodes, `{id, input, option}` with the methods of a node.
 */

import { copy } from "../copy";
import type { Kernel } from "../kernel";

const chained = ["Info", "Debug", "Warn", "Error", "SetOutput", "SetMetadata", "Complete", "Fail"];

export default function (kernel: Kernel) {
  function create(target: Record<string, unknown>, id: string): Record<string, unknown> {
    const records: { node: string | null; method: string; args: unknown[] }[] = [];
    const nodes: object[] = [];

    /** Adds the methods of a trace or a node to an object. */
    function equip(object: Record<string, unknown>, node: string | null): Record<string, unknown> {
      const method = (name: string, run: (...args: unknown[]) => unknown) =>
        Object.defineProperty(object, name, {
          value: (...args: unknown[]) => {
            records.push({ node, method: name, args: copy(args) });
            return run(...args);
          },
          writable: true,
          configurable: true,
        });
      const add = (input: unknown, option: unknown) => {
        const child = { id: "N" + (nodes.length + 1), input: copy(input), option: copy(option) };
        nodes.push(child);
        return equip(child, child.id);
      };
      for (const name of chained) method(name, () => object);
      method("Add", add);
      // a list of nodes that also has the methods of a node, because Yao's documentation and its code differ here
      method("Parallel", (list) => {
        const items = Array.isArray(list) ? (list as { input?: unknown; option?: unknown }[]) : [];
        return equip(items.map((item) => add(item?.input, item?.option)) as never, node);
      });
      return object;
    }

    equip(Object.assign(target, { id, records, nodes }), null);
    const space = (name: unknown) => ({
      id: String(name ?? ""),
      Set: () => null,
      Get: () => null,
      Has: () => false,
      Del: () => null,
      Delete: () => null,
      Keys: () => [],
      Len: () => 0,
      Clear: () => null,
    });
    return Object.assign(target, {
      MarkComplete: () => undefined,
      IsComplete: () => false,
      CreateSpace: (option?: { label?: unknown }) => space(option?.label),
      GetSpace: (name: unknown) => space(name),
      Release: () => undefined,
      __release: () => undefined,
    });
  }

  return {
    members: () => ({ trace: create({}, "trace-" + kernel.context.chat_id) }),
    Trace: class {
      constructor(options?: { id?: unknown }) {
        create(this as never, String(options?.id ?? "trace"));
      }
    },
  };
}
