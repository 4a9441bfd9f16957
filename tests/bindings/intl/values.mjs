/** Writes `values.json`: expressions, and what ICU says. Run as `TZ=UTC LC_ALL=en_US.UTF-8 node values.mjs`. */

import { writeFileSync } from "node:fs";

const locales = "en de fr es pt ja zh ko ar ru hi en-GB en-IN en-AU en-CA de-AT de-CH fr-CA fr-CH es-MX es-AR pt-PT zh-TW zh-HK ar-EG ar-SA ar-AE en-us zh-CN".split(" ");
/** Those with an own way to write a range; the others are changes to one of them, as their other data. */
const ranges = "en de fr es pt ja zh ko ar ru hi en-GB en-CA pt-PT zh-TW".split(" ");
const date = "new Date(Date.UTC(2026, 10, 3, 15, 4, 5, 678))";
const expressions = [
  ...locales.flatMap((locale) => {
    const l = JSON.stringify(locale);
    return [
      `(1234567.891).toLocaleString(${l})`,
      `(-1234.5).toLocaleString(${l}, { style: "currency", currency: "EUR" })`,
      `(0.256).toLocaleString(${l}, { style: "percent", maximumFractionDigits: 1 })`,
      `new Intl.NumberFormat(${l}, { notation: "compact" }).format(1234567)`,
      `new Intl.NumberFormat(${l}, { style: "unit", unit: "kilometer-per-hour", unitDisplay: "long" }).format(50)`,
      `new Intl.NumberFormat(${l}, { style: "currency", currency: "USD", currencyDisplay: "name" }).format(2)`,
      `${date}.toLocaleString(${l})`,
      `${date}.toLocaleDateString(${l})`,
      `${date}.toLocaleTimeString(${l})`,
      `${date}.toLocaleString(${l}, { dateStyle: "full", timeStyle: "short", timeZone: "Europe/Berlin" })`,
      `${date}.toLocaleDateString(${l}, { dateStyle: "long" })`,
      `${date}.toLocaleDateString(${l}, { dateStyle: "medium" })`,
      `${date}.toLocaleDateString(${l}, { weekday: "short", month: "short", day: "numeric" })`,
      `${date}.toLocaleDateString(${l}, { year: "numeric", month: "long" })`,
      `${date}.toLocaleDateString(${l}, { year: "numeric", month: "2-digit", day: "2-digit" })`,
      `${date}.toLocaleTimeString(${l}, { hour: "2-digit", minute: "2-digit" })`,
      ...(ranges.includes(locale) ? [`new Intl.DateTimeFormat(${l}, { dateStyle: "medium" }).formatRange(Date.UTC(2026, 0, 3), Date.UTC(2026, 0, 9))`] : []),
      `new Intl.RelativeTimeFormat(${l}, { numeric: "auto" }).format(-1, "day")`,
      `new Intl.RelativeTimeFormat(${l}).format(3, "hours")`,
      `new Intl.ListFormat(${l}, { type: "conjunction" }).format(["A", "B", "C"])`,
      `new Intl.PluralRules(${l}).select(3)`,
      `new Intl.DisplayNames(${l}, { type: "region" }).of("US")`,
      `new Intl.DisplayNames(${l}, { type: "language" }).of("fr")`,
      `new Intl.NumberFormat(${l}).resolvedOptions().locale`,
    ];
  }),
  ..."America/New_York Asia/Shanghai Asia/Kolkata Asia/Calcutta Australia/Sydney America/Sao_Paulo Africa/Cairo Europe/London UTC GMT".split(" ").flatMap((zone) =>
    [Date.UTC(2026, 0, 15, 12), Date.UTC(2026, 6, 15, 12), Date.UTC(1960, 6, 15, 12), Date.UTC(2060, 6, 15, 12)].map(
      (time) => `new Date(${time}).toLocaleString("en-US", { timeZone: "${zone}" })`,
    ),
  ),
  ..."America/New_York Asia/Shanghai Europe/Berlin UTC".split(" ").flatMap((zone) =>
    ["short", "long", "shortOffset", "longOffset"].map((name) => `${date}.toLocaleTimeString("en-US", { timeZone: "${zone}", timeZoneName: "${name}" })`),
  ),
  ..."en de fr es zh ar".split(" ").map((l) => `${date}.toLocaleTimeString("${l}", { hour: "numeric", dayPeriod: "long" })`),
  `${date}.toLocaleTimeString("en", { hour: "numeric", dayPeriod: "short", hourCycle: "h23" })`,
  `${date}.toLocaleTimeString("de", { dayPeriod: "long" })`,
  `${date}.toLocaleTimeString("de", { hour: "numeric", dayPeriod: "long", hour12: true })`,
  `(123456789012345678901234567890n).toLocaleString("de")`,
  `[1234.5, null, new Date(0)].toLocaleString("de", { timeZone: "UTC" })`,
  `(NaN).toLocaleString("de")`,
  `(-0).toLocaleString("en")`,
  `(Infinity).toLocaleString("fr")`,
  `(1e21).toLocaleString("en")`,
  `new Date(NaN).toLocaleString("de")`,
  `(5).toLocaleString("xx")`,
  `(5).toLocaleString(["xx", "de"], { minimumFractionDigits: 2 })`,
  `(1234.5).toLocaleString("de-u-nu-arab")`,
  `(1234.5).toLocaleString(undefined, { minimumFractionDigits: 2 })`,
  `(0).toLocaleString("de", { style: "currency" })`,
  `(0).toLocaleString("de", { style: "currency", currency: "EURO" })`,
  `(0).toLocaleString("de", { minimumFractionDigits: 200 })`,
  `(0).toLocaleString("e")`,
  `(0).toLocaleString(null)`,
  `(0).toLocaleString("de", null)`,
  `(0).toLocaleString([5])`,
  `new Date(0).toLocaleDateString("de", { timeZone: "Mars/Base" })`,
  `new Date(0).toLocaleDateString("de", { timeStyle: "short" })`,
  `new Date(0).toLocaleTimeString("de", { hour12: true, timeZone: "UTC" })`,
  `new Date(0).toLocaleTimeString("en", { hour12: false, timeZone: "UTC" })`,
  `new Date(0).toLocaleTimeString("en", { hourCycle: "h23", timeZone: "UTC" })`,
  `new Date(0).toLocaleString("en", { weekday: "long", hour: "numeric", timeZone: "UTC" })`,
  `new Intl.DateTimeFormat("en").format(NaN)`,
  `new Intl.DateTimeFormat("en", { timeZone: "UTC" }).formatToParts(0).map((part) => part.type).join(" ")`,
  `new Intl.NumberFormat("de").formatToParts(-1234.5).map((part) => part.type + part.value).join(" ")`,
  `new Intl.NumberFormat("en", { style: "currency", currency: "USD" }).formatRange(3, 5)`,
  `[1, 2, 3, 4, 11, 21].map((n) => new Intl.PluralRules("en", { type: "ordinal" }).select(n)).join(" ")`,
  `[0, 1, 2, 3, 11, 100].map((n) => new Intl.PluralRules("ar").select(n)).join(" ")`,
  `Intl.getCanonicalLocales(["EN-us", "zh-hans-cn", "iw"]).join(" ")`,
  `Intl.NumberFormat.supportedLocalesOf(["sv", "xx", "de-AT"]).join(" ")`,
  `Intl.NumberFormat("de").format(1.5)`,
  `Intl.PluralRules("de")`,
  `[1234.5, 2].map(new Intl.NumberFormat("de").format).join(" ")`,
  `Object.prototype.toString.call(new Intl.NumberFormat("de"))`,
  `new Intl.NumberFormat("de") instanceof Intl.NumberFormat`,
  `new Intl.DisplayNames("de", { type: "currency" }).of("USD")`,
  `new Intl.DisplayNames("de", { type: "script" }).of("Cyrl")`,
  `new Intl.ListFormat("en", { type: "disjunction" }).format(["a", "b"])`,
  `new Intl.ListFormat("en").format([1])`,
  `new Intl.RelativeTimeFormat("en").format(1, "lightyear")`,
  `"I".toLocaleLowerCase("en")`,
  `"ß".toLocaleUpperCase("de")`,
  `new Intl.Locale("zh-Hans-CN").language`,
  `new Intl.Locale("zh-TW").maximize().toString()`,
  `new Intl.Locale("en", { region: "GB", hourCycle: "h23" }).toString()`,
  `new Intl.DateTimeFormat("de").resolvedOptions().locale`,
  `new Intl.DateTimeFormat("en-GB").resolvedOptions().calendar`,
  ...["en", "de", "fr", "es", "pt", "ru", "ar", "hi", "ja", "ko", "zh"].flatMap((locale) => {
    const lists = [
      ["b", "a", "C", "A", "B", "c", "ä", "Ä", "z", "ö", "é", "e", "É", "ñ", "n", "o", "ß", "ss", "st", "_x", "-", " ", "1", "10", "2", "a b", "ab", "a-b", "æ", "œ", "ø", "Å", "co-op", "coop"],
      ["я", "а", "Ё", "ё", "е", "ж", "Б", "б", "й", "и"],
      ["ب", "ا", "ت", "أ", "إ", "ي", "ى", "ة", "ه"],
      ["क", "अ", "ख", "आ", "की", "का", "क्ष", "ज्ञ", "हिन्दी"],
      ["あ", "ア", "い", "か", "が", "カ", "きゃ", "きや", "ん", "日", "本", "ー"],
      ["가", "나", "각", "힣", "하", "漢"],
      ["北京", "上海", "广州", "深圳", "重庆", "安", "张", "李", "王", "赵", "a", "阿"],
    ];
    return lists.map((list) => `${JSON.stringify(list)}.sort(new Intl.Collator("${locale}").compare).join(" ")`);
  }),
  `["file10", "file2", "File1", "file 1"].sort(new Intl.Collator("en", { numeric: true }).compare).join(" ")`,
  `["a10", "a9", "a010", "a1b2"].sort((a, b) => a.localeCompare(b, undefined, { numeric: true })).join(" ")`,
  ...["base", "accent", "case", "variant"].flatMap((sensitivity) =>
    [["a", "A"], ["a", "á"], ["a", "b"], ["résumé", "Resume"], ["ß", "ss"]].map(
      ([a, b]) => `"${a}".localeCompare("${b}", "en", { sensitivity: "${sensitivity}" })`,
    ),
  ),
  `"a".localeCompare("b")`,
  `"ä".localeCompare("z", "de")`,
  `"a".localeCompare("A", "en", { caseFirst: "upper" })`,
  `"a-b".localeCompare("ab", "en", { ignorePunctuation: true })`,
  `new Intl.Collator("de").resolvedOptions().sensitivity`,
];
const values = expressions.map((expression) => {
  try {
    return [expression, String((0, eval)(expression))];
  } catch (error) {
    return [expression, `throws ${error.name}`];
  }
});
const made = `node ${process.version}, ICU ${process.versions.icu}, CLDR ${process.versions.cldr}, tz ${process.versions.tz}`;
const lines = values.map((pair) => JSON.stringify(pair)).join(",\n");
writeFileSync(new URL("values.json", import.meta.url), `{"made": ${JSON.stringify(made)}, "values": [\n${lines}\n]}\n`);
