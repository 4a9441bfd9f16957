import { ofCall } from "./attempt";

/** `NoPanic(fn)`: the function does not throw, and a promise that it returns does not reject. */
export const noPanic = ofCall(({ threw, value }) =>
  threw ? { reason: "Should not throw", actual: value } : undefined,
);
