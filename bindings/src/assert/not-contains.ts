import { contains } from "./contains";
import { search } from "./support";

/** `NotContains(value, item)`: the value does not contain the item. */
export const notContains = search("item", "Should not contain the item", false, contains);
