import { ofValue } from "./support";

/** `True(value)`: the value is truthy. */
export const isTrue = ofValue("Should be true", (value) => !!value, true);
