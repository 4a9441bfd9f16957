/** What formats lists; loaded by `core.ts` when it is first used. */

export { default } from "@formatjs/intl-listformat";
