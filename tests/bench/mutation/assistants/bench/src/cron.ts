/** Schedules: fields with ranges, lists and steps, and the next minute that fits all of them. */
export interface Schedule {
  minutes: Set<number>;
  hours: Set<number>;
  days: Set<number>;
  months: Set<number>;
  weekdays: Set<number>;
  anyDay: boolean;
  anyWeekday: boolean;
}

const NAMES: Record<string, string> = { "@hourly": "0 * * * *", "@daily": "0 0 * * *", "@weekly": "0 0 * * 0", "@monthly": "0 0 1 * *" };
const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const MINUTE = 60_000;
const MOST_DAYS = 366 * 5;

export function field(text: string, low: number, high: number, names: string[] = []): Set<number> {
  const found = new Set<number>();
  for (const part of text.toLowerCase().split(",")) {
    const [range, by] = part.split("/");
    const step = by === undefined ? 1 : Number(by);
    if (!Number.isInteger(step) || step < 1) throw new RangeError(`${part} has no step`);
    let [from, to] = [low, high];
    if (range !== "*") {
      const [first, last] = range.split("-");
      from = numberOf(first, names, low);
      to = last !== undefined ? numberOf(last, names, low) : by !== undefined ? high : from;
    }
    if (from < low || to > high || from > to) throw new RangeError(`${part} is not from ${low} to ${high}`);
    for (let value = from; value <= to; value += step) found.add(value);
  }
  return found;
}

function numberOf(text: string, names: string[], low: number): number {
  const at = names.indexOf(text);
  if (at >= 0) return at + low;
  if (!/^\d+$/.test(text)) throw new RangeError(`${text} is no number`);
  return Number(text);
}

export function parse(text: string): Schedule {
  const parts = (NAMES[text.trim()] ?? text).trim().split(/\s+/);
  if (parts.length !== 5) throw new RangeError(`a schedule has 5 fields, not ${parts.length}`);
  const [minutes, hours, days, months, weekdays] = parts;
  const week = field(weekdays, 0, 7, DAYS);
  if (week.delete(7)) week.add(0);
  return {
    minutes: field(minutes, 0, 59),
    hours: field(hours, 0, 23),
    days: field(days, 1, 31),
    months: field(months, 1, 12, MONTHS),
    weekdays: week,
    anyDay: days === "*",
    anyWeekday: weekdays === "*",
  };
}

export function fitsDay(schedule: Schedule, time: Date): boolean {
  if (!schedule.months.has(time.getUTCMonth() + 1)) return false;
  const day = schedule.days.has(time.getUTCDate());
  const weekday = schedule.weekdays.has(time.getUTCDay());
  if (schedule.anyDay || schedule.anyWeekday) return day && weekday;
  return day || weekday;
}

export function fits(schedule: Schedule, time: Date): boolean {
  return fitsDay(schedule, time) && schedule.hours.has(time.getUTCHours()) && schedule.minutes.has(time.getUTCMinutes());
}

export function next(text: string, after: string): string | null {
  const schedule = parse(text);
  let time = new Date(Math.floor(Date.parse(after) / MINUTE) * MINUTE + MINUTE);
  for (let days = 0; days < MOST_DAYS; days++) {
    if (fitsDay(schedule, time)) {
      const day = time.getUTCDate();
      while (time.getUTCDate() === day) {
        if (fits(schedule, time)) return time.toISOString().slice(0, 16);
        const isHour = schedule.hours.has(time.getUTCHours());
        time = new Date(time.getTime() + (isHour ? 1 : 60 - time.getUTCMinutes()) * MINUTE);
      }
      continue;
    }
    time = new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate() + 1));
  }
  return null;
}

export function several(text: string, after: string, count: number): string[] {
  const found: string[] = [];
  let last: string | null = after;
  while (found.length < count) {
    last = next(text, last.length === 16 ? `${last}Z` : last);
    if (last === null) break;
    found.push(last);
  }
  return found;
}
