/** Shows assertions, checkpoints and scores. */

import { brief, capital, percent, plural, visible } from "./format";
import type { Assertion, Checkpoint, Judged, Score } from "./model";
import { diffs } from "./store";
import { Badge, Diff, Labelled, Section, Sign, Value } from "./values";

export function Assertions({ assertions }: { assertions: Assertion[] }) {
  return <ul class="assertions">{assertions.map((assertion) => <OneAssertion assertion={assertion} />)}</ul>;
}

function OneAssertion({ assertion }: { assertion: Assertion }) {
  const { type, path, name, passed, expected, message, score, details, error } = assertion;
  const status = statusOf(assertion);
  return (
    <li>
      <details class={`assertion ${status}`} open={!passed}>
        <summary>
          <Sign status={status} />
          <span class="assertion-type">{visible(type)}</span>
          {path && <code>{visible(path)}</code>}
          {name && <span>{visible(name)}</span>}
          {expected != null && <code class="expected">{brief(expected, 80)}</code>}
          {score != null && <Badge>score {score}</Badge>}
          {error && <Badge kind="warning">could not be evaluated</Badge>}
          {assertion.judged === false && <Badge kind="warning">not judged</Badge>}
          <Verdict judged={assertion} />
        </summary>
        <div class="assertion-body">
          {message && <p class={passed ? "" : "problem"}>{visible(message)}</p>}
          <Values of={assertion} />
          <Votes judged={assertion} />
          {details && <Assertions assertions={details} />}
        </div>
      </details>
    </li>
  );
}

/** The result of the votes of judges. */
function Verdict({ judged: { inconclusive, votes } }: { judged: Judged }) {
  const cast = (votes ?? []).filter(({ passed }) => passed !== null);
  return (
    <>
      {inconclusive && <Badge kind="warning">inconclusive</Badge>}
      {cast.length > 1 && <Badge>{cast.filter(({ passed }) => passed).length} of {cast.length} votes</Badge>}
    </>
  );
}

/** Who judged, and each vote. */
function Votes({ judged: { judge, judge_connector, votes } }: { judged: Judged }) {
  if (!judge) return null;
  const by = (name: string, connector?: string) => visible(connector ? `${name}, with ${connector}` : name);
  if (!votes?.length) return <p class="faint">Judged by {by(judge, judge_connector)}</p>;
  return (
    <ul class="criteria">
      {votes.map((vote) => (
        <li>
          <Sign status={vote.passed === null ? "skipped" : vote.passed ? "passed" : "failed"} />
          <div>{by(vote.judge, vote.connector)}{vote.reason && <p class="faint">{visible(vote.reason)}</p>}</div>
          <span class="figure">{vote.score == null ? "" : percent(vote.score, 1)}</span>
        </li>
      ))}
    </ul>
  );
}

/** The sign of an assertion. One that was not judged counts as skipped. */
const statusOf = ({ passed, judged }: { passed: boolean; judged?: boolean }): "passed" | "failed" | "skipped" =>
  !passed ? "failed" : judged === false ? "skipped" : "passed";

/** The values of a check: what differs, or both. */
export function Values({ of }: { of: Assertion }) {
  const { expected, actual } = of;
  const diff = diffs.get(of);
  if (diff) return <Diff text={diff} />;
  if (expected == null && actual == null) return null;
  return (
    <div class="pair">
      {expected !== undefined && <Labelled label="Expected"><Value value={expected} label="Expected" /></Labelled>}
      {actual !== undefined && <Labelled label="Actual"><Value value={actual} label="Actual" /></Labelled>}
    </div>
  );
}

export function Checkpoints({ checkpoints }: { checkpoints: Checkpoint[] }) {
  const reached = checkpoints.filter((checkpoint) => checkpoint.passed).length;
  return (
    <Section title="Checkpoints" count={`${reached} of ${checkpoints.length} reached`}>
      <ol class="timeline">
        {checkpoints.map((checkpoint) => (
          <li class={checkpoint.passed || checkpoint.required ? statusOf(checkpoint) : "skipped"}>
            <div class="timeline-when">{checkpoint.reached_at_turn != null ? `Turn ${checkpoint.reached_at_turn}` : "Not reached"}</div>
            <div>
              <strong>{visible(checkpoint.id)}</strong> {!checkpoint.required && <Badge>optional</Badge>}
              {checkpoint.judged === false && <Badge kind="warning">not judged</Badge>}
              {checkpoint.inconclusive && <Badge kind="warning">inconclusive</Badge>}
              {checkpoint.description && <p>{visible(checkpoint.description)}</p>}
              {checkpoint.message && !checkpoint.passed && <p class="problem">{visible(checkpoint.message)}</p>}
              {checkpoint.assertions && <Assertions assertions={checkpoint.assertions} />}
            </div>
          </li>
        ))}
      </ol>
    </Section>
  );
}

export function Scores({ scores, total, threshold }: { scores: Score[]; total?: number | null; threshold?: number }) {
  const limit = threshold == null ? "" : `, ${percent(threshold, 1)} needed`;
  return (
    <Section title="Scores" count={total == null ? "" : `${percent(total, 1)}${limit}`}>
      <ul class="scores">
        {scores.map((score) => (
          <li>
            <div class="score-head">
              <Sign status={score.verdict === "fail" ? "failed" : score.verdict === "pass" && score.score != null ? "passed" : "skipped"} />
              <strong>{visible(capital(score.name.replace("-", " ")))}</strong>
              <Bar share={score.score ?? 0} />
              <span class="figure">{score.score == null ? "not judged" : percent(score.score, 1)}</span>
              <span class="faint">{visible(score.type)}</span>
            </div>
            {score.assertions.length > 0 && (
              <ul class="criteria">
                {score.assertions.map((criterion) => (
                  <li>
                    <Sign status={statusOf(criterion)} />
                    <div>
                      {visible(criterion.text)}{" "}
                      {criterion.required && <Badge>required</Badge>}
                      {criterion.weight !== 1 && <Badge>weight {criterion.weight}</Badge>}
                      {criterion.error && <Badge kind="warning">could not be graded</Badge>}
                      {criterion.judged === false && <Badge kind="warning">not judged</Badge>}
                      <Verdict judged={criterion} />
                      {criterion.reason && <p class="faint">{visible(criterion.reason)}</p>}
                      {criterion.votes && <details class="stack"><summary>Votes<span class="unseen"> on {visible(criterion.text)}</span></summary><Votes judged={criterion} /></details>}
                    </div>
                    <span class="figure">{criterion.score == null ? "" : percent(criterion.score, 1)}</span>
                  </li>
                ))}
              </ul>
            )}
          </li>
        ))}
      </ul>
      <p class="unseen">{plural(scores.length, "score")}</p>
    </Section>
  );
}

export function Bar({ share }: { share: number }) {
  return <span class="bar" aria-hidden="true"><span style={{ width: `${Math.max(0, Math.min(1, share)) * 100}%` }} /></span>;
}
