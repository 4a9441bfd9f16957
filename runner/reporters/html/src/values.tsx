/** Shows values, and how two differ. All values become text nodes, never markup. */

import type { ComponentChildren, JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { number, textOf, visible } from "./format";
import type { Json } from "./model";

/** How many characters are shown at first, and how many each click adds. */
const FIRST = 6_000;
const MORE = 200_000;
/** JSON of more characters is not coloured. */
const COLOURED = 60_000;

export function Value({ value, label }: { value: Json | undefined; label: string }) {
  const [limit, setLimit] = useState(FIRST);
  const text = useMemo(() => textOf(value), [value]);
  const part = text.length > limit ? text.slice(0, limit) : text;
  const shown = visible(part);
  return (
    <>
      <pre class="value" tabIndex={0} role="group" aria-label={label} dir="auto">
        {typeof value === "string" || part.length > COLOURED ? shown : coloured(shown)}
        {text === "" && <span class="faint">(empty)</span>}
      </pre>
      {text.length > limit && (
        <button type="button" class="more" onClick={() => setLimit(limit + MORE)}>
          Show {text.length - limit > MORE ? "more" : "all"} ({number(limit)} of {number(text.length)} characters)
        </button>
      )}
    </>
  );
}

const TOKENS = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

function coloured(text: string): ComponentChildren[] {
  const parts: ComponentChildren[] = [];
  let last = 0;
  for (const match of text.matchAll(TOKENS)) {
    if (match.index > last) parts.push(text.slice(last, match.index));
    const kind = match[2] ? "key" : match[1] ? "string" : match[3] ? "word" : "number";
    parts.push(<span class={`json-${kind}`}>{match[1] ?? match[0]}</span>, match[2] ?? "");
    last = match.index + match[0].length;
  }
  parts.push(text.slice(last));
  return parts;
}

const SIGNS: Record<string, string> = { "+": "added", "-": "removed" };

/** A unified diff, made of lines that begin with `- `, `+ ` or two blanks. */
export function Diff({ text, names = ["expected", "actual"] }: { text: string; names?: [string, string] }) {
  return (
    <div class="diff">
      <div class="diff-head"><span class="removed">− {names[0]}</span><span class="added">+ {names[1]}</span></div>
      <div class="diff-body" tabIndex={0} role="group" aria-label={`Difference between ${names[0]} and ${names[1]}`}>
        {text.split("\n").map((line) => (
          <div class={`line ${SIGNS[line[0]] ?? "same"}`}>
            <span class="sign">{line[0] === "-" ? "−" : line[0]}</span><span class="text">{visible(line.slice(2))}</span>
          </div>
        ))}
      </div>
    </div>
  );
}

export function Labelled({ label, children }: { label: string; children: ComponentChildren }) {
  return <div class="labelled"><div class="label">{visible(label)}</div>{children}</div>;
}

export function Section(props: { title: string; count?: string; children: ComponentChildren; open?: boolean }) {
  return (
    <details class="part" open={props.open ?? true}>
      <summary><h3>{props.title}</h3>{props.count && <span class="faint">{visible(props.count)}</span>}</summary>
      <div class="part-body">{props.children}</div>
    </details>
  );
}

export function Badge({ kind, children, title }: { kind?: string; children: ComponentChildren; title?: string }) {
  return <span class={`badge ${kind ?? ""}`} title={title}>{typeof children === "string" ? visible(children) : children}</span>;
}

const ICONS: Record<string, JSX.Element> = {
  passed: <path d="M4.5 8.5l2.4 2.4 4.6-5.2" />,
  failed: <path d="M5.4 5.4l5.2 5.2M10.6 5.4l-5.2 5.2" />,
  error: <path d="M8 4.6v4.2M8 11.3v.1" />,
  skipped: <path d="M5 8h6" />,
};

/** The sign of a status, with its name for screen readers. */
export function Sign({ status }: { status: string }) {
  return (
    <span class={`sign-of ${status}`}>
      <svg viewBox="0 0 16 16" aria-hidden="true">{ICONS[status] ?? ICONS.skipped}</svg>
      <span class="unseen">{status}</span>
    </span>
  );
}

/** A button that copies a text. */
export function Copy({ text, label }: { text: string | (() => string); label: string }) {
  const [said, setSaid] = useState("");
  const copy = async () => {
    const value = typeof text === "string" ? text : text();
    setSaid((await copied(value)) ? "Copied" : "Not allowed here");
    setTimeout(() => setSaid(""), 1500);
  };
  return (
    <button type="button" class="button" onClick={() => void copy()}>
      {said || label}
      <span class="unseen" role="status">{said}</span>
    </button>
  );
}

async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Pages from a file may have no clipboard. The older way needs a selection.
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "unseen";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
