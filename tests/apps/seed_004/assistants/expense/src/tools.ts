import { toCents } from "@scripts/shared/money";

export function CreateExpense(ctx: agent.Context, amount: number) {
  if (!(amount > 0)) throw new Exception("The amount must be more than nothing", 400);
  return { cents: toCents(amount), user: ctx.User.ID, team: ctx.Team.ID };
}
