/** Formats lists; `core.ts` loads this when it is first used. */

export { default } from "@formatjs/intl-listformat";
