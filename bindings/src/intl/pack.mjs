/**
 * Makes the pack with the code and data of `Intl`: `node pack.mjs <folder of the bundled code> <pack>`.
 *
 * The pack starts with a line `name length name length ...`. Its entries follow, one after the other: the bundled code, the
 * data of FormatJS for each locale (as changes to another locale if that is shorter), the transitions of each time zone,
 * the orders of letters, and licences. `bindings/build.py` runs this.
 */

import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { DateTimeFormat } from "@formatjs/intl-datetimeformat";

const [folder, output] = process.argv.slice(2);
const here = fileURLToPath(new URL(".", import.meta.url));
const modules = fileURLToPath(new URL("../../node_modules/@formatjs/", import.meta.url));
const { locales, dates: fromIcu } = JSON.parse(readFileSync(`${here}locales.json`, "utf-8"));
const sources = {
  numbers: "intl-numberformat",
  dates: "intl-datetimeformat",
  lists: "intl-listformat",
  relative: "intl-relativetimeformat",
  names: "intl-displaynames",
};

/** The data that a module of FormatJS passes to `__addLocaleData` of a class of `Intl`. */
function dataOf(source, tag) {
  let found;
  const Class = { __addLocaleData: (entry) => (found = entry.data) };
  const Intl = new Proxy({}, { get: () => Class, has: () => true });
  new Function("Intl", readFileSync(`${modules}${source}/locale-data/${tag}.js`, "utf-8"))(Intl);
  return found;
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

const parts = new Map();

/** Makes equal objects inside a value identical, so that `===` tells whether two differ. */
function shared(value) {
  if (typeof value !== "object" || value === null) return value;
  for (const name in value) value[name] = shared(value[name]);
  const text = JSON.stringify(value);
  if (!parts.has(text)) parts.set(text, value);
  return parts.get(text);
}

/** The JSON Merge Patch that turns one value into another; undefined if they are the same. */
function difference(from, to) {
  if (from === to) return undefined;
  if (!isObject(from) || !isObject(to)) return to;
  let changes;
  for (const name in to) {
    const change = name in from ? difference(from[name], to[name]) : to[name];
    if (change !== undefined) (changes ??= {})[name] = change;
  }
  for (const name in from) if (!(name in to)) (changes ??= {})[name] = null;
  return changes;
}

/** Regional locales that other locales have most in common with. */
const models = "en-001 en-150 en-GB es-419 es-MX pt-PT zh-Hans zh-Hant zh-Hant-HK".split(" ");
const rank = (tag) => (tag.includes("-") ? (models.indexOf(tag) + models.length + 1) % (models.length + 1) || 99 : 0);
const tags = [...new Set(Object.values(locales))].sort((a, b) => rank(a) - rank(b));

const pieces = new Map();

/** Adds an entry for each locale: its data, or its changes to another locale of the language if that is shorter. */
function add(piece, valueOf) {
  const bases = new Map();
  for (const tag of tags) {
    const value = shared(valueOf(tag));
    const choices = [...bases].filter(([base]) => base.split("-")[0] === tag.split("-")[0]);
    const texts = choices.map(([base, data]) => JSON.stringify({ base, changes: difference(data, value) ?? {} }));
    pieces.set(`${piece}.${tag}`, [JSON.stringify({ changes: value }), ...texts].sort((a, b) => a.length - b.length)[0]);
    if (rank(tag) < 99) bases.set(tag, value);
  }
}

for (const file of readdirSync(folder)) pieces.set(file.replace(/\.js$/, ""), readFileSync(`${folder}/${file}`, "utf-8"));
for (const [piece, source] of Object.entries(sources)) if (piece !== "dates") add(piece, (tag) => dataOf(source, tag));

/** Patterns that ICU makes itself. Without them FormatJS would show a minute or a second with the hour or the minute. */
const alone = { m: "m", s: "s" };

/** The data for dates of a locale, corrected by what ICU knows (`locales.json`). */
function datesOf(tag) {
  const data = dataOf(sources.dates, tag);
  const { at, am, pm, cycle } = fromIcu[tag in fromIcu ? tag : Object.keys(locales).find((name) => locales[name] === tag)];
  const quoted = at?.replace(/\p{L}[\p{L}\p{M}]*/gu, "'$&'");
  const dateTimeFormat = { ...data.dateTimeFormat, ...(quoted && { full: quoted, long: quoted }) };
  const formats = Object.fromEntries(Object.entries(data.formats).map(([calendar, known]) => [calendar, { ...alone, ...known }]));
  return { ...data, formats, dateTimeFormat, am, pm, hourCycle: cycle };
}
const dates = new Map(tags.map((tag) => [tag, datesOf(tag)]));
add("ranges", (tag) => dates.get(tag).intervalFormats);
add("dates", (tag) => {
  const { intervalFormats, ...rest } = dates.get(tag);
  return { ...rest, intervalFormats: { intervalFormatFallback: intervalFormats.intervalFormatFallback } };
});
globalThis.Intl.DateTimeFormat = DateTimeFormat;
await import("@formatjs/intl-datetimeformat/add-all-tz.js");
for (const [zone, entries] of Object.entries(DateTimeFormat.tzData)) {
  // FormatJS lists each change twice. Its first entry is null, which it reads as 1970; its last one is out of order.
  const changes = entries.slice(0, -1).filter(([, , offset, summer], i) => !i || offset !== entries[i - 1][2] || summer !== entries[i - 1][3]);
  pieces.set(`zone.${zone}`, JSON.stringify(changes.map(([time, , offset, summer], i) => [i ? time : -1e13, "", offset, summer])));
}
pieces.set("zone.UTC", '[[-1e13,"",0,false]]');
pieces.set("zones", [...new Set(["UTC", ...Object.keys(DateTimeFormat.tzData)])].join(" "));
const { made: _, ...orders } = JSON.parse(readFileSync(`${here}collation.json`, "utf-8"));
for (const [locale, order] of Object.entries(orders)) pieces.set(`order.${locale}`, JSON.stringify(order));
const license = (name) => `@formatjs/${name}\n\n${readFileSync(`${modules}${name}/LICENSE.md`, "utf-8")}`;
pieces.set("licenses", Object.values(sources).map(license).join("\n"));

const encoder = new TextEncoder();
const encoded = [...pieces].map(([name, text]) => [name, encoder.encode(text)]);
const index = encoder.encode(encoded.map(([name, bytes]) => `${name} ${bytes.length}`).join(" ") + "\n");
writeFileSync(output, Buffer.concat([index, ...encoded.map(([, bytes]) => bytes)]));
