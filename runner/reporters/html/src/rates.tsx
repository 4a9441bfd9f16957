/** Pass rates and mean scores with their intervals: of the run, and by suite, tag, criterion and checkpoint. */

import { useState } from "preact/hooks";
import { Table } from "./attempts";
import { number, percent, visible } from "./format";
import type { Index, Part, Rates } from "./model";
import { Bar } from "./whisker";

/** How many parts of a kind are shown at first. */
const SHOWN = 8;
const KINDS: [string, string][] = [["suite", "Suites"], ["tag", "Tags"], ["criterion", "Criteria"], ["checkpoint", "Checkpoints"]];

export function RatesByPart({ index }: { index: Index }) {
  const [whole, setWhole] = useState(false);
  const { summary } = index;
  const parts = summary.parts ?? [];
  if (parts.length === 0) return null;
  const scored = [summary, ...parts].some(({ mean_score }) => mean_score != null);
  const kinds = KINDS.map(([kind, title]) => ({ title, found: parts.filter((part) => part.kind === kind) })).filter(({ found }) => found.length);
  const hidden = kinds.reduce((sum, { found }) => sum + Math.max(0, found.length - SHOWN), 0);
  return (
    <section class="rates" aria-labelledby="rates-title">
      <h2 id="rates-title">Rates <span class="faint">with 95% intervals</span></h2>
      <div class="card">
        <Table head={["", "Cases", "Case pass rate", ...(scored ? ["Mean score"] : [])]} label="Rates by suite, tag, criterion and checkpoint">
          <Figures name="All cases" part={summary} scored={scored} />
          {kinds.map(({ title, found }) => (
            <>
              <tr class="kind"><th scope="colgroup" colSpan={scored ? 4 : 3}>{title}</th></tr>
              {(whole ? found : found.slice(0, SHOWN)).map((part) => <Figures name={part.name} part={part} scored={scored} />)}
            </>
          ))}
        </Table>
        {hidden > 0 && <button type="button" class="link" onClick={() => setWhole(!whole)}>{whole ? "Fewer" : `${number(hidden)} more`}</button>}
      </div>
    </section>
  );
}

function Figures({ name, part, scored }: { name: string; part: Rates & Partial<Part>; scored: boolean }) {
  return (
    <tr>
      <th scope="row" class="wide">{visible(name)}</th>
      <td class="figure">{part.cases == null ? "" : number(part.cases)}</td>
      <td class="figure"><Figure value={part.pass_rate} ends={part.pass_rate_interval} /></td>
      {scored && <td class="figure"><Figure value={part.mean_score} ends={part.mean_score_interval} /></td>}
    </tr>
  );
}

function Figure({ value, ends }: { value?: number; ends?: [number, number] }) {
  if (value == null) return null;
  return <>{withEnds(value, ends)}<Bar ends={ends && [ends[0], value, ends[1]]} from={0} to={1} /></>;
}

/** `90.7 % (82.1 – 95.4 %)`. */
export function withEnds(value: number, ends?: [number, number]): string {
  return ends ? `${share(value)} (${share(ends[0]).replace(" %", "")} – ${share(ends[1])})` : share(value);
}

/** Shows 0 % and 100 % only if it is exactly that. */
const share = (value: number): string => (value > 0 && value < 0.001 ? "0.1 %" : percent(value, 1));
