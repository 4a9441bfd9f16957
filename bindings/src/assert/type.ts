import type { Check } from "../kernel";
import { explain, typeName } from "./support";

const names = "string, number, boolean, object, array, function, null, undefined, bigint, symbol";

/** `Type(value, typeName)`: the value has this type. Arrays have the type "array", null has the type "null". */
export const type: Check = {
  params: ["value", "typeName"],
  test(kernel, args) {
    const { std } = kernel;
    const expected = args[1];
    if (typeof expected !== "string" || std.indexOf(", " + names + ",", ", " + expected + ",") < 0) {
      return { reason: "A type is one of " + names + ", got " + explain(kernel).inspect(expected), bare: true };
    }
    const actual = typeName(kernel, args[0]);
    return actual === expected ? undefined : { reason: "Wrong type", expected, actual };
  },
};
