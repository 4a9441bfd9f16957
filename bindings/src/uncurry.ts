/** Turns a method into a function that takes its receiver first. Later changes to `Function.prototype` do not matter. */

const call = Function.prototype.call;
const bind = call.bind;

export const uncurry = <A extends unknown[], R>(method: (...args: A) => R): ((self: unknown, ...args: A) => R) =>
  bind.call(call as never, method) as never;
