/** Finds the assertion that a misspelt one was meant to be. */

import type { Core } from "./core-state";

/** The names in `assert/index.ts`, with a space before and after each; defined by the build. */
declare const ASSERTIONS: string;

/** The assertion whose name differs only in its case, else in one letter, else in two. */
export function meant({ std }: Core, name: string): string | undefined {
  const names = std.split(ASSERTIONS, " ");
  for (let letters = 0; letters <= 2; letters++)
    for (let i = 1; i < names.length - 1; i++) if (within(std.lowerCase(name), std.lowerCase(names[i]), letters)) return names[i];
  return undefined;

  /** Whether one text becomes the other one by adding, removing or replacing at most so many letters. */
  function within(a: string, b: string, letters: number): boolean {
    let i = 0;
    while (i < a.length && a[i] === b[i]) i++;
    if (i === a.length && i === b.length) return true;
    if (!letters) return false;
    const restOfA = std.slice(a, i + 1);
    const restOfB = std.slice(b, i + 1);
    return within(restOfA, std.slice(b, i), letters - 1) || within(std.slice(a, i), restOfB, letters - 1) || within(restOfA, restOfB, letters - 1);
  }
}
