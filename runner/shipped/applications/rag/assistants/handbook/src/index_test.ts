import { Create, Grounded, Next } from "./index";

export function TestCreateGivesThePassages(t: testing.T, ctx: agent.Context) {
  const request = Create(ctx, [{ role: "user", content: "Who pays my taxi?" }]);

  t.assert.Contains(request?.messages?.[0].content, "[travel] Trains are booked by the office.");
  t.assert.Equal(request?.metadata, { sources: ["travel"] });
}

export function TestNextRefusesSourcesThatAreMadeUp(t: testing.T, ctx: agent.Context) {
  ctx.metadata = { sources: ["travel"] };

  t.assert.Nil(Next(ctx, { completion: { content: "A taxi is paid [travel]." } }));
  t.assert.Equal(Next(ctx, { completion: { content: "A taxi is free [taxis]." } }), { data: "The handbook does not say." });
}

export function TestGrounded(t: testing.T) {
  t.assert.True(Grounded(["a"], ["a", "b"]));
  t.assert.False(Grounded([], ["a"]));
  t.assert.False(Grounded(["a", "c"], ["a", "b"]));
}
