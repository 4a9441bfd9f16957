/** `agent.Context`: plain mutable data in both spellings, and members that are made on first use. */

import type { ContextData, Kernel } from "./kernel";
import { std } from "./std";

const members = std.split(
  "memory trace mcp agent llm search computer workspace sandbox sent Send SendStream Append Replace Merge Set End " +
    "MessageID BlockID ThreadID EndBlock Release __release",
  " ",
);

/** Capital spelling → the field it is another name of. */
const aliases: Record<string, string> = {
  Locale: "locale",
  Metadata: "metadata",
  ChatID: "chat_id",
  AssistantID: "assistant_id",
};

type Context = Record<string, unknown>;

export function createContext(kernel: Kernel, data: ContextData): Context {
  const { user_name, team_name, ...fields } = data;
  const ctx = fields as unknown as Context;
  for (const alias in aliases) {
    const field = aliases[alias];
    accessor(ctx, alias, () => ctx[field], (value) => (ctx[field] = value));
  }
  identity(ctx, "User", "user_id", "sub", user_name);
  identity(ctx, "Team", "team_id", "tenant_id", team_name);
  const client = fields.client as unknown as Context;
  const capital = {};
  accessor(capital, "Type", () => client.type, (value) => (client.type = value));
  accessor(capital, "IP", () => client.ip, (value) => (client.ip = value));
  ctx.Client = capital;
  for (let i = 0; i < members.length; i++) {
    const name = members[i];
    const replace = (value: unknown) => {
      std.define(ctx, name, { value, writable: true, enumerable: true, configurable: true });
      return value;
    };
    accessor(ctx, name, () => replace(kernel.part<{ member(ctx: Context, name: string): unknown }>("context").member(ctx, name)), replace);
  }
  return ctx;
}

/** `ctx.User` and `ctx.Team`: `ID` is the field in `authorized`; setting the whole to null forgets the identity there too. */
function identity(ctx: Context, name: string, field: string, twin: string, label: string | undefined): void {
  const authorized = () => (ctx.authorized ?? {}) as Context;
  let whole: unknown = label === undefined ? {} : { Name: label };
  accessor(whole as object, "ID", () => authorized()[field], (value) => (authorized()[field] = value));
  accessor(ctx, name, () => whole, (value) => {
    whole = value;
    if (value === null || value === undefined) {
      delete authorized()[field];
      delete authorized()[twin];
    }
  });
}

function accessor(target: object, name: string, get: () => unknown, set: (value: unknown) => unknown): void {
  std.define(target, name, { get, set, enumerable: true, configurable: true });
}
