/**
 * What has to be there before the assistant can work: a user, a team, a policy, and people who sign.
 *
 * Settings are kept per team in the store `expense.settings`; what the assistant guessed about a user is in `ctx.memory.user`.
 */
import { DEFAULT_POLICY } from "./policy";
import type { Policy } from "./policy";

/** The settings of a team. */
export interface Settings {
  /** Id of the company in the books. */
  id: string;
  name: string;
  policy: Policy;
  /** Ids of the users who sign, by role. */
  approvers: Record<string, string[]>;
  /** Where approvers are told of new expenses; empty if nowhere. */
  webhook: string;
}

/** What `Setup` did: the settings in force, or why nothing was changed. */
export interface SetupResult {
  id?: string;
  settings?: Settings;
  /** Names of the settings that got their default. */
  defaults?: string[];
  error?: string;
}

const CURRENCY_OF_LOCALE: Record<string, string> = { "en-us": "USD", "en-gb": "GBP", "ja-jp": "JPY" };

/** Whether expenses can be filed. The log tells what is missing. */
export function SystemReady(ctx: agent.Context): boolean {
  const missing = MissingParts(ctx);
  // yao-test-ignore mutate: the log is for people
  if (missing.length) log.Warn("Expenses cannot be filed, missing: %s", missing.join(", "));
  return missing.length === 0;
}

/** What keeps expenses from being filed, in words; an empty list if nothing does. */
export function MissingParts(ctx: agent.Context): string[] {
  if (!ctx.User?.ID) return ["user"];
  if (!ctx.Team?.ID) return ["team"];
  const settings = LoadSettings(ctx);
  if (!settings) return ["settings"];
  return settings.policy.signatures
    .filter(({ role }) => !settings.approvers[role]?.length)
    .map(({ role }) => `approver for ${role}`);
}

/**
 * Brings the settings of the team up to date: what is given wins, what the team has stays, what is still missing gets
 * its default.
 */
export function Setup(ctx: agent.Context, changes?: Partial<Settings>): SetupResult {
  if (!ctx.User?.ID || !ctx.Team?.ID) return { error: "Setup needs a user and a team" };

  const defaults: Settings = {
    id: ctx.Team.ID,
    name: ctx.Team.Name ?? ctx.Team.ID,
    policy: DEFAULT_POLICY,
    approvers: {},
    webhook: "",
  };
  const given: Partial<Settings> = { ...LoadSettings(ctx), ...changes };
  const settings: Settings = { ...defaults, ...given };

  const roles = settings.policy.signatures.map(({ role }) => role);
  const unknown = Object.keys(settings.approvers).filter((role) => !roles.includes(role));
  if (unknown.length) return { error: `The policy has no role ${unknown.join(", ")}` };

  store().Set(`team:${ctx.Team.ID}`, settings);
  if (!ctx.memory.user.Has("currency")) {
    ctx.memory.user.Set("currency", CURRENCY_OF_LOCALE[ctx.Locale] ?? settings.policy.currency);
  }
  return { id: settings.id, settings, defaults: Object.keys(defaults).filter((key) => !(key in given)) };
}

/** The settings of the team, null before `Setup`. */
export function LoadSettings(ctx: agent.Context): Settings | null {
  return store().Get(`team:${ctx.Team?.ID}`) ?? null;
}

function store() {
  return new Store("expense.settings");
}
