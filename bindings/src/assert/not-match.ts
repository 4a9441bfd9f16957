import { matches } from "./match";
import { search } from "./support";

/** `NotMatch(value, pattern)`: the pattern is not found in the value, as `matches` decides. */
export const notMatch = search("pattern", "Should not match the pattern", false, matches);
