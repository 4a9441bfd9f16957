/** Whether a run is worse than the baseline: the verdict, the measures behind it, and the cases that became worse. */

import { Table } from "./attempts";
import type { Verdict } from "./changes";
import { visible } from "./format";
import { Bar } from "./whisker";

const TONES: Record<string, string> = { regressed: "bad", improved: "good", unchanged: "good", "cannot tell": "unsure" };
const COMMAND = ": yao-test ";

export function VerdictOn({ change, named }: { change: Verdict; named: boolean }) {
  const [first, ...rest] = change.said;
  const reach = Math.max(0.05, ...change.rows.flatMap(({ difference }) => (difference ? difference.map(Math.abs) : [])));
  return (
    <div class="verdict">
      {named && <h3>{visible(change.name)}</h3>}
      <p class={`outcome ${TONES[change.word] ?? ""}`}>{visible(first)}</p>
      {rest.length > 0 && <ul class="advice">{rest.map((sentence) => <Sentence text={sentence} />)}</ul>}
      <Table head={["Measure", "A", "B", "Difference (95% interval)", "Verdict"]} label="Measures with their intervals">
        {change.rows.map(({ cells: [name, a, b, difference, word], ...ends }) => (
          <tr>
            <th scope="row">{visible(name)}</th>
            <td class="figure">{a}<Bar ends={ends.a} from={0} to={1} /></td>
            <td class="figure">{b}<Bar ends={ends.b} from={0} to={1} /></td>
            <td class="figure">{difference}<Bar ends={ends.difference} from={-reach} to={reach} zero /></td>
            <td class={TONES[word] ?? ""}>{word}</td>
          </tr>
        ))}
      </Table>
      {change.cases.length > 0 && (
        <Table head={["Case", "A", "B", "p", "Verdict"]} label="Cases that got worse">
          {change.cases.map(([id, ...cells]) => (
            <tr>
              <th scope="row" class="wide">{visible(id)}</th>
              {cells.map((cell, at) => <td class={at < 3 ? "figure" : cell === "worse" ? "bad" : ""}>{cell}</td>)}
            </tr>
          ))}
        </Table>
      )}
    </div>
  );
}

/** A table of several reports, one row for each. */
export function Overview({ rows: [head, ...rows] }: { rows: string[][] }) {
  if (!head) return null;
  return (
    <Table head={head.map(visible)} label="Compared reports">
      {rows.map(([name, ...cells]) => (
        <tr>
          <th scope="row">{visible(name)}</th>
          {cells.map((cell) => <td class={TONES[cell] ?? "figure"}>{cell}</td>)}
        </tr>
      ))}
    </Table>
  );
}

/** A sentence of the advice. A command at its end is set as code. */
function Sentence({ text }: { text: string }) {
  const at = text.indexOf(COMMAND);
  if (at < 0) return <li>{visible(text)}</li>;
  return <li>{visible(text.slice(0, at + 1))} <code>{visible(text.slice(at + 2))}</code></li>;
}
