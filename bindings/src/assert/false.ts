import { ofValue } from "./support";

/** `False(value)`: the value is falsy. */
export const isFalse = ofValue("Should be false", (value) => !value, false);
