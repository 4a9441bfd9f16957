/** Formats relative times such as "2 days ago"; `core.ts` loads this when it is first used. */

export { default } from "@formatjs/intl-relativetimeformat";
