/** What is different from the baseline, in numbers; each number shows its results. */

import { CHANGES, type Changes } from "./changes";
import { duration, number, percent, plural, visible, when } from "./format";
import type { Index } from "./model";

const KINDS: Record<string, string> = { "new-failure": "bad", fixed: "good", "still-failing": "bad" };

interface Props {
  now: Index;
  before: Index;
  changes: Changes;
  chosen: string;
  onChoose: (kind: string) => void;
}

export function Compared({ now, before, changes, chosen, onChoose }: Props) {
  const rate = (index: Index) => percent(index.summary.passed, index.summary.passed + index.summary.failed);
  return (
    <section class="compared" aria-labelledby="compared-title">
      <h2 id="compared-title">Compared with the baseline <span class="faint">of {when(before.start.timestamp)}</span></h2>
      <div class="card">
        <dl class="figures">
          <div><dt>Pass rate</dt><dd>{rate(before)} → {rate(now)}</dd></div>
          <div><dt>Duration</dt><dd>{duration(before.summary.duration_ms)} → {duration(now.summary.duration_ms)}</dd></div>
          <div><dt>Results</dt><dd>{number(before.summary.total)} → {number(now.summary.total)}</dd></div>
        </dl>
        <div class="chips" role="group" aria-label="Show results by what changed">
          {Object.entries(CHANGES).filter(([kind]) => changes.counts[kind]).map(([kind, name]) => (
            <button type="button" class={`chip ${KINDS[kind] ?? ""}`} aria-pressed={chosen === kind} onClick={() => onChoose(chosen === kind ? "" : kind)}>
              {name} <strong>{number(changes.counts[kind])}</strong>
            </button>
          ))}
          {Object.keys(changes.counts).length === 0 && changes.removed.length === 0 && <span class="faint">Nothing is different.</span>}
        </div>
        {changes.removed.length > 0 && (
          <details class="stack">
            <summary>{plural(changes.removed.length, "result")} of the baseline not run</summary>
            <ul class="links">{changes.removed.slice(0, 500).map((row) => <li>{visible(row.id)}</li>)}</ul>
          </details>
        )}
      </div>
    </section>
  );
}
