/** The list of results. Only the rows near the window are in the document. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Change, Tone } from "./changes";
import { Detail, type Before } from "./detail";
import { duration, percent, plural, reason, visible } from "./format";
import { inVariant, nameOf, suiteName, verdictOf, type Row, type Suite } from "./model";
import { heightOf, Places, useHeights, useRowHeight, useWindow } from "./rows";
import { Marks } from "./stability";
import type { Store } from "./store";
import { Badge, Sign } from "./values";

/** Most rows of a printed page; and most failures that it shows in full. */
const PRINTED = 2000;
const PRINTED_IN_FULL = 200;

interface Props {
  store: Store;
  positions: number[];
  before: Before | null;
  open: Set<number>;
  /** A result to scroll to. */
  goal: { at: number } | null;
  printing: boolean;
  onToggle: (at: number) => void;
}

export function List({ store, positions, before, open, goal, printing, onToggle }: Props) {
  const list = useRef<HTMLUListElement>(null);
  const height = useRowHeight();
  const [heights, measure] = useHeights();
  const [active, setActive] = useState(0);
  const [focused, setFocused] = useState<number | null>(null);
  const wanted = useRef(false);
  const reached = useRef<Props["goal"]>(null);

  const opened = new Map<number, number>();
  if (open.size > 0) positions.forEach((at, place) => open.has(at) && opened.set(place, heightOf(heights, at)));
  const places = new Places(positions.length, height, opened);
  const [first, last] = useWindow(list, places);
  const current = Math.min(active, positions.length - 1);

  const reveal = (place: number) => {
    const top = list.current!.getBoundingClientRect().top + scrollY + places.top(place);
    const above = (document.querySelector(".toolbar") as HTMLElement | null)?.offsetHeight ?? 0;
    if (top - above < scrollY) scrollTo(0, top - above - 8);
    else if (top + height > scrollY + innerHeight) scrollTo(0, top + height - innerHeight + 8);
  };
  const goTo = (place: number) => {
    const next = Math.max(0, Math.min(positions.length - 1, place));
    setActive(next);
    wanted.current = true;
    reveal(next);
  };
  useLayoutEffect(() => {
    if (!wanted.current) return;
    const button = list.current?.querySelector<HTMLElement>(`[data-at="${positions[current]}"]`);
    if (button) {
      wanted.current = false;
      button.focus({ preventScroll: true });
    }
  });
  useEffect(() => {
    if (!goal || reached.current === goal) return;
    const place = positions.indexOf(goal.at);
    if (place < 0) return; // filters or a search still hide it, and will be removed
    reached.current = goal;
    const above = (document.querySelector(".toolbar") as HTMLElement | null)?.offsetHeight ?? 0;
    scrollTo(0, list.current!.getBoundingClientRect().top + scrollY + places.top(place) - above - 12);
    setActive(place);
    wanted.current = true;
  }, [goal, positions]);

  const pressed = (event: KeyboardEvent) => {
    if (!(event.target as HTMLElement).matches(".row-head") || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(innerHeight / height) - 3);
    const moves: Record<string, number> = {
      ArrowDown: current + 1, ArrowUp: current - 1, PageDown: current + page, PageUp: current - page, Home: 0, End: positions.length - 1,
    };
    if (event.key in moves) {
      event.preventDefault();
      goTo(moves[event.key]);
    } else if ((event.key === "ArrowRight") !== open.has(positions[current]) && /Arrow(Right|Left)/.test(event.key)) {
      event.preventDefault();
      onToggle(positions[current]);
    }
  };

  const there: number[] = [];
  if (printing) for (let place = 0; place < Math.min(PRINTED, positions.length); place++) there.push(place);
  else {
    for (let place = first; place <= last; place++) there.push(place);
    // The row that has the focus, and the one that Tab leads to, stay in the document.
    for (const kept of [current, focused === null ? -1 : positions.indexOf(focused)]) {
      if (kept >= 0 && !there.includes(kept)) there.push(kept);
    }
    there.sort((a, b) => a - b);
  }
  let failures = 0;
  return (
    <>
      <ul ref={list} class={`rows ${printing ? "all" : ""}`} aria-label="Results" style={{ height: printing ? "auto" : `${places.total}px` }} onKeyDown={pressed}
        onFocusIn={(event) => setFocused(Number((event.target as HTMLElement).closest<HTMLElement>("[data-row]")?.dataset.row))}
        onFocusOut={() => setFocused(null)}>
        {there.map((place) => {
          const at = positions[place];
          const row = store.index.rows[at];
          const isOpen = open.has(at) || (printing && row.status === "failed" && ++failures <= PRINTED_IN_FULL);
          return (
            <li key={at} data-row={at} data-last={place === positions.length - 1 ? "" : undefined} class={`row ${isOpen ? "open" : ""}`} aria-setsize={positions.length} aria-posinset={place + 1}
              style={printing ? {} : { top: `${places.top(place)}px` }}>
              <button type="button" class="row-head" data-at={at} aria-expanded={isOpen} aria-controls={isOpen ? `detail-${at}` : undefined}
                tabIndex={place === current ? 0 : -1}
                onClick={() => {
                  setActive(place);
                  onToggle(at);
                }}>
                <Head row={row} suite={store.index.start.suites[row.suite]} badges={before?.comparison.rows[at]?.badges ?? []} />
              </button>
              {isOpen && (
                <div class="detail" id={`detail-${at}`} role="region" aria-label={`Result ${nameOf(store.index, row)}`} ref={(element) => measure(at, element)}>
                  <Detail store={store} at={at} before={before} />
                </div>
              )}
            </li>
          );
        })}
      </ul>
      {printing && positions.length > PRINTED && <p class="faint">The first {PRINTED} of {positions.length} results.</p>}
    </>
  );
}

const MODES: Record<string, string> = { multi_turn: "multi-turn", dynamic: "dynamic", conversation: "conversation" };
const TONES: Record<Tone, string> = { bad: "failed", warning: "warning", good: "passed", neutral: "accent", quiet: "" };

function Head({ row, suite, badges }: { row: Row; suite: Suite; badges: Change["badges"] }) {
  const said = row.error ? reason(row.error) : row.input;
  return (
    <>
      <Sign status={verdictOf(row)} />
      <span class="row-what">
        <span class="row-title"><span class="row-id">{visible(inVariant(row.id, suite))}</span>{row.name && <span class="row-name">{visible(row.name)}</span>}</span>
        <span class={`row-said ${row.status === "failed" && row.error ? "problem" : ""}`}>{said ? visible(said) : visible(suiteName(suite))}</span>
      </span>
      <span class="row-facts">
        {badges.map(([text, tone]) => <Badge kind={TONES[tone]}>{text}</Badge>)}
        {row.cause && row.cause !== "assertion" && <Badge kind="warning">{row.cause}</Badge>}
        {row.warnings && <Badge kind="warning">{plural(row.warnings, "warning")}</Badge>}
        {MODES[row.mode] && <Badge>{MODES[row.mode]}</Badge>}
        {row.tags?.slice(0, 3).map((tag) => <Badge kind="tag">{visible(tag)}</Badge>)}
        {row.not_judged && <Badge kind="warning">{row.not_judged} not judged</Badge>}
        {row.checks_nothing && <Badge kind="warning">checks nothing</Badge>}
        {row.runs && row.runs.count > 1 && <Marks runs={row.runs} />}
        {row.score != null && <span class="row-score" title="Score">{percent(row.score, 1)}</span>}
        <span class="row-time">{duration(row.ms)}</span>
      </span>
    </>
  );
}
