/** What formats dates and times; loaded by `core.ts` when it is first used. */

export { DateTimeFormat as default } from "@formatjs/intl-datetimeformat";
