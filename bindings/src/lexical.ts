import type { Core } from "./core-state";

const identifier = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

/** A function that a script declared at its top level: also as `const`, `let` or `class`, which the global object does not have. */
export function declaredFunction(core: Core, name: string): ((...args: unknown[]) => unknown) | undefined {
  const found = core.declared(name);
  if (found || !identifier.test(name)) return found;
  try {
    const value = core.evaluate(name);
    return typeof value === "function" ? (value as (...args: unknown[]) => unknown) : undefined;
  } catch {
    return undefined;
  }
}
