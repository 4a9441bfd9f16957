import type { Check } from "../kernel";
import { differ, equal as isEqual } from "./support";

/** `Equal(actual, expected)`: the two are deeply equal. `check/equal.ts` says what that means. */
export const equal: Check = {
  params: ["actual", "expected"],
  test: (kernel, args) =>
    isEqual(kernel, args[0], args[1]) ? undefined : { ...differ("Not equal", args), diff: true, holds: (expected, actual) => isEqual(kernel, actual, expected) },
};
