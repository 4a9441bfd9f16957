/** The attempts of a case that was run several times. */

import { useLayoutEffect, useRef } from "preact/hooks";

import { duration, number, percent, range, visible } from "./format";
import { moveInTable } from "./keys";
import { verdictOf, type Attempt, type RunFigures, type Trial } from "./model";
import { Section, Sign, Value } from "./values";

export function Attempts({ runs }: { runs: RunFigures & { attempts?: Attempt[] } }) {
  const attempts = runs.attempts ?? [];
  const figures: [string, string][] = [
    ["Run pass rate", `${runs.pass_rate} %`],
    ["95% interval", runs.confidence_interval ? `${runs.confidence_interval[0]} – ${runs.confidence_interval[1]} %` : ""],
    ["Consistency", runs.consistency == null ? "–" : String(runs.consistency)],
    ["Mean duration", duration(runs.avg_duration_ms)],
    ["Range", range(runs.min_duration_ms, runs.max_duration_ms)],
    ["Deviation", duration(runs.std_deviation_ms)],
    ...byCount("pass@", runs.pass_at_k),
    ...byCount("pass^", runs.pass_hat_k),
  ];
  return (
    <Section title="Runs" count={`${runs.passed} of ${runs.count} passed${runs.classification ? `, ${runs.classification}` : ""}`}>
      <dl class="figures">{figures.filter(([, value]) => value).map(([name, value]) => <div><dt>{name}</dt><dd>{value}</dd></div>)}</dl>
      <Columns bars={attempts.map((attempt) => ({ ms: attempt.duration_ms, status: verdictOf(attempt), name: `Run ${attempt.run}` }))} />
      <Table head={["Run", "Status", "Duration", "Answers"]} label="Runs">
        {attempts.map((attempt) => (
          <tr>
            <td>{attempt.run}</td>
            <td><Sign status={verdictOf(attempt)} /> {verdictOf(attempt)}</td>
            <td class="figure">{duration(attempt.duration_ms)}</td>
            <td class="wide">
              {attempt.error && <p>{visible(attempt.error)}</p>}
              {attempt.output != null && (
                <details class="stack"><summary>Output<span class="unseen"> of run {attempt.run}</span></summary><Value value={attempt.output} label={`Output of run ${attempt.run}`} /></details>
              )}
            </td>
          </tr>
        ))}
      </Table>
    </Section>
  );
}

const byCount = (name: string, values: Record<string, number> = {}): [string, string][] =>
  Object.entries(values).filter(([k]) => Number(k) > 1).map(([k, value]) => [name + k, percent(value, 1)]);

export function Trials({ trials, noise }: { trials: Trial[]; noise?: { error: number; judge: number; agent: number } }) {
  return (
    <Section title="Trials" count={number(trials.length)}>
      {noise && <p class="faint">Mean score ± {percent(2 * noise.error, 1)}{noise.judge > 0 && `; the judge causes ${percent(noise.judge, noise.judge + noise.agent)} of the noise of one trial, the agent the rest`}</p>}
      <Table head={["Trial", "Status", "Score", "Duration", "Error"]} label="Trials">
        {trials.map((trial) => (
          <tr>
            <td>{trial.trial}</td>
            <td><Sign status={trial.status} /> {trial.status}</td>
            <td class="figure">{trial.score == null ? "–" : percent(trial.score, 1)}</td>
            <td class="figure">{duration(trial.duration_ms)}</td>
            <td class="wide">{trial.error && visible(trial.error)}</td>
          </tr>
        ))}
      </Table>
    </Section>
  );
}

/** On a narrow screen its rows are blocks, in which each cell says its title. */
export function Table(props: { head: string[]; label: string; children: preact.ComponentChildren }) {
  const body = useRef<HTMLTableSectionElement>(null);
  useLayoutEffect(() => {
    for (const row of body.current!.rows) [...row.cells].forEach((cell, at) => (cell.dataset.title = cell.matches("td:not([colspan])") ? props.head[at] : ""));
  });
  return (
    <div class="table" tabIndex={0} role="group" aria-label={props.label} onKeyDown={moveInTable}>
      <table>
        <thead><tr>{props.head.map((name) => (name ? <th scope="col">{name}</th> : <td />))}</tr></thead>
        <tbody ref={body}>{props.children}</tbody>
      </table>
    </div>
  );
}

/** Durations side by side, in the colours of their statuses. */
export function Columns({ bars }: { bars: { ms: number; status: string; name: string }[] }) {
  const most = Math.max(1, ...bars.map((bar) => bar.ms));
  return (
    <div class="columns" role="img" aria-label={`Durations of ${bars.length} runs, at most ${duration(most)}`}>
      {bars.map((bar) => (
        <span class={bar.status} style={{ height: `${Math.max(6, (100 * bar.ms) / most)}%` }} title={`${bar.name}: ${bar.status}, ${duration(bar.ms)}`} />
      ))}
    </div>
  );
}
