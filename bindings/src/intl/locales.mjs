/**
 * Writes `locales.json`: what ICU knows of our languages and FormatJS does not. Run it by hand: `node locales.mjs`. After
 * an update of FormatJS, use a Node.js that is as new.
 */

import { existsSync, writeFileSync } from "node:fs";

const ours = "en de fr es pt ja zh ko ar ru hi".split(" ");
const letters = [..."abcdefghijklmnopqrstuvwxyz"];
const pairs = letters.flatMap((a) => letters.map((b) => a + b));
const regions = ["", "001", "150", "419", ...pairs.map((pair) => pair.toUpperCase())];
const scripts = ["", "Latn", "Hans", "Hant", "Arab", "Deva", "Cyrl", "Dsrt", "Shaw", "Jpan", "Kore"];
const tags = ours
  .flatMap((language) => scripts.flatMap((script) => regions.map((region) => [language, script, region].filter(Boolean).join("-"))))
  .filter((tag) => new Intl.NumberFormat(tag).resolvedOptions().locale === tag);

/** The tag under which FormatJS has the data of a locale. */
function dataTag(tag) {
  const { language } = new Intl.Locale(tag);
  const { script, region } = new Intl.Locale(tag).maximize();
  const choices = [tag, `${language}-${script}-${region}`, `${language}-${script}`, language];
  return choices.find((choice) => existsSync(new URL(`../../node_modules/@formatjs/intl-numberformat/locale-data/${choice}.js`, import.meta.url)));
}

const date = Date.UTC(2026, 10, 23, 15, 47, 58);
const numeric = { year: "numeric", month: "numeric", day: "numeric" };
const time = { hour: "numeric", minute: "numeric", second: "numeric" };
/** ICU's pattern of a date (`{1}`) and a time (`{0}`); undefined if ICU changes one of them when it joins them. */
function glue(tag, both, days, hours) {
  const format = (options) => new Intl.DateTimeFormat(tag, { timeZone: "UTC", ...options }).format(date);
  const text = format(both).replace(format(days), "{1}").replace(format(hours), "{0}");
  return /^\{1\}\D*\{0\}\D*$/.test(text) ? text : undefined;
}

const locales = {};
const dates = {};
for (const tag of tags) {
  locales[tag] = dataTag(tag);
  const parts = (hour) => new Intl.DateTimeFormat(tag, { hour: "numeric", hour12: true, timeZone: "UTC" }).formatToParts(Date.UTC(2026, 0, 1, hour));
  const period = (hour) => parts(hour).find((part) => part.type === "dayPeriod")?.value;
  dates[tag] = {
    at: glue(tag, { dateStyle: "full", timeStyle: "short" }, { dateStyle: "full" }, { timeStyle: "short" }),
    numeric: glue(tag, { ...numeric, ...time }, numeric, time),
    am: period(3),
    pm: period(15),
    cycle: new Intl.DateTimeFormat(tag, { hour: "numeric" }).resolvedOptions().hourCycle,
  };
}
const languages = [...pairs, ...pairs.flatMap((pair) => letters.map((letter) => pair + letter))].filter(
  (tag) => Intl.getCanonicalLocales(tag)[0] === tag && Intl.NumberFormat.supportedLocalesOf(tag).length,
);
const { node, icu, cldr } = process.versions;
const content = { made: `by locales.mjs with node ${node}, ICU ${icu}, CLDR ${cldr}`, languages: languages.join(" "), locales, dates };
writeFileSync(new URL("locales.json", import.meta.url), JSON.stringify(content, null, 1) + "\n");
