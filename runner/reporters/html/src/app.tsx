/** The HTML report. */

import { options as preactOptions, render } from "preact";
import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
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
import { readComparison, readVariants, Store } from "./store";
import { Summary } from "./summary";
import { ThemeButton, useTheme } from "./theme";
import { Toolbar } from "./toolbar";
import { type Variants, VariantsView } from "./variants";
import { hashOf, PLAIN, shown, viewFromHash, type View } from "./view";
import "./styles.css";

function App({ store, before, variants }: { store: Store; before: Before | null; variants: Variants | null }) {
  const { index } = store;
  const [theme, chooseTheme, colours] = useTheme();
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
    // A result that the filters or the search hide is shown without them.
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

  useEffect(() => {
    const follow = () => {
      const next = viewFromHash(location.hash);
      setView(next);
      const at = next.result ? index.rows.findIndex((row) => row.key === next.result) : -1;
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
    if (hash !== location.hash) history.replaceState(null, "", hash || location.pathname + location.search);
  }, [view]);

  const exportAs = async (format: "json" | "csv") => {
    if (format === "csv") save("results.csv", "text/csv", asCsv(store, positions));
    else save("results.json", "application/json", await asJson(store, positions));
  };
  const { suites } = index.start;
  return (
    <>
      <a class="skip" href="#results" onClick={(event) => {
        event.preventDefault();
        document.getElementById("results")?.focus();
      }}>Skip to the results</a>
      <header>
        <svg class="logo" viewBox="0 0 22 22" aria-hidden="true"><path d="M6.5 11.5l3.2 3.2 6-7.2" /></svg>
        <h1>Test report <span class="faint">{suites.length === 1 ? visible(suites[0].label) : ""}</span></h1>
        <span class="space" />
        <ThemeButton theme={theme} onChoose={chooseTheme} />
        <button type="button" class="button" onClick={() => print()}>Print</button>
      </header>
      <main>
        {[...index.errors.map((text) => ["error", text]), ...index.warnings.map((text) => ["warning", text])].map(([kind, text]) => (
          <p class={`banner ${kind}`} role={kind === "error" ? "alert" : undefined}><strong>{kind === "error" ? "Error" : "Warning"}</strong> {visible(text)}</p>
        ))}
        <Summary index={index} status={view.status} onStatus={(status) => change({ status })} />
        <Failures index={index} onOpen={openResult} />
        {before && (
          <Compared now={index} before={before.store.index} comparison={before.comparison} chosen={view.change} onChoose={(kind) => change({ change: kind })} />
        )}
        <RatesByPart index={index} />
        {variants && <VariantsView variants={variants} />}
        {index.coverage && <CoverageView coverage={index.coverage} />}
        <Stability index={index} theme={colours} onOpen={openResult} />
        <section class="results" id="results" tabIndex={-1} aria-labelledby="results-title">
          <h2 id="results-title">Results</h2>
          <Toolbar index={index} view={view} count={positions.length} done={search.done} onChange={change} onExport={(format) => void exportAs(format)} />
          {positions.length > 0
            ? <List store={store} positions={positions} before={before} open={open} goal={goal} printing={printing} onToggle={toggle} />
            : <p class="empty">{index.rows.length === 0 ? "The run has no results." : search.done < 1 ? "Searching…" : "No result is like that."}</p>}
        </section>
      </main>
      <footer class="faint">yao-test {visible(index.start.version)}</footer>
    </>
  );
}

/** Blocks of failures that are read ahead, so that printing finds them. */
const AHEAD = 12;

/** Whether the page is being printed. */
function usePrinting(store: Store): boolean {
  const [printing, setPrinting] = useState(false);
  useEffect(() => {
    const query = matchMedia("print");
    const at = (value: boolean) => () => {
      // The browser takes what is there when the listener returns.
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

async function start(): Promise<void> {
  const place = document.getElementById("app")!;
  try {
    const store = await Store.open("");
    const before = Store.exists("baseline-") ? { store: await Store.open("baseline-"), comparison: await readComparison() } : null;
    const variants = await readVariants();
    place.replaceChildren();
    render(<App store={store} before={before} variants={variants} />, place);
  } catch (error) {
    place.textContent = `Cannot show this report: ${error instanceof Error ? error.message : error}`;
  }
}

void start();
