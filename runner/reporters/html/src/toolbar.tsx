/** Search, filters, order and exports. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { capital, number, plural, visible } from "./format";
import { suiteName, type Index } from "./model";
import { SORTS, type View } from "./view";

/** A search begins when no key was pressed for so many milliseconds. */
const PAUSE = 150;

interface Props {
  index: Index;
  view: View;
  count: number;
  /** Share of the report that has been searched. */
  done: number;
  onChange: (part: Partial<View>) => void;
  onExport: (format: "json" | "csv") => void;
}

export function Toolbar({ index, view, count, done, onChange, onExport }: Props) {
  const { rows, start } = index;
  const options = useMemo(() => ({
    suites: start.suites.map((suite): [string, string] => [suite.id, suiteName(suite)]),
    agents: distinct(start.suites.map((suite) => suite.agent)),
    modes: distinct(rows.map((row) => row.mode)),
    tags: distinct(rows.flatMap((row) => row.tags ?? [])),
  }), [index]);
  const isFiltered = count < rows.length || view.query !== "";
  const plain = { query: "", status: "", suite: "", agent: "", mode: "", tag: "", change: "" };
  return (
    <div class="toolbar" role="search" aria-label="Results">
      <div class="tools-row">
        <SearchField query={view.query} label="Search everything" onChange={(query) => onChange({ query })} />
        <Choice name="status" all="Any status" value={view.status} options={STATUSES} onChange={(status) => onChange({ status })} />
        <Choice name="suite" all="All suites" value={view.suite} options={options.suites} onChange={(suite) => onChange({ suite })} />
        <Choice name="agent" all="All agents" value={view.agent} options={options.agents} onChange={(agent) => onChange({ agent })} />
        <Choice name="mode" all="All modes" value={view.mode} options={options.modes} onChange={(mode) => onChange({ mode })} />
        <Choice name="tag" all="All tags" value={view.tag} options={options.tags} onChange={(tag) => onChange({ tag })} least={1} />
        <Choice name="order" value={view.sort} options={Object.entries(SORTS)} onChange={(sort) => onChange({ sort })} />
      </div>
      <div class="tools-row under">
        <span class="count" role="status">
          {isFiltered && `${number(count)} of `}{plural(rows.length, "result")}
          {done < 1 && ` · searching, ${Math.floor(done * 100)} %`}
        </span>
        {isFiltered && <button type="button" class="link" onClick={() => onChange(plain)}>Clear filters</button>}
        <span class="space" />
        <span class="faint export-label">Export these as</span>
        <button type="button" class="button" onClick={() => onExport("json")}>JSON</button>
        <button type="button" class="button" onClick={() => onExport("csv")}>CSV</button>
      </div>
    </div>
  );
}

const STATUSES: [string, string][] = [
  ["failed", "Failed"], ["error", "Errors"], ["passed", "Passed"], ["skipped", "Skipped"],
];

function distinct(values: string[]): [string, string][] {
  return [...new Set(values.filter(Boolean))].sort().map((value) => [value, capitalIfMode(value)]);
}

const capitalIfMode = (value: string) => (/^(script|standard|multi_turn|dynamic|conversation)$/.test(value) ? capital(value) : value);

interface ChoiceProps {
  name: string;
  all?: string;
  value: string;
  options: [string, string][];
  onChange: (value: string) => void;
  /** The choice is hidden if there are fewer options. */
  least?: number;
}

function Choice({ name, all, value, options, onChange, least = 2 }: ChoiceProps) {
  if (options.length < least) return null;
  return (
    <select class={value && all ? "chosen" : ""} aria-label={capital(name)} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      {all && <option value="">{all}</option>}
      {options.map(([key, label]) => <option value={key}>{visible(label)}</option>)}
    </select>
  );
}

export function SearchField({ query, label, onChange }: { query: string; label: string; onChange: (query: string) => void }) {
  const [text, setText] = useState(query);
  const input = useRef<HTMLInputElement>(null);
  const told = useRef(query); // when it comes back, letters may have been typed that were not told yet
  useEffect(() => {
    if (query !== told.current) setText(told.current = query);
  }, [query]);
  useEffect(() => {
    if (text === told.current) return;
    const timer = setTimeout(() => onChange(told.current = text), PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const typing = (event.target as HTMLElement).closest("input, textarea, select");
      if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      input.current?.focus();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
  return (
    <label class="search">
      <svg viewBox="0 0 16 16" aria-hidden="true"><circle cx="7" cy="7" r="4.5" /><path d="M10.5 10.5L14 14" /></svg>
      <span class="unseen">{label}</span>
      <input ref={input} type="search" placeholder={label} value={text} spellcheck={false} autocomplete="off"
        onInput={(event) => setText(event.currentTarget.value)} />
      <kbd aria-hidden="true">/</kbd>
    </label>
  );
}
