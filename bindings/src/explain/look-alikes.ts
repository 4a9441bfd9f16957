/**
 * Characters that nobody can see or tell apart, written as escapes.
 *
 * Some are escaped wherever a text is printed. Others are fine in one text, such as the Cyrillic letters of a Russian
 * word, and are escaped when two texts are shown beside each other that differ by them.
 */

import type { Std } from "../std";

/** Never seen: controls, blanks that look like another, marks of direction and width, unassigned and private ones. */
const hidden =
  /[\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200b\u200e\u200f\u2028-\u202f\u205f-\u206f\u3164\ue000-\uf8ff\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]/u;
const beyondAscii = /[^\0-\x7f]/;
/** Left out when it is asked what a text looks like: joiners and the like. */
const ignorable = /^[\xad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\u{e0000}-\u{e0fff}]$/u;
const blank = /^[\s\u3164\u2800]$/;
const mark = /^\p{M}$/u;

/** Letters and signs of other scripts, each before the ASCII one that it looks like; those that Unicode itself calls compatible are not listed. */
const pairs =
  "аaеeоoрpсcуyхxіiјjѕsԁdһhԛqԝwӏlАAВBЕEКKМMНHОOРPСCТTХXУYІIЈJЅSԌGԚQԜWЗ3ЬbвBкkмmнHтT" +
  "αaοoρpνvκkιiτtυuγyΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧXϲcɑaɡgıiօoսuհhոnցgլlɩiʋuƽ5ɪiǀ|" +
  "‐-‑-‒-–-—-―-−-⁃-‘'’'‚'‛'′'ʼ'´'ˈ'“\"”\"„\"‟\"″\"×xꞏ·•·∙·⋅·∗*⁎*⁄/∕/∶:ː:։:ǃ!‹<›>∣|ⅼl";

export interface LookAlikes {
  /** A text in which what cannot be seen is written as escapes. */
  visible(text: string): string;
  /** Two texts that differ, with escapes for the characters that look like another of the other text. */
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

  /** Letters with the marks that belong to them. */
  function letters(text: string): string[] {
    const list = characters(text);
    const found = std.list<string>();
    for (let i = 0; i < list.length; i++) {
      if (found.length && std.exec(mark, list[i])) found[found.length - 1] += list[i];
      else found[found.length] = list[i];
    }
    return found;
  }

  /** What a letter looks like. */
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
    /** Look → the one letter that has it, or "" when several have. */
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
