/**
 * What an error has in addition to its message: its own fields, its causes, and the errors in an `AggregateError`.
 * Loaded when the first error is recorded.
 */

import { keysOf } from "../assert/kind";
import { codeOf, describeError, isError } from "../errors";
import type { Kernel } from "../kernel";
import type { Explain } from "./explain";

/** One detail, of one or more lines. The host finds the place of a related error from `stack`. */
export interface Detail {
  /** 1 for details of the error itself, 2 for details of its cause, and so on. */
  depth: number;
  text: string;
  stack?: string;
}

const detailLimit = 60;
const fieldLimit = 20;
const errorLimit = 10;
const depthLimit = 10;
const shown = { depth: 3, items: 20, length: 600, masked: true };
const standard = "|name|message|stack|cause|errors|";

export default function (kernel: Kernel): (error: unknown) => Detail[] {
  const { std } = kernel;
  const { inspect, label, masks } = kernel.part<Explain>("explain");

  return (root) => {
    const details: Detail[] = std.list<Detail>();
    const above = std.list<unknown>();

    function add(depth: number, text: string, more?: object): void {
      if (details.length < detailLimit) details[details.length] = { depth, text, ...more };
      else details[detailLimit] = { depth: 1, text: "... and more" };
    }

    function field(error: object, key: string): string {
      let value: unknown;
      try {
        value = error[key as keyof object];
      } catch {
        return "[Getter threw]";
      }
      return masks(key, value) ? "***" : inspect(value, shown);
    }

    function fields(error: object, depth: number): void {
      const { code, hides_code } = codeOf(kernel, error);
      if (hides_code) add(depth, "code: " + code);
      const keys = keysOf(std, error);
      let count = 0;
      for (let i = 0; i < keys.length; i++) {
        const key = keys[i];
        if (typeof key !== "string" || std.indexOf(standard, "|" + key + "|") >= 0) continue;
        if (count++ === fieldLimit) return add(depth, "... more fields");
        add(depth, label(key) + ": " + field(error, key));
      }
    }

    function related(error: unknown, depth: number, role: string): void {
      const { message, stack } = describeError(kernel, error, false);
      for (let i = 0; i < above.length; i++) if (above[i] === error) return add(depth, role + message + " [Circular]");
      if (!isError(std, error)) return add(depth, role + message);
      add(depth, role + message, { stack });
      about(error, depth + 1);
    }

    function about(error: Error, depth: number): void {
      if (depth > depthLimit) return add(depth, "... and what caused that");
      above[above.length] = error;
      try {
        fields(error, depth);
        const { cause, errors } = error as { cause?: unknown; errors?: unknown };
        if (cause !== undefined) related(cause, depth, "caused by ");
        if (std.isArray(errors)) {
          const count = errors.length;
          for (let i = 0; i < count && i < errorLimit; i++) related(errors[i], depth, "error " + (i + 1) + " of " + count + ": ");
          if (count > errorLimit) add(depth, "... " + (count - errorLimit) + " more errors");
        }
      } catch {
        add(depth, "what else it says cannot be read: its properties throw");
      }
      above.length--;
    }

    try {
      if (isError(std, root)) about(root, 1);
    } catch {
      // a proxy that throws: the error's message says so
    }
    return details;
  };
}
