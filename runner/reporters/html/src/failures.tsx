/** Groups failures by their error. */

import { useMemo, useState } from "preact/hooks";
import { causeName } from "./detail";
import { number, plural, reason, visible } from "./format";
import { nameOf, type Index } from "./model";
import { Badge } from "./values";

interface Group {
  error: string;
  cause: string;
  expected?: string;
  rows: number[];
}

const FIRST = 6;
const LINKS = 8;

export function Failures({ index, onOpen }: { index: Index; onOpen: (at: number) => void }) {
  const groups = useMemo(() => grouped(index), [index]);
  const [all, setAll] = useState(false);
  if (groups.length === 0) return null;
  const shown = all ? groups : groups.slice(0, FIRST);
  return (
    <section class="failures" aria-labelledby="failures-title">
      <h2 id="failures-title">What failed <span class="faint">{reasons(groups.length)}</span></h2>
      <ul class="groups">
        {shown.map((group) => <li class="card group"><OneGroup group={group} index={index} onOpen={onOpen} /></li>)}
      </ul>
      {groups.length > shown.length && (
        <button type="button" class="more" onClick={() => setAll(true)}>Show all {number(groups.length)} reasons</button>
      )}
    </section>
  );
}

const reasons = (count: number): string => (count === 1 ? "for one reason" : `for ${number(count)} reasons`);

function OneGroup({ group, index, onOpen }: { group: Group; index: Index; onOpen: (at: number) => void }) {
  const [limit, setLimit] = useState(LINKS);
  const left = group.rows.length - limit;
  return (
    <>
      <div class="group-head">
        <Badge kind={group.cause === "assertion" ? "failed" : "warning"}>{causeName(group.cause)}</Badge>
        <span class="faint">{plural(group.rows.length, "result")}</span>
      </div>
      <p class="group-error" dir="auto">{visible(reason(group.error))}</p>
      {group.expected && !group.error.includes(group.expected) && <p class="group-expected" dir="auto"><span class="faint">expected</span> <code>{visible(group.expected)}</code></p>}
      <ul class="links">
        {group.rows.slice(0, limit).map((at) => (
          <li><button type="button" class="link" onClick={() => onOpen(at)}>{visible(nameOf(index, index.rows[at]))}</button></li>
        ))}
        {left > 0 && <li><button type="button" class="more" onClick={() => setLimit(limit + 100)}>and {number(left)} more</button></li>}
      </ul>
    </>
  );
}

/** Errors that differ only in numbers and quoted values are in one group, if the expected value is the same. */
function grouped({ rows }: Index): Group[] {
  const groups = new Map<string, Group>();
  rows.forEach((row, at) => {
    if (row.status !== "failed") return;
    const error = row.error ?? "Failed without a message";
    const cause = row.cause ?? "assertion";
    const key = `${cause} ${error.replace(/"(?:[^"\\]|\\.)*"|\d+(?:\.\d+)?/g, "#")} ${row.expected ?? ""}`;
    const group = groups.get(key);
    if (group) group.rows.push(at);
    else groups.set(key, { error, cause, expected: row.expected, rows: [at] });
  });
  return [...groups.values()].sort((a, b) => b.rows.length - a.rows.length || a.rows[0] - b.rows[0]);
}
