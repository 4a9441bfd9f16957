/** All runs, newest first. The page updates itself. */

import { useEffect, useState } from "preact/hooks";
import { duration, moment, money, number, plural, visible } from "../format";
import { move } from "../keys";
import { SearchField } from "../toolbar";
import { Badge, Sign } from "../values";
import { termsOf } from "../view";
import { follow, get, hrefOf, type RunHead, type RunList } from "./api";
import { type Look, Shell } from "./shell";

/** How many runs are shown at first, and how many each click adds. */
const STEP = 100;
const MARKS: Record<string, string> = { passed: "passed", failed: "failed", error: "error", running: "running" };

export function RunsPage(look: Look) {
  const [list, setList] = useState<RunList | null>(null);
  const [limit, setLimit] = useState(STEP);
  const [query, setQuery] = useState("");
  const [picked, setPicked] = useState<string[]>([]);
  const [problem, setProblem] = useState("");

  useEffect(() => {
    document.title = "Runs – yao-test";
    return follow(() => "/api/events", async (_, signal) => setList(await get(`/api/runs?limit=${limit}`, signal)), setProblem);
  }, [limit]);

  const terms = termsOf(query);
  const shown = (list?.runs ?? []).filter((run) => terms.every((term) => wordsOf(run).includes(term)));
  const pick = (id: string) => setPicked((old) => (old.includes(id) ? old.filter((one) => one !== id) : [...old, id]));
  const inOrder = [...(list?.runs ?? [])].reverse().map(({ id }) => id).filter((id) => picked.includes(id));
  return (
    <Shell {...look} title="Runs" version={list?.version} problem={problem} main={["runs", "runs"]}>
      <div class="tools-row" role="search" aria-label="Runs">
        <SearchField query={query} label="Search runs" onChange={setQuery} />
        <span class="count" role="status">{list && (terms.length > 0 ? `${number(shown.length)} of ${plural(list.runs.length, "run")}` : plural(list.runs.length, "run"))}</span>
        <span class="space" />
        {inOrder.length > 0 && <button type="button" class="link" onClick={() => setPicked([])}>Clear selection</button>}
        {inOrder.length > 1
          ? <a class="button primary" href={hrefOf("/compare", { run: inOrder })}>Compare {inOrder.length} runs</a>
          : <span class="faint">Select two or more to compare</span>}
      </div>
      <ul class="runs" id="runs" tabIndex={-1} aria-label="Runs" onKeyDown={(event) => move(event, [...event.currentTarget.querySelectorAll<HTMLElement>(".run-title")])}>
        {shown.map((run) => <OneRun key={run.id} run={run} isPicked={picked.includes(run.id)} onPick={() => pick(run.id)} />)}
      </ul>
      {list && shown.length === 0 && <p class="empty">{list.runs.length === 0 ? "The store has no runs yet." : "No runs match."}</p>}
      {list?.more && <button type="button" class="more" onClick={() => setLimit(limit + STEP)}>Show older runs</button>}
    </Shell>
  );
}

function OneRun({ run, isPicked, onPick }: { run: RunHead; isPicked: boolean; onPick: () => void }) {
  const { counts } = run;
  const facts = [placeOf(run), run.profile, run.suites.join(", "), run.connectors.join(", ")].filter(Boolean);
  return (
    <li class={`run card ${isPicked ? "picked" : ""}`}>
      <label class="pick"><input type="checkbox" checked={isPicked} onChange={onPick} /><span class="unseen">Compare the run of {moment(run.started_at)}</span></label>
      <Sign status={MARKS[run.status] ?? "skipped"} />
      <div class="run-what">
        <a class="run-title" href={hrefOf("/run", { run: run.id })}>{moment(run.started_at)}</a>{" "}
        {!(run.status in MARKS) && <Badge kind="warning">{run.status}</Badge>}
        {run.status === "running" && <Badge kind="accent">running</Badge>}
        <div class="run-said">{facts.map((fact) => visible(fact!)).join(" · ")}</div>
      </div>
      <div class="run-facts">
        <span>{countsOf(run)}</span>
        <span class="faint">{run.duration_ms == null ? "" : duration(run.duration_ms)}{run.cost ? ` · ${money(run.cost, run.cost_estimated)}` : ""}{run.labels ? ` · ${plural(run.labels, "label")}` : ""}</span>
      </div>
      <div class="split" aria-hidden="true">
        {(["passed", "failed", "errors", "skipped"] as const).filter((key) => counts[key]).map((key) => <span class={key} style={{ flexGrow: counts[key] }} />)}
      </div>
    </li>
  );
}

/** Branch and commit. */
export const placeOf = ({ branch, revision }: { branch?: string; revision?: string }): string =>
  [branch, revision?.slice(0, 8)].filter(Boolean).join(" @ ");

/** `3 of 4 passed, 1 error`. */
export function countsOf({ counts, planned, status }: RunHead): string {
  const parts = [`${number(counts.passed)} of ${number(counts.passed + counts.failed)} passed`];
  if (counts.errors) parts.push(`${number(counts.errors)} ${counts.errors === 1 ? "error" : "errors"}`);
  if (counts.skipped) parts.push(`${number(counts.skipped)} skipped`);
  if (planned && planned > counts.total && status !== "passed") parts.push(`${number(planned - counts.total)} ${status === "running" ? "to come" : "not run"}`);
  return parts.join(", ");
}

const wordsOf = (run: RunHead): string =>
  [moment(run.started_at), run.started_at, run.status, run.branch, run.revision, run.profile, run.id, ...run.suites, ...run.connectors].filter(Boolean).join("\n").toLowerCase();
