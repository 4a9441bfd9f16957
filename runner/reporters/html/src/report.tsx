/** One report: summary, failures, and all results. */

import { options as preactOptions } from "preact";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Compared } from "./compared";
import { CoverageView } from "./coverage";
import type { Before } from "./detail";
import { asCsv, asJson, save } from "./export";
import { Failures } from "./failures";
import { visible } from "./format";
import { List } from "./list";
import { RatesByPart } from "./rates";
import { useSearch } from "./search";
import { Stability } from "./stability";
import type { Store } from "./store";
import { Summary } from "./summary";
import { Toolbar } from "./toolbar";
import { type Variants, VariantsView } from "./variants";
import { hashOf, PLAIN, shown, viewFromHash, type View } from "./view";

interface Props {
  store: Store;
  before: Before | null;
  variants: Variants | null;
  /** A text that changes whenever the colours change. */
  colours: string;
  /** The name of the run that this one is compared with, and its own: then the comparison and the answers come first. */
  sides?: [string, string];
}

/** Cases whose answers are shown beside each other at once. */
export const OPENED = 5;
export const SIDE_BY_SIDE = "Answers side by side";

export function Report({ store, before, variants, colours, sides }: Props) {
  const { index } = store;
  const [view, setView] = useState<View>(() => viewFromHash(location.hash));
  const [open, setOpen] = useState(new Set<number>());
  const [goal, setGoal] = useState<{ at: number } | null>(null);
  const printing = usePrinting(store);
  const search = useSearch(store, view.query);
  const positions = useMemo(() => shown(index, view, search.hits, before?.comparison ?? null),
    [index, view.status, view.suite, view.agent, view.mode, view.tag, view.change, view.sort, search.hits, before]);

  const change = useCallback((part: Partial<View>) => {
    setGoal(null);
    setView((old) => ({ ...old, ...part }));
  }, []);
  const openResult = useCallback((at: number) => {
    setOpen((old) => new Set(old).add(at));
    setView((old) => ({ ...old, result: index.rows[at].key }));
    setGoal({ at });
  }, [index]);
  useEffect(() => {
    // If filters or a search hide the result, they are removed.
    if (goal && search.done === 1 && !positions.includes(goal.at)) setView((old) => ({ ...PLAIN, sort: old.sort, result: old.result }));
  }, [goal, search, positions]);
  const toggle = (at: number) => {
    setOpen((old) => {
      const next = new Set(old);
      if (!next.delete(at)) next.add(at);
      return next;
    });
    change({ result: open.has(at) ? "" : index.rows[at].key });
  };

  const followed = useRef<string | null>(null);
  useEffect(() => {
    const follow = () => {
      if (location.hash === followed.current) return; // the report has grown, but the address is the same
      const next = viewFromHash(location.hash);
      setView(next);
      const at = next.result ? index.rows.findIndex((row) => row.key === next.result) : -1;
      if (next.result && at < 0) return;
      followed.current = location.hash;
      if (at < 0) return;
      setOpen((old) => new Set(old).add(at));
      setGoal({ at });
    };
    follow();
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, [index]);
  useEffect(() => {
    const hash = hashOf(view);
    if (hash === location.hash) return;
    history.replaceState(null, "", hash || location.pathname + location.search);
    followed.current = location.hash;
  }, [view]);

  const exportAs = async (format: "json" | "csv") => {
    if (format === "csv") save("results.csv", "text/csv", asCsv(store, positions));
    else save("results.json", "application/json", await asJson(store, positions));
  };
  const compared = before && (
    <Compared now={index} before={before.store.index} comparison={before.comparison} title={sides && `${sides[1]} compared with ${sides[0]}`} chosen={view.change} onChoose={(kind) => change({ change: kind })} />
  );
  return (
    <>
      {[...index.errors.map((text) => ["error", text]), ...index.warnings.map((text) => ["warning", text])].map(([kind, text]) => (
        <p class={`banner ${kind}`} role={kind === "error" ? "alert" : undefined}><strong>{kind === "error" ? "Error" : "Warning"}</strong> {visible(text)}</p>
      ))}
      {sides && compared}
      {sides && variants && <VariantsView variants={variants} title={SIDE_BY_SIDE} opened={OPENED} />}
      {sides && <h2>{sides[1]}</h2>}
      <Summary index={index} status={view.status} onStatus={(status) => change({ status })} />
      <Failures index={index} onOpen={openResult} />
      {!sides && compared}
      <RatesByPart index={index} />
      {!sides && variants && <VariantsView variants={variants} />}
      {index.coverage && <CoverageView coverage={index.coverage} />}
      <Stability index={index} theme={colours} onOpen={openResult} />
      <section class="results" id="results" tabIndex={-1} aria-labelledby="results-title">
        <h2 id="results-title">Results</h2>
        <Toolbar index={index} view={view} count={positions.length} done={search.done} onChange={change} onExport={(format) => void exportAs(format)} />
        {positions.length > 0
          ? <List store={store} positions={positions} before={before} open={open} goal={goal} printing={printing} onToggle={toggle} />
          : <p class="empty">{index.rows.length === 0 ? "The run has no results." : search.done < 1 ? "Searching…" : "No results match."}</p>}
      </section>
    </>
  );
}

/** How many blocks with failures are read in advance, for printing. */
const AHEAD = 12;

/** Whether the page is being printed. */
function usePrinting(store: Store): boolean {
  const [printing, setPrinting] = useState(false);
  useEffect(() => {
    const query = matchMedia("print");
    const at = (value: boolean) => () => {
      // The browser prints what is in the document when the listener returns.
      const later = preactOptions.debounceRendering;
      preactOptions.debounceRendering = (draw) => draw();
      setPrinting(value);
      preactOptions.debounceRendering = later;
    };
    const [begins, ends] = [at(true), at(false)];
    const changed = () => setPrinting(query.matches);
    addEventListener("beforeprint", begins);
    addEventListener("afterprint", ends);
    query.addEventListener("change", changed);
    void store.readFailures(AHEAD);
    return () => {
      removeEventListener("beforeprint", begins);
      removeEventListener("afterprint", ends);
      query.removeEventListener("change", changed);
    };
  }, [store]);
  return printing;
}
