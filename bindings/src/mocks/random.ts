/** Replaces `Math.random` by a seeded generator, so that random numbers are the same in every run. */

import type { Core } from "../core-state";
import type { WorldSender } from "./world-state";

export interface Random {
  /** Seeds `Math.random` with a text. The host seeds its own random values with it too. */
  seed(text: string): void;
  /** Restores the original `Math.random`. */
  restore(): void;
  /** A random seed for another realm. */
  draw(): number;
}

export default function (core: Core): Random {
  const { random } = Math;
  const { imul } = Math;
  const world = core.part<WorldSender>("world-state");
  let state = [0, 0, 0, 1];
  let seeded = 0;

  /** The next 32 bits of the generator sfc32. */
  function bits(): number {
    let [a, b, c, d] = state;
    const t = (a + b + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + t) | 0;
    state = [a, b, c, d];
    return t >>> 0;
  }

  const { random: next } = { random: () => (bits() * 0x200000 + (bits() >>> 11)) / 0x20000000000000 };

  return {
    seed(text): void {
      let a = 0x9e3779b9;
      let b = 0x243f6a88;
      for (let i = 0; i < text.length; i++) {
        a = imul(a ^ text.charCodeAt(i), 0x85ebca6b);
        b = imul(b ^ text.charCodeAt(i), 0xc2b2ae35) ^ a;
      }
      state = [a, b, a ^ b, 1];
      for (let i = 0; i < 12; i++) bits();
      Math.random = next;
      world.seed = text;
      world.seeded = ++seeded;
      world.send();
    },
    restore(): void {
      Math.random = random;
      world.seed = world.seeded = undefined;
      world.send();
    },
    draw: () => bits() * 0x10000 + (bits() >>> 16),
  };
}
