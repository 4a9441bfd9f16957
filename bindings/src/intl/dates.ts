/** Formats dates and times; `core.ts` loads this when it is first used. */

export { DateTimeFormat as default } from "@formatjs/intl-datetimeformat";
