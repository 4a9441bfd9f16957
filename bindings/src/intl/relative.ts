/** What formats spans of time; loaded by `core.ts` when it is first used. */

export { default } from "@formatjs/intl-relativetimeformat";
