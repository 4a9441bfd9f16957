/**
 * `toString` and `toTimeString` of dates with the name of the time zone at the end, as in V8. They are installed if the code
 * of a realm names `Date`. The part "intl" is loaded when one is called.
 */

import type { Kernel } from "../kernel";
import type { Formatting } from "./intl";

const beforeName = /^.* [AP]M /;

export default function (kernel: Kernel): object {
  const { getTime } = Date.prototype;

  /** The name of the time zone at a time; empty when there is no data about the zone. */
  function nameAt(time: number): string {
    try {
      const { date } = kernel.part<Formatting>("intl").methods;
      return ` (${date(time, "time", "en-US", { timeZoneName: "long" }).replace(beforeName, "")})`;
    } catch {
      return "";
    }
  }

  for (const method of ["toString", "toTimeString"] as const) {
    const plain = Date.prototype[method];
    const value = {
      [method](this: Date): string {
        const text = plain.call(this);
        const time = getTime.call(this);
        return time === time ? text + nameAt(time) : text;
      },
    }[method];
    Object.defineProperty(Date.prototype, method, { value, writable: true, configurable: true });
  }
  return {};
}
