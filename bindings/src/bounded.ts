/** Bounds on what leaves a realm as text. */

import type { Std } from "./std";

const limit = 64_000;

/** A text cut to a length that people read; says what was cut. */
export function bounded(std: Std, text: string): string {
  return text.length > limit ? std.slice(text, 0, limit) + " ... (" + text.length + " characters)" : text;
}
