import { order } from "./order";

/** `LessOrEqual(a, b)`: a <= b. */
export const lessOrEqual = order("Should be the limit or less", (a, b) => a <= b);
