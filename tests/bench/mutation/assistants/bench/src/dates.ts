/** Dates as texts: calendars, weeks, and what is left of a term. */
const DAY = 86_400_000;
const MONTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

export function isLeap(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
}

export function daysIn(year: number, month: number): number {
  if (month < 1 || month > 12) throw new RangeError("a month is from 1 to 12");
  return month === 2 && isLeap(year) ? 29 : MONTHS[month - 1];
}

export function parse(text: string): [number, number, number] | null {
  const found = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text.trim());
  if (!found) return null;
  const [year, month, day] = found.slice(1).map(Number);
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return null;
  return [year, month, day];
}

export function addMonths(text: string, months: number): string {
  const date = parse(text);
  if (date === null) throw new Error(`${text} is no date`);
  const [year, month, day] = date;
  const index = year * 12 + (month - 1) + months;
  const [toYear, toMonth] = [Math.floor(index / 12), (index % 12) + 1];
  return print(toYear, toMonth, Math.min(day, daysIn(toYear, toMonth)));
}

export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / DAY);
}

export function weekday(text: string): number {
  const day = new Date(`${text}T00:00:00Z`).getUTCDay();
  return day === 0 ? 7 : day;
}

export function workdays(from: string, to: string, holidays: string[] = []): number {
  let count = 0;
  for (let at = 0; at < daysBetween(from, to); at++) {
    const day = new Date(Date.parse(`${from}T00:00:00Z`) + at * DAY).toISOString().slice(0, 10);
    if (weekday(day) < 6 && !holidays.includes(day)) count++;
  }
  return count;
}

export function left(until: string, today: string): string {
  const days = daysBetween(today, until);
  if (days < 0) return "over";
  if (days === 0) return "today";
  if (days === 1) return "tomorrow";
  return days < 14 ? `${days} days` : `${Math.floor(days / 7)} weeks`;
}

function print(year: number, month: number, day: number): string {
  return `${year}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`;
}
