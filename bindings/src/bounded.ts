/** Limits the length of texts that leave a realm. */

import type { Std } from "./std";

const limit = 64_000;

/** The text, or its first 64,000 characters followed by its whole length. */
export function bounded(std: Std, text: string): string {
  return text.length > limit ? std.slice(text, 0, limit) + " ... (" + text.length + " characters)" : text;
}
