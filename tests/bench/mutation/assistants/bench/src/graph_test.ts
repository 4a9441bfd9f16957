import { distance, groups, order } from "./graph";

const TASKS = { build: ["lint", "fetch"], lint: ["fetch"], ship: ["build"] };

export function TestOrder(t: testing.T) {
  t.assert.Equal(order(TASKS), ["fetch", "lint", "build", "ship"]);
}

export function TestOrderOfNothing(t: testing.T) {
  t.assert.Equal(order({}), []);
}

export function TestCircles(t: testing.T) {
  t.assert.Panic(() => order({ a: ["b"], b: ["a"] }));
}

export function TestDistance(t: testing.T) {
  t.assert.Equal(distance({ a: ["b"], b: ["c", "a"], c: [] }, "a", "c"), 2);
}

export function TestDistanceToItself(t: testing.T) {
  t.assert.Equal(distance({ a: ["a"] }, "a", "a"), 0);
}

export function TestNoWay(t: testing.T) {
  t.assert.Equal(distance({ a: ["b"], b: ["a"] }, "a", "z"), -1);
}

export function TestGroups(t: testing.T) {
  t.assert.Equal(groups({ a: ["b"], b: [], c: ["d"], d: [] }), [["a", "b"], ["c", "d"]]);
}

export function TestOneGroup(t: testing.T) {
  t.assert.Len(groups({ a: [], b: ["a"], c: ["b"] }), 1);
}
