import { ofValue } from "./support";

/** `Nil(value)`: the value is null or undefined. */
export const nil = ofValue("Should be null or undefined", (value) => value === null || value === undefined);
