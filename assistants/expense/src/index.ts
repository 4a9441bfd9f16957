/** The hooks of the assistant: `Create` prepares what the model is asked, `Next` turns what it did into the answer. */
import { Describe } from "./policy";
import type { Claim } from "./policy";
import { LoadSettings, MissingParts, SystemReady } from "./setup";

/** Messages of a conversation that the model is shown. */
const HISTORY = 20;

/** Tells the model the rules of the team; a team without any gets the prompts in `prompts/setup.yml`. */
export function Create(ctx: agent.Context, messages: agent.Message[]): agent.CreateResult {
  if (!SystemReady(ctx)) {
    return { prompt_preset: "setup", metadata: { missing: MissingParts(ctx).join(", ") } };
  }
  const { policy } = LoadSettings(ctx)!; // a team that is ready has some
  const currency = ctx.memory.user.Get("currency") ?? policy.currency;
  const created: agent.CreateResult = { metadata: { currency, limits: Describe(policy) } };
  if (messages.length > HISTORY) created.messages = messages.slice(-HISTORY);
  return created;
}

/** The answer as data, when tools were called; else the text of the model stands. */
export function Next(ctx: agent.Context, payload: agent.Payload): agent.NextResult | null {
  const last = payload.tools?.at(-1);
  if (!last) return null;
  if (last.error) return { data: { type: "error", tool: last.tool, message: apologize(last.error) } };

  switch (last.tool) {
    case "create_expense":
      return { data: { type: "expense", expense: last.result, message: confirmation(last.result) } };
    case "list_expenses":
      return { data: { type: "list", ...last.result, message: summary(last.result) } };
    case "approve_expense":
    case "reject_expense":
      return { data: { type: "decision", ...last.result, message: `Expense ${last.result.id} is ${last.result.status}.` } };
    case "read_receipt":
      return { data: { type: "claim", claim: last.result, message: question(last.result) } };
    default:
      return null;
  }
}

function confirmation(expense: any): string {
  const what = `${expense.amount.toFixed(2)} ${expense.currency} for ${expense.category}`;
  if (expense.status === "approved") return `Expense ${expense.id} is approved: ${what}.`;
  return `Expense ${expense.id} is filed: ${what}. It waits for ${expense.needs.join(" and ")}.`;
}

function summary(list: any): string {
  if (!list.items.length) return "There are no expenses.";
  const plural = list.items.length === 1 ? "expense" : "expenses";
  return `${list.items.length} ${plural}, ${list.total.toFixed(2)} in total.`;
}

/** What was read off a receipt, for the user to confirm. */
function question(claim: Partial<Claim>): string {
  if (!claim.amount || !claim.date) return "I cannot read all of the receipt. What is the amount, and which day is it of?";
  const currency = claim.currency ? ` ${claim.currency}` : "";
  return `I read ${claim.amount.toFixed(2)}${currency} on ${claim.date}. Shall I file it?`;
}

/** The text of an Exception as a sentence for the user. */
function apologize(error: string): string {
  return `That did not work: ${error.replace(/\.$/, "")}.`;
}
