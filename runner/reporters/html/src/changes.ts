/** What is different from the baseline, as `html/compared.py` writes it. */

/** What a change means to the user. */
export type Tone = "bad" | "warning" | "good" | "neutral" | "quiet";

export interface Kind {
  key: string;
  title: string;
  tone: Tone;
  count: number;
}

export interface Change {
  /** Key of each kind, and what changed in a few words. */
  kinds: [string, string][];
  /** What the list shows. */
  badges: [string, Tone][];
  /** What it was made of that is not the same: `the model of local changed`. */
  made_of?: string;
}

/** `[low, value, high]` as shares. */
export type Whisker = [number, number, number];

/** One report against the baseline. */
export interface Verdict {
  name: string;
  /** `regressed`, `improved`, `unchanged` or `cannot tell`. */
  word: string;
  /** The verdict in words, then what would help. */
  said: string[];
  /** Measure, A, B, difference, verdict; and what is known of their intervals. */
  rows: { cells: string[]; a?: Whisker; b?: Whisker; difference?: Whisker }[];
  /** Id, A, B, p, verdict of the cases that fell. */
  cases: string[][];
}

export interface Comparison {
  changes: Verdict[];
  /** The reports as one table, where there are several: the head, then a row for each. */
  overview: string[][];
  verdict: string;
  worse: boolean;
  /** Results that the measures are of. */
  compared: number;
  /** Name, before, after. */
  measures: [string, string, string][];
  /** What of the application changed, with how many results it concerns; empty when nothing is known to have. */
  parts: string;
  kinds: Kind[];
  /** Position of a row → how it changed; rows that did not are left out. */
  rows: Record<number, Change>;
  /** Position in the baseline, or -1, for each row. */
  was: number[];
  /** Ids of results that are not there any more. */
  removed: string[];
}

/** Keys of the kinds of a row. */
export const kindsOf = (comparison: Comparison, at: number): string[] => (comparison.rows[at]?.kinds ?? []).map(([key]) => key);

/** What changed in a row, in words; kinds that say nothing more are left out. */
export const factsOf = (comparison: Comparison, at: number): string[] => {
  const { kinds = [], made_of } = comparison.rows[at] ?? {};
  const facts = kinds.filter(([, fact]) => fact).map(([key, fact]) => `${titleOf(comparison, key)}: ${fact}`);
  return made_of ? [...facts, `Since then, ${made_of}`] : facts;
};

const titleOf = (comparison: Comparison, key: string): string => comparison.kinds.find((kind) => kind.key === key)!.title;
