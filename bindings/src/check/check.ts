/** Evaluates an assertion that `certain` in `core.ts` could not decide, and records a failure. */

import type { Core, T } from "../core-state";
import type { Assertions, Checked } from "./assert";
import type { Recorder } from "./record";

export default function (core: Core) {
  const { std } = core;

  return (t: T, name: string, args: unknown[], required: boolean): boolean | Promise<unknown> => {
    let stack: string | undefined;
    const settle = ({ message, outcome, unjudged, kind }: Checked): boolean => {
      if (unjudged) core.outcomeOf(t).notJudged++;
      if (!outcome) return true;
      const { expected, actual } = outcome;
      const { fail, raw } = core.part<Recorder>("record");
      const more = {
        stack: stack ?? core.here(),
        type: name,
        ...outcome,
        expected: expected === undefined ? undefined : raw(expected),
        actual: actual === undefined ? undefined : raw(actual),
      };
      fail(t, kind ?? "assertion", message ?? outcome.reason, more, required);
      if (required) throw core.stop;
      return false;
    };
    const ofGo = args[0] === t && args.length > 1; // as testify has it, where `True(t, ok)` would always hold
    const checked: ReturnType<Assertions["check"]> = ofGo
      ? { outcome: { reason: name + " takes no t: leave it out, t.assert." + name + "(...) knows its test" } }
      : core.part<Assertions>("assert").check(name, args);
    if (!(checked instanceof std.Promise)) return settle(checked as Checked);
    stack = core.here();
    const done = std.then(checked, settle as never);
    const { pending } = core.stateOf(t);
    pending[pending.length] = done;
    return done;
  };
}
