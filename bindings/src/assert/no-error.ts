import { ofValue } from "./support";

/** `NoError(err)`: there is no error, the value is null or undefined. A failure shows the error's message. */
export const noError = ofValue("Should not be an error", (value) => value === null || value === undefined);
