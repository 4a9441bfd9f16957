import { ofCall } from "./attempt";

/** `Panic(fn)`: the function throws, or the promise that it returns rejects. */
export const panic = ofCall(({ threw, value }) =>
  threw ? undefined : { reason: "Should throw", actual: value, bare: value === undefined },
);
