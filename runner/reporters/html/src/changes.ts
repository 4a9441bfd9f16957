/** The differences from the baseline, as `html/compared.py` writes them. */

/** Whether a change is good or bad, which decides its colour. */
export type Tone = "bad" | "warning" | "good" | "neutral" | "quiet";

export interface Kind {
  key: string;
  title: string;
  tone: Tone;
  count: number;
}

export interface Change {
  /** Key of each kind of change, and the change in a few words. */
  kinds: [string, string][];
  /** Shown in the list of results. */
  badges: [string, Tone][];
  /** What the result depends on and has changed: `the model of local changed`. */
  made_of?: string;
}

/** A figure with its interval: `[low, value, high]`, from 0 to 1. */
export type Whisker = [number, number, number];

/** One report against the baseline. */
export interface Verdict {
  name: string;
  /** `regressed`, `improved`, `unchanged` or `cannot tell`. */
  word: string;
  /** The verdict in words, then advice. */
  said: string[];
  /** Cells: measure, A, B, difference, verdict. `a`, `b` and `difference` are their intervals, if known. */
  rows: { cells: string[]; a?: Whisker; b?: Whisker; difference?: Whisker }[];
  /** Id, A, B, p, verdict of the cases that fell. */
  cases: string[][];
}

export interface Comparison {
  changes: Verdict[];
  /** If several reports are compared: a table with a head and a row for each report. */
  overview: string[][];
  verdict: string;
  worse: boolean;
  /** How many results the measures cover. */
  compared: number;
  /** Name, before, after. */
  measures: [string, string, string][];
  /** Which parts of the application changed, and how many results depend on them; empty if none is known. */
  parts: string;
  kinds: Kind[];
  /** Position of a row → its change. Rows without a change are missing. */
  rows: Record<number, Change>;
  /** Position in the baseline, or -1, for each row. */
  was: number[];
  /** Position of a row → how its output differs from the earlier one. */
  outputs: Record<number, string>;
  /** Ids of results that only the baseline has. */
  removed: string[];
}

/** Keys of the kinds of a row. */
export const kindsOf = (comparison: Comparison, at: number): string[] => (comparison.rows[at]?.kinds ?? []).map(([key]) => key);

/** The changes of a row, in words. Kinds without a text of their own are left out. */
export const factsOf = (comparison: Comparison, at: number): string[] => {
  const { kinds = [], made_of } = comparison.rows[at] ?? {};
  const facts = kinds.filter(([, fact]) => fact).map(([key, fact]) => `${titleOf(comparison, key)}: ${fact}`);
  return made_of ? [...facts, made_of] : facts;
};

const titleOf = (comparison: Comparison, key: string): string => comparison.kinds.find((kind) => kind.key === key)!.title;
