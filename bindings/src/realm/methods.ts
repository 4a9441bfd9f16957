/** The members of `testing.T` besides its assertions: logging, failing, cleanups, subtests, snapshots, mocks. */

import { AWAIT_IT, isThenable } from "../assert/support";
import { bounded } from "../bounded";
import type { Mask } from "../check/mask";
import type { Core, T } from "../core-state";
import type { Explain } from "../check/explain";
import { declaredFunction } from "../lexical";
import { isObject } from "../objects";
import type { Flow } from "./flow";
import type { Recorder } from "../check/record";
import type { MakeMatcher } from "../kernel";

type Body = (t: T, ctx: unknown) => unknown;
/** What the host reads of a function: whether it calls `t.only` first, whether a subtest in it does, and the names of functions that are subtests in it. */
type Focus = { only: boolean; focused: boolean; names: string[] };
/** The host's answer about a snapshot. `store` is the text to write into the source. */
type Answer = { passed: boolean; expected?: string; reason?: string; store?: string };

const depthLimit = 100;
const blank = /\s/;
const odd = /[\s\p{Cc}\p{Cs}]/u;

export default function (core: Core): true {
  const { std } = core;
  const own = core.stateOf;
  const recorder = () => core.part<Recorder>("record");
  const fail: Recorder["fail"] = (t, kind, message, more, ends) => recorder().fail(t, kind, message, { stack: core.here(), ...more }, ends);
  const text = (args: readonly unknown[]) => recorder().text(args);

  /** The name of a subtest as Go writes it: `_` for white space, and codes for control characters and halves of pairs. */
  function oneWord(name: string): string {
    if (!std.exec(odd, name)) return name;
    let word = "";
    for (let i = 0; i < name.length; ) {
      const code = std.codePointAt(name, i)!;
      const character = std.fromCodePoint(code);
      const digits = std.numberText(code, 16);
      i += character.length;
      if (!std.exec(odd, character)) word += character;
      else if (std.exec(blank, character)) word += "_";
      else word += code < 256 ? "\\x" + std.slice("0" + digits, -2) : "\\u" + digits;
    }
    return word;
  }

  /** `written` is the function as the script has it, if `body` calls it; `stack` is where it was called, if not here. */
  function run(t: T, name: unknown, body: unknown, written = body, stack?: string): boolean | Promise<boolean> {
    if (typeof name !== "string" || typeof body !== "function") throw new std.TypeError("t.run takes (name, function)");
    const { subtests, depth, pending, open } = own(t);
    if (depth >= depthLimit) throw new std.Error("t.run: subtests are nested more than " + depthLimit + " deep");
    const word = oneWord(name);
    let short = word;
    let number = subtests[word] ?? 0;
    while (!short || subtests[short]) short = word + (number < 10 ? "#0" : "#") + number++;
    subtests[word] = number || 1;
    subtests[short] ??= 1;
    const full = t.name + "/" + short;
    if (core.plan!.filter && core.host("subtest.Selects", [full]) !== true) return true;

    if (core.plan!.focus && isFocused(t) && !focusOf(written).only) return true;

    const subtest = new core.T(full);
    const outcome = core.outcomeOf(subtest);
    const inner = own(subtest);
    inner.body = written;
    inner.parent = t;
    inner.depth = depth + 1;
    const began = core.clock();
    let over = false;
    let finish: ((passed: boolean) => void) | undefined;
    const { drive, runBody } = core.part<Flow>("flow");
    const kind = () => {
      let found = "inconclusive";
      for (let i = 0; i < outcome.failures.length; i++) {
        const { kind } = outcome.failures[i];
        if (kind === "infrastructure") found = kind;
        else if (kind !== "inconclusive") return "fail";
      }
      return found;
    };
    const fails = () => fail(t, kind(), "subtest " + short + " failed", { phase: "subtest", stack: stack ?? core.here() });
    const { current } = core;
    core.subtests++;
    open[open.length] = subtest;
    inner.end = () => {
      over = true;
      core.subtests--;
      let at = open.length - 1;
      while (open[at] !== subtest) at--;
      for (; at < open.length - 1; at++) open[at] = open[at + 1];
      open.length--;
      const parent = core.outcomeOf(t);
      const milliseconds = core.clock() - began;
      own(t).others ||= !outcome.only;
      parent.steps[parent.steps.length] = () => recorder().encodeOutcome(full, milliseconds, outcome);
      parent.assertions += outcome.assertions;
      if (outcome.todo) finish?.(true);
      else {
        if (outcome.failures.length) fails();
        else outcome.fails = fails;
        finish?.(!outcome.failures.length);
      }
    };
    drive(
      runBody(subtest, () => (body as Body)(subtest, core.ctx)),
      inner.end,
    );
    core.current = current; // code that runs while the subtest waits does not belong to it
    if (over) return outcome.todo !== undefined || !outcome.failures.length;
    inner.waits = true;
    stack ??= core.here(); // what ends it later is not the place of the subtest
    const done = new std.Promise<boolean>((resolve) => (finish = resolve));
    pending[pending.length] = done;
    return done;
  }

  const focusOf = (body: unknown) => core.host("subtest.Focus", [std.functionText(body)]) as Focus;

  /** Whether a subtest of a test calls `t.only`, so that its siblings do not run. */
  function isFocused(t: T): boolean {
    const state = own(t);
    if (state.focused !== undefined) return state.focused;
    const { focused, names } = focusOf(state.body ?? core.declared(core.plan!.entry));
    state.focused = focused;
    for (let i = 0; i < names.length && !state.focused; i++) {
      const body = declaredFunction(core, names[i]);
      state.focused = body !== undefined && focusOf(body).only;
    }
    return state.focused;
  }

  function only(t: T): void {
    const { parent } = own(t);
    const forbidden = core.plan!.only === "forbidden";
    if (!forbidden && (parent ? !own(parent).others : core.plan!.only)) return void (core.outcomeOf(t).only = true);
    const reason = forbidden
      ? "t.only() skips other tests, which --forbid-only does not allow (the default in CI). Remove the call"
      : "t.only() came too late: other tests of the module may have run. Make it the first statement of the test function, or of the function that t.run or t.each gets";
    fail(t, "fail", reason, undefined, true);
    throw core.stop;
  }

  /** The options of a snapshot: a name, or `{name?, mask?}`. */
  function optionsOf(given: unknown): { name?: unknown; mask: string[] } {
    if (!isObject(given)) return { name: given, mask: std.list() };
    const keys = std.keys(given);
    const mask = std.list<string>();
    const paths: unknown = given.mask === undefined ? [] : given.mask;
    for (let i = 0; std.isArray(paths) && i < paths.length; i++) if (typeof paths[i] === "string") mask[i] = paths[i] as string;
    let fits = std.isArray(paths) && mask.length === paths.length && (given.name === undefined || typeof given.name === "string");
    for (let i = 0; i < keys.length; i++) fits &&= keys[i] === "mask" || keys[i] === "name";
    if (!fits) throw new std.TypeError('t.snapshot takes (value, name) or (value, { name, mask: ["$..id"] }), got ' + core.part<Explain>("explain").inspect(given));
    return { name: given.name, mask };
  }

  /** The value as text for a snapshot. Records a failure and returns undefined if it cannot be one. */
  function printed(t: T, value: unknown, paths: string[] = std.list()): string | undefined {
    core.outcomeOf(t).assertions++;
    if (isThenable(value)) {
      fail(t, "assertion", "The value " + AWAIT_IT, { type: "Snapshot" });
      return undefined;
    }
    const explain = core.part<Explain>("explain");
    if (paths.length) {
      const { value: masked, unmatched } = core.part<Mask>("mask")(value, paths);
      value = masked;
      for (let i = 0; i < unmatched.length; i++) recorder().warn("mask", "The mask " + unmatched[i] + " of the snapshot matches nothing", core.here());
    }
    const actual = explain.whole(value);
    if (actual === undefined) {
      const reason = "Too large for a snapshot: the limits are 1 000 000 characters, 100 000 items per list and 100 levels";
      fail(t, "assertion", reason, { type: "Snapshot", actual_text: explain.inspect(value) });
    }
    return actual;
  }

  function differs(t: T, type: string, actual: string, { expected, reason }: Answer): false {
    const { form, ...told } = expected === undefined ? { actual_text: actual } : core.part<Explain>("explain").ofTexts(expected, actual);
    const what = reason ?? "Not equal to the snapshot";
    fail(t, "assertion", form ? what + "; " + form : what, { type, expected, actual, ...told });
    return false;
  }

  function snapshot(t: T, value: unknown, given: unknown): boolean {
    const { snapshots } = own(t);
    const { name, mask } = optionsOf(given);
    const base = name === undefined ? t.name : t.name + " " + text([name]);
    let number = (snapshots[base] ?? 0) + 1;
    let key = number === 1 && name !== undefined ? base : base + " " + number;
    while (key !== base && snapshots[key]) key = base + " " + ++number;
    snapshots[base] = number;
    snapshots[key] ??= 1;
    const actual = printed(t, value, mask);
    if (actual === undefined) return false;
    const answer = core.host("snapshot.Match", [key, actual]) as Answer;
    return answer.passed || differs(t, "Snapshot", actual, answer);
  }

  /** As `snapshot`, with a text that is in the source, the last argument. */
  function inline(t: T, args: readonly unknown[]): boolean {
    const { name, mask } = optionsOf(isObject(args[1]) ? args[1] : undefined);
    const expected = isObject(args[1]) ? args[2] : args[1];
    if (!args.length || name !== undefined || (expected !== undefined && typeof expected !== "string")) {
      throw new std.TypeError('t.snapshot.inline takes (value, text?) or (value, { mask: ["$..id"] }, text?)');
    }
    const actual = printed(t, args[0], mask);
    if (actual === undefined) return false;
    const answer = core.host("snapshot.Inline", [actual, expected ?? null]) as Answer;
    if (answer.store !== undefined) {
      const inlined = (core.inlined ??= core.std.list());
      inlined[inlined.length] = { stack: core.here(), text: answer.store, given: expected };
    }
    return answer.passed || differs(t, "inline", actual, answer);
  }

  const methods: Record<string, (t: T, ...args: unknown[]) => unknown> = {
    log: (_, ...args) => core.log("info", text(args)),
    error(t, ...args) {
      const message = text(args);
      core.log("error", message);
      fail(t, "fail", message || "t.error was called");
    },
    fail: (t, ...reason) => fail(t, "fail", reason.length ? text(reason) : "t.fail was called"),
    fatal(t, ...reason) {
      fail(t, "fail", reason.length ? text(reason) : "t.fatal was called", undefined, true);
      throw core.stop;
    },
    skip(t, ...reason) {
      const outcome = core.outcomeOf(t);
      outcome.skipped = true;
      if (reason.length) outcome.skipReason = bounded(std, text(reason));
      throw core.stop;
    },
    todo(t, ...reason) {
      const outcome = core.outcomeOf(t);
      outcome.todo = core.here();
      if (reason.length) outcome.skipReason = bounded(std, text(reason));
    },
    only,
    each: (t, ...args) => core.part<(t: T, r: typeof run, args: unknown[]) => unknown>("each")(t, run, args),
    cleanup(t, undo) {
      if (typeof undo !== "function") throw new std.TypeError("t.cleanup takes a function");
      const { cleanups } = own(t);
      cleanups[cleanups.length] = undo as () => unknown;
    },
    run: (t, name, body) => run(t, name, body),
    watch: (_, ...args) => core.part<{ of(args: readonly unknown[]): unknown }>("watch").of(args),
  };
  // A member that a script has defined itself is not replaced.
  const define = (name: string, property: PropertyDescriptor) =>
    std.hasOwn(core.T.prototype, name) || std.define(core.T.prototype, name, property);
  const isT = (value: T): boolean => {
    try {
      return core.outcomeOf(value) !== undefined;
    } catch {
      return false;
    }
  };
  const names = std.keys(methods);
  for (let i = 0; i < names.length; i++) {
    const method = methods[names[i]];
    const value = function (this: T, ...args: unknown[]): unknown {
      if (names[i] !== "log" && !isT(this)) {
        throw new std.TypeError(`t.${names[i]} was called without t: write t.${names[i]}(...), or (...args) => t.${names[i]}(...args) to pass it on`);
      }
      const list: unknown[] = [this];
      for (let at = 0; at < args.length; at++) list[at + 1] = args[at];
      return std.apply(method, undefined, list);
    };
    define(names[i], { __proto__: null, value, writable: true, configurable: true } as PropertyDescriptor);
  }
  const matchers = ["any", "matching", "close", "contains"];
  for (let i = 0; i < matchers.length; i++) {
    const value = (...args: unknown[]) => core.part<MakeMatcher>("matchers")(matchers[i], args);
    define(matchers[i], { __proto__: null, value, writable: true, configurable: true } as PropertyDescriptor);
  }
  const failed = function (this: T): boolean {
    return core.outcomeOf(this).failures.length > 0;
  };
  define("failed", { __proto__: null, get: failed, configurable: true } as PropertyDescriptor);
  const get = function (this: T): unknown {
    const of = (...args: unknown[]) => {
      if (!args.length) throw new std.TypeError("t.snapshot takes (value, name or options?), got no argument");
      return snapshot(this, args[0], args[1]);
    };
    return std.define(of, "inline", { __proto__: null, value: (...args: unknown[]) => inline(this, args), writable: true, configurable: true } as PropertyDescriptor);
  };
  const set = function (this: T, value: unknown): void {
    std.define(this, "snapshot", { __proto__: null, value, writable: true, configurable: true } as PropertyDescriptor);
  };
  define("snapshot", { __proto__: null, get, set, configurable: true } as PropertyDescriptor);
  define("mock", { __proto__: null, get: () => core.part("mock"), configurable: true } as PropertyDescriptor);
  define("db", { __proto__: null, get: () => core.part("db"), configurable: true } as PropertyDescriptor);

  return true;
}
