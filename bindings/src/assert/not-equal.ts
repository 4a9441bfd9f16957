import type { Check } from "../kernel";
import { equal } from "./support";

/** `NotEqual(actual, expected)`: the two are not deeply equal. `check/equal.ts` says what that means. */
export const notEqual: Check = {
  params: ["actual", "expected"],
  test: (kernel, args) =>
    equal(kernel, args[0], args[1]) ? { reason: "Should not be equal", actual: args[0] } : undefined,
};
