/**
 * Writes characters as escapes that are invisible or look like others.
 *
 * Invisible ones are escaped wherever a text is printed. Look-alikes, such as Cyrillic letters in a Russian word, are
 * escaped only if two texts are shown together and differ in them.
 */

import type { Std } from "../std";

/**
 * Invisible: control characters, unusual spaces, marks of direction and width, unassigned and private characters, and
 * halves of pairs.
 */
const hidden =
  /[\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200b\u200e\u200f\u2028-\u202f\u205f-\u206f\u3164\ud800-\uf8ff\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]/u;
const beyondAscii = /[^\0-\x7f]/;
/** Characters that do not change how a text looks, such as joiners. */
const ignorable = /^[\xad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\u{e0000}-\u{e0fff}]$/u;
const blank = /^[\s\u3164\u2800]$/;
const mark = /^\p{M}$/u;

/** Pairs of a character and the ASCII character that it looks like. Those that NFKC already maps are not listed. */
const pairs =
  "аaеeоoрpсcуyхxіiјjѕsԁdһhԛqԝwӏlАAВBЕEКKМMНHОOРPСCТTХXУYІIЈJЅSԌGԚQԜWЗ3ЬbвBкkмmнHтT" +
  "αaοoρpνvκkιiτtυuγyΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧXϲcɑaɡgıiօoսuհhոnցgլlɩiʋuƽ5ɪiǀ|" +
  "‐-‑-‒-–-—-―-−-⁃-‘'’'‚'‛'′'ʼ'´'ˈ'“\"”\"„\"‟\"″\"×xꞏ·•·∙·⋅·∗*⁎*⁄/∕/∶:ː:։:ǃ!‹<›>∣|ⅼl";

export interface LookAlikes {
  /** The text with its invisible characters as escapes. */
  visible(text: string): string;
  /** Two different texts, with escapes for characters that look like another character of the other text. */
  apart(a: string, b: string): [string, string];
}

export function lookAlikes(std: Std): LookAlikes {
  const signs = new std.Map<string, string>();
  const listed = characters(pairs);
  for (let i = 0; i < listed.length; i += 2) std.mapSet(signs, listed[i], listed[i + 1]);

  function characters(text: string): string[] {
    const list = std.list<string>();
    for (let i = 0; i < text.length; ) {
      const character = std.fromCodePoint(std.codePointAt(text, i)!);
      list[list.length] = character;
      i += character.length;
    }
    return list;
  }

  function escape(text: string): string {
    let out = "";
    for (let i = 0; i < text.length; i++) {
      const code = std.charCodeAt(text, i);
      out += code < 128 ? std.slice(text, i, i + 1) : "\\u" + std.slice("000" + std.numberText(code, 16), -4);
    }
    return out;
  }

  function visible(text: string): string {
    if (!std.exec(hidden, text)) return text;
    const list = characters(text);
    let out = "";
    for (let i = 0; i < list.length; i++) out += std.exec(hidden, list[i]) ? escape(list[i]) : list[i];
    return out;
  }

  /** The characters of a text, each with its combining marks. */
  function letters(text: string): string[] {
    const list = characters(text);
    const found = std.list<string>();
    for (let i = 0; i < list.length; i++) {
      if (found.length && std.exec(mark, list[i])) found[found.length - 1] += list[i];
      else found[found.length] = list[i];
    }
    return found;
  }

  /** A letter as ASCII where it looks like it, so that look-alikes give the same text. */
  function look(letter: string): string {
    const list = characters(std.normalize(letter, "NFKC"));
    let out = "";
    for (let i = 0; i < list.length; i++) {
      if (std.exec(blank, list[i])) out += " ";
      else if (!std.exec(ignorable, list[i])) out += (std.mapGet(signs, list[i]) as string | undefined) ?? list[i];
    }
    return out;
  }

  interface Counted {
    list: string[];
    counts: Map<string, number>;
    /** Result of `look` → the letter that has it, or "" if several letters have it. */
    looks: Map<string, string>;
  }

  function counted(text: string): Counted {
    const list = letters(text);
    const counts = new std.Map<string, number>();
    const looks = new std.Map<string, string>();
    for (let i = 0; i < list.length; i++) {
      const count = ((std.mapGet(counts, list[i]) as number | undefined) ?? 0) + 1;
      std.mapSet(counts, list[i], count);
      if (count > 1) continue;
      const of = look(list[i]);
      std.mapSet(looks, of, std.mapHas(looks, of) ? "" : list[i]);
    }
    return { list, counts, looks };
  }

  function told(own: Counted, other: Counted, all: boolean): string {
    let out = "";
    const { list } = own;
    for (let i = 0; i < list.length; i++) {
      const letter = list[i];
      out += std.exec(beyondAscii, letter) && confused(letter) ? escape(letter) : letter;
    }
    return out;

    function confused(letter: string): boolean {
      if (!all && std.mapGet(own.counts, letter) === std.mapGet(other.counts, letter)) return false;
      const of = look(letter);
      if (of === "" || of === " ") return true;
      const twin = std.mapGet(other.looks, of) as string | undefined;
      return twin !== undefined && twin !== letter;
    }
  }

  return {
    visible,
    apart(a, b) {
      if (!std.exec(beyondAscii, a) && !std.exec(beyondAscii, b)) return [a, b];
      const x = counted(a);
      const y = counted(b);
      const first: [string, string] = [told(x, y, false), told(y, x, false)];
      return first[0] === a && first[1] === b ? [told(x, y, alike(x, y)), told(y, x, alike(x, y))] : first;
    },
  };

  function alike(x: Counted, y: Counted): boolean {
    let left = "";
    let right = "";
    for (let i = 0; i < x.list.length; i++) left += look(x.list[i]);
    for (let i = 0; i < y.list.length; i++) right += look(y.list[i]);
    return left === right;
  }
}
