/** Coverage of handlers: figures for each file, and its lines. */

import { Table } from "./attempts";
import { number, visible } from "./format";
import type { Coverage, CoveredFile, Figure } from "./model";

const HEAD = ["File", "Statements", "Branches", "Functions", "Lines", "Uncovered lines"];

export function CoverageView({ coverage }: { coverage: Coverage }) {
  return (
    <section class="coverage" aria-labelledby="coverage-title">
      <h2 id="coverage-title">Coverage</h2>
      <div class="card">
        <Table head={HEAD} label="Coverage by file">
          <Figures name="All files" figures={coverage.totals} uncovered="" />
          {coverage.files.map((file) => <Figures name={file.path} figures={file.figures} uncovered={file.uncovered} />)}
        </Table>
        {coverage.files.filter((file) => file.lines.length > 0).map((file) => <Lines file={file} />)}
      </div>
    </section>
  );
}

function Figures({ name, figures, uncovered }: { name: string; figures: Figure[]; uncovered: string }) {
  return (
    <tr>
      <th scope="row">{visible(name)}</th>
      {figures.map((figure) => <td class={`figure ${grade(figure)}`}>{share(figure)}</td>)}
      <td class="wide">{uncovered}</td>
    </tr>
  );
}

function Lines({ file }: { file: CoveredFile }) {
  const hits = new Map(file.hits);
  return (
    <details>
      <summary>{visible(file.path)}</summary>
      <pre tabIndex={0} aria-label={`Lines of ${file.path}`}>
        {file.lines.map((text, at) => {
          const count = hits.get(at + 1);
          return (
            <span class={count === undefined ? "line" : count ? "line ran" : "line missed"}>
              {`${String(at + 1).padStart(5)} ${(count === undefined ? "" : count ? `${number(count)}×` : "never").padStart(8)}  ${visible(text)}\n`}
            </span>
          );
        })}
      </pre>
    </details>
  );
}

/** As on the console: rounded down, so that only full coverage is 100 %. */
const percent = ([covered, total]: Figure): number => (total ? Math.floor((covered * 10_000) / total) / 100 : 100);

const share = (figure: Figure): string => `${percent(figure)} %`;

const grade = (figure: Figure): string => (percent(figure) >= 80 ? "high" : percent(figure) >= 50 ? "fair" : "low");
