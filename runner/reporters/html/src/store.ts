/** Reads the blocks of data: the index at once, results when they are needed. */

import type { Comparison } from "./changes";
import type { Variants } from "./variants";
import { readCauses, type Entry, type Index, type Json } from "./model";

/** How many blocks of results stay in memory. */
const KEPT = 40;

/** Returns the JSON text of the block with this name. */
export type Read = (id: string) => Promise<string>;

/** Reads a block that is in the page itself. */
export async function inPage(id: string): Promise<string> {
  const text = document.getElementById(id)?.textContent;
  if (text == null) throw new Error(`The file is incomplete: it lacks ${id}`);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at++) bytes[at] = letters.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

/** The diff of the values of a check, if it has one. */
export const diffs = new WeakMap<object, string>();

function withDiffs(entry: Entry): Entry {
  for (const [path, diff] of Object.entries(entry[1].diffs ?? {})) {
    diffs.set(path.split(".").reduce((part: any, key) => part[key], entry[0]), diff);
  }
  return entry;
}

/** Reads the differences from the baseline. */
export const readComparison = async (): Promise<Comparison> => JSON.parse(await inPage("comparison")) as Comparison;

/** Reads the comparison of variants; null if the run has none. */
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

  /** The same report with a new index. Rows at the positions `changed` are new, and there may be more rows at the end. Other
   * results that were read are kept. */
  grown(index: Index, changed: number[]): Store {
    const next = new Store(index, this.read, this.prefix);
    const stale = new Set(changed.map((at) => next.blockOf(at)));
    const maps: [Map<number, unknown>, Map<number, unknown>][] = [[this.blocks, next.blocks], [this.ready, next.ready], [this.words, next.words]];
    for (const [old, kept] of maps) for (const [number, value] of old) if (!stale.has(number)) kept.set(number, value);
    return next;
  }

  /** Reads the first blocks with failures, at most `limit`, while the browser is idle. */
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

  /** The result of a row; null if its block has not been read yet. */
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
      found = this.read(`${this.prefix}block-${number}`).then((text) => (JSON.parse(text) as Entry[]).map(withDiffs));
    } else {
      this.blocks.delete(number);
    }
    this.blocks.set(number, found);
    if (this.blocks.size > KEPT) this.blocks.delete(this.blocks.keys().next().value!);
    return found;
  }

  /** The text that is searched, in lower case, of each result of a block. */
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
