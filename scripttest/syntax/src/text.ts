/** Texts that are put into a source, and the source map of the result. */

import { type Node, children } from "./tree";

const LINE_BREAK = /\r\n|[\r\n\u2028\u2029]/;
/** What gets a place of its own in the map: words, and signs. */
const TOKEN = /[\w$\u0080-\uffff]+|\S/g;
const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

interface Insertion {
  at: number;
  text: string;
  /** its place among those at the same offset */
  order: [number, number, number];
}

/** The texts for one source. */
export class Insertions {
  readonly #found: Insertion[] = [];

  /** Puts a text before something that ends at `end`. What ends later comes first. */
  open(at: number, end: number, text: string, rank: number): void {
    this.#found.push({ at, text, order: [1, -end, rank] });
  }

  /** Puts a text after something that begins at `start`. What begins later comes first. */
  close(start: number, at: number, text: string, rank: number): void {
    this.#found.push({ at, text, order: [0, -start, rank] });
  }

  /** Puts a text before something and another one after it. */
  wrap(start: number, end: number, before: string, after: string, rank: number): void {
    this.open(start, end, before, rank);
    this.close(start, end, after, 1);
  }

  /** Puts a text first in a block, behind its directives. */
  first(block: Node, text: string, rank: number): void {
    const directive = children(block, "directives").at(-1);
    this.open(directive?.end ?? block.start + 1, block.end, directive ? `;${text}` : text, rank);
  }

  /** Puts a text first in a body, which gets braces if it has none. */
  braces(body: Node, text: string): void {
    if (body.type !== "BlockStatement") this.wrap(body.start, body.end, `{${text}`, "}", 0);
    else if (text) this.open(body.start + 1, body.end, text, 0);
  }

  /** The source with all texts, and the mappings from it to the source. */
  into(source: string): { code: string; mappings: string } {
    const found = this.#found.sort((a, b) => a.at - b.at || compared(a.order, b.order));
    let code = "";
    let at = 0;
    for (const one of found) {
      code += source.slice(at, one.at) + one.text;
      at = one.at;
    }
    return { code: code + source.slice(at), mappings: mapped(source, found) };
  }
}

function compared(a: readonly number[], b: readonly number[]): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}

function mapped(source: string, insertions: readonly Insertion[]): string {
  let mappings = "";
  let segments = "";
  let start = 0;
  let next = 0;
  let [lastLine, lastColumn] = [0, 0];
  for (const [number, line] of source.split(LINE_BREAK).entries()) {
    let shift = 0;
    let before = 0;
    /** Takes in the texts before an offset; one with line breaks ends lines of the result. */
    const take = (end: number) => {
      for (; next < insertions.length && insertions[next].at <= end; next++) {
        const { at, text } = insertions[next];
        const lines = text.split(LINE_BREAK);
        if (lines.length === 1) shift += text.length;
        else {
          mappings += segments + ";".repeat(lines.length - 1);
          segments = "";
          before = 0;
          shift = lines.at(-1)!.length - (at - start);
        }
      }
    };
    for (const { index } of line.matchAll(TOKEN)) {
      take(start + index);
      segments += `${segments && ","}${vlq(index + shift - before)}A${vlq(number - lastLine)}${vlq(index - lastColumn)}`;
      [before, lastLine, lastColumn] = [index + shift, number, index];
    }
    start += line.length;
    const end = start + (source.startsWith("\r\n", start) ? 2 : 1);
    take(end - 1);
    mappings += `${segments};`;
    segments = "";
    start = end;
  }
  return mappings.slice(0, -1);
}

function vlq(number: number): string {
  let value = number < 0 ? (-number << 1) | 1 : number << 1;
  let text = "";
  for (; value > 31; value >>>= 5) text += DIGITS[(value & 31) | 32];
  return text + DIGITS[value];
}
