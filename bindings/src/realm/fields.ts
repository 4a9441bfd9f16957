/** The fields of `agent.Context` under both of their names, and its members that are made on first use. */

import type { Core } from "../core-state";

const members =
  "memory trace mcp agent llm search computer workspace sandbox sent Send SendStream Append Replace Merge Set End " +
  "MessageID BlockID ThreadID EndBlock Release __release";

/** Name with a capital letter → the field that it is an alias of. */
const aliases: Record<string, string> = {
  Locale: "locale",
  Metadata: "metadata",
  ChatID: "chat_id",
  AssistantID: "assistant_id",
};

type Context = Record<string, unknown>;

export default function (core: Core) {
  let blank = true;
  // saved at once, because scripts could replace them later
  const traps: Record<PropertyKey, unknown> = {};
  for (const name of Reflect.ownKeys(Reflect)) traps[name] = Reflect[name as keyof typeof Reflect];

  return {
    /** See `Fields` in `core.ts`. */
    listing(names: string[], make: (name: string) => unknown, trap: PropertyKey): unknown {
      for (let i = 0; i < names.length; i++) if (names[i]) make(names[i]);
      return traps[trap];
    },

    trap(target: Context, name: PropertyKey): unknown {
      if (blank) {
        blank = false;
        fill(target);
      }
      return traps[name];
    },
  };

  /** Defines all fields and members. */
  function fill(ctx: Context): void {
    const { user_name, team_name, sandbox, ...fields } = core.context;
    Object.assign(ctx, fields, { authorized: { ...fields.authorized } }); // `Authorized()` keeps what the host says
    for (const alias in aliases) {
      const field = aliases[alias];
      accessor(ctx, alias, () => ctx[field], (value) => (ctx[field] = value));
    }
    identity(ctx, "User", "user_id", "sub", user_name);
    identity(ctx, "Team", "team_id", "tenant_id", team_name);
    const client = {};
    const lower = () => (ctx.client ?? {}) as Context;
    accessor(client, "Type", () => lower().type, (value) => (lower().type = value));
    accessor(client, "IP", () => lower().ip, (value) => (lower().ip = value));
    ctx.Client = client;
    const names = members.split(" ");
    for (const name of names) {
      const replace = (value: unknown) => {
        Object.defineProperty(ctx, name, { value, writable: true, enumerable: true, configurable: true });
        return value;
      };
      const make = () => core.part<{ member(ctx: Context, name: string): unknown }>("context").member(ctx, name);
      accessor(ctx, name, () => replace(make()), replace);
    }
    // in JSON, and so as an argument of a process, a context has only its data
    const toJSON = () => Object.fromEntries(Object.keys(ctx).filter((name) => !names.includes(name)).map((name) => [name, ctx[name]]));
    Object.defineProperty(ctx, "toJSON", { value: toJSON, writable: true, configurable: true });
  }
}

/** `ctx.User` and `ctx.Team`. `ID` is a field of `authorized`. Setting the whole to null removes that field too. */
function identity(ctx: Context, name: string, field: string, twin: string, label: string | undefined): void {
  const authorized = () => (ctx.authorized ?? {}) as Context;
  let whole: unknown = label === undefined ? {} : { Name: label };
  accessor(whole as object, "ID", () => authorized()[field], (value) => (authorized()[field] = value));
  const assign = (value: unknown) => {
    whole = value;
    if (value === null || value === undefined) {
      delete authorized()[field];
      delete authorized()[twin];
    } else if (typeof value === "object" && "ID" in value) {
      authorized()[field] = value.ID;
      accessor(value, "ID", () => authorized()[field], (id) => (authorized()[field] = id));
    }
  };
  accessor(ctx, name, () => whole, assign);
}

function accessor(target: object, name: string, get: () => unknown, set: (value: unknown) => unknown): void {
  Object.defineProperty(target, name, { get, set, enumerable: true, configurable: true });
}
