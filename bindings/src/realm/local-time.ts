/**
 * `Date` for zones that are not UTC. The engine looks the offset of a local time up as if that time were UTC, so that it
 * is wrong for some hours around each change of the clocks. Its getters are right, and everything here is made of them.
 *
 * As ECMA-262 says (`UTC(t)`), of a local time that is twice on the clock the first one counts, and one that is not on the
 * clock counts from before the change.
 */

import type { Core } from "../core-state";

const minute = 60_000;
const hour = 60 * minute;
/** More than any zone is away from UTC. */
const most = 16 * hour;
const iso = /^(?:[+-]\d{6}|\d{4})(?:-\d\d){0,2}$/;
const withZone = /(?:z|\b(?:gmt|utc?|[ecmp][sd]t)\b.*|[+-]\d{1,2}:?\d\d)\s*(?:\(.*\)\s*)?$/i;

type Method = (this: Date, ...args: number[]) => number;

export default function (core: Core): { Date: DateConstructor } {
  const Real = core.Date!;
  const real = Real.prototype as Date & Record<string, Method>;
  const { apply, construct } = Reflect;
  const { getTime, setTime, getTimezoneOffset } = real;
  const offsetAt = (time: number): number => -minute * apply(getTimezoneOffset, new Real(time), []);

  /** The instant of a local time, both in milliseconds. */
  function instant(local: number): number {
    let at = local - most;
    let offset = offsetAt(at);
    const last = offsetAt(local + most);
    if (offset !== offset || last !== last) return local - offsetAt(local);
    if (offset === last && offsetAt(local - offset) === offset) return local - offset;
    while (at < local + most) {
      const next = at + hour;
      if (offsetAt(next) === offset) {
        at = next;
        continue;
      }
      let changed = next;
      for (let before = at; changed - before > 1; ) {
        const middle = Math.floor((before + changed) / 2);
        if (offsetAt(middle) === offset) before = middle;
        else changed = middle;
      }
      const after = offsetAt(changed);
      if (local < changed + (offset > after ? offset : after)) return local - offset;
      at = changed;
      offset = after;
    }
    return local - offset;
  }

  function parse(text: string): number {
    const time = Real.parse(text);
    if (time !== time || iso.test(text) || withZone.test(text)) return time;
    for (const zone of ["Z", " UTC"]) {
      const local = Real.parse(text + zone);
      if (time === local - offsetAt(local)) return instant(local);
    }
    return time;
  }

  /** What a value that is not a `Date` is to the constructor. */
  function primitive(value: object): unknown {
    const own = (value as { [Symbol.toPrimitive]?: unknown })[Symbol.toPrimitive];
    if (own !== undefined && own !== null) return apply(own as () => unknown, value, ["default"]);
    const plain = value.valueOf();
    return typeof plain === "object" || typeof plain === "function" ? String(value) : plain;
  }

  function construction(args: unknown[]): unknown[] {
    if (args.length > 1) return [instant(apply(Real.UTC, undefined, args as never))];
    let [value] = args;
    if (typeof value === "object" && value !== null && !(value instanceof Real)) value = primitive(value);
    return typeof value === "string" ? [parse(value)] : [value];
  }

  const Local = function (...args: unknown[]): unknown {
    if (!new.target) return new Real().toString();
    return construct(Real, args.length ? construction(args) : args, new.target) as Date;
  };
  const put = (target: object, name: string, value: unknown, length?: number): void => {
    if (length !== undefined) {
      Object.defineProperties(value, { name: { value: name, configurable: true }, length: { value: length, configurable: true } });
    }
    Object.defineProperty(target, name, { value, writable: true, configurable: true });
  };
  Object.defineProperties(Local, {
    name: { value: "Date", configurable: true },
    length: { value: 7, configurable: true },
    prototype: { value: real, writable: false },
  });
  put(Local, "now", Real.now);
  put(Local, "UTC", Real.UTC);
  put(Local, "parse", (text: unknown) => parse(String(text)), 1);
  put(real, "constructor", Local);

  /** Makes a setter of local time of that of UTC. */
  function set(name: string, length: number, change: (date: Date, args: number[]) => number): void {
    const fromNothing = name === "setFullYear" || name === "setYear";
    const setter = {
      [name](this: Date, ...args: number[]): number {
        const time = apply(getTime, this, []);
        const date = new Real(time === time ? time + offsetAt(time) : fromNothing ? 0 : NaN);
        return apply(setTime, this, [instant(change(date, args))]);
      },
    }[name];
    put(real, name, setter, length);
  }
  const units = { Milliseconds: 1, Seconds: 2, Minutes: 3, Hours: 4, Date: 1, Month: 2, FullYear: 3 };
  for (const [unit, length] of Object.entries(units)) {
    const ofUtc = real[`setUTC${unit}`];
    set(`set${unit}`, length, (date, args) => apply(ofUtc, date, args));
  }
  const { setUTCFullYear } = real;
  set("setYear", 1, (date, [value]) => {
    const year = Math.trunc(Number(value));
    return apply(setUTCFullYear, date, [year >= 0 && year <= 99 ? year + 1900 : year]);
  });
  return { Date: Local as unknown as DateConstructor };
}
