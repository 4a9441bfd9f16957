/** Formats figures and texts. */

import type { Json } from "./model";

const whole = new Intl.NumberFormat("en");

export const number = (value: number): string => whole.format(value);

export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
  return `${Math.floor(ms / 3_600_000)} h ${Math.round((ms % 3_600_000) / 60_000)} min`;
}

export const range = (low: number, high: number): string =>
  duration(low) === duration(high) ? duration(low) : `${duration(low)} – ${duration(high)}`;

/** `95.2 %`. 100 % only if it is all, 0 % only if it is nothing. */
export function percent(part: number, all: number): string {
  if (all === 0) return "–";
  const value = (100 * part) / all;
  const rounded = Math.round(value * 10) / 10;
  return `${part < all ? Math.min(rounded, 99.9) : rounded} %`;
}

export const plural = (count: number, word: string): string => `${number(count)} ${word}${count === 1 ? "" : "s"}`;

/** An error without the prefix that its badge already says. */
export const reason = (error: string): string => error.replace(/^assertion failed: /, "");

/** US dollars; an estimate, which rests on a price that nobody has named, has a mark. */
export const money = (dollars: number, isEstimated?: boolean | number): string => `${isEstimated ? "~" : ""}$${dollars < 0.01 ? dollars.toFixed(5) : dollars.toFixed(2)}`;

export function bytes(size: number): string {
  if (size < 1000) return plural(size, "byte");
  return size < 1_000_000 ? `${(size / 1000).toFixed(1)} KB` : `${(size / 1_000_000).toFixed(1)} MB`;
}

export const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1).replaceAll("_", " ");

export function when(timestamp: string): string {
  const date = new Date(timestamp);
  if (Number.isNaN(date.getTime())) return timestamp;
  return date.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}

/** The same with seconds, because runs may begin within one minute. */
export function moment(timestamp: string): string {
  const date = new Date(timestamp);
  if (Number.isNaN(date.getTime())) return timestamp;
  return date.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "medium" });
}

const UNSEEN = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** The text with visible signs instead of invisible characters, halves of surrogate pairs, and marks of text direction. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (letter) => {
    const code = letter.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? "␡" : `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}

/** A value as text: strings as they are, everything else as indented JSON. */
export function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
}

/** A value in one line of limited length. */
export function brief(value: Json | undefined, limit = 160): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return visible(text.length > limit ? `${text.slice(0, limit)}…` : text);
}
