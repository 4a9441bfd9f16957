import type { Check, Kernel } from "../kernel";
import { explain, typeName } from "./support";

export const names = "string, number, boolean, object, array, function, null, undefined, bigint, symbol";

/** What is wrong with the name of a type; empty if nothing is. */
export function typeProblem(kernel: Kernel, name: unknown): string {
  if (typeof name === "string" && kernel.std.indexOf(", " + names + ",", ", " + name + ",") >= 0) return "";
  return "A type is one of " + names + ", got " + explain(kernel).inspect(name);
}

/** `Type(value, typeName)`: the value has this type. Arrays have the type "array", null has the type "null". */
export const type: Check = {
  params: ["value", "typeName"],
  test(kernel, args) {
    const expected = args[1];
    const problem = typeProblem(kernel, expected);
    if (problem) return { reason: problem, bare: true };
    const actual = typeName(kernel, args[0]);
    return actual === expected ? undefined : { reason: "Wrong type", expected, actual };
  },
};
