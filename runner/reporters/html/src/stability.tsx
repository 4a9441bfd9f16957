/** Cases that were run several times: how often each passed, and how much its durations differ. */

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Table } from "./attempts";
import { duration, number, range, visible } from "./format";
import { nameOf, type Index, type RunFigures } from "./model";

/** Lowest pass rate in percent, name of the class as in `--runs`, style. */
const CLASSES: [number, string, string][] = [
  [100, "Stable", "passed"],
  [80, "Mostly Stable", "mostly"],
  [50, "Unstable", "warning"],
  [0, "Highly Unstable", "failed"],
];
/** Most cases whose ids are shown below the chart. */
const NAMED = 24;
const WORST = 8;
const HEIGHT = 170;

const classOf = (rate: number) => CLASSES.find(([least]) => rate >= least) ?? CLASSES[3];

interface Case {
  at: number;
  name: string;
  runs: RunFigures & { marks: string };
}

export function Stability({ index, theme, onOpen }: { index: Index; theme: string; onOpen: (at: number) => void }) {
  const cases = useMemo(() => inOrder(index), [index]);
  const [told, setTold] = useState<number | null>(null);
  if (cases.length === 0) return null;
  const counts = CLASSES.map(([, name, color]) => ({ name, color, count: cases.filter((one) => classOf(one.runs.pass_rate)[1] === name).length }));
  const worst = cases.filter((one) => one.runs.pass_rate < 100).slice(0, WORST);
  const one = told === null ? null : cases[told];
  return (
    <section class="stability" aria-labelledby="stability-title">
      <h2 id="stability-title">Stability <span class="faint">{number(cases.reduce((sum, { runs }) => sum + runs.count, 0))} runs of {number(cases.length)} cases</span></h2>
      <div class="card">
        <ul class="legend">
          {counts.map(({ name, color, count }) => <li><span class={`dot ${color}`} /> {name} <strong>{number(count)}</strong></li>)}
        </ul>
        <div class="charts">
          <Chart kind="rate" cases={cases} theme={theme} onPoint={setTold} onOpen={onOpen} />
          <Chart kind="time" cases={cases} theme={theme} onPoint={setTold} onOpen={onOpen} />
        </div>
        <p class="told faint" aria-hidden="true">
          {one
            ? `${visible(one.name)}: ${one.runs.pass_rate} % of ${one.runs.count} runs, ${range(one.runs.min_duration_ms, one.runs.max_duration_ms)}, mean ${duration(one.runs.avg_duration_ms)}`
            : "Least stable first. Hover over a case to see its figures, click to open it, drag to zoom, double-click to zoom out."}
        </p>
        {worst.length > 0 && (
          <Table head={["Case", "Runs", "Run pass rate", "Consistency", "Mean duration", "Range"]} label="Least stable cases">
            {worst.map(({ at, name, runs }) => (
              <tr>
                <td class="wide"><button type="button" class="link" onClick={() => onOpen(at)}>{visible(name)}</button></td>
                <td><Marks runs={runs} /></td>
                <td class="figure">{runs.pass_rate} %</td>
                <td class="figure">{runs.consistency ?? "–"}</td>
                <td class="figure">{duration(runs.avg_duration_ms)}</td>
                <td class="figure">{range(runs.min_duration_ms, runs.max_duration_ms)}</td>
              </tr>
            ))}
          </Table>
        )}
      </div>
    </section>
  );
}

function inOrder(index: Index): Case[] {
  const found: Case[] = [];
  index.rows.forEach((row, at) => row.runs && row.runs.count > 1 && found.push({ at, name: nameOf(index, row), runs: row.runs }));
  const spread = ({ runs }: Case) => (runs.avg_duration_ms ? runs.std_deviation_ms / runs.avg_duration_ms : 0);
  return found.sort((a, b) => a.runs.pass_rate - b.runs.pass_rate || spread(b) - spread(a) || a.at - b.at);
}

const NAMES: Record<string, string> = { p: "passed", f: "failed", s: "skipped", e: "error" };

/** A small square for each run. */
export function Marks({ runs }: { runs: Case["runs"] }) {
  return (
    <span class="marks" role="img" aria-label={`${runs.passed} of ${runs.count} runs passed`}>
      {[...runs.marks].map((mark) => <span class={NAMES[mark]} />)}
      {runs.count > runs.marks.length && <span class="rest">+{runs.count - runs.marks.length}</span>}
    </span>
  );
}

interface ChartProps {
  kind: "rate" | "time";
  cases: Case[];
  theme: string;
  onPoint: (place: number | null) => void;
  onOpen: (at: number) => void;
}

function Chart({ kind, cases, theme, onPoint, onOpen }: ChartProps) {
  const holder = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = holder.current!;
    const options = kind === "rate" ? rateOptions(cases, element) : timeOptions(cases, element);
    options.hooks = { ...options.hooks, setCursor: [(plot) => onPoint(plot.cursor.idx ?? null)] };
    const values = cases.map(({ runs }) => (kind === "rate" ? Math.max(runs.pass_rate, 1.5) : runs.avg_duration_ms));
    const plot = new uPlot(options, [cases.map((_, place) => place), values], element);
    const watcher = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: options.height }));
    watcher.observe(element);
    const open = () => {
      const place = plot.cursor.idx;
      if (place != null && plot.select.width === 0) onOpen(cases[place].at);
    };
    plot.over.addEventListener("click", open);
    return () => {
      watcher.disconnect();
      plot.destroy();
    };
  }, [kind, cases, theme, onPoint, onOpen]);
  const label = kind === "rate" ? "Run pass rate of each case in percent" : "Duration of each case: mean, and from the shortest to the longest run";
  return (
    <figure class="chart">
      <figcaption>{kind === "rate" ? "Run pass rate" : "Duration: range and mean"}</figcaption>
      <div ref={holder} role="img" aria-label={label} />
    </figure>
  );
}

/** A colour of the style sheet, in the form that a canvas needs. */
function color(element: HTMLElement, name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(--${name})`;
  element.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

function base(cases: Case[], element: HTMLElement): uPlot.Options {
  const faint = color(element, "faint");
  const grid = { stroke: color(element, "line"), width: 1 };
  const font = "11px system-ui, sans-serif";
  const hasNames = cases.length <= NAMED;
  return {
    width: element.clientWidth || 600,
    height: HEIGHT + (hasNames ? 24 : 0),
    legend: { show: false },
    cursor: { y: false, points: { show: false } },
    scales: { x: { time: false, range: (_, low, high) => [low - 0.6, high + 0.6] } },
    series: [{}],
    axes: [
      {
        stroke: faint, font, grid: { show: false }, ticks: { show: false }, size: hasNames ? 52 : 26, rotate: hasNames ? -35 : 0,
        splits: hasNames ? () => cases.map((_, place) => place) : undefined,
        values: (_, splits) => splits.map((place) => (hasNames ? short(cases[place]?.name ?? "") : Number.isInteger(place) && place >= 0 ? number(place + 1) : "")),
      },
      { stroke: faint, font, grid, ticks: { show: false }, size: 62 },
    ],
  };
}

/** A name of at most 12 characters, with the end of its variant. */
const short = (name: string): string =>
  name.length <= 12 ? name : name.endsWith("]") ? `${name.slice(0, 4)}…${name.slice(-7)}` : `${name.slice(0, 11)}…`;

function rateOptions(cases: Case[], element: HTMLElement): uPlot.Options {
  const options = base(cases, element);
  const colors = Object.fromEntries(CLASSES.map(([, , name]) => [name, color(element, name)]));
  options.scales!.y = { range: [0, 100] };
  options.axes![1].values = (_, splits) => splits.map((value) => `${value} %`);
  const fills = cases.map(({ runs }) => colors[classOf(runs.pass_rate)[2]]);
  const paths = uPlot.paths.bars!({ size: [0.6, 28], disp: { fill: { unit: 3, values: () => fills } } });
  options.series.push({ paths, points: { show: false }, fill: fills[0], width: 0 });
  return options;
}

function timeOptions(cases: Case[], element: HTMLElement): uPlot.Options {
  const options = base(cases, element);
  const most = Math.max(1, ...cases.map(({ runs }) => runs.max_duration_ms));
  options.scales!.y = { range: [0, most * 1.05] };
  options.axes![1].values = (_, splits) => splits.map(duration);
  options.series.push({ paths: () => null, points: { show: false } });
  const [line, mean] = [color(element, "accent-soft"), color(element, "accent")];
  options.hooks = { draw: [(plot) => drawRanges(plot, cases, line, mean)] };
  return options;
}

function drawRanges(plot: uPlot, cases: Case[], line: string, mean: string): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  const room = plot.valToPos(1, "x", true) - plot.valToPos(0, "x", true);
  const width = Math.max(ratio, Math.min(10 * ratio, room * 0.5));
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  cases.forEach(({ runs }, place) => {
    const x = plot.valToPos(place, "x", true);
    if (x < bbox.left - room || x > bbox.left + bbox.width + room) return;
    const [top, bottom, middle] = [runs.max_duration_ms, runs.min_duration_ms, runs.avg_duration_ms].map((value) => plot.valToPos(value, "y", true));
    ctx.fillStyle = line;
    ctx.fillRect(x - width / 2, top, width, Math.max(ratio, bottom - top));
    ctx.fillStyle = mean;
    ctx.fillRect(x - width / 2, middle - ratio, width, 2 * ratio);
  });
  ctx.restore();
}
