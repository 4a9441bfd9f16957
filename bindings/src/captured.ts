/** What the modules of the core share of the built-ins, as they are before any script runs. */

export const { getPrototypeOf, setPrototypeOf } = Object;
export const { ownKeys, apply } = Reflect;
export const { includes } = String.prototype;
const { hasOwnProperty } = Object.prototype;
export const own = (target: object, key: PropertyKey): boolean => apply(hasOwnProperty, target, [key]);
