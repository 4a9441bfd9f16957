/** One test over time. */

import { useEffect, useState } from "preact/hooks";
import { Columns, Table } from "../attempts";
import { duration, moment, money, percent, plural, visible } from "../format";
import { Sign } from "../values";
import { Bar } from "../whisker";
import { asks, get, hrefOf, type Occurrence, type TestHistory } from "./api";
import { placeOf } from "./runs";
import { type Look, problemOf, Shell } from "./shell";

/** How many runs have a bar in the chart of durations. */
const BARS = 60;

export function TestPage(look: Look) {
  const [suite = "", test = ""] = [asks("suite")[0], asks("test")[0]];
  const [history, setHistory] = useState<TestHistory | null>(null);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    document.title = `${test} – yao-test`;
    get<TestHistory>(`/api/history?${new URLSearchParams({ suite, test })}`).then(setHistory, (error) => setProblem(problemOf(error)));
  }, []);
  return (
    <Shell {...look} title={<>{visible(test)} <span class="faint">{visible(suite)}</span></>} version={history?.version} problem={problem} main={["occurrences", "runs"]}>
      {!history && !problem && <p class="faint loading">Loading…</p>}
      {history && <History history={history} />}
    </Shell>
  );
}

function History({ history }: { history: TestHistory }) {
  const { occurrences, rate, said } = history;
  const [picked, setPicked] = useState<string[]>([]);
  const pick = (run: string) => setPicked((old) => (old.includes(run) ? old.filter((one) => one !== run) : [...old, run]));
  const bars = occurrences.slice(0, BARS).reverse();
  const inOrder = [...occurrences].reverse().map(({ run }) => run).filter((run) => picked.includes(run));
  return (
    <>
      <section class="card over" aria-labelledby="over-title">
        <h2 id="over-title">Over {plural(occurrences.length, "run")}</h2>
        {said.map((sentence) => <p>{visible(sentence)}</p>)}
        {rate && <div class="over-rate"><span>Run pass rate {percent(rate[1], 1)} ({percent(rate[0], 1)} to {percent(rate[2], 1)})</span> <Bar ends={rate} from={0} to={1} /></div>}
        <Columns bars={bars.map((one) => ({ ms: one.duration_ms, status: signOf(one.verdict), name: moment(one.started_at) }))} />
        <p class="faint">Duration of each run, newest on the right</p>
      </section>
      <section class="results" id="occurrences" tabIndex={-1} aria-labelledby="occurrences-title">
        <h2 id="occurrences-title">Runs</h2>
        <div class="tools-row">
          {inOrder.length > 1
            ? <a class="button primary" href={hrefOf("/compare", { run: inOrder })}>Compare {inOrder.length} runs</a>
            : <span class="faint">Select two or more to compare</span>}
        </div>
        <Table head={["", "Run", "Connector", "Result", "Duration", "Score", "Cost", "Code", "Answers"]} label="Runs of this test">
          {occurrences.map((one) => <OneRun one={one} history={history} isPicked={picked.includes(one.run)} onPick={() => pick(one.run)} />)}
        </Table>
      </section>
    </>
  );
}

/** The sign of a verdict in the list. */
export const signOf = (verdict: string): string => (verdict === "broken" || verdict === "inconclusive" ? "error" : verdict);

interface RunProps {
  one: Occurrence;
  history: TestHistory;
  isPicked: boolean;
  onPick: () => void;
}

function OneRun({ one, history, isPicked, onPick }: RunProps) {
  const result = `#${new URLSearchParams({ result: `${one.name}/${history.test}` })}`;
  return (
    <tr>
      <td><label><input type="checkbox" checked={isPicked} onChange={onPick} /><span class="unseen">Compare the run of {moment(one.started_at)}</span></label></td>
      <td><a href={hrefOf("/run", { run: one.run }, result)}>{moment(one.started_at)}</a></td>
      <td>{visible(one.asked)}</td>
      <td><Sign status={signOf(one.verdict)} /> {one.judged > 1 ? `${one.passed} of ${one.judged}` : one.cause && one.cause !== "assertion" ? visible(one.cause) : one.verdict}</td>
      <td class="figure">{duration(one.duration_ms)}</td>
      <td class="figure">{one.score == null ? "" : percent(one.score, 1)}</td>
      <td class="figure">{one.cost == null ? "" : money(one.cost, one.cost_estimated)}</td>
      <td>{visible(placeOf(one))}</td>
      <td class="wide" dir="auto">{visible(one.error ?? one.answer ?? "")}</td>
    </tr>
  );
}
