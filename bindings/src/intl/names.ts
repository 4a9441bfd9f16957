/** Formats names of languages, regions and currencies; `core.ts` loads this when it is first used. */

export { DisplayNames as default } from "@formatjs/intl-displaynames";
