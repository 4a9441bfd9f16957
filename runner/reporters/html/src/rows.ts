/** Positions of the rows of a long list. All rows have the same height, except open ones. */

import { useEffect, useReducer, useState } from "preact/hooks";

const NARROW = "(max-width: 720px)";
/** In pixels; the style sheet has the same values. */
const HEIGHTS = { wide: 54, narrow: 76 };
/** How many rows outside the window are in the document too. */
const MARGIN = 8;
/** Lists of at most this length are in the document as a whole. */
const SHORT = 60;
/** Height in pixels of an open result before it is measured. */
const GUESS = 400;

export class Places {
  private readonly open: [number, number][];

  /** `heights`: position in the list → height of that open row. */
  constructor(
    readonly count: number,
    readonly height: number,
    heights: Map<number, number>,
  ) {
    this.open = [...heights].sort((a, b) => a[0] - b[0]);
  }

  top(place: number): number {
    let top = place * this.height;
    for (const [at, height] of this.open) {
      if (at >= place) break;
      top += height;
    }
    return top;
  }

  get total(): number {
    return this.top(this.count);
  }

  /** The row at a distance from the top. */
  at(pixels: number): number {
    let before = 0;
    for (const [at, height] of this.open) {
      const end = (at + 1) * this.height + before + height;
      if (pixels < (at + 1) * this.height + before) break;
      if (pixels < end) return at;
      before += height;
    }
    return Math.max(0, Math.min(this.count - 1, Math.floor((pixels - before) / this.height)));
  }
}

export function useRowHeight(): number {
  const [narrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const query = matchMedia(NARROW);
    const changed = () => setNarrow(query.matches);
    query.addEventListener("change", changed);
    return () => query.removeEventListener("change", changed);
  }, []);
  return narrow ? HEIGHTS.narrow : HEIGHTS.wide;
}

/** The first and the last position that must be in the document, for what the window shows. */
export function useWindow(list: { current: HTMLElement | null }, places: Places): [number, number] {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    let asked = 0;
    const moved = () => {
      asked ||= requestAnimationFrame(() => {
        asked = 0;
        redraw(0);
      });
    };
    addEventListener("scroll", moved, { passive: true });
    addEventListener("resize", moved);
    moved();
    return () => {
      cancelAnimationFrame(asked);
      removeEventListener("scroll", moved);
      removeEventListener("resize", moved);
    };
  }, []);
  if (places.count <= SHORT) return [0, places.count - 1];
  const top = list.current ? -list.current.getBoundingClientRect().top : -innerHeight;
  const first = Math.max(0, places.at(Math.max(0, top)) - MARGIN);
  const last = Math.min(places.count - 1, places.at(Math.max(0, top + innerHeight)) + MARGIN);
  return [first, last];
}

/** Measured heights of the open results. */
export function useHeights(): [Map<number, number>, (at: number, element: HTMLElement | null) => void] {
  const [state] = useState(() => ({ heights: new Map<number, number>(), elements: new Map<Element, number>() }));
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const [watcher] = useState(() => new ResizeObserver((changes) => {
    let changed = false;
    for (const { target } of changes) {
      const at = state.elements.get(target);
      const height = (target as HTMLElement).offsetHeight;
      if (at === undefined || !height || state.heights.get(at) === height) continue;
      state.heights.set(at, height);
      changed = true;
    }
    if (changed) redraw(0);
  }));
  useEffect(() => () => watcher.disconnect(), [watcher]);
  const measure = (at: number, element: HTMLElement | null) => {
    if (element && !state.elements.has(element)) {
      for (const [old, position] of state.elements) {
        if (position === at || !old.isConnected) {
          watcher.unobserve(old);
          state.elements.delete(old);
        }
      }
      state.elements.set(element, at);
      watcher.observe(element);
    }
  };
  return [state.heights, measure];
}

export const heightOf = (heights: Map<number, number>, at: number): number => heights.get(at) ?? GUESS;
