import { ofValue } from "./support";

/** `NotNil(value)`: the value is neither null nor undefined. */
export const notNil = ofValue("Should not be null or undefined", (value) => value !== null && value !== undefined);
