/** The messages of failed calls, for results that contain errors. */

/**
 * The message of an Error. Anything else is thrown again: processes throw Errors only, so it must be what `t.fatal`,
 * `t.skip` and `t.require` throw to end a test.
 */
export function errorText(error: unknown): string {
  if (error instanceof Error) return error.message;
  throw error;
}
