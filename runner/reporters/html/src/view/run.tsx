/** One run: its report, which is live while it is running, and what the user can do with it. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { AroundResults, type Around } from "../around";
import { save } from "../export";
import { moment, plural, visible } from "../format";
import { verdictOf, type Row } from "../model";
import { Report } from "../report";
import { Store } from "../store";
import type { Variants } from "../variants";
import { AgainPanel } from "./again";
import { asks, follow, get, hrefOf, type RunHead, type RunIndex, runPath, type RunUpdate, textOf } from "./api";
import { Labels } from "./labels";
import { Picture } from "./picture";
import { placeOf } from "./runs";
import { type Look, problemOf, Shell } from "./shell";

interface Loaded {
  store: Store;
  head: RunHead;
  variants: Variants | null;
}

export function RunPage(look: Look) {
  const id = asks("run")[0] ?? "";
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  const [problem, setProblem] = useState("");
  const [again, setAgain] = useState<string[] | null>(null);
  const [labels, setLabels] = useState(0);

  useEffect(() => {
    let revision = 0;
    let status = "running";
    let end = () => {};
    const take = (update: RunUpdate) => {
      revision = update.revision;
      status = update.head.status;
      setLoaded((old) => old && { ...old, head: update.head, store: grown(old.store, update) });
    };
    /** An ended run may be resumed. A hidden page does not wait for that, because a browser allows few connections. */
    const listen = () => {
      end();
      end = document.hidden && status !== "running" ? () => {} : follow(() => runPath(id, `events?after=${revision}`), take, setProblem);
    };
    void (async () => {
      try {
        const store = await Store.open((name) => textOf(runPath(id, name)));
        const index = store.index as RunIndex;
        const variants = await get<Variants | null>(runPath(id, "variants"));
        revision = index.revision;
        status = index.head.status;
        setLabels(index.head.labels);
        setLoaded({ store, head: index.head, variants });
        listen();
        document.addEventListener("visibilitychange", listen);
      } catch (error) {
        setProblem(problemOf(error));
      }
    })();
    return () => {
      document.removeEventListener("visibilitychange", listen);
      end();
    };
  }, [id]);

  const around = useMemo<Around>(() => ({
    actions: (_at, row) => loaded && <Links head={loaded.head} suite={loaded.store.index.start.suites[row.suite]} row={row} onAgain={() => setAgain([row.key])} />,
    below: (at, row, result) => <Labels run={id} at={at} key={row.key} result={result} onChange={setLabels} />,
    picture: (at, file) => <Picture run={id} at={at} file={file} />,
  }), [id, loaded?.store, loaded?.head]);

  const head = loaded?.head;
  const failed = useMemo(() => loaded?.store.index.rows.filter((row) => row.status === "failed") ?? [], [loaded?.store]);
  useEffect(() => {
    if (head) document.title = `${head.status} – run of ${moment(head.started_at)}`;
  }, [head?.status]);
  return (
    <Shell {...look} title={<>Run {head && <span class="faint">{moment(head.started_at)}</span>}</>} version={loaded?.store.index.start.version} problem={problem} main={["results", "results"]}>
      {!loaded && !problem && <p class="faint loading">Loading…</p>}
      {loaded && head && (
        <>
          <div class="tools-row about">
            <span class="faint" role="status">{[head.status === "running" ? "The run is in progress; results appear as they arrive" : "", placeOf(head), head.profile].filter(Boolean).map((word) => visible(word!)).join(" · ")}</span>
            <span class="space" />
            {labels > 0 && <button type="button" class="button" onClick={() => void exported(id)}>Export {plural(labels, "label")}</button>}
            {head.before && <a class="button" href={hrefOf("/compare", { run: [head.before, id] })}>Compare with the previous run</a>}
            {!head.elsewhere && head.status !== "running" && (
              <>
                {failed.length > 0 && <button type="button" class="button" onClick={() => setAgain(failed.map(({ key }) => key))}>Rerun failures…</button>}
                <button type="button" class="button" onClick={() => setAgain([])}>Rerun…</button>
              </>
            )}
          </div>
          {head.elsewhere && <p class="faint">It cannot be run again from here: {visible(head.elsewhere)}</p>}
          {again && <AgainPanel run={id} keys={again} key={again.join("\n")} onClose={() => setAgain(null)} />}
          <AroundResults.Provider value={around}>
            <Report store={loaded.store} before={null} variants={loaded.variants} colours={look.colours} />
          </AroundResults.Provider>
        </>
      )}
    </Shell>
  );
}

/** The report with an update applied. */
function grown(store: Store, { rows, count, ...update }: RunUpdate): Store {
  const all = store.index.rows.slice(0, count);
  for (const [at, row] of rows) all[at] = row;
  return store.grown({ ...update, rows: all }, rows.map(([at]) => at));
}

interface LinksProps {
  head: RunHead;
  suite: { id: string; key?: string };
  row: Row;
  onAgain: () => void;
}

function Links({ head, suite, row, onAgain }: LinksProps) {
  return (
    <>
      <a class="button" href={hrefOf("/test", { suite: suite.key ?? suite.id, test: row.id })}>Over time</a>
      {!head.elsewhere && head.status !== "running" && verdictOf(row) !== "skipped" && (
        <button type="button" class="button" onClick={onAgain}>Rerun…</button>
      )}
    </>
  );
}

const exported = async (id: string): Promise<void> => save("labels.jsonl", "application/jsonl", await textOf(runPath(id, "labels.jsonl")));
