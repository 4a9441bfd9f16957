/** Full-text search. It searches the index at once, and the results as their blocks are read. */

import { useEffect, useState } from "preact/hooks";
import { inVariant, suiteName } from "./model";
import type { Store } from "./store";
import { termsOf } from "./view";

export interface Search {
  /** 1 for each row that was found; null if there is no search. */
  hits: Uint8Array | null;
  /** Share of the report that has been searched, 0 to 1. */
  done: number;
}

/** Milliseconds between two updates of the list during a search. */
const BREATH = 120;

export function useSearch(store: Store, query: string): Search {
  const [search, setSearch] = useState<Search>({ hits: null, done: 1 });
  useEffect(() => {
    const terms = termsOf(query);
    if (terms.length === 0) {
      setSearch({ hits: null, done: 1 });
      return;
    }
    let stopped = false;
    const { rows, blocks, start } = store.index;
    const hits = new Uint8Array(rows.length);
    const shallow = rows.map((row) => {
      const suite = start.suites[row.suite];
      return `${inVariant(row.id, suite)}\n${row.name ?? ""}\n${row.error ?? ""}\n${suiteName(suite)}\n${suite.agent}`.toLowerCase();
    });
    shallow.forEach((text, at) => {
      if (terms.every((term) => text.includes(term))) hits[at] = 1;
    });
    setSearch({ hits: hits.slice(), done: 0 });
    void (async () => {
      let last = performance.now();
      for (let number = 0; number < blocks.length; number++) {
        const texts = await store.text(number);
        if (stopped) return;
        texts.forEach((text, place) => {
          const at = blocks[number] + place;
          if (!hits[at] && terms.every((term) => text.includes(term) || shallow[at].includes(term))) hits[at] = 1;
        });
        if (performance.now() - last > BREATH) {
          setSearch({ hits: hits.slice(), done: (number + 1) / blocks.length });
          await new Promise((resume) => setTimeout(resume));
          last = performance.now();
        }
      }
      if (!stopped) setSearch({ hits, done: 1 });
    })();
    return () => {
      stopped = true;
    };
  }, [store, query]);
  return search;
}
