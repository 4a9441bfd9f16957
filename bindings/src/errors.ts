/** Reading anything that was thrown, whatever its getters do. */

import type { Kernel } from "./kernel";

const causeLimit = 10;

/** `depth`: how many errors have this one as their cause. */
export function describeError(kernel: Kernel, error: unknown, depth = 0): { message: string; stack?: string } {
  const { std } = kernel;
  try {
    if (error instanceof std.Error || (typeof error === "object" && error !== null && "stack" in error && "message" in error)) {
      const { name, message, stack, cause } = error as Error;
      const title = typeof name === "string" && name !== "Error" && std.indexOf(name, "Exception|") !== 0 ? name + ": " : "";
      const because = cause === undefined || depth === causeLimit ? "" : ` (cause: ${describeError(kernel, cause, depth + 1).message})`;
      return { message: title + std.String(message) + because, stack: typeof stack === "string" ? stack : undefined };
    }
    if (error === null) return { message: "null was thrown, which is also what the engine does when memory runs out" };
    const { inspect } = kernel.part<{ inspect(value: unknown): string }>("explain");
    return { message: `thrown, not an Error: ${inspect(error)}` };
  } catch {
    return { message: "an exception that cannot be read: its properties throw" };
  }
}
