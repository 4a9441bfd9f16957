/** Counts of the differences from the baseline. A click on a count shows its results. */

import type { Comparison } from "./changes";
import { number, plural, visible, when } from "./format";
import type { Index } from "./model";
import { Overview, VerdictOn } from "./verdict";

interface Props {
  now: Index;
  before: Index;
  comparison: Comparison;
  /** The title of the comparison; by default it names the baseline. */
  title?: string;
  chosen: string;
  onChoose: (kind: string) => void;
}

export function Compared({ now, before, comparison, title, chosen, onChoose }: Props) {
  const { measures, kinds, parts, removed } = comparison;
  return (
    <section class="compared" aria-labelledby="compared-title">
      <h2 id="compared-title">{title ?? <>Compared with the baseline <span class="faint">of {when(before.start.timestamp)}</span></>}</h2>
      <div class="card">
        <Overview rows={comparison.overview} />
        {comparison.changes.map((change) => <VerdictOn change={change} named={comparison.changes.length > 1} />)}
        <p class={comparison.changes.length ? "lists" : `outcome ${comparison.worse ? "bad" : ""}`}>{comparison.verdict}</p>
        {parts && <p class="parts">Changed since the baseline: {visible(parts)}</p>}
        <dl class="figures">
          <div><dt>Results</dt><dd>{number(before.summary.total)} → {number(now.summary.total)}</dd></div>
          {comparison.changes.length === 0 && measures.map(([name, was, is]) => <div title={`Mean per run over ${plural(comparison.compared, "result")} judged in both`}><dt>{name}</dt><dd>{was} → {is}</dd></div>)}
        </dl>
        <div class="chips" role="group" aria-label="Filter results by change">
          {kinds.map(({ key, title, tone, count }) => (
            <button type="button" class={`chip ${tone}`} aria-pressed={chosen === key} onClick={() => onChoose(chosen === key ? "" : key)}>
              {title} <strong>{number(count)}</strong>
            </button>
          ))}
        </div>
        {removed.length > 0 && (
          <details class="stack">
            <summary>{plural(removed.length, "result")} of the baseline not run</summary>
            <ul class="links">{removed.slice(0, 500).map((id) => <li>{visible(id)}</li>)}</ul>
          </details>
        )}
      </div>
    </section>
  );
}
