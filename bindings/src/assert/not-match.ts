import { matches } from "./match";
import { search } from "./support";

/** `NotMatch(value, pattern)`: the pattern does not match in the value. */
export const notMatch = search("pattern", "Should not match the pattern", false, matches);
