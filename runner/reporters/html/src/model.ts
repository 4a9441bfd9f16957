/** The types of the data in the page. `html/__init__.py` writes them, `docs/html-report.md` describes them. */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Status = "passed" | "failed" | "skipped";

export interface Suite {
  id: string;
  kind: "script_test" | "agent_test";
  label: string;
  file: string;
  agent: string;
  connector: string;
  /** The variant of the agent that its cases run with. */
  variant?: string;
  /** Identifies it in all runs of a store. */
  key?: string;
}

export interface Start {
  timestamp: string;
  version: string;
  environment: Record<string, string>;
  suites: Suite[];
}

/** What names a suite, or a test where its suite is not named beside it, in one variant. */
export const inVariant = (name: string, { variant }: Suite): string => (variant ? `${name} [${variant}]` : name);

/** The name of a suite for people. */
export const suiteName = (suite: Suite): string => inVariant(suite.label, suite);

/** Figures from 0 to 1, with their intervals at 95 %. */
export interface Rates {
  pass_rate?: number;
  pass_rate_interval?: [number, number];
  mean_score?: number;
  mean_score_interval?: [number, number];
  judges_noise?: { answers: number; pass_rate: number; mean_score?: number };
}

/** Figures of the cases that have something in common, such as a tag. */
export interface Part extends Rates {
  kind: string;
  name: string;
  cases: number;
}

export interface Summary extends Rates {
  parts?: Part[];
  total: number;
  passed: number;
  failed: number;
  skipped: number;
  duration_ms: number;
  status: string;
  /** Results that broke because of something other than the tested agent or script. They do not count as failed. */
  errors?: number;
  /** Warnings that results have, whatever their status. */
  warnings?: number;
  /** Calls that neither a mock nor the host answered. */
  missing_calls?: number;
  /** Criteria that no judge could judge. */
  not_judged?: number;
  /** Tests that are skipped because they are marked as unfinished. */
  todo?: number;
  /** Names of the first tests that called `t.only`, so that those beside them did not run. */
  only?: string[];
  /** Cases that passed and check nothing. */
  checks_nothing?: number;
  /** The ids of the first of them. */
  checks_nothing_first?: string[];
  snapshots?: { written?: number; updated?: number; removed?: number; obsolete?: string[] };
  usage?: Usage;
  /** Why the run ended early. */
  stopped?: string;
  /** How many tests have no result because of that. */
  not_run?: number;
  completed_at?: string | null;
}

export interface Usage {
  input_tokens: number;
  output_tokens: number;
  /** US dollars. */
  cost?: number;
  cost_estimated?: boolean;
}

/** A file that was sent to the agent. */
export interface Attachment {
  type: string;
  name?: string;
  media_type?: string;
  /** Bytes. */
  size?: number;
  source?: string;
}

export interface RunFigures {
  count: number;
  passed: number;
  /** Percent. */
  pass_rate: number;
  consistency?: number;
  avg_duration_ms: number;
  min_duration_ms: number;
  max_duration_ms: number;
  std_deviation_ms: number;
  classification?: string;
  /** Percent. */
  confidence_interval?: [number, number];
  pass_at_k?: Record<string, number>;
  pass_hat_k?: Record<string, number>;
}

/** One result in the index. */
export interface Row {
  key: string;
  id: string;
  status: Status;
  ms: number;
  suite: number;
  /** Position in its suite, if rows are in the order in which their tests ended. */
  position?: number;
  mode: string;
  name?: string;
  cause?: string;
  tags?: string[];
  error?: string;
  input?: string;
  not_judged?: number;
  checks_nothing?: boolean;
  /** The expected value of the first check that failed. */
  expected?: string;
  score?: number;
  tokens?: number;
  cost?: number;
  cost_estimated?: boolean;
  runs?: RunFigures & { marks: string };
  warnings?: number;
}

/** The name of a result. */
export const nameOf = ({ start }: Index, row: Row): string => inVariant(row.id, start.suites[row.suite]);

/** Causes of failures that are not the fault of what was tested. */
const blameless = new Set<string>();

/** Reads those causes from the index of a report. */
export const readCauses = ({ blameless: causes }: Index): void => causes.forEach((cause) => blameless.add(cause));

/** The status; `error` if neither the test nor what it tests is to blame. */
export const verdictOf = ({ status, cause }: { status: Status; cause?: string }): string =>
  status === "failed" && cause !== undefined && blameless.has(cause) ? "error" : status;

export interface Index {
  start: Start;
  /** Causes of failures that are counted as errors. */
  blameless: string[];
  summary: Summary;
  errors: string[];
  warnings: string[];
  rows: Row[];
  blocks: number[];
  coverage?: Coverage;
}

/** How many were covered, of how many. */
export type Figure = [covered: number, total: number];

export interface CoveredFile {
  path: string;
  /** Statements, branches, functions, lines. */
  figures: Figure[];
  uncovered: string;
  /** Line, and how many times it ran. */
  hits: [line: number, count: number][];
  /** The source; empty if it is not available. */
  lines: string[];
}

export interface Coverage {
  totals: Figure[];
  files: CoveredFile[];
}

export interface Assertion extends Judged {
  type: string;
  path?: string;
  name?: string;
  passed: boolean;
  expected?: Json;
  actual?: Json;
  message?: string;
  error?: boolean;
  judged?: boolean;
  score?: number;
  details?: Assertion[];
}

export interface ToolCall {
  name: string;
  args?: Json;
  arguments?: Json;
  server?: string;
  result?: Json;
  error?: string | null;
}

export interface Turn {
  turn: number;
  input: Json;
  input_source: string;
  status: Status;
  output: Json;
  response?: string;
  tool_calls?: ToolCall[];
  awaiting_input?: boolean;
  awaiting_reason?: string;
  input_hint?: string;
  attachments?: Attachment[];
  assertions?: Assertion[];
  error?: string;
  skip_reason?: string;
  todo?: boolean;
  question?: string;
  note?: string;
  duration_ms: number;
}

/** The votes of judges on an answer. */
export interface Judged {
  /** true if the votes do not decide. */
  inconclusive?: boolean;
  judge?: string;
  judge_connector?: string;
  votes?: { passed: boolean | null; score?: number; reason: string; judge: string; connector?: string }[];
}

export interface Checkpoint {
  id: string;
  inconclusive?: boolean;
  assertions?: Assertion[];
  reached_at_turn: number | null;
  passed: boolean;
  required: boolean;
  judged?: boolean;
  description?: string;
  message?: string;
}

export interface Criterion extends Judged {
  id?: string;
  text: string;
  passed: boolean;
  /** Missing if it was not judged. */
  score?: number;
  judged?: boolean;
  weight: number;
  required?: boolean;
  reason?: string;
  error?: boolean;
}

export interface Score {
  name: string;
  type: string;
  /** null if none of its criteria was judged. */
  score: number | null;
  verdict: string;
  assertions: Criterion[];
}

export interface Attempt {
  run: number;
  status: Status;
  duration_ms: number;
  error?: string | null;
  cause?: string;
  output?: Json;
}

export interface Trial {
  trial: number;
  score: number | null;
  status: Status;
  duration_ms: number;
  error?: string;
}

export interface Step {
  name: string;
  status: Status;
  duration_ms: number;
  error?: string;
  errors?: string[];
  assertion?: Assertion;
  failures?: Assertion[];
  location?: string;
  stack_trace?: string;
  skip_reason?: string;
  todo?: boolean;
  steps?: Step[];
}

/** A line of the story of a failed test; others only say something. */
export interface StoryLine {
  file: string;
  line: number;
  depth: number;
  kind: string;
  text: string;
}

/** Something that is probably wrong but does not make the result fail. */
export interface ResultWarning {
  kind: string;
  message: string;
  location?: string;
}

/** A call of a model or a tool. Only `--trace full` stores what was sent and what came back. */
export interface TraceStep {
  kind: "model" | "tool";
  role: string;
  agent: string;
  turn?: number;
  duration_ms: number;
  error?: string;
  connector?: string;
  model?: string;
  input_tokens?: number;
  output_tokens?: number;
  cost?: number;
  cost_estimated?: boolean;
  before?: number;
  messages?: { role: string; content: Json; [key: string]: Json }[];
  answer?: { [key: string]: Json };
  name?: string;
  server?: string;
  failed?: boolean;
  arguments?: Json;
  result?: Json;
}

/** The sums of all calls of one role. */
export interface TraceTotal {
  model_calls: number;
  tool_calls: number;
  duration_ms: number;
  input_tokens?: number;
  output_tokens?: number;
  cost?: number;
  cost_estimated?: boolean;
}

export interface Trace {
  totals: Record<string, TraceTotal>;
  steps: TraceStep[];
  /** true if it was too long and was cut. */
  cut?: boolean;
}

/** One result, as in the other report formats. */
export interface Result extends Omit<Step, "name"> {
  story?: StoryLine[];
  type?: string;
  suite: string;
  script?: string;
  position?: number;
  id: string;
  name?: string;
  cause?: string;
  warnings?: ResultWarning[];
  mode?: string;
  input?: Json;
  output?: Json;
  response?: string;
  expected?: Json;
  assertions?: Assertion[];
  final_assertions?: Assertion[];
  assertion_errors?: string[];
  turns?: Turn[];
  checkpoints?: Checkpoint[];
  scores?: Score[];
  score?: number | null;
  not_judged?: number;
  checks_nothing?: boolean;
  threshold?: number;
  trials?: Trial[];
  trials_noise?: { error: number; judge: number; agent: number };
  runs?: RunFigures & { attempts?: Attempt[] };
  tools?: ToolCall[];
  sent?: Json[];
  attachments?: Attachment[];
  logs?: string[];
  tags?: string[];
  metadata?: { [key: string]: Json };
  usage?: Usage;
  connector?: string;
  simulator?: string;
  model_calls?: number;
  messages_count?: number;
  line?: number;
  trace?: Trace;
}

export interface Frame {
  file: string;
  line: number;
  column: number;
  first: number;
  lines: string[];
}

export interface Extra {
  command: string;
  frames?: Record<string, Frame>;
  /** The path of a check → the diff of its values, as the console shows it. */
  diffs?: Record<string, string>;
}

export type Entry = [Result, Extra];
