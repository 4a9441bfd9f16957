/** Mutates regular expressions, as StrykerJS does: a function from JSON to JSON, which `mutate.ts` calls. */

import { mutate } from "weapon-regex";

import { answering } from "./tree";

/** The mutants of a pattern; none when it is of a form that cannot be read. */
function patterns(pattern: string, flags?: string): string[] {
  try {
    return mutate(pattern, flags, { mutationLevels: [1] }).map((mutant) => mutant.pattern);
  } catch {
    return [];
  }
}

export default answering({ patterns });
