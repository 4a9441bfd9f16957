/** What a failed call says, for results that carry errors. */

/**
 * The message of an Error. Anything else is thrown on: processes fail with Errors, so it is what ends a test early
 * (`t.fatal`, `t.skip`, `t.require`) on its way out.
 */
export function errorText(error: unknown): string {
  if (error instanceof Error) return error.message;
  throw error;
}
