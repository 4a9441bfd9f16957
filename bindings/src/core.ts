/**
 * The eager half of a realm: everything a plain test needs, and getters for the rest.
 *
 * Evaluated once in each realm, before any script. The value of the bundle is one function, `(op, a, b) => result`,
 * through which the worker drives the realm; scripts never see it. The worker supplies `$host(op, a, b)`, text in and
 * text out, which is taken away from the global object here.
 *
 * | op | a, b | answer |
 * | --- | --- | --- |
 * | boot | JSON of `Boot` | - |
 * | tests | - | each candidate is passed to `$host("found", name, source)` |
 * | start | JSON of `Plan` | - |
 * | poll | - | -1 when the test has ended, else milliseconds until there is something to do; NaN for a deadlock |
 * | abandon | reason | ends a test that cannot end by itself |
 * | uncaught | message | records an exception that reached the worker |
 * | result | - | JSON of the outcome |
| load | code | evaluates it; "" or, when it throws, JSON of an outcome that says what |
| broken | engine text | JSON of an outcome that says it |
 * | call | function name, JSON arguments | JSON envelope; `poll` must be asked until -1 first when it answers "" |
 * | host | process name, JSON arguments | JSON envelope: a call from a nested realm |
 */

import { createContext } from "./context";
import { encode, Raw } from "./encode";
import { globalsOfPart } from "./globals";
import type { ContextData, Kernel, Mocks } from "./kernel";
import { takeUnhandled, TrackedPromise } from "./promise";
import { std } from "./std";
import { describeError, drive, Outcome, type Stage, T } from "./testing";

type HostDoor = (op: string, a: string, b: string) => string;

interface Boot {
  context: ContextData;
  /** true in a realm that serves one `Process("scripts...")` call */
  nested: boolean;
}

interface Plan {
  name: string;
  /** global name of the function; differs from `name` when the compiler renamed it */
  entry: string;
  filter: string[];
}

type Envelope = { ok?: unknown; bytes?: string; error?: { message: string; code?: number } };

const globals = globalThis as unknown as Record<string, unknown>;
const host = globals.$host as HostDoor;
delete globals.$host;

/** Long strings made by `+` are ropes, which the border refuses; a slice is flat. */
const flat = (text: string) => std.slice(text, 0);
const door: HostDoor = (op, a, b) => host(op, flat(a), flat(b));

globals.Promise = TrackedPromise;
const evaluate = globals.eval as (source: string) => unknown;

class Exception extends std.Error {
  static { std.define(this, "name", { value: "Exception", configurable: true }); }
  code: number;
  constructor(message: unknown, code: number = 500) {
    super(std.String(message));
    this.code = code;
    this.name = "Exception|" + code;
  }
}

declare const performance: { now(): number };
const now = performance.now.bind(performance);
const started = std.now() - now();
const parts: Record<string, unknown> = { __proto__: null };
const mocks: Mocks = { process: [], agent: [], http: [] };
let boot: Boot;
let current: T | undefined;
let root: T | undefined;
let captured = 0;

const outputLimit = 1_000_000;
const lineLimit = 64_000;
const argumentLimit = 32_000_000;

const kernel: Kernel = {
  std,
  mocks,
  Exception,
  get context() {
    return boot.context;
  },
  testName: () => current?.name ?? "",
  part<T>(name: string): T {
    return (parts[name] ??= (evaluate(door("part", name, "")) as (kernel: Kernel) => unknown)(kernel)) as T;
  },
  call,
  host: (name, args) => open(door(boot.nested ? "outer" : "call", name, argumentText(name, args))),
  log(level, text) {
    if (captured > outputLimit) return;
    captured += text.length + 1;
    if (captured > outputLimit) text = `output is cut here: a test may print ${outputLimit} characters`;
    else if (text.length > lineLimit) text = std.slice(text, 0, lineLimit) + ` ... (${text.length} characters)`;
    door("log", level, std.stringify(text));
  },
  sleep: (milliseconds) => void door("sleep", std.String(+milliseconds || 0), ""),
  now: () => started + now(),
};

/** Names of the processes that this realm answers itself. */
function call(name: string, args: readonly unknown[]): unknown {
  if (typeof name !== "string" || name.length > 1000 || !std.isWellFormed(name) || std.indexOf(name, "\0") >= 0) {
    throw new Exception("Process takes a name as its first argument", 400);
  }
  if (boot.nested) return kernel.host(name, args);
  const mocked = kernel.mocks.process.length || kernel.mocks.agent.length || kernel.mocks.http.length;
  if (mocked) {
    const found = kernel.part<{ find(name: string, args: readonly unknown[]): (() => unknown) | undefined }>("mocked").find(name, args);
    if (found) return found() ?? null;
  }
  const group = std.slice(name, 0, std.indexOf(name, "."));
  if (group === "stores") {
    const method = std.join(std.split(name, ".").slice(-1), "");
    const id = std.slice(name, 7, name.length - method.length - 1);
    return kernel.part<(id: string, method: string, args: readonly unknown[]) => unknown>("store")(id, method, args);
  }
  if (group === "scripts" || group === "services") return open(door("script", name, argumentText(name, args)));
  return kernel.host(name, args);
}

function base64(): { toBase64(bytes: Uint8Array): string; fromBase64(text: string): Uint8Array } {
  return kernel.part("bytes");
}

function argumentText(name: string, args: readonly unknown[]): string {
  const list: unknown[] = [];
  for (let i = 0; i < args.length; i++) {
    const value = args[i];
    list[i] = value instanceof Uint8Array ? { $bytes: base64().toBase64(value) } : value;
  }
  let text: string;
  try {
    text = std.stringify(list);
  } catch (error) {
    throw new Exception(`Cannot call ${name}: its arguments are not JSON: ${describeError(kernel, error).message}`, 400);
  }
  if (text.length > argumentLimit) {
    throw new Exception(`Cannot call ${name}: its arguments take ${text.length} characters as JSON, the limit is ${argumentLimit}`, 413);
  }
  return text;
}

function open(text: string): unknown {
  const { ok, bytes, error } = std.parse(text) as Envelope;
  if (error) throw new Exception(error.message, error.code);
  return bytes === undefined ? ok : base64().fromBase64(bytes);
}

function install(name: string, get: () => unknown): void {
  const set = (value: unknown) => std.define(globals, name, { value, writable: true, configurable: true });
  std.define(globals, name, {
    configurable: true,
    set,
    get() {
      const value = get();
      set(value);
      return value;
    },
  });
}

for (const part in globalsOfPart) {
  const names = std.split(globalsOfPart[part], " ");
  for (let i = 0; i < names.length; i++) {
    const name = names[i];
    install(name, () => globalsOf(kernel.part(part), part)[name]);
  }
}
globals.Exception = Exception;
globals.Process = (name: string, ...args: unknown[]) => call(name, args);

function globalsOf(value: unknown, part: string): Record<string, unknown> {
  return (part === "timers" ? (value as Timers).globals : value) as Record<string, unknown>;
}

interface Timers {
  globals: object;
  poll(now: number): number;
}

let plan: Plan;
let outcome: Outcome;
let began = 0;
let milliseconds = 0;
let ended = true;

/** A function declared by the script, or undefined. */
function declared(name: string): ((...args: unknown[]) => unknown) | undefined {
  const value = std.hasOwn(globals, name) ? globals[name] : undefined;
  return typeof value === "function" ? (value as (...args: unknown[]) => unknown) : undefined;
}

function start(next: Plan): void {
  plan = next;
  boot.context.chat_id ||= "script-test-" + plan.name;
  outcome = new Outcome();
  captured = 0;
  ended = false;
  began = now();
  const stage: Stage = {
    kernel,
    context: createContext(kernel, boot.context),
    filter: plan.filter,
    enter: (test) => (current = test ?? root),
  };
  root = new T(stage, plan.name, outcome);
  drive(world(root, stage.context), () => {
    ended = true;
    milliseconds = now() - began;
  });
}

/** One test with everything around it: TestMain, BeforeAll, BeforeEach, the test, AfterEach, cleanups, AfterAll. */
function* world(t: T, ctx: unknown): Generator<unknown, void> {
  const main = declared("TestMain");
  const body = declared(plan.entry);
  if (!body) return t.thrown(new std.TypeError(`${plan.name} is not a function any more`));
  let ran = false;
  const inner = function* (): Generator<unknown, number> {
    ran = true;
    const before = ["BeforeAll", "BeforeEach"];
    let ready = true;
    for (let i = 0; ready && i < 2; i++) {
      const hook = declared(before[i]);
      if (hook) ready = yield* t.guard(() => (i ? hook(t, ctx) : hook(ctx)), before[i]);
    }
    const afterEach = declared("AfterEach");
    const tail = function* () {
      if (afterEach) yield* t.guard(() => afterEach(t, ctx), "AfterEach");
    };
    yield* t.runBody(ready ? (body as never) : () => undefined, tail);
    const afterAll = declared("AfterAll");
    if (afterAll) yield* t.guard(() => afterAll(ctx), "AfterAll");
    return t.failed ? 1 : 0;
  };
  if (!main) return void (yield* inner());
  const run = () => {
    if (ran) throw new std.Error("m.Run() may be called once");
    let code: number | undefined;
    let finish: ((code: number) => void) | undefined;
    drive(
      (function* () {
        code = yield* inner();
      })(),
      () => finish?.(code as number),
    );
    return code ?? new std.Promise<number>((resolve) => (finish = resolve));
  };
  yield* t.guard(() => main({ Run: run }, ctx), "TestMain");
  if (!ran && !t.failed) t.thrown(new std.Error("TestMain did not call m.Run(), so the test did not run"), "TestMain");
}

function poll(): number {
  const unhandled = takeUnhandled();
  for (let i = 0; i < unhandled.length; i++) root?.thrown(unhandled[i], "unhandled rejection");
  if (ended) return -1;
  const timers = parts.timers as Timers | undefined;
  const wait = timers ? timers.poll(kernel.now()) : -1;
  return wait < 0 ? (ended ? 0 : NaN) : wait;
}

function abandon(reason: string): void {
  ended = true;
  milliseconds = now() - began;
  root?.thrown(new std.Error(reason), "deadlock");
}

let answer = "";

/** Calls a function of the script for another realm; its answer is ready when `poll` says -1. */
function serve(name: string, args: string): void {
  answer = "";
  ended = false;
  const work = function* (): Generator<unknown, void> {
    try {
      const target = declared(name);
      if (!target) throw new Exception(`it has no function ${name}`, 404);
      const list = std.parse(args) as unknown[];
      answer = envelope(yield std.apply(target, undefined, list));
    } catch (error) {
      answer = failure(error);
    }
  };
  drive(work(), () => (ended = true));
}

function envelope(value: unknown): string {
  if (value instanceof Uint8Array) return encode({ bytes: base64().toBase64(value) });
  return encode({ ok: new Raw(std.stringify(value) ?? "null") });
}

function failure(error: unknown): string {
  const { message } = describeError(kernel, error);
  return encode({ error: { message, code: error instanceof Exception ? error.code : undefined } });
}

const ops: Record<string, (a: string, b: string) => string | number | void> = {
  __proto__: null as never,
  boot(a) {
    boot = std.parse(a) as Boot;
  },
  tests() {
    const names = std.ownKeys(globals);
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      if (typeof name !== "string" || std.slice(name, 0, 4) !== "Test" || name === "TestMain") continue;
      const value = std.descriptor(globals, name)?.value as unknown;
      if (typeof value === "function") door("found", name, std.functionText(value));
    }
  },
  start: (a) => start(std.parse(a) as Plan),
  poll,
  abandon,
  uncaught: (a) => root?.thrown(new std.Error(a)),
  load(code) {
    outcome = new Outcome();
    const t = new T({ kernel, context: undefined, filter: [], enter() {} }, "", outcome);
    try {
      evaluate(code);
      return "";
    } catch (error) {
      t.thrown(error, "load");
      return outcome.encode("", 0).text;
    }
  },
  broken(text) {
    const end = std.indexOf(text, "\n");
    const message = end < 0 ? text : std.slice(text, 0, end);
    const stack = end < 0 ? undefined : std.slice(text, end + 1);
    return encode({ name: "", status: "failed", failures: [{ kind: "error", message, stack, phase: "load" }], steps: [] });
  },
  result: () => outcome.encode(plan.name, milliseconds).text,
  call: serve,
  answer: () => answer,
  host(name, args) {
    try {
      return envelope(call(name, reviveBytes(std.parse(args) as unknown[])));
    } catch (error) {
      return failure(error);
    }
  },
};

function reviveBytes(args: unknown[]): unknown[] {
  for (let i = 0; i < args.length; i++) {
    const value = args[i] as { $bytes?: string } | null;
    if (value && typeof value.$bytes === "string") args[i] = base64().fromBase64(value.$bytes);
  }
  return args;
}

export default (op: string, a: string, b: string): string | number | void => {
  const answer = ops[op](a, b);
  return typeof answer === "string" ? flat(answer) : answer;
};
