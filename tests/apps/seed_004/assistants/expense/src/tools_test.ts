import { CreateExpense } from "./tools";

export function TestCreateExpense(t: testing.T, ctx: agent.Context) {
  const { assert } = t;

  assert.Equal(CreateExpense(ctx, 12.5), { cents: 1250, user: ctx.User.ID, team: ctx.Team.ID });
}

export function TestCreateExpenseWithoutAmount(t: testing.T, ctx: agent.Context) {
  const { assert } = t;

  assert.Panic(() => CreateExpense(ctx, 0), "an expense needs an amount");
}

// What -u, -t and --ctx say arrives in ctx
export function TestContextIsShown(t: testing.T, ctx: agent.Context) {
  t.log(
    JSON.stringify({
      User: ctx.User,
      Team: ctx.Team,
      Locale: ctx.Locale,
      Client: ctx.Client,
      Metadata: ctx.Metadata,
      ChatID: ctx.ChatID,
      AssistantID: ctx.AssistantID,
      authorized: ctx.authorized,
      client: ctx.client,
      referer: ctx.referer,
    }),
  );
}
