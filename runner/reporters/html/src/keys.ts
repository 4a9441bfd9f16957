/** Arrow keys in lists and tables. */

const MOVES: Record<string, (at: number, last: number) => number> = {
  ArrowDown: (at) => at + 1, ArrowUp: (at) => at - 1, Home: () => 0, End: (_, last) => last,
};

/** Moves the focus from one item to another, by the key of the event. From their container, it moves to the first. */
export function move(event: KeyboardEvent, items: HTMLElement[]): void {
  const at = items.indexOf(event.target as HTMLElement);
  if (!(event.key in MOVES) || items.length === 0 || event.ctrlKey || event.metaKey || event.altKey) return;
  if (at < 0 && event.target !== event.currentTarget) return;
  event.preventDefault();
  const last = items.length - 1;
  items[at < 0 ? 0 : Math.max(0, Math.min(last, MOVES[event.key](at, last)))].focus();
}

/** The same in a table: to the item in the same column of another row. */
export function moveInTable(event: KeyboardEvent): void {
  const column = (event.target as HTMLElement).closest<HTMLTableCellElement>("td, th")?.cellIndex;
  const found = new Map<Element, HTMLElement>();
  for (const item of (event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("tbody :is(a, button, input)")) {
    const cell = item.closest<HTMLTableCellElement>("td, th")!;
    const row = cell.parentElement!;
    if (column === undefined ? !found.has(row) && !item.matches("input") : cell.cellIndex === column) found.set(row, item);
  }
  move(event, [...found.values()]);
}
