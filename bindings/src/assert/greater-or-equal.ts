import { order } from "./order";

/** `GreaterOrEqual(a, b)`: a >= b. */
export const greaterOrEqual = order("Should be the limit or greater", (a, b) => a >= b);
