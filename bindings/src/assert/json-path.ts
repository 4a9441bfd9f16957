import type { Check, Kernel } from "../kernel";
import { isObject } from "../objects";
import { equal, explain, refuse } from "./support";

/** One step of a simple path, such as `.name` or `[0]`. */
const step = /\.([\w$\-\u0080-\uffff]+)|\[(\d+)]/y;
const rooted = /^\$([.[]|$)/;
const relative = /^[.[]/;

/** The keys in a path such as `a.b[0].c`, `$.a`, `[0]` or `$`; undefined if the path has anything else in it. */
function simpleKeys({ std }: Kernel, path: string): string[] | undefined {
  const rest = std.exec(rooted, path) ? std.slice(path, 1) : std.exec(relative, path) ? path : "." + path;
  const keys = std.list<string>();
  step.lastIndex = 0;
  while (step.lastIndex < rest.length) {
    const found = std.exec(step, rest);
    if (!found) return undefined;
    keys[keys.length] = found[1] ?? found[2];
  }
  return keys;
}

/** The value at a path. If several values match, a list of them; undefined if none does. */
function find(kernel: Kernel, root: unknown, path: string): unknown {
  const { std } = kernel;
  const keys = simpleKeys(kernel, path);
  if (keys) {
    for (let i = 0; i < keys.length; i++) {
      root = isObject(root) && std.hasOwn(root, keys[i]) ? root[keys[i]] : undefined;
    }
    return root;
  }
  const matches = kernel.host("jsonpath.Find", [root, path]) as unknown[];
  return matches.length > 1 ? matches : matches[0];
}

/**
 * `JSONPath(obj, path, expected)`: the value at a path in an object, or in a JSON text, equals the expected value. If
 * `expected` is a list and the value at the path is not, the value must equal one of the list. If there is nothing at
 * the path, it equals both null and undefined.
 */
export const jsonPath: Check = {
  params: ["obj", "path", "expected"],
  test(kernel, args) {
    const { std } = kernel;
    let root = args[0];
    const path = args[1];
    const expected = args[2];
    if (typeof path !== "string") return refuse(kernel, "The path must be a string", path);
    if (typeof root === "string") {
      try {
        root = std.parse(root);
      } catch (error) {
        return { reason: "Not JSON:  " + explain(kernel).thrown(error), actual: root };
      }
    }
    const actual = find(kernel, root, path);
    const agrees = (value: unknown, actual: unknown): boolean =>
      (actual === undefined && value === null) || equal(kernel, actual, value);
    const holds = (expected: unknown, actual: unknown): boolean => {
      if (agrees(expected, actual)) return true;
      if (std.isArray(expected) && !std.isArray(actual)) {
        for (let i = 0; i < expected.length; i++) if (agrees(expected[i], actual)) return true;
      }
      return false;
    };
    return holds(expected, actual) ? undefined : { reason: "Not equal at " + path, expected, actual, diff: true, holds };
  },
};
