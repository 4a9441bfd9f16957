/** Makes sort keys. Texts whose keys are compared as strings are in the order of ICU (see `collation.mjs`). */

import type { Resolved } from "./locales";

export interface CollationOptions {
  usage?: string;
  sensitivity?: string;
  ignorePunctuation?: boolean;
  numeric?: boolean;
  caseFirst?: string;
}

interface Letter {
  /** Weight of the base letter. */
  primary: number;
  /** Weight of its accent. */
  accent: number;
  /** Weight of its case or form. */
  form: number;
}

interface Order {
  letters: Map<string, Letter>;
  expands: Record<string, string>;
  han: Map<string, number>;
}

const orders = new Map<string, Order>();
/** The lowest weight. Lower values separate the levels of a key. */
const first = 0x100;
const unknown = 0xf000;

function orderOf(locale: string, read: (name: string) => string): Order {
  let order = orders.get(locale);
  if (order) return order;
  const { letters, expands, han = "" } = JSON.parse(read(`order.${locale}`)) as { letters: string; expands: Record<string, string>; han?: string };
  order = { letters: new Map(), expands, han: new Map([...han].map((character, index) => [character, index])) };
  let [primary, accent, form] = [first, first, first];
  let mark = "";
  for (const character of letters) {
    if (character === "\u0001" || character === "\u0002") {
      mark = character;
      continue;
    }
    if (mark === "\u0001") form++;
    else [accent, form] = [mark ? accent + 1 : first, first];
    if (!mark) primary++;
    order.letters.set(character, { primary, accent, form });
    mark = "";
  }
  orders.set(locale, order);
  return order;
}

const unit = String.fromCharCode;
const isUpper = (character: string): boolean => character !== character.toLowerCase();

export class Collation {
  readonly options: object;
  readonly #order: Order;
  readonly #read: CollationOptions;

  constructor(resolved: Resolved, options: CollationOptions, read: (name: string) => string) {
    const [language] = resolved.data.split("-");
    this.#order = orderOf(resolved.data.startsWith("zh-Hant") ? "zh-Hant" : language, read);
    const numeric = options.numeric ?? /-kn(-true|-[a-z]{2}-|$)/.test(resolved.extension);
    const caseFirst = options.caseFirst ?? /-kf-(upper|lower)/.exec(resolved.extension)?.[1] ?? "false";
    const { usage = "sort", sensitivity = "variant", ignorePunctuation = false } = options;
    this.#read = { usage, sensitivity, ignorePunctuation, numeric, caseFirst };
    this.options = { locale: resolved.locale, usage, sensitivity, ignorePunctuation, collation: "default", numeric, caseFirst };
  }

  key(text: string): string {
    const { sensitivity, ignorePunctuation, numeric, caseFirst } = this.#read;
    let [primary, accents, forms, cases] = ["", "", "", ""];
    const add = ({ primary: weight, accent, form }: Letter, character: string, more = "", later = 0) => {
      primary += unit(weight) + more;
      accents += unit(accent);
      const upper = isUpper(character);
      forms += unit(form + later + (caseFirst === "upper" ? (upper ? 0 : 0x1000) : 0));
      cases += upper ? "b" : "a";
    };
    const one = (character: string, later = 0) => {
      const letter = this.#order.letters.get(character);
      const code = character.codePointAt(0)!;
      if (letter && character !== "一" && character !== "가") add(letter, character, "", later);
      else if (code >= 0xac00 && code <= 0xd7a3) add(this.#order.letters.get("가")!, character, unit(code - 0xac00 + first));
      else if (code >= 0x4e00 && code <= 0x9fff) {
        add(this.#order.letters.get("一")!, character, unit((this.#order.han.get(character) ?? code - 0x4e00) + first));
      } else add({ primary: unknown, accent: first, form: first }, character, character);
    };
    let normal = text.normalize("NFC");
    if (ignorePunctuation) normal = normal.replace(/[\p{P}\p{Z}]/gu, "");
    const pattern = numeric ? /[0-9]+|./gsu : /./gsu;
    for (const [found] of normal.matchAll(pattern)) {
      const digits = numeric && /^[0-9]/.test(found) ? found.replace(/^0+(?=.)/, "") : "";
      const longer = this.#order.expands[found];
      if (digits) add(this.#order.letters.get("1")!, "1", unit(digits.length + first) + digits);
      else if (longer) {
        for (const character of longer) one(character, 0x20);
        if (found.normalize("NFKD") === found) accents += unit(0x1000); // letters such as `ß`, which are not only a form of two others
      } else if (/^\p{M}/u.test(found) && !this.#order.letters.has(found)) accents += unit(0x2000 + (found.codePointAt(0)! & 0xfff));
      else if (!/^[\p{Cc}\p{Cf}]/u.test(found)) one(found);
    }
    if (sensitivity === "base") return primary;
    if (sensitivity === "accent") return `${primary}\u0001${accents}`;
    if (sensitivity === "case") return `${primary}\u0001${cases}`;
    return `${primary}\u0001${accents}\u0001${forms}`;
  }
}
