/** What the outermost realm tells the host of its world, so that what is called elsewhere finds the same one. */

import type { Core } from "../core";
import { encode } from "../encode";

export interface Told {
  /** Kind → pattern and number of each mock, newest last. */
  mocks?: Record<string, [pattern: string, number: number][]>;
  /** Milliseconds since 1970 at which the clock stands. */
  now?: number;
  /** What the random numbers are made of. */
  seed?: string;
  /** How often they were begun again. */
  seeded?: number;
}

export interface Teller {
  now?: number;
  seed?: string;
  seeded?: number;
  /** Tells it as it is now. */
  tell(): void;
}

export default function (core: Core): Teller {
  const teller: Teller = {
    tell(): void {
      if (core.boot.nested) return;
      const told: Told = { now: teller.now, seed: teller.seed, seeded: teller.seeded };
      for (const kind of ["process", "agent", "http", "exec"] as const) {
        const list = core.mocks[kind];
        if (list.length) (told.mocks ??= {})[kind] = list.map(({ pattern, number }) => [pattern, number]);
      }
      const text = encode(core.std, told);
      core.bridge("world", text === "{}" ? "" : text, "");
    },
  };
  return teller;
}
