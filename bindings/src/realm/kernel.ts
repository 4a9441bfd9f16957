/** The members of the kernel that only parts need. Loaded with the first other part. */

import type { Core, Plan } from "../core-state";
import { engineStack } from "../errors";
import type { ContextData, Kernel } from "../kernel";
import type { Std } from "../std";
import type { MoreOfCalls } from "./calls";

export default function (core: Core): object {
  const started = Date.now() - core.clock();
  const stop = { toString: () => "the test was stopped by skip, fatal or require" };
  const { parse } = JSON;
  /** Long strings made by `+` are ropes, which cannot be passed to the worker; a slice is a flat copy. */
  const flat = Function.prototype.call.bind(String.prototype.slice) as (text: string, start: number) => string;
  let context: ContextData | undefined;
  const dictionary = () => ({ __proto__: null as never }) as Record<string, number>;
  const out = () => core.part<Kernel>("process");
  const own: Partial<Core> = {
    mocks: { process: [], agent: [], http: [], exec: [] },
    testName: () => core.current?.name ?? "",
    call: (name, args) => out().call(name, args),
    host: (name, args) => out().host(name, args),
    log: (level, text) => out().log(level, text),
    sleep: (milliseconds) => void core.bridge("sleep", `${+milliseconds || 0}`, ""),
    bridge(op, a, b) {
      const answer = core.$bridge(op, flat(a, 0), flat(b, 0));
      if (answer === null) for (;;); // time is up
      return answer;
    },
    here: () => engineStack(core, new core.std.Error()) + (core.calls?.running ? core.part<MoreOfCalls>("calls").callers() : ""),
    isStop: (error) => error === stop,
    isBroken: (error) => core.broken !== undefined && core.std.weakHas(core.broken, error as object),
    stop,
    stateOf: (t) =>
      (core.outcomeOf(t).state ??= { parent: undefined, depth: 0, cleanups: core.std.list(), pending: core.std.list(), open: core.std.list(), subtests: dictionary(), snapshots: dictionary() }),
    now: () => started + core.clock() + core.ahead,
    ahead: 0,
    subtests: 0,
  };
  const lazy = {
    std: () => core.part<Std>("std"),
    context: () => (context ??= contextOf(parse(core.contextText) as ContextData, core.plan)),
    Exception: () => core.part<{ Exception: unknown }>("process").Exception,
  };
  Object.assign(core, own);
  for (const [name, get] of Object.entries(lazy)) Object.defineProperty(core, name, { get });
  return own;
}

function contextOf(data: ContextData, plan: Plan | undefined): ContextData {
  if (plan) data.chat_id ||= "script-test-" + plan.name;
  if (plan?.run) data.metadata = { run: plan.run, ...data.metadata };
  return data;
}
