/**
 * `sort` and `toSorted` of an array by a function, as V8 does it: of two elements it asks only whether the later one is
 * less. So a function that never says "equal" (`a < b ? 1 : -1`) or never "less" (`a > b`) gives the order that it gives
 * in Yao, which is often not the one meant. Loaded with a realm whose script names one of them.
 */

import type { Core } from "../core-state";

type Compare = (a: unknown, b: unknown) => number;

export default function (core: Core): object {
  "use strict"; // what cannot be written or removed throws
  const { std } = core;
  const { apply } = Reflect;
  const { sort, toSorted } = Array.prototype;

  /** Sorts in place: undefined comes last without being compared, then what the list has no elements for. */
  function arrange(list: unknown[], compare: Compare): unknown[] {
    const { length } = list;
    const values = std.list<unknown>();
    const order = std.list<number>();
    let undefinedOnes = 0;
    for (let i = 0; i < length; i++) {
      if (!(i in list)) continue;
      const value = list[i];
      if (value === undefined) undefinedOnes++;
      else values[(order[order.length] = order.length)] = value;
    }
    std.sort(order, (a, b) => (a < b ? (compare(values[b], values[a]) < 0 ? 1 : -1) : compare(values[a], values[b]) < 0 ? -1 : 1));
    for (let i = 0; i < order.length; i++) list[i] = values[order[i]];
    const end = order.length + undefinedOnes;
    for (let i = order.length; i < end; i++) list[i] = undefined;
    for (let i = end; i < length; i++) delete list[i];
    return list;
  }

  const methods = {
    sort(this: unknown[], compare?: Compare): unknown[] {
      return typeof compare === "function" && std.isArray(this) ? arrange(this, compare) : (apply(sort, this, [compare]) as unknown[]);
    },
    toSorted(this: unknown[], compare?: Compare): unknown[] {
      if (typeof compare !== "function" || !std.isArray(this)) return apply(toSorted, this, [compare]) as unknown[];
      const copy: unknown[] = [];
      for (let i = 0; i < this.length; i++) std.define(copy, i, { __proto__: null, value: this[i], writable: true, enumerable: true, configurable: true } as PropertyDescriptor);
      return arrange(copy, compare);
    },
  };
  for (const name of std.keys(methods) as (keyof typeof methods)[]) {
    std.define(Array.prototype, name, { __proto__: null, value: methods[name], writable: true, configurable: true } as PropertyDescriptor);
  }
  return {};
}
