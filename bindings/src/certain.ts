/** Simple assertions that certainly pass: they are decided without the parts that compare values and explain failures. */

import { apply, getPrototypeOf, includes, own, ownKeys } from "./captured";

const { isArray } = Array;
const plain = getPrototypeOf({}) as object;
const list = getPrototypeOf([]) as object;

/** Decides simple assertions without loading a part: true if it certainly passes; false if the part must decide. */
export function certain(name: string, count: number, a: unknown, b: unknown): boolean {
  try {
    if ((a && (a as PromiseLike<unknown>).then) || (b && (b as PromiseLike<unknown>).then)) return false; // it may be a promise
    if (count === 1 || count === 2) {
      if (name === "True") return !!a;
      if (name === "False") return !a;
      if (name === "Nil") return a == null;
      if (name === "NotNil") return a != null;
    }
    if (count === 2 || count === 3) {
      if (name === "Equal") return same(a, b, 8);
      if (name === "Contains") return typeof a === "string" && typeof b === "string" && apply(includes, a, [b]);
      if (name === "Len") return (typeof a === "string" || isArray(a)) && a.length === b;
    }
  } catch {
    // a getter or a proxy
  }
  return false;
}

/** Whether two values of plain JSON are equal, down to `depth` levels. */
function same(a: unknown, b: unknown, depth: number): boolean {
  if (a === b) return true;
  if (!depth || typeof a !== "object" || typeof b !== "object" || !a || !b) return false;
  const proto = getPrototypeOf(a) as object | null;
  if (proto !== getPrototypeOf(b) || (proto !== plain && proto !== list)) return false;
  const keys = ownKeys(a);
  if (keys.length !== ownKeys(b).length) return false;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as keyof object;
    if (!own(b, key) || !same(a[key], b[key], depth - 1)) return false;
  }
  return true;
}
