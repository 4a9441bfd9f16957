import { ofValue } from "./support";

/** `False(value)`: the value counts as false in a condition. */
export const isFalse = ofValue("Should be false", (value) => !value, false);
