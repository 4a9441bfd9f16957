/** Reads the blocks of the page: the index at once, results when they are needed. */

import type { Comparison } from "./changes";
import type { Variants } from "./variants";
import { readCauses, type Entry, type Index, type Json } from "./model";

/** Blocks whose results stay in memory. */
const KEPT = 40;

/** Gives the JSON text of a block by its name. */
export type Read = (id: string) => Promise<string>;

/** Reads a block of the page. */
export async function inPage(id: string): Promise<string> {
  const text = document.getElementById(id)?.textContent;
  if (text == null) throw new Error(`The file is not complete: it has no ${id}`);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at++) bytes[at] = letters.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

/** What is different from the baseline. */
export const readComparison = async (): Promise<Comparison> => JSON.parse(await inPage("comparison")) as Comparison;

/** What there is of variants; null when the run has none. */
export const readVariants = async (): Promise<Variants | null> =>
  document.getElementById("variants") === null ? null : (JSON.parse(await inPage("variants")) as Variants);

/** Whether the page has a report whose blocks begin with a prefix. */
export const isInPage = (prefix: string): boolean => document.getElementById(`${prefix}index`) !== null;

/** One report: its index, and its results by their position. */
export class Store {
  private readonly blocks = new Map<number, Promise<Entry[]>>();
  private readonly ready = new Map<number, Entry[]>();
  private readonly words = new Map<number, Promise<string[]>>();

  private constructor(
    readonly index: Index,
    private readonly read: Read,
    private readonly prefix: string,
  ) {}

  static async open(read: Read, prefix = ""): Promise<Store> {
    const index = JSON.parse(await read(`${prefix}index`)) as Index;
    readCauses(index);
    return new Store(index, read, prefix);
  }

  /** The same report with another index: rows of these positions are others, and more may have come after the last. Other
   * results that were read stay. */
  grown(index: Index, changed: number[]): Store {
    const next = new Store(index, this.read, this.prefix);
    const stale = new Set(changed.map((at) => next.blockOf(at)));
    const maps: [Map<number, unknown>, Map<number, unknown>][] = [[this.blocks, next.blocks], [this.ready, next.ready], [this.words, next.words]];
    for (const [old, kept] of maps) for (const [number, value] of old) if (!stale.has(number)) kept.set(number, value);
    return next;
  }

  /** Reads the blocks with the first failures, at most so many, while nothing else is to do. */
  async readFailures(limit: number): Promise<void> {
    const wanted = new Set<number>();
    for (let at = 0; at < this.index.rows.length && wanted.size < limit; at++) {
      if (this.index.rows[at].status === "failed") wanted.add(this.blockOf(at));
    }
    for (const number of wanted) {
      await new Promise((resume) => setTimeout(resume, 50));
      this.ready.set(number, await this.block(number));
    }
  }

  /** The result of a row, if its block was read ahead. */
  entryNow(position: number): Entry | null {
    const block = this.blockOf(position);
    return this.ready.get(block)?.[position - this.index.blocks[block]] ?? null;
  }

  /** The result of a row. */
  async entry(position: number): Promise<Entry> {
    const block = this.blockOf(position);
    return (await this.block(block))[position - this.index.blocks[block]];
  }

  /** All results of a block. */
  block(number: number): Promise<Entry[]> {
    let found = this.blocks.get(number);
    if (found === undefined) {
      found = this.read(`${this.prefix}block-${number}`).then((text) => JSON.parse(text) as Entry[]);
    } else {
      this.blocks.delete(number);
    }
    this.blocks.set(number, found);
    if (this.blocks.size > KEPT) this.blocks.delete(this.blocks.keys().next().value!);
    return found;
  }

  /** What a search looks through, in lower case, for each result of a block. */
  text(number: number): Promise<string[]> {
    let found = this.words.get(number);
    if (found === undefined) {
      found = this.block(number).then((entries) => entries.map(([result]) => textOf(result as unknown as Json)));
      this.words.set(number, found);
    }
    return found;
  }

  private blockOf(position: number): number {
    const starts = this.index.blocks;
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle] <= position) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** All values of a result, without the names of its fields. */
function textOf(value: Json): string {
  const parts: string[] = [];
  const open: Json[] = [value];
  while (open.length > 0) {
    const next = open.pop()!;
    if (typeof next === "string") parts.push(next);
    else if (typeof next === "number") parts.push(String(next));
    else if (next !== null && typeof next === "object") {
      const items = Array.isArray(next) ? next : Object.values(next);
      for (let at = items.length - 1; at >= 0; at--) open.push(items[at]);
    }
  }
  return parts.join("\n").toLowerCase();
}
