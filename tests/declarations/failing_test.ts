// What fails, for each assertion: docs/assertions.md shows these lines with what the host prints for them.

export function TestTrue(t: testing.T) {
  t.assert.True("", "the title should not be empty");
}

export function TestFalse(t: testing.T) {
  t.assert.False([], "there should be no problems");
}

export function TestEqual(t: testing.T) {
  t.assert.Equal(12, "12", "the total should be text");
  t.assert.Equal({ id: 7, items: ["pen", "ink"] }, { id: 7, items: ["pen", "paper"] });
}

export function TestNotEqual(t: testing.T) {
  t.assert.NotEqual({ status: "draft" }, { status: "draft" });
}

export function TestNil(t: testing.T) {
  t.assert.Nil({ code: 404 });
}

export function TestNotNil(t: testing.T, ctx: agent.Context) {
  t.assert.NotNil(ctx.memory.chat.Get("draft"), "there should be a draft");
}

export function TestContains(t: testing.T) {
  t.assert.Contains("Your claim was saved.", "confirm");
  t.assert.Contains({ id: 1 }, "id");
}

export function TestNotContains(t: testing.T) {
  t.assert.NotContains([{ id: 1 }, { id: 2 }], { id: 2 });
}

export function TestLen(t: testing.T) {
  t.assert.Len(["pen", "ink"], 3);
  t.assert.Len(42, 2);
}

export function TestGreater(t: testing.T) {
  t.assert.Greater(2, 2);
}

export function TestGreaterOrEqual(t: testing.T) {
  t.assert.GreaterOrEqual(new Date("2025-01-01"), new Date("2025-03-01"));
}

export function TestLess(t: testing.T) {
  t.assert.Less(12, "100");
}

export function TestLessOrEqual(t: testing.T, ctx: agent.Context) {
  t.assert.LessOrEqual(ctx.memory.chat.Get("turns"), 3);
}

export function TestError(t: testing.T) {
  const result: { error?: string } = {};
  t.assert.Error(result.error);
}

export function TestNoError(t: testing.T) {
  t.assert.NoError(new TypeError("amount is not a number"));
}

export function TestPanic(t: testing.T) {
  t.assert.Panic(() => JSON.parse("{}"));
}

export function TestNoPanic(t: testing.T) {
  t.assert.NoPanic(() => {
    throw new Exception("no such claim", 404);
  });
}

export function TestMatch(t: testing.T) {
  t.assert.Match("Order 1042 confirmed", "(?i)order a-\\d+");
  t.assert.Match("Order 1042 confirmed", "(unclosed");
}

export function TestNotMatch(t: testing.T) {
  t.assert.NotMatch("Internal Error", /error/i);
}

export function TestJSONPath(t: testing.T) {
  const order = { items: [{ sku: "A", price: 3 }, { sku: "B", price: 5 }] };
  t.assert.JSONPath(order, "$.items[0].sku", "B");
  t.assert.JSONPath(order, "items[0].name", "pen");
  t.assert.JSONPath(order, "$.items[*].price", [3, 4]);
}

export function TestType(t: testing.T) {
  t.assert.Type([1], "object");
}

export function TestAgent(t: testing.T) {
  t.mock.agent("workers.test.validator", { passed: false, reason: "It submits without asking" });
  t.assert.Agent("Done, your claim is submitted.", "workers.test.validator", {
    criteria: "Asks for confirmation before it submits",
  });
}

export function TestWrongNumberOfArguments(t: testing.T) {
  // @ts-expect-error
  t.assert.Equal("ready");
}
