/**
 * Where scripts awaited what was rejected: the engine's stack of an error ends at the last `await` before it.
 *
 * Loaded with the first rejection of an error. From then on the engine tells this part about each error that is made or
 * thrown on (`Error.prepareStackTrace`). One that is thrown into a function at its `await` passes there through a
 * generator's `throw`, and that place is added to the error's trail. The engine tells of an error that is thrown on only
 * while it keeps no stack of an uncaught one, so a new error takes its stack as a property and leaves that place empty.
 */

import type { Core } from "../core";

export interface Awaits {
  /** An error has rejected a promise, or is about to be thrown where it was awaited. */
  rejected(error: unknown): void;
}

interface CallSite {
  getFunctionName(): string | null;
  getFileName(): string | null;
  getLineNumber(): number | null;
  getColumnNumber(): number | null;
  isNative(): boolean;
}

const trailLimit = 4_000;

export default function (core: Core): Awaits {
  const { std } = core;
  const trails = new std.WeakMap<object, string>();
  const engine = std.Error as unknown as { prepareStackTrace?: unknown };

  /** A frame as the engine writes it. */
  function frame(site: CallSite, before: string): string {
    const place = site.isNative() ? "native" : `${site.getFileName()}:${site.getLineNumber()}:${site.getColumnNumber()}`;
    return `    at ${before}${site.getFunctionName() || "<anonymous>"} (${place})\n`;
  }

  function prepare(error: unknown, sites: CallSite[]): string | undefined {
    let text = "";
    try {
      const trail = std.weakGet(trails, error) as string | undefined;
      if (trail !== undefined && sites.length > 1 && sites[1].isNative() && sites[1].getFunctionName() === "throw") {
        const line = frame(sites[0], "async ");
        if (trail.length < trailLimit && std.indexOf(trail, line) < 0) std.weakSet(trails, error as object, trail + line);
        return undefined;
      }
      for (let i = 0; i < sites.length; i++) text += frame(sites[i], "");
      if (!(error instanceof std.Error) || (error as Error).stack !== undefined) return text;
      std.define(error, "stack", { __proto__: null, value: text, writable: true, configurable: true } as PropertyDescriptor);
      return undefined;
    } catch {
      return text;
    }
  }

  core.trail = (error) => (std.weakGet(trails, error) as string | undefined) ?? "";

  return {
    rejected(error) {
      try {
        if (!(error instanceof std.Error)) return;
      } catch {
        return;
      }
      if (std.weakGet(trails, error) === undefined) std.weakSet(trails, error, "");
      // A script's own function stays.
      if (engine.prepareStackTrace === undefined) engine.prepareStackTrace = prepare;
      try {
        throw undefined; // the engine forgets the stack of the last error that was made and not caught
      } catch {
        return;
      }
    },
  };
}
