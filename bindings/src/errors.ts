/** Reads thrown values safely, even if their getters throw. */

import type { Kernel } from "./kernel";
import type { Explain } from "./check/explain";
import type { Std } from "./std";

const causeLimit = 10;
const chainLimit = 20;

/** Whether a value is an `Error`, or has its fields, as errors of other realms do. A proxy can make this throw. */
export function isError(std: Std, value: unknown): value is Error {
  return value instanceof std.Error || (typeof value === "object" && value !== null && "stack" in value && "message" in value);
}

/** The code of a thrown value, and whether scripts get it without that. Nothing if it has none. */
export function codeOf({ std, codes }: Kernel, error: unknown): { code?: number; hides_code?: true } {
  const hidden = codes && (std.weakGet(codes, error) as number | undefined);
  if (hidden !== undefined) return { code: hidden, hides_code: true };
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "number" ? { code } : {};
}

/** The stack of an error as the engine has it. */
export const engineStack = (kernel: Kernel, error: Error): string => (kernel.stackOf ? kernel.stackOf(error) : error.stack) as string;

/** Gives an error a stack. */
export function giveStack({ std, keepStack }: Kernel, error: object, value: string): void {
  if (keepStack) keepStack(error, value);
  else std.define(error, "stack", { __proto__: null, value, writable: true, configurable: true } as PropertyDescriptor);
}

/** The stack without the constructors of the error at its top, so that it starts where `new` was called. */
function placed(std: Std, error: unknown, stack: string): string {
  const names = std.list<string>();
  for (let proto = std.getPrototypeOf(error) as object | null; proto && proto !== std.Error.prototype && names.length < chainLimit; ) {
    const made = std.descriptor(proto, "constructor")?.value as unknown;
    const name: unknown = typeof made === "function" ? std.descriptor(made, "name")?.value : undefined;
    if (typeof name === "string" && name) names[names.length] = name;
    proto = std.getPrototypeOf(proto) as object | null;
  }
  let rest = stack;
  const drop = (name: string): boolean => {
    const start = "    at " + name + " (";
    if (std.slice(rest, 0, start.length) !== start) return false;
    rest = std.slice(rest, std.indexOf(rest, "\n") + 1 || rest.length);
    return true;
  };
  for (let i = names.length - 1; i >= 0; i--) {
    while (drop("<class_fields_init>"));
    drop(names[i]);
  }
  return rest || stack;
}

/**
 * The message and the stack of a thrown value. If `deep`, the message includes its causes and inner errors, at most
 * `left.count` of them.
 */
export function describeError(kernel: Kernel, error: unknown, deep = true, left = { count: causeLimit }): { message: string; stack?: string } {
  const { std } = kernel;
  try {
    if (isError(std, error)) {
      const { name, message, cause, errors } = error as Error & { errors?: unknown };
      const stack = engineStack(kernel, error);
      let text = typeof name === "string" && name !== "Error" && std.indexOf(name, "Exception|") !== 0 ? name + ": " : "";
      text += std.String(message);
      const told = (inner: unknown): string => describeError(kernel, inner, true, left).message;
      if (deep && std.isArray(errors) && errors.length && left.count > 0) {
        let inner = "";
        let i = 0;
        for (; i < errors.length && left.count-- > 0; i++) inner += (i ? "; " : "") + told(errors[i]);
        text += ` (errors: ${inner}${i < errors.length ? `; ... ${errors.length - i} more` : ""})`;
      }
      if (deep && cause !== undefined && left.count-- > 0) text += ` (cause: ${told(cause)})`;
      return { message: text, stack: typeof stack === "string" ? placed(std, error, stack) + (kernel.trail?.(error) ?? "") : undefined };
    }
    if (error === null) return { message: "null was thrown, possibly because the engine ran out of memory" };
    const { inspect } = kernel.part<Explain>("explain");
    return { message: `thrown, not an Error: ${inspect(error, { masked: true })}` };
  } catch {
    return { message: "an exception that cannot be read: its properties throw" };
  }
}
