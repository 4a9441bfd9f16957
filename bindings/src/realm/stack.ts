/**
 * `stack` of an error as scripts read it: name and message, then the places in the files of the author. The framework goes
 * on with the engine's text, which it reads with `engineStack`. Loaded with a realm whose script names `stack`.
 */

import type { Core } from "../core-state";

const nobody = /^.*\n?$/; // the frame of the function that reads it

export default function (core: Core): object {
  const { std } = core;
  const { prototype } = std.Error;
  const { apply } = Reflect;
  const engine = std.descriptor(prototype, "stack")!;
  const texts = new std.WeakMap<object, string>();

  core.keepStack = (error, text) => {
    std.weakSet(texts, error, text);
    std.define(error, "stack", { __proto__: null, get, set, configurable: true } as PropertyDescriptor);
  };

  core.stackOf = (error) => {
    const kept = std.weakGet(texts, error);
    if (kept !== undefined) return kept;
    const own = std.descriptor(error, "stack");
    return own ? own.value : apply(engine.get!, error, []);
  };

  function get(this: object): unknown {
    const text = core.stackOf!(this);
    if (typeof text !== "string" || std.exec(nobody, core.stackOf!(new std.Error()) as string)) return text; // the engine itself reads it
    const { name = "Error" } = (std.getPrototypeOf(this) ?? this) as Error;
    const { message } = this as Error;
    const head = std.String(name) + (message ? ": " + std.String(message) : "");
    const script = core.boot.nested && core.called ? "<" + core.called + ">" : "";
    const placed = script ? std.join(std.split(text, "<input>"), script) : text;
    return head + (core.host("errors.Places", [placed]) as string);
  }

  function set(this: object, value: unknown): void {
    std.define(this, "stack", { __proto__: null, value, writable: true, configurable: true } as PropertyDescriptor);
  }

  const { captureStackTrace } = std.Error as { captureStackTrace?: (target: object, above?: unknown) => void };
  const capture = {
    captureStackTrace(target: object, above?: unknown): void {
      apply(captureStackTrace!, std.Error, [target, above]);
      const text = std.descriptor(target, "stack")?.value as unknown;
      if (typeof text === "string") core.keepStack!(target, text);
    },
  };
  if (captureStackTrace) std.define(std.Error, "captureStackTrace", { __proto__: null, value: capture.captureStackTrace, writable: true, configurable: true } as PropertyDescriptor);
  std.define(prototype, "stack", { __proto__: null, get, set, configurable: true } as PropertyDescriptor);
  return {};
}
