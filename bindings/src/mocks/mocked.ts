/**
 * Finds the mock that answers a call. Looks for a process mock by name, then for an agent mock by agent id
 * (`mocked-agent.ts`), an HTTP mock by method and URL (`mocked-http.ts`), and a mock of a command (`mocked-exec.ts`). If
 * several match, the newest answers.
 */

import { globMatches } from "../glob";
import type { Kernel } from "../kernel";

export interface Finder {
  /**
   * Returns a function that answers a call; undefined if no mock matches. `args` returns the arguments as they arrive at a
   * process, and throws an Exception if they are not JSON.
   */
  find(name: string, args: () => unknown[]): (() => unknown) | undefined;
}

export default function (kernel: Kernel): Finder {
  return {
    find(name, args) {
      const { process, agent, http, exec } = kernel.mocks;
      const lower = name.toLowerCase();
      const mock = process.findLast(({ pattern }) => globMatches(pattern.toLowerCase(), lower));
      if (mock) return () => mock.reply.apply({ name }, args());
      return (
        (agent.length ? kernel.part<Finder>("mocked-agent").find(name, args) : undefined) ??
        (http.length ? kernel.part<Finder>("mocked-http").find(name, args) : undefined) ??
        (exec.length ? kernel.part<Finder>("mocked-exec").find(name, args) : undefined)
      );
    },
  };
}
