/** Runs the script tests of this bench with a runner that has `it`: `t.assert` on Node's assertions. */
import assert from "node:assert/strict";

const size = (value: any) => value.length ?? value.size ?? Object.keys(value).length;
const checks: Record<string, (...given: any[]) => unknown> = {
  Equal: (actual, expected) => assert.deepEqual(actual, expected),
  True: (actual) => assert.equal(actual, true),
  False: (actual) => assert.equal(actual, false),
  Nil: (actual) => assert.ok(actual === null || actual === undefined),
  NotNil: (actual) => assert.ok(actual !== null && actual !== undefined),
  Len: (actual, count) => assert.equal(size(actual), count),
  Less: (actual, bound) => assert.ok(actual < bound),
  Greater: (actual, bound) => assert.ok(actual > bound),
  Contains: (actual, part) => assert.ok(actual.includes(part)),
  NotContains: (actual, part) => assert.ok(!actual.includes(part)),
  Panic: (work) => assert.throws(work),
};

export function register(tests: Record<string, unknown>, it: (name: string, work: () => unknown) => void): void {
  for (const [name, test] of Object.entries(tests)) {
    if (name.startsWith("Test")) it(name, () => (test as (t: unknown) => unknown)({ assert: checks }));
  }
}
