/**
 * The methods of built-ins that format for a locale, such as `toLocaleString`. They are installed if the code of a realm
 * names one of them. The part "intl" is loaded when one is called.
 */

import type { Kernel } from "../kernel";
import type { Formatting } from "./intl";

type Method = (this: unknown, ...args: never[]) => unknown;

export default function (kernel: Kernel): object {
  const formatting = () => kernel.part<Formatting>("intl").methods;
  const { defineProperty } = Object;
  const put = (target: object, methods: Record<string, Method>) => {
    for (const name of Object.keys(methods)) {
      defineProperty(target, name, { value: methods[name], writable: true, configurable: true });
    }
  };
  const { valueOf: number } = Number.prototype;
  const { valueOf: bigint } = BigInt.prototype;
  const { getTime } = Date.prototype;
  const text = (value: unknown, name: string): string => {
    if (value === undefined || value === null) throw new TypeError(`String.prototype.${name} called on null or undefined`);
    return String(value);
  };
  put(Number.prototype, {
    toLocaleString(this: unknown, locales?: unknown, options?: unknown) {
      return formatting().number(number.call(this as number), locales, options);
    },
  });
  put(BigInt.prototype, {
    toLocaleString(this: unknown, locales?: unknown, options?: unknown) {
      return formatting().number(bigint.call(this as bigint), locales, options);
    },
  });
  put(Date.prototype, {
    toLocaleString(this: unknown, locales?: unknown, options?: unknown) {
      return formatting().date(getTime.call(this as Date), "any", locales, options);
    },
    toLocaleDateString(this: unknown, locales?: unknown, options?: unknown) {
      return formatting().date(getTime.call(this as Date), "date", locales, options);
    },
    toLocaleTimeString(this: unknown, locales?: unknown, options?: unknown) {
      return formatting().date(getTime.call(this as Date), "time", locales, options);
    },
  });
  put(String.prototype, {
    localeCompare(this: unknown, that: unknown, locales?: unknown, options?: unknown) {
      return formatting().compare(text(this, "localeCompare"), String(that), locales, options);
    },
    toLocaleUpperCase(this: unknown, locales?: unknown) {
      return formatting().cased(text(this, "toLocaleUpperCase"), "toUpperCase", locales);
    },
    toLocaleLowerCase(this: unknown, locales?: unknown) {
      return formatting().cased(text(this, "toLocaleLowerCase"), "toLowerCase", locales);
    },
  });
  const list = {
    toLocaleString(this: unknown, locales?: unknown, options?: unknown) {
      return formatting().list(this as ArrayLike<unknown>, locales, options);
    },
  };
  put(Array.prototype, list);
  put(Object.getPrototypeOf(Uint8Array.prototype) as object, list);
  return {};
}
