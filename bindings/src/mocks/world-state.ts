/** Sends the state of the test's world to the host: its mocks, clock and seed, which apply to everything that the test calls. */

import type { Core } from "../core-state";
import { encode } from "../encode";

export interface WorldState {
  /** Kind → pattern and number of each mock, newest last. */
  mocks?: Record<string, [pattern: string, number: number][]>;
  /** The time at which the clock is stopped, in milliseconds since 1970. */
  now?: number;
  /** Seed of the random numbers. */
  seed?: string;
  /** How many times the random numbers were seeded. */
  seeded?: number;
}

export interface WorldSender {
  now?: number;
  seed?: string;
  seeded?: number;
  /** Sends the current state. Only the realm of the test does. */
  send(): void;
}

export default function (core: Core): WorldSender {
  const sender: WorldSender = {
    send(): void {
      if (core.boot.nested) return;
      const state: WorldState = { now: sender.now, seed: sender.seed, seeded: sender.seeded };
      for (const kind of ["process", "agent", "http", "exec"] as const) {
        const list = core.mocks[kind];
        if (list.length) (state.mocks ??= {})[kind] = list.map(({ pattern, number }) => [pattern, number]);
      }
      const text = encode(core.std, state);
      core.bridge("world", text === "{}" ? "" : text, "");
    },
  };
  return sender;
}
