import { ofValue } from "./support";

/** `Error(err)`: there is an error. Every value except null and undefined counts as one. */
export const error = ofValue("Should be an error", (value) => value !== null && value !== undefined);
