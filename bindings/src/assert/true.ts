import { ofValue } from "./support";

/** `True(value)`: the value counts as true in a condition. */
export const isTrue = ofValue("Should be true", (value) => !!value, true);
