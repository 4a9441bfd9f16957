/** The members of `ctx` that are not data, in groups. Each group is a part that is loaded on first use. */

import type { Kernel } from "../kernel";

type Members = (ctx: object) => Record<string, unknown>;

/** Part → the members that it makes. */
const groups: Record<string, string> = {
  memory: "memory Release __release",
  messages: "sent Send SendStream Append Replace Merge Set End MessageID BlockID ThreadID EndBlock",
  trace: "trace",
  services: "mcp agent llm search",
  sandbox: "computer workspace",
};

export default function (kernel: Kernel) {
  const made = new WeakMap<object, Record<string, Record<string, unknown>>>();
  const groupOf: Record<string, string> = { __proto__: null as never };
  for (const part in groups) for (const name of groups[part].split(" ")) groupOf[name] = part;
  return {
    names: Object.keys(groupOf) as readonly string[],

    /** A member of a context; undefined for an unknown name, and for `computer` and `workspace` without a sandbox. */
    member(ctx: object, name: string): unknown {
      const part = groupOf[name];
      if (!part) return undefined;
      let groupsOfContext = made.get(ctx);
      if (!groupsOfContext) made.set(ctx, (groupsOfContext = {}));
      const members = (groupsOfContext[part] ??= kernel.part<{ members: Members }>(part).members(ctx));
      return members[name];
    },
  };
}
