import { order } from "./order";

/** `Less(a, b)`: a < b. */
export const less = order("Should be less than the limit", (a, b) => a < b);
