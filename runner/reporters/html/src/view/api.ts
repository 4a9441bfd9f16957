/** Requests to the server that sent the page. Every request has the token of the link in a header.
 *
 * The token is in the link after `#`. Once the server has accepted it, it is kept in the storage of the browser for this
 * server, so that other pages, other tabs and reloads find it. A link with a wrong token changes nothing. */

import type { Index, Row } from "../model";
import type { Comparison } from "../changes";
import type { Variants } from "../variants";

const NAME = "token";
const token = brought() ?? kept() ?? "";
addEventListener("hashchange", (event) => {
  if (!tokenIn(location.hash)) return;
  event.stopImmediatePropagation(); // a new link was opened in the tab of a shown page
  location.reload();
});
const HEADER = { "X-Yao-Test-Token": token };
/** Milliseconds before a broken stream is requested again: the first time, and at most. */
const SOON = 500;
const LATE = 8000;

/** One run in the list. */
export interface RunHead {
  id: string;
  started_at: string;
  /** `running`, `cut short`, or the status in the summary of a report. */
  status: string;
  suites: string[];
  branch?: string;
  revision?: string;
  profile?: string;
  connectors: string[];
  counts: { total: number; passed: number; failed: number; skipped: number; errors: number };
  /** How many tests were selected, if known. */
  planned?: number;
  duration_ms?: number;
  cost?: number;
  cost_estimated?: boolean | number;
  labels: number;
  /** Why it cannot be run again from here; empty if it can. */
  elsewhere: string;
  /** An earlier run that has some of the same tests. */
  before?: string;
}

export interface RunList {
  runs: RunHead[];
  more: boolean;
  version: string;
}

/** The index of a run that may grow. */
export interface RunIndex extends Index {
  revision: number;
  head: RunHead;
}

/** What has changed in a run. */
export interface RunUpdate extends Omit<RunIndex, "rows"> {
  rows: [at: number, row: Row][];
  /** How many results it has so far. */
  count: number;
}

/** A question to the user about a result. */
export interface Question {
  run: number;
  turn: number;
  /** Empty for the answer as a whole. */
  criterion: string;
  input: string;
  output: string;
  /** The verdict of the judge, if there was one. */
  judged?: { passed: boolean; judge: string };
  label?: { passed: boolean; why: string; person: string };
}

/** A test in one run. */
export interface Occurrence {
  run: string;
  /** The name of the suite in the run. */
  name: string;
  started_at: string;
  verdict: string;
  cause?: string;
  branch?: string;
  revision?: string;
  passed: number;
  judged: number;
  duration_ms: number;
  score?: number;
  tokens?: number;
  cost?: number;
  /** Its connector, with the model where that was not the same in all runs. */
  asked: string;
  cost_estimated?: boolean | number;
  answer?: string;
  error?: string;
}

export interface TestHistory {
  suite: string;
  test: string;
  said: string[];
  rate?: [low: number, value: number, high: number];
  occurrences: Occurrence[];
  version: string;
}

export interface ComparedRuns {
  heads: RunHead[];
  comparison: Comparison | null;
  variants: Variants;
  version: string;
}

/** A test of the store. */
export interface KnownTest {
  suite: string;
  test: string;
  /** Remarks about it, the worst first. */
  trends: string[];
  /** Verdicts of the newest runs, the newest last. */
  verdicts: string[];
  /** The connectors, with their models where these were not always the same, the newest last. */
  asked: string[];
  passed: number;
  judged: number;
  duration_ms: number;
  last: string;
}

/** A run that was started from this page. */
export interface Again {
  state: "none" | "running" | "ended";
  of?: string;
  commands: string[];
  output: string;
  code?: number;
}

export class Refused extends Error {}

function tokenIn(hash: string): string | null {
  return new URLSearchParams(hash.slice(1)).get(NAME);
}

/** The token in the address. Removes it from the address. */
function brought(): string | null {
  const found = tokenIn(location.hash);
  if (found === null) return null;
  const values = new URLSearchParams(location.hash.slice(1));
  values.delete(NAME);
  history.replaceState(null, "", location.pathname + location.search + (values.size > 0 ? `#${values}` : ""));
  return found;
}

function kept(): string | null {
  try {
    return localStorage.getItem(NAME);
  } catch {
    return null; // the browser has no storage: the link works for one page
  }
}

function keep(): void {
  try {
    localStorage.setItem(NAME, token);
  } catch {
    // see above
  }
}

async function asked(path: string, options: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { ...options, headers: { ...HEADER, ...options.headers } });
  } catch {
    throw new Refused("yao-test view is not running or cannot be reached. Restart it and open the link that it prints.");
  }
  if (response.ok) {
    keep();
    return response;
  }
  const said = await response.text();
  try {
    throw new Refused((JSON.parse(said) as { error: string }).error);
  } catch (error) {
    throw error instanceof Refused ? error : new Refused(said.trim() || `The server returned ${response.status}`);
  }
}

export const textOf = async (path: string): Promise<string> => (await asked(path)).text();
export const blobOf = async (path: string): Promise<Blob> => (await asked(path)).blob();
export const get = async <T>(path: string, signal?: AbortSignal): Promise<T> => (await asked(path, { signal })).json() as Promise<T>;

export async function send<T>(method: "POST" | "PUT" | "DELETE", path: string, body: object = {}): Promise<T> {
  const headers = { "Content-Type": "application/json" };
  return (await asked(path, { method, headers, body: JSON.stringify(body) })).json() as Promise<T>;
}

/** Follows a stream of events, of which `take` gets one after the other, and requests `path()` again whenever the stream or
 * `take` breaks. Calls `said` with the reason if the server does not answer, and with an empty text once it does. Returns a
 * function that ends it. */
export function follow<T>(path: () => string, take: (value: T, signal: AbortSignal) => void | Promise<void>, said: (problem: string) => void): () => void {
  const ending = new AbortController();
  void (async () => {
    let pause = SOON;
    while (!ending.signal.aborted) {
      try {
        const response = await asked(path(), { signal: ending.signal });
        said("");
        pause = SOON;
        for await (const text of eventsOf(response)) await take(JSON.parse(text) as T, ending.signal);
      } catch (error) {
        if (error instanceof Refused && !ending.signal.aborted) said(error.message);
      }
      await new Promise((resume) => setTimeout(resume, pause));
      pause = Math.min(LATE, pause * 2);
    }
  })();
  return () => ending.abort();
}

/** The data of each event, by https://html.spec.whatwg.org/multipage/server-sent-events.html. */
async function* eventsOf(response: Response): AsyncGenerator<string> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const parts = (rest + value).split("\n\n");
      rest = parts.pop()!;
      for (const part of parts) {
        const data = part.split("\n").filter((line) => line.startsWith("data: ")).map((line) => line.slice(6));
        if (data.length > 0) yield data.join("\n");
      }
    }
  } finally {
    void reader.cancel().catch(() => {}); // it may have broken off already
  }
}

/** The address of a page. */
export function hrefOf(page: string, values: Record<string, string | string[]> = {}, hash = ""): string {
  const query = new URLSearchParams(Object.entries(values).flatMap(([name, value]) => [value].flat().map((one) => [name, one])));
  return `${page}${query.size > 0 ? `?${query}` : ""}${hash}`;
}

/** The values of a query parameter of the address. */
export const asks = (name: string): string[] => new URLSearchParams(location.search).getAll(name);

export const runPath = (run: string, rest: string): string => `/api/runs/${encodeURIComponent(run)}/${rest}`;
