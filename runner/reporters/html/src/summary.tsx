/** The top of the page: the summary of the run, and its environment. */

import { capital, duration, money, number, percent, plural, visible, when } from "./format";
import { suiteName, type Index } from "./model";
import { withEnds } from "./rates";
import { Sign } from "./values";
import { Bar } from "./whisker";

export function Summary({ index, onStatus, status }: { index: Index; status: string; onStatus: (status: string) => void }) {
  const { summary, start } = index;
  const judged = summary.passed + summary.failed;
  const onlyCases = start.suites.every(({ kind }) => kind === "agent_test");
  const tiles: [string, string, number][] = [
    ["", "All", summary.total],
    ["passed", "Passed", summary.passed],
    ["failed", "Failed", summary.failed],
    ["skipped", "Skipped", summary.skipped],
  ];
  if (summary.errors) tiles.splice(3, 0, ["error", "Errors", summary.errors]);
  return (
    <section class="summary card" aria-labelledby="summary-title">
      <div class="rate">
        <Ring passed={summary.passed} judged={judged} of={onlyCases ? "case pass rate" : "pass rate"} />
        {summary.pass_rate_interval && onlyCases && (
          <div class="ends" title="Case pass rate with its 95% interval">
            <Bar ends={[summary.pass_rate_interval[0], summary.pass_rate ?? 0, summary.pass_rate_interval[1]]} from={0} to={1} />
            <span>{withEnds(summary.pass_rate ?? 0, summary.pass_rate_interval)}</span>
          </div>
        )}
        {summary.mean_score != null && <p class="ends">Mean score {withEnds(summary.mean_score, summary.mean_score_interval)}</p>}
        {summary.judges_noise && (
          <p class="ends" title="Variation due to the votes of the judges (95% interval)">
            Judge noise ±{percent(summary.judges_noise.pass_rate, 1)}{summary.judges_noise.mean_score != null && `, of the mean score ±${percent(summary.judges_noise.mean_score, 1)}`}
          </p>
        )}
      </div>
      <div class="verdict">
        <h2 id="summary-title" class={toneOf(summary)}>{verdict(index)}</h2>
        <p class="faint">
          {plural(summary.total, "result")}{summary.warnings ? ` with ${plural(summary.warnings, "warning")}` : ""} in {duration(summary.duration_ms)}{snapshots(summary.snapshots)} · {when(start.timestamp)}
        </p>
        {summary.stopped && (
          <p class="left">{plural(summary.not_run ?? 0, "test")} were not run: the run ended early ({visible(summary.stopped)})</p>
        )}
        <Split summary={summary} />
        {remarks(summary).map((said) => <p class="note">{visible(said)}</p>)}
        <div class="tiles" role="group" aria-label="Show results by status">
          {tiles.map(([key, name, count]) => (
            <button type="button" class={`tile ${key}`} aria-pressed={status === key} onClick={() => onStatus(key)}
              title={key === "error" ? "Failed because of the tool, the network or a judge; not counted in the pass rate" : undefined}>
              <span class="tile-count">{number(count)}</span>
              <span class="tile-name">{key && count > 0 && <Sign status={key} />}{name}</span>
            </button>
          ))}
        </div>
      </div>
      <Surroundings index={index} />
    </section>
  );
}

/** What happened to snapshots, for example ` · 2 snapshots written`. */
function snapshots(counts: Index["summary"]["snapshots"]): string {
  if (!counts) return "";
  const parts = (["written", "updated"] as const).map((done) => counts[done] && `${plural(counts[done], "snapshot")} ${done}`);
  parts.push(counts.removed && `${plural(counts.removed, "obsolete snapshot")} removed`);
  parts.push(counts.obsolete && `${plural(counts.obsolete.length, "obsolete snapshot")} (${counts.obsolete.join(", ")})`);
  return " · " + parts.filter(Boolean).join(", ");
}

const toneOf = ({ status, errors, failed }: Index["summary"]): string =>
  status === "running" && !failed && !errors ? "" : status === "passed" && !errors ? "good" : "bad";

function verdict({ summary }: Index): string {
  if (summary.status === "running") return `Running: ${plural(summary.total, "result")} so far`;
  if (summary.status === "interrupted" || summary.status === "cut short") return `The run was ${summary.status}`;
  if (summary.failed > 0) return `${number(summary.failed)} of ${plural(summary.total, "test")} failed`;
  if (summary.errors) return `${plural(summary.errors, "test")} could not be graded`;
  if (summary.status === "error") return "The run ended with an error";
  return summary.total === 0 ? "Nothing ran" : summary.passed === summary.total ? "Everything passed" : "Nothing failed";
}

/** Remarks as on the console: missing calls, criteria that were not judged, tests that are unfinished or run alone, cases that check nothing. */
function remarks({ missing_calls = 0, not_judged = 0, todo = 0, only = [], checks_nothing = 0, checks_nothing_first = [] }: Index["summary"]): string[] {
  const said: string[] = [];
  if (missing_calls) said.push(`${number(missing_calls)} missing ${missing_calls === 1 ? "call" : "calls"}`);
  if (not_judged) said.push(`${number(not_judged)} ${not_judged === 1 ? "criterion was" : "criteria were"} not judged`);
  if (todo) said.push(`${number(todo)} todo`);
  if (only.length) said.push(`t.only in ${only.join(", ")}: other tests of the same module did not run`);
  if (checks_nothing) {
    const rest = checks_nothing - checks_nothing_first.length;
    const more = rest > 0 ? ` and ${number(rest)} more` : "";
    said.push(`${number(checks_nothing)} ${checks_nothing === 1 ? "case checks" : "cases check"} nothing: ${checks_nothing_first.join(", ")}${more}`);
  }
  return said;
}

function Ring({ passed, judged, of }: { passed: number; judged: number; of: string }) {
  const length = 2 * Math.PI * 42;
  const share = judged ? passed / judged : 0;
  const text = percent(passed, judged);
  return (
    <div class="ring" role="img" aria-label={judged ? `${capital(of)} ${text}` : "No pass rate: nothing was graded"}>
      <svg viewBox="0 0 100 100">
        <circle class={judged ? "ring-rest" : "ring-none"} cx="50" cy="50" r="42" />
        {share > 0 && <circle class="ring-part" cx="50" cy="50" r="42" stroke-dasharray={`${share * length} ${length}`} transform="rotate(-90 50 50)" />}
      </svg>
      <div class="ring-text"><strong>{text}</strong><span>{of}</span></div>
    </div>
  );
}

function Split({ summary }: { summary: Index["summary"] }) {
  const parts = (["passed", "failed", "errors", "skipped"] as const).filter((status) => summary[status]);
  return (
    <div class="split" aria-hidden="true">
      {parts.map((status) => <span class={status} style={{ flexGrow: summary[status] }} />)}
    </div>
  );
}

function Surroundings({ index }: { index: Index }) {
  const { start, rows } = index;
  const agents = unique(start.suites.map((suite) => suite.agent));
  const labels = unique(start.suites.map(suiteName));
  const connectors = unique(start.suites.map((suite) => suite.connector));
  const usage = index.summary.usage;
  const tokens = usage ? usage.input_tokens + usage.output_tokens : rows.reduce((sum, row) => sum + (row.tokens ?? 0), 0);
  const cost = usage ? usage.cost ?? 0 : rows.reduce((sum, row) => sum + (row.cost ?? 0), 0);
  const environment = Object.entries(start.environment).filter(([, value]) => value);
  const facts: [string, string][] = [
    [agents.length === 1 ? "Agent" : "Agents", listed(agents)],
    [connectors.length === 1 ? "Connector" : "Connectors", listed(connectors)],
    [labels.length === 1 ? "Suite" : "Suites", listed(labels)],
    ...environment.map(([key, value]): [string, string] => [capital(key.replace(/_id$/, "")), value]),
    ["Tokens", tokens ? number(tokens) + (cost ? ` (${money(cost, (usage ? [usage] : rows).some((one) => one.cost_estimated))})` : "") : ""],
    ["Version", start.version],
  ];
  return (
    <dl class="surroundings">
      {facts.filter(([, value]) => value).map(([name, value]) => <div><dt>{name}</dt><dd><Breakable text={value} /></dd></div>)}
    </dl>
  );
}

/** A text that may wrap after a slash or a dot. */
function Breakable({ text }: { text: string }) {
  return <>{visible(text).split(/(?<=[/.])/).map((part) => <>{part}<wbr /></>)}</>;
}

const unique = (values: string[]): string[] => [...new Set(values.filter(Boolean))];

const listed = (values: string[]): string =>
  values.length > 4 ? `${values.slice(0, 3).join(", ")} and ${number(values.length - 3)} more` : values.join(", ");
