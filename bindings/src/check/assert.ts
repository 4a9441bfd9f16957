/**
 * Runs the assertions of `t.assert` and `t.require`: checks the number of arguments, evaluates the assertion, and
 * explains a mismatch. An assertion that cannot be evaluated fails.
 */

import { AWAIT_IT, explain, isThenable } from "../assert/support";
import type { Check, Explained, Kernel, Mismatch } from "../kernel";

/** The result of one assertion. `outcome` is undefined if it passed. */
export interface Checked {
  /** The message that the script passed, if the assertion failed. */
  message?: string;
  outcome: Explained | undefined;
  /** true if no judge could judge. */
  unjudged?: boolean;
  /** Set if the failure says nothing about the checked value: something the assertion needs broke, or judges disagree. */
  kind?: "infrastructure" | "inconclusive";
}

export interface Assertions {
  /** Runs one assertion. Returns a promise only if the assertion is asynchronous. */
  check(name: string, args: readonly unknown[]): Checked | Promise<Checked>;
}

/** Whether a message says nothing, so that the standard text is used. */
const saysNothing = (message: unknown): boolean =>
  message === undefined || message === null || message === "" || typeof message === "function";

export default function (kernel: Kernel): Assertions {
  const { std } = kernel;

  function check(name: string, args: readonly unknown[]): Checked | Promise<Checked> {
    const { params, test } = kernel.part<Check>("check." + name);
    const count = args.length;
    const most = params.length;
    const fail = (outcome: Explained): Checked => {
      const given = count > most ? args[most] : undefined;
      const message = saysNothing(given) ? undefined : typeof given === "string" ? given : explain(kernel).inspect(given);
      const { form, ...told } = outcome;
      return { message: message && form ? message + "; " + form : message, outcome: told };
    };
    const finish = (mismatch: Mismatch | undefined): Checked => {
      if (!mismatch) return { outcome: undefined };
      const checked: Checked =
        mismatch.unjudged === "holds" ? { outcome: undefined } : fail(explain(kernel).mismatch(mismatch));
      if (mismatch.unjudged) checked.unjudged = true;
      if (mismatch.broke) checked.kind = "infrastructure";
      if (mismatch.inconclusive) checked.kind = "inconclusive";
      return checked;
    };
    const broken = (error: unknown): Checked =>
      fail({ reason: name + " could not be evaluated: " + explain(kernel).thrown(error) });

    let least = 0;
    while (least < most && std.slice(params[least], -1) !== "?") least++;
    if (count < least || (count > most + 1 && typeof args[most] !== "string")) return fail({ reason: explain(kernel).miscounted(name, params, count) });
    for (let i = 0; i < most; i++) {
      if (params[i] === "fn" || !isThenable(args[i])) continue;
      const reason = "The argument " + std.split(params[i], "?")[0] + " " + AWAIT_IT;
      const { message, outcome } = fail({ reason });
      return { message: message && message + ": " + reason, outcome };
    }
    try {
      const result = test(kernel, args);
      return result instanceof std.Promise ? (std.then(result, finish as never) as Promise<Checked>) : finish(result);
    } catch (error) {
      if (kernel.isStop(error)) throw error;
      return broken(error);
    }
  }

  return { check };
}
