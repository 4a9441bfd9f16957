/**
 * The recorder of a test that runs once more to tell its story: the functions that `scripttest/syntax/src/recorded.ts` puts
 * calls of into scripts, as the global `$yaoS`. What they tell, the worker keeps (`scripttest/realm/story.py`).
 */

import type { Core } from "../core-state";
import { globMatches } from "../glob";
import { written } from "../written";
import type { Dates } from "./date";
import type { Shown } from "./shown";

interface Settings {
  /** names whose values are hidden; `*` stands for any characters */
  hide: string[];
  /** how much happens before anything is told */
  skip: number;
  /** how much is told then, at the most */
  most: number;
  /** when the test began in the first run, in milliseconds since 1970; its clock stands there again */
  began: number;
}

/** An object that was told in a statement that has not ended. */
interface Watched {
  frame: number;
  site: number;
  value: object;
  text: string;
}

/** At most this many objects are looked at again after a call. */
const looks = 16;
const pending = "~Promise {<pending>}";

export default function (core: Core): (settings: Settings) => void {
  const { std } = core;
  const shown = core.part<Shown>("shown");
  const watched = std.list<Watched>();
  /** Promises that had no result when they were told. */
  const promises = std.list<Watched>();
  let ended = false;
  /** How much has happened, and from where to where it is told. */
  let count = 0;
  let [from, to] = [0, 0];
  let calls = +core.bridge("told", "b 0 0", "");

  /** Something happens; whether that is told. */
  const isTold = (): boolean => !ended && ++count > from && count <= to;

  /** Nothing is told after the first failure. */
  const { bridge } = core;
  core.bridge = (op, a, b) => {
    if (op === "failed" && !ended) {
      ended = true;
      bridge("told", "e 0 " + count, "");
    }
    return bridge(op, a, b);
  };

  function text(value: unknown): string {
    const printed = shown(value);
    return (shown.isJson ? "=" : "~") + printed;
  }

  /** Tells the worker of something; `=` or `~` before a value say whether it is JSON. */
  const tell = (op: string, site: number, frame: number, what: string): void => void bridge("told", op + " " + site + " " + frame, what);

  function texts(values: unknown[]): string {
    let all = "";
    for (let i = 0; i < values.length; i++) all += (i ? "\n" : "") + text(values[i]);
    return all;
  }

  function watch(frame: number, site: number, value: object, printed: string): void {
    if (watched.length === looks) {
      for (let i = 1; i < looks; i++) watched[i - 1] = watched[i];
      watched.length--;
    }
    watched[watched.length] = { frame, site, value, text: printed };
  }

  /** Tells of the promises that have got a result. */
  function results(frame: number): void {
    for (let i = 0; i < promises.length; i++) {
      const { site, value } = promises[i];
      const now = text(value);
      if (now === pending) continue;
      tell("m", site, frame, now);
      promises[i--] = promises[promises.length - 1];
      promises.length--;
    }
  }

  /** Tells of the objects that have changed since they were told in this statement. */
  function changes(frame: number): void {
    for (let i = 0; i < watched.length; i++) {
      const one = watched[i];
      if (one.frame !== frame) continue;
      const now = text(one.value);
      if (now === one.text) continue;
      one.text = now;
      tell("m", one.site, frame, now);
    }
  }

  function waits(it: object): boolean {
    for (let i = 0; i < promises.length; i++) if (promises[i].value === it) return true;
    return false;
  }

  function value<V>(op: string, site: number, frame: number, it: V): V {
    if (!isTold()) return it;
    results(frame);
    const printed = text(it);
    tell(op, site, frame, printed);
    if (printed === pending && promises.length < looks && !waits(it as object)) promises[promises.length] = { frame, site, value: it as object, text: "" };
    else if (typeof it === "object" && it !== null) watch(frame, site, it, printed);
    return it;
  }

  const recorder = {
    __proto__: null,
    /** A function begins; returns the number of the call. */
    f(site: number, ...args: unknown[]): number {
      calls++;
      if (isTold()) tell("f", site, calls, texts(args));
      return calls;
    },
    /** It ends without a value. */
    q: (frame: number): void => void (isTold() && tell("q", 0, frame, "")),
    /** Marks braces that the author did not write. */
    i(): void {},
    /** The function waits for a value. */
    w<V>(frame: number, it: V): V {
      if (isTold()) tell("q", 0, frame, "");
      return it;
    },
    /** A statement begins. */
    s(site: number, frame: number): void {
      if (!isTold()) return;
      let left = 0;
      for (let i = 0; i < watched.length; i++) if (watched[i].frame !== frame) watched[left++] = watched[i];
      watched.length = left;
      tell("s", site, frame, "");
    },
    /** A value. */
    v: <V>(site: number, frame: number, it: V): V => value("v", site, frame, it),
    /** A value that is returned. */
    t: <V>(site: number, frame: number, it: V): V => value("t", site, frame, it),
    /** The values of several names. */
    n: (site: number, frame: number, ...values: unknown[]): void => void (isTold() && tell("n", site, frame, texts(values))),
    /** What was caught. */
    k: (site: number, frame: number, ...values: unknown[]): void => void (isTold() && tell("k", site, frame, texts(values))),
    /** A turn of a loop begins. */
    l: (site: number, frame: number, ...values: unknown[]): void => void (isTold() && tell("l", site, frame, texts(values))),
    /** A variable that `++` or `--` has changed; `it` is the value of that expression, which differs `by` so much. */
    p<V>(site: number, frame: number, by: number, it: V): V {
      if (isTold()) tell("v", site, frame, text(typeof it === "bigint" ? it + std.BigInt(by) : (it as number) + by));
      return it;
    },
    /** A call has ended; `site` is 0 if its value is told otherwise. */
    c<V>(site: number, frame: number, it: V): V {
      if (!isTold()) return it;
      tell("c", site, frame, site ? text(it) : "");
      changes(frame);
      return it;
    },
  };
  core.functionText = std.functionText;
  const { toString } = { toString(this: unknown): string {
      const text = std.functionText(this === toString ? core.globals.parseInt : this);
      return this === toString ? std.join(std.split(text, "parseInt"), "toString") : std.indexOf(text, "$yaoS.") < 0 ? text : written(std, text);
    } };
  std.define((core.globals.Function as FunctionConstructor).prototype, "toString", { __proto__: null, value: toString } as PropertyDescriptor);
  std.define(core.globals, "$yaoS", { __proto__: null, value: recorder } as PropertyDescriptor);
  return ({ hide, began, skip, most }) => {
    [from, to] = [skip, skip + most];
    const usual = shown.hides;
    shown.hides = (name) => usual(name) || hide.some((pattern) => globMatches(pattern, name));
    const { now } = std.Date;
    const behind = now() - began;
    const then = () => std.floor(now() - behind);
    core.part<Dates>("date").replace(then);
    core.now = () => then() + core.ahead;
  };
}
