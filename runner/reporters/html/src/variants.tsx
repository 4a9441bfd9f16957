/** The variants of a run: pass rates of each case, time and cost, and their answers side by side. */

import { useState } from "preact/hooks";
import { Table } from "./attempts";
import { number, visible } from "./format";
import { Badge } from "./values";
import { Overview } from "./verdict";

/** A piece of an answer, and whether it is missing in the answer that it is compared with. */
type Piece = [string, boolean];

/** The data that `html/variants.py` writes. */
export interface Variants {
  overview: string[][];
  said: string[][];
  head: string[];
  rows: { cells: string[]; differs: boolean; answers: Piece[][]; answers_differ: boolean }[];
  left_out: number;
}

interface Props {
  variants: Variants;
  title?: string;
  /** So many cases whose answers differ are open at first. */
  opened?: number;
}

export function VariantsView({ variants, title = "Variants", opened = 0 }: Props) {
  const [open, setOpen] = useState(() => new Set([...variants.rows.keys()].filter((at) => variants.rows[at].answers_differ).slice(0, opened)));
  const toggle = (at: number) => setOpen((old) => (old.has(at) ? new Set([...old].filter((one) => one !== at)) : new Set(old).add(at)));
  const names = variants.head.slice(1);
  return (
    <section class="compared variants" aria-labelledby="variants-title">
      <h2 id="variants-title">{title}</h2>
      <div class="card">
        <Overview rows={variants.overview} />
        {variants.said.map(([first, ...rest]) => (
          <>
            <p class="outcome">{visible(first)}</p>
            {rest.length > 0 && <ul class="advice">{rest.map((sentence) => <li>{visible(sentence)}</li>)}</ul>}
          </>
        ))}
        <Table head={variants.head.map(visible)} label="Cases by variants">
          {variants.rows.map(({ cells: [id, ...cells], differs, answers, answers_differ }, at) => (
            <>
              <tr class={differs ? "differs" : ""}>
                <th scope="row" class="wide">
                  <button type="button" class="link" aria-expanded={open.has(at)} onClick={() => toggle(at)}>{visible(id)}</button>
                  {answers_differ && <> <Badge kind="accent">other answer</Badge></>}
                </th>
                {cells.map((cell) => <td class={`figure ${differs ? toneOf(cell) : ""}`}>{cell}</td>)}
              </tr>
              {open.has(at) && (
                <tr class="answers">
                  <td colSpan={cells.length + 1}>
                    <div class="side-by-side">
                      {answers.map((pieces, of) => <Answer name={names[of]} pieces={pieces} tone={of ? "added" : "removed"} />)}
                    </div>
                  </td>
                </tr>
              )}
            </>
          ))}
        </Table>
        {variants.left_out > 0 && <p class="faint">{number(variants.left_out)} more cases are not shown.</p>}
      </div>
    </section>
  );
}

/** `2/3`: two of three runs passed. */
function toneOf(cell: string): string {
  const [passed, judged] = cell.split("/");
  return passed === judged ? "good" : judged ? "bad" : "";
}

function Answer({ name, pieces, tone }: { name: string; pieces: Piece[]; tone: string }) {
  return (
    <figure>
      <figcaption>{visible(name)}</figcaption>
      <p class={`answer ${tone}`}>
        {pieces.length === 0 ? <em>no answer</em> : pieces.map(([text, differs]) => (differs ? <mark>{visible(text)}</mark> : visible(text)))}
      </p>
    </figure>
  );
}
