/** Shows one result in full. */

import { useContext, useEffect, useState } from "preact/hooks";
import { AroundResults, At } from "./around";
import { Assertions, Checkpoints, Scores, Values } from "./assertions";
import { Attempts, Trials } from "./attempts";
import { factsOf, type Comparison } from "./changes";
import { Completion, Content, Files, Messages, messagesIn, Tools, Turns } from "./chat";
import { capital, duration, money, number, plural, visible } from "./format";
import { suiteName, verdictOf, type Attachment, type Entry, type Extra, type Result, type ResultWarning, type Row, type Step, type StoryLine, type Suite } from "./model";
import type { Store } from "./store";
import { TraceOf } from "./trace";
import { Badge, Copy, Diff, Labelled, Section, Sign, Value } from "./values";
import { hashOf, viewFromHash } from "./view";

export interface Before {
  store: Store;
  comparison: Comparison;
}

interface Loaded {
  entry: Entry;
  was: Entry | null;
}

interface Props {
  store: Store;
  at: number;
  before: Before | null;
}

function atOnce({ store, at, before }: Props): Loaded | null {
  const entry = store.entryNow(at);
  const place = before?.comparison.was[at] ?? -1;
  return entry && place < 0 ? { entry, was: null } : null;
}

export function Detail(props: Props) {
  const { store, at, before } = props;
  const [loaded, setLoaded] = useState<Loaded | string | null>(() => atOnce(props));
  useEffect(() => {
    let left = false;
    const place = before?.comparison.was[at] ?? -1;
    const both = Promise.all([store.entry(at), before && place >= 0 ? before.store.entry(place) : null]);
    both.then(
      ([entry, was]) => left || setLoaded({ entry, was }),
      (error) => left || setLoaded(`Cannot read this result: ${error}`),
    );
    return () => {
      left = true;
    };
  }, [store, at, before]);
  if (loaded === null) return <p class="faint loading">Loading…</p>;
  if (typeof loaded === "string") return <p class="problem">{loaded}</p>;
  const row = store.index.rows[at];
  const facts = before ? factsOf(before.comparison, at) : [];
  const diff = before?.comparison.outputs[at];
  return (
    <At.Provider value={{ at, files: filesOf(loaded.entry[0]) }}>
      <Everything at={at} row={row} suite={store.index.start.suites[row.suite]} entry={loaded.entry} was={loaded.was} facts={facts} diff={diff} />
    </At.Provider>
  );
}

/** All attachments of a result and its turns. */
const filesOf = (result: Result): Attachment[] => [result, ...(result.turns ?? [])].flatMap(({ attachments }) => attachments ?? []);

interface Parts {
  at: number;
  row: Row;
  suite: Suite;
  entry: Entry;
  was: Entry | null;
  /** How it differs from the baseline, in words. */
  facts: string[];
  /** How its output differs from the earlier one, if it does. */
  diff?: string;
}

function Everything({ at, row, suite, entry, was, facts, diff }: Parts) {
  const [result, extra] = entry;
  const around = useContext(AroundResults);
  const assertions = result.assertions ?? [];
  const address = () => location.href.replace(/#.*$/s, "") + hashOf({ ...viewFromHash(location.hash), result: row.key });
  return (
    <>
      <div class="actions">
        <Copy label="Copy command" text={extra.command} />
        <Copy label="Copy link" text={address} />
        <Copy label="Copy JSON" text={() => JSON.stringify(result, null, 2)} />
        {around?.actions(at, row, result)}
        <code class="command">{visible(extra.command)}</code>
      </div>
      {result.status === "failed" && <Why result={result} extra={extra} />}
      {result.story && (
        <Section title="What happened before it failed" count={plural(result.story.length, "line")}><Value value={storyText(result.story)} label="Story" /></Section>
      )}
      {result.warnings?.map((warning) => <Warning warning={warning} extra={extra} />)}
      {(result.todo || result.skip_reason) && <p class="note">{result.todo ? "Todo" : "Skipped"}{result.skip_reason && `: ${visible(result.skip_reason)}`}</p>}
      {result.checks_nothing && <p class="note">It passed without checking anything: it has no assertions.</p>}
      {around?.below(at, row, result)}
      {was && <Earlier now={result} was={was[0]} facts={facts} diff={diff} />}
      {result.runs?.attempts && <Attempts runs={result.runs} />}
      {result.trials && <Trials trials={result.trials} noise={result.trials_noise} />}
      {result.turns && <Given result={result} />}
      {result.turns && <Turns turns={result.turns} />}
      {result.checkpoints && result.checkpoints.length > 0 && <Checkpoints checkpoints={result.checkpoints} />}
      {result.scores && result.scores.length > 0 && (
        <Scores scores={result.scores} total={result.score} threshold={result.threshold} />
      )}
      {assertions.length > 0 && (
        <Section title="Assertions" count={`${assertions.filter((one) => one.passed && one.judged !== false).length} of ${assertions.length} passed`}>
          <Assertions assertions={assertions} />
        </Section>
      )}
      {result.final_assertions && result.final_assertions.length > 0 && (
        <Section title="Final assertions"><Assertions assertions={result.final_assertions} /></Section>
      )}
      {!result.turns && "input" in result && <Exchange result={result} />}
      {result.tools && result.tools.length > 0 && !result.turns && (
        <Section title="Tool calls" count={number(result.tools.length)}><Tools tools={result.tools} /></Section>
      )}
      {result.sent && <Section title="Sent by scripts" open={false}><Value value={result.sent} label="Sent by scripts" /></Section>}
      {result.steps && <Section title="Steps" count={number(result.steps.length)}><Steps steps={result.steps} extra={extra} /></Section>}
      {result.logs && result.logs.length > 0 && (
        <Section title="Logs" count={plural(result.logs.length, "line")}><Value value={result.logs.join("\n")} label="Logs" /></Section>
      )}
      {result.trace && <TraceOf trace={result.trace} />}
      <Facts result={result} suite={suite} />
    </>
  );
}

/** The lines of a story as the console shows them. */
function storyText(story: StoryLine[]): string {
  const places = story.map(({ file, line, kind }) => (["cut", "flaky", "note"].includes(kind) ? "" : `${file.split("/").at(-1)}:${line}`));
  const wide = Math.max(...places.map(({ length }) => length));
  return story.map(({ depth, text }, at) => (places[at] ? `${places[at].padEnd(wide)}  ${"  ".repeat(Math.min(Math.max(0, depth - 1), 30))}${text}` : text)).join("\n");
}

/** Why a result failed: messages, values, and where. */
function Why({ result, extra }: { result: Result; extra: Extra }) {
  const messages = result.assertion_errors ?? result.errors ?? [];
  const others = messages.filter((message) => message !== result.error);
  return (
    <div class="why" role="group" aria-label="Why it failed">
      <div class="why-head">
        <h3>Why it failed</h3>
        {result.cause && <Badge kind={result.cause === "assertion" ? "failed" : "warning"}>{causeName(result.cause)}</Badge>}
      </div>
      {result.assertion ? <Failed part={result} /> : [result.error, ...others].map((message) => message && <pre class="message" dir="auto">{visible(message)}</pre>)}
      <Where of={result} extra={extra} />
    </div>
  );
}

/** What failed in a script test or a subtest, and what was compared. */
function Failed({ part: { error, errors, failures, assertion } }: { part: Omit<Step, "name"> }) {
  const checks = failures ?? [assertion];
  return error && checks.map((check, at) => (
    <>
      <pre class="message" dir="auto">{visible(errors?.[at] ?? error)}</pre>
      {check?.type && <Values of={check} />}
    </>
  ));
}

function Warning({ warning, extra }: { warning: ResultWarning; extra: Extra }) {
  return (
    <div class="why warned" role="group" aria-label="Warning">
      <div class="why-head">
        <h3>Warning</h3>
        <Badge kind="warning">{warning.kind}</Badge>
      </div>
      <pre class="message" dir="auto">{visible(warning.message)}</pre>
      <Where of={warning} extra={extra} />
    </div>
  );
}

export const causeName = (cause: string): string => (cause === "assertion" ? "assertion" : capital(cause).toLowerCase());

/** Code frame and stack. */
function Where({ of, extra }: { of: Pick<Step, "location" | "stack_trace">; extra: Extra }) {
  if (!of.location) return null;
  const frame = extra.frames?.[of.location];
  return (
    <div class="where">
      <div class="location">at {visible(of.location)}</div>
      {frame && (
        <pre class="frame" tabIndex={0} role="group" aria-label={`Code around ${of.location}`}>
          {frame.lines.map((line, at) => (
            <div class={frame.first + at === frame.line ? "line here" : "line"}>
              <span class="sign">{frame.first + at}</span>
              <span class="text">
                {visible(line)}
                {frame.first + at === frame.line && <span class="caret" aria-hidden="true">{`\n${blank(line, frame.column)}^`}</span>}
              </span>
            </div>
          ))}
        </pre>
      )}
      {of.stack_trace?.includes("\n") && (
        <details class="stack"><summary>Stack</summary><Value value={of.stack_trace} label="Stack" /></details>
      )}
    </div>
  );
}

const blank = (line: string, column: number): string => line.slice(0, column - 1).replace(/[^\t]/g, " ");

function Exchange({ result }: { result: Result }) {
  const messages = messagesIn(result.input);
  return (
    <Section title={result.expected == null ? "Input and output" : "Input, output and expected output"}>
      <div class="pair">
        <Labelled label="Input">
          {messages ? <Messages messages={messages} /> : typeof result.input === "string" ? <div class="quoted"><Content content={result.input} /></div> : <Value value={result.input} label="Input" />}
          <Files files={result.attachments} said={result.input} />
        </Labelled>
        <Labelled label="Output">
          {result.output == null ? <p class="faint">(none)</p> : <Value value={result.output} label="Output" />}
        </Labelled>
      </div>
      {result.response && typeof result.output !== "string" && result.output != null && (
        <Completion text={result.response} />
      )}
      {result.expected != null && <Labelled label="Expected"><Value value={result.expected} label="Expected" /></Labelled>}
    </Section>
  );
}

/** Messages from before the turns, and attachments of the case itself. */
function Given({ result }: { result: Result }) {
  const messages = Array.isArray(result.input) ? messagesIn(result.input) : null;
  if (!messages && !result.attachments) return null;
  return (
    <Section title="Conversation before the case" count={messages ? plural(messages.length, "message") : undefined} open={false}>
      {messages && <Messages messages={messages} />}
      <Files files={result.attachments} said={result.input} />
    </Section>
  );
}

/** Compares a result with that of the baseline. */
function Earlier({ now, was, facts, diff }: { now: Result; was: Result; facts: string[]; diff?: string }) {
  return (
    <Section title="Compared with the baseline">
      <p class="earlier">
        <Sign status={verdictOf(was)} /> {capital(verdictOf(was))} in {duration(was.duration_ms)} <span aria-hidden="true">→</span>
        <span class="unseen">, now</span> <Sign status={verdictOf(now)} /> {capital(verdictOf(now))} in {duration(now.duration_ms)}
      </p>
      {facts.length > 0 && <ul class="links">{facts.map((fact) => <li>{visible(fact)}</li>)}</ul>}
      {was.error && was.error !== now.error && <Labelled label="Error in the baseline"><Value value={was.error} label="Error in the baseline" /></Labelled>}
      {diff
        ? <Labelled label="Output"><Diff text={diff} names={["baseline", "now"]} /></Labelled>
        : now.output !== undefined && <p class="faint">The output is the same.</p>}
    </Section>
  );
}

function Steps({ steps, extra }: { steps: Step[]; extra: Extra }) {
  return (
    <ul class="steps">
      {steps.map((step) => (
        <li>
          <div class="step-head">
            <Sign status={step.status} /> <span>{visible(step.name)}</span> <span class="faint">{duration(step.duration_ms)}</span>
          </div>
          <Failed part={step} />
          {(step.todo || step.skip_reason) && <p class="faint">{step.todo && "todo"}{step.todo && step.skip_reason && ": "}{step.skip_reason && visible(step.skip_reason)}</p>}
          <Where of={step} extra={extra} />
          {step.steps && <Steps steps={step.steps} extra={extra} />}
        </li>
      ))}
    </ul>
  );
}

function Facts({ result, suite }: { result: Result; suite: Suite }) {
  const { usage } = result;
  const facts: [string, string | undefined][] = [
    ["Suite", suite.kind === "script_test" ? suite.id : suiteName(suite)],
    ["File", suite.file && suite.file + (result.line ? `:${result.line}` : "")],
    ["Agent", suite.agent],
    ["Connector", result.connector ?? suite.connector],
    ["Simulator", result.simulator],
    ["Messages", result.messages_count ? number(result.messages_count) : undefined],
    ["Model calls", result.model_calls ? number(result.model_calls) : undefined],
    ["Tokens", usage && `${number(usage.input_tokens)} in, ${number(usage.output_tokens)} out`],
    ["Cost", usage?.cost == null ? undefined : money(usage.cost, usage.cost_estimated)],
    ["Tags", result.tags?.join(", ")],
  ];
  return (
    <Section title="Details" open={false}>
      <dl class="facts">
        {facts.filter(([, value]) => value).map(([name, value]) => <div><dt>{name}</dt><dd>{visible(value!)}</dd></div>)}
      </dl>
      {result.metadata && <Labelled label="Metadata"><Value value={result.metadata} label="Metadata" /></Labelled>}
    </Section>
  );
}
