/** The trace of a result: all calls of models and tools. Those of judges and simulators are separate from the agent's. */

import { Table } from "./attempts";
import { Messages } from "./chat";
import { capital, duration, money, number, plural, visible } from "./format";
import type { Json, Trace, TraceStep, TraceTotal } from "./model";
import { Badge, Labelled, Section, Value } from "./values";

export function TraceOf({ trace }: { trace: Trace }) {
  const totals = Object.entries(trace.totals);
  const [models, tools] = totals.reduce(([all, used], [, total]) => [all + total.model_calls, used + total.tool_calls], [0, 0]);
  const count = [models ? plural(models, "model call") : "", tools ? plural(tools, "tool call") : ""].filter(Boolean).join(", ");
  return (
    <Section title="Trace" count={count} open={false}>
      <Table head={["", "Model calls", "Tool calls", "Duration", "Tokens", "Cost"]} label="Duration and usage by role">
        {totals.map(([role, total]) => <Total role={role} total={total} />)}
      </Table>
      <ol class="trace">{trace.steps.map((step) => <Step step={step} />)}</ol>
      {trace.cut && <p class="note">The trace was too long and was truncated.</p>}
    </Section>
  );
}

function Total({ role, total }: { role: string; total: TraceTotal }) {
  return (
    <tr>
      <th scope="row">{capital(visible(role))}</th>
      <td class="figure">{number(total.model_calls)}</td>
      <td class="figure">{number(total.tool_calls)}</td>
      <td class="figure">{duration(total.duration_ms)}</td>
      <td class="figure">{tokens(total)}</td>
      <td class="figure">{total.cost == null ? "" : money(total.cost, total.cost_estimated)}</td>
    </tr>
  );
}

const tokens = ({ input_tokens, output_tokens }: { input_tokens?: number; output_tokens?: number }): string =>
  input_tokens == null ? "" : `${number(input_tokens)} in, ${number(output_tokens ?? 0)} out`;

function Step({ step }: { step: TraceStep }) {
  const whole = step.messages || step.answer || "arguments" in step;
  const failed = step.failed || step.error != null;
  const head = (
    <>
      <Badge kind={step.role === "agent" ? "accent" : ""}>{visible(step.role)}</Badge>{" "}
      <strong>{visible(step.kind === "tool" ? `${step.server ? `${step.server}.` : ""}${step.name}` : step.model || step.connector || "model")}</strong>{" "}
      <span class="faint">
        {[step.turn ? `turn ${step.turn}` : "", step.agent, duration(step.duration_ms), tokens(step), step.cost == null ? "" : money(step.cost, step.cost_estimated)]
          .filter(Boolean).map(visible).join(" · ")}
      </span>
      {failed && <> <Badge kind="failed">failed</Badge></>}
    </>
  );
  const error = step.error != null && <pre class="message" dir="auto">{visible(step.error)}</pre>;
  if (!whole) return <li class="trace-step">{head}{error}</li>;
  return (
    <li class="trace-step">
      <details>
        <summary>{head}</summary>
        {step.before ? <p class="faint">After {plural(step.before, "message")} of its call before</p> : null}
        {step.messages && step.messages.length > 0 && <Messages messages={step.messages.map(plain)} />}
        {step.answer && <Labelled label="Answer"><Value value={step.answer as Json} label="Answer" /></Labelled>}
        {step.arguments !== undefined && <Labelled label="Arguments"><Value value={step.arguments} label="Arguments" /></Labelled>}
        {step.result !== undefined && <Labelled label="Result"><Value value={step.result} label="Result" /></Labelled>}
        {error}
      </details>
    </li>
  );
}

/** A message in a form that can be shown. If it has no content, its other fields, such as calls of tools, are the content. */
function plain(message: { role: string; content: Json; [key: string]: Json }): { role: string; content: Json } {
  const { role, content, ...rest } = message;
  return { role, content: content == null && Object.keys(rest).length > 0 ? rest : content };
}
