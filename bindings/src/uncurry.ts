/** A method as a function that takes its receiver first, whatever scripts do to `Function.prototype` later. */

const call = Function.prototype.call;
const bind = call.bind;

export const uncurry = <A extends unknown[], R>(method: (...args: A) => R): ((self: unknown, ...args: A) => R) =>
  bind.call(call as never, method) as never;
