import type { Check, Kernel, Mismatch } from "../kernel";
import { isGenerator, refuse } from "./support";

/** The result of a call: the value that it threw or returned. */
export interface Attempt {
  threw: boolean;
  value: unknown;
}

function isThenable(value: unknown): boolean {
  return (
    ((typeof value === "object" && value !== null) || typeof value === "function") &&
    typeof (value as { then?: unknown }).then === "function"
  );
}

/**
 * An assertion about a function: calls it without arguments, awaits the result if it has a `then`, and asks `judge`
 * whether that is what was expected.
 */
export function ofCall(judge: (attempt: Attempt) => Mismatch | undefined): Check {
  const thrown = (kernel: Kernel, value: unknown) => {
    if (kernel.isStop(value)) throw value;
    return judge({ threw: true, value });
  };
  const done = (value: unknown) => judge({ threw: false, value });
  return {
    params: ["fn"],
    test(kernel: Kernel, args) {
      const { std } = kernel;
      const target = args[0];
      if (typeof target !== "function") return refuse(kernel, "Only functions can be called", target);
      let value: unknown;
      let waits: boolean;
      try {
        value = std.apply(target, undefined, []);
        waits = isThenable(value);
      } catch (error) {
        return thrown(kernel, error);
      }
      if (!waits && isGenerator(std, value)) return { reason: "The function returned a generator, so its body did not run", bare: true };
      if (!waits) return done(value);
      const rejected = (error: unknown) => thrown(kernel, error);
      return std.then(new std.Promise((resolve) => resolve(value)), done, rejected) as Promise<Mismatch | undefined>;
    },
  };
}
