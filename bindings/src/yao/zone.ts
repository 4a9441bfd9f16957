/** The name of the time zone at the end of what `toString` and `toTimeString` of dates return, as in V8. */

import type { Kernel } from "../kernel";
import type { Formatting } from "./intl";

/** Adds the name of the time zone to the text of a date. */
export type Zone = (text: string, date: unknown) => string;

const beforeName = /^.* [AP]M /;

export default function (kernel: Kernel): Zone {
  /** The name of the time zone at a time; empty when there is no data about the zone. */
  function nameAt(time: number): string {
    try {
      const { date } = kernel.part<Formatting>("intl").methods;
      return ` (${date(time, "time", "en-US", { timeZoneName: "long" }).replace(beforeName, "")})`;
    } catch {
      return "";
    }
  }

  return (text, date) => {
    const time = kernel.std.getTime(date);
    return time === time ? text + nameAt(time) : text;
  };
}
