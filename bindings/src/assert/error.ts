import { ofValue } from "./support";

/** `Error(err)`: there is an error, which is an `Error` or any other value but null and undefined. */
export const error = ofValue("Should be an error", (value) => value !== null && value !== undefined);
