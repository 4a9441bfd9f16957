/**
 * Finds the mock that answers a call, newest first: process mocks by name, then agent mocks by agent id
 * (`mocked-agent.ts`), HTTP mocks by method and URL (`mocked-http.ts`), mocks of commands (`mocked-exec.ts`).
 */

import { globMatches } from "../glob";
import type { Kernel } from "../kernel";

/** A function that answers the call `name(...args)`, or undefined when no mock does. */
export interface Finder {
  find(name: string, args: readonly unknown[]): (() => unknown) | undefined;
}

export default function (kernel: Kernel): Finder {
  return {
    find(name, args) {
      const { process, agent, http, exec } = kernel.mocks;
      const lower = name.toLowerCase();
      const mock = process.findLast(({ pattern }) => globMatches(pattern.toLowerCase(), lower));
      if (mock) return () => mock.reply.apply({ name }, [...args]);
      return (
        (agent.length ? kernel.part<Finder>("mocked-agent").find(name, args) : undefined) ??
        (http.length ? kernel.part<Finder>("mocked-http").find(name, args) : undefined) ??
        (exec.length ? kernel.part<Finder>("mocked-exec").find(name, args) : undefined)
      );
    },
  };
}
