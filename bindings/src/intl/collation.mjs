/**
 * Writes `collation.json`, ICU's order of letters in each language. Run it by hand: `node collation.mjs`.
 *
 * `letters` has the letters in order. U+0001 before a letter says that it differs from the previous one only in case or
 * form; U+0002 says that it differs only in accents. `expands` has letters that are sorted as several letters. `han` is
 * the order of Chinese characters.
 */

import { writeFileSync } from "node:fs";

const ranges = "20-24f 250-2af 370-3ff 400-4ff 600-6ff 900-97f 1e00-1eff 2010-205e 20a0-20c0 2100-214f 2190-22ff 2460-24ff 2500-27bf 3000-30ff ff01-ff9f";
const characters = ranges.split(" ").flatMap((range) => {
  const [first, last] = range.split("-").map((text) => parseInt(text, 16));
  return Array.from({ length: last - first + 1 }, (_, index) => String.fromCodePoint(first + index));
});
const pairs = { æ: "ae", Æ: "AE", œ: "oe", Œ: "OE", ß: "ss", ẞ: "SS" };

function order(locale) {
  const [variant, accent, base] = ["variant", "accent", "base"].map((sensitivity) => new Intl.Collator(locale, { sensitivity }));
  const expands = {};
  const letters = [];
  for (const letter of [...characters, "가", "一"]) {
    if (letter.normalize("NFC") !== letter || /[\p{Cn}\p{Cc}\p{M}]/u.test(letter) || base.compare(`a${letter}b`, "ab") === 0) continue;
    const longer = pairs[letter] ?? letter.normalize("NFKD").replace(/\p{M}/gu, "");
    if (letter !== "가" && longer.length > 1 && base.compare(letter, longer) === 0) expands[letter] = longer;
    else letters.push(letter);
  }
  letters.sort((a, b) => variant.compare(a, b) || (a < b ? -1 : 1));
  const mark = (a, b) => (base.compare(a, b) ? "" : accent.compare(a, b) ? "\u0002" : "\u0001");
  return { letters: letters.map((letter, index) => (index ? mark(letters[index - 1], letter) : "") + letter).join(""), expands };
}

const han = Array.from({ length: 0x9fff - 0x4e00 + 1 }, (_, index) => String.fromCharCode(0x4e00 + index));
const result = {};
for (const locale of "en de fr es pt ja zh zh-Hant ko ar ru hi".split(" ")) {
  const ordered = /zh|ja/.test(locale) ? [...han].sort(new Intl.Collator(locale).compare).join("") : "";
  result[locale] = { ...order(locale), ...(ordered && { han: ordered }) };
}
const { node, icu } = process.versions;
writeFileSync(new URL("collation.json", import.meta.url), JSON.stringify({ made: `by collation.mjs with node ${node}, ICU ${icu}`, ...result }, null, 1) + "\n");
