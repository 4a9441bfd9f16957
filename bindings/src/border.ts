/**
 * What crosses between a script and a process that it calls: arguments and results are JSON or bytes, and each side has
 * its own copy. Calls of the host, calls between realms and mocks all take this way.
 */

import type { Core } from "./core-state";
import { encode, jsonText, rawJson } from "./encode";
import { codeOf, describeError } from "./errors";
import { bounded } from "./bounded";

const argumentLimit = 32_000_000;

/** The result of a call: a JSON value, bytes in base64, or an error that the process returned instead of throwing it. */
export interface Result {
  ok?: unknown;
  bytes?: string;
  returned?: { message: string };
}

const base64 = (core: Core) => core.part<{ toBase64(bytes: Uint8Array): string; fromBase64(text: string): Uint8Array }>("bytes");

/**
 * The arguments as a JSON list, a `bigint` as a number. If some are bytes (here in base64), errors (here their messages)
 * or undefined: `{args, kinds}`, with the kind of each such argument by its position. Throws an Exception if they are not
 * JSON.
 */
export function argumentText(core: Core, name: string, args: readonly unknown[]): string {
  const { std } = core;
  let text = "[";
  let kinds = "";
  try {
    for (let i = 0; i < args.length; i++) {
      let value = args[i];
      let kind = "";
      if (value instanceof Uint8Array) {
        value = base64(core).toBase64(value);
        kind = "bytes";
      } else if (value instanceof std.Error) {
        value = describeError(core, value).message;
        kind = "error";
      } else if (value === undefined) kind = "undefined";
      if (kind) kinds += (kinds && ",") + '"' + i + '":"' + kind + '"';
      text += (i ? "," : "") + jsonText(std, value);
    }
    text += "]";
  } catch (error) {
    throw new core.Exception(`Cannot call ${name}: its arguments are not JSON: ${describeError(core, error).message}`, 400);
  }
  if (text.length > argumentLimit) {
    throw new core.Exception(`Cannot call ${name}: its arguments take ${text.length} characters as JSON, the limit is ${argumentLimit}`, 413);
  }
  return kinds ? '{"args":' + text + ',"kinds":{' + kinds + "}}" : text;
}

/** The arguments in the text that `argumentText` makes. */
export function revived(core: Core, text: string): unknown[] {
  const { std } = core;
  const given = std.parse(text) as unknown[] | { args: unknown[]; kinds: Record<number, string> };
  if (std.isArray(given)) return given;
  const { args, kinds } = given as { args: unknown[]; kinds: Record<number, string> };
  for (let i = 0; i < args.length; i++) {
    if (kinds[i] === "bytes") args[i] = base64(core).fromBase64(args[i] as string);
    else if (kinds[i] === "error") args[i] = new std.Error(args[i] as string);
    else if (kinds[i]) args[i] = undefined;
  }
  return args;
}

/** JSON of a `Result`. Throws an Error if the value is not JSON. */
export function resultText(core: Core, value: unknown): string {
  const { std } = core;
  if (value instanceof Uint8Array) return encode(std, { bytes: base64(core).toBase64(value) });
  if (value instanceof std.Error) return encode(std, { returned: { message: describeError(core, value).message } });
  return encode(std, { ok: rawJson(std, value, "What was returned") });
}

/** The value of a `Result`. */
export function valueOf(core: Core, { ok, bytes, returned }: Result): unknown {
  if (returned) return new core.std.Error(returned.message);
  return bytes === undefined ? ok : base64(core).fromBase64(bytes);
}

/** JSON of `{error}`. `stackOf` chooses the part of the stack that the caller gets. */
export function failureText(core: Core, error: unknown, stackOf: (text: string) => string = (text) => text): string {
  const { std } = core;
  const { message, stack } = describeError(core, error);
  return encode(std, {
    error: { message, stack: stack && bounded(std, stackOf(stack)), ...codeOf(core, error), broke: core.isBroken(error) || undefined },
  });
}
