import { ofValue } from "./support";

/** `NoError(err)`: there is no error: the value is null or undefined. */
export const noError = ofValue("Should not be an error", (value) => value === null || value === undefined);
