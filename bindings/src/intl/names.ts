/** What formats names of languages, regions and currencies; loaded by `core.ts` when it is first used. */

export { DisplayNames as default } from "@formatjs/intl-displaynames";
