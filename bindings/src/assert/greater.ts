import { order } from "./order";

/** `Greater(a, b)`: a > b. */
export const greater = order("Should be greater than the limit", (a, b) => a > b);
