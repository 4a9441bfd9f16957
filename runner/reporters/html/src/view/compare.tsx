/** Compares two or more runs: whether they differ beyond noise, and their answers side by side. */

import { useEffect, useState } from "preact/hooks";
import type { Before } from "../detail";
import { moment, visible } from "../format";
import { OPENED, Report, SIDE_BY_SIDE } from "../report";
import { Store } from "../store";
import { VariantsView } from "../variants";
import { asks, type ComparedRuns, get, hrefOf, type RunHead, runPath, textOf } from "./api";
import { countsOf, placeOf } from "./runs";
import { type Look, problemOf, Shell } from "./shell";

const LETTERS = "ABCDEFGHIJ";

interface Loaded {
  found: ComparedRuns;
  store: Store | null;
  before: Before | null;
}

const opened = (run: string): Promise<Store> => Store.open((name) => textOf(runPath(run, name)));

export function ComparePage(look: Look) {
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    document.title = "Runs compared – yao-test";
    void (async () => {
      const runs = asks("run");
      try {
        const found = await get<ComparedRuns>(`/api/compare?${new URLSearchParams(runs.map((run) => ["run", run]))}`);
        if (!found.comparison) return setLoaded({ found, store: null, before: null });
        const [first, second] = await Promise.all(runs.map(opened));
        setLoaded({ found, store: second, before: { store: first, comparison: found.comparison } });
      } catch (error) {
        setProblem(problemOf(error));
      }
    })();
  }, []);
  const title = <>Compared {loaded && <span class="faint">{loaded.found.heads.length} runs</span>}</>;
  return (
    <Shell {...look} title={title} version={loaded?.found.version} problem={problem} main={loaded?.store ? ["results", "results"] : undefined}>
      {!loaded && !problem && <p class="faint loading">Loading…</p>}
      {loaded && (
        <>
          <ol class="sides" aria-label="Compared runs">
            {loaded.found.heads.map((head, at) => <Side head={head} letter={LETTERS[at]} />)}
          </ol>
          {loaded.store
            ? <Report store={loaded.store} before={loaded.before} variants={loaded.found.variants} colours={look.colours} sides={["Run A", "Run B"]} />
            : <VariantsView variants={loaded.found.variants} title={SIDE_BY_SIDE} opened={OPENED} />}
        </>
      )}
    </Shell>
  );
}

function Side({ head, letter }: { head: RunHead; letter: string }) {
  return (
    <li class="card side">
      <strong>{letter}</strong>
      <div>
        <a href={hrefOf("/run", { run: head.id })}>{moment(head.started_at)}</a>
        <div class="faint">{[placeOf(head), head.profile, head.connectors.join(", "), countsOf(head)].filter(Boolean).map((word) => visible(word!)).join(" · ")}</div>
      </div>
    </li>
  );
}
