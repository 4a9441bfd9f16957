/**
 * Records where scripts awaited an error, because the engine's stack of an error ends at the last `await` before it. An
 * error of what is read too early says that as other engines do.
 *
 * Loaded when the first promise is rejected with an error. From then on, the engine calls `prepare` for each error that is created or rethrown (`Error.prepareStackTrace`). An error that is thrown at an `await` goes through the `throw` of a
 * generator; that place is added to the error's trail. The engine reports rethrown errors only while it has no stack of an
 * uncaught error. So `prepare` stores the stack of a new error as a property, and returns nothing.
 */

import type { Core, Early } from "../core-state";
import { engineStack, giveStack } from "../errors";
import { frame, type CallSite } from "../stack-frame";

export interface Awaits {
  /** Call this when an error rejects a promise, and before it is thrown where it was awaited. */
  rejected(error: unknown): void;
  /** Notes for the host which name was read too early: the one that stands in the code. */
  note(error: object, name: string): void;
}

const trailLimit = 4_000;

export default function (core: Core): Awaits {
  const { std } = core;
  const trails = new std.WeakMap<object, string>();
  const unready = ReferenceError.prototype;
  const engine = std.Error as unknown as { prepareStackTrace?: unknown };

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
      if (!(error instanceof std.Error) || engineStack(core, error as Error) !== undefined) return text;
      if (std.getPrototypeOf(error) === unready) core.part<Early>("early").tell(error);
      giveStack(core, error, text);
      return undefined;
    } catch {
      return text;
    }
  }

  function note(error: object, name: string): void {
    std.weakSet(trails, error, `${name} is not initialized\n`);
  }

  core.trail = (error) => (std.weakGet(trails, error) as string | undefined) ?? "";

  return {
    note,
    rejected(error) {
      try {
        if (!(error instanceof std.Error)) return;
      } catch {
        return;
      }
      if (core.keepStack) {
        const text = std.descriptor(error, "stack")?.value as unknown;
        if (typeof text === "string" && std.indexOf(text, "<input>:") >= 0) core.keepStack(error, text);
      }
      if (std.weakGet(trails, error) === undefined) std.weakSet(trails, error, "");
      // A function that the script has set is not replaced.
      if (engine.prepareStackTrace === undefined || engine.prepareStackTrace === core.caught) engine.prepareStackTrace = prepare;
      try {
        throw undefined; // makes the engine forget the stack of the last uncaught error
      } catch {
        return;
      }
    },
  };
}
