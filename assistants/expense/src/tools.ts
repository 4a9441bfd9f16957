/**
 * The tools of the assistant: `mcps/expense.mcp.yao` names them, the model calls them with `args`.
 *
 * Expenses are records of the model `expense`. What goes wrong is thrown as an Exception, whose text the model is given:
 * 400 bad arguments, 403 not yours to do, 404 no such expense, 409 decided already, 412 not set up, 422 against the policy.
 */
import { Check, Convert, Signatures } from "./policy";
import type { Claim, Policy } from "./policy";
import { LoadSettings } from "./setup";
import type { Settings } from "./setup";

/** An expense that was filed. */
export interface Expense extends Claim {
  id: number;
  user_id: string;
  team_id: string;
  status: "submitted" | "approved" | "rejected";
  /** The amount in the currency of the books. */
  total: number;
  /** Roles that have to sign, in that order. */
  needs: string[];
  /** Who signed so far. */
  signed: { role: string; by: string; at: string; comment?: string }[];
  /** For those who sign. */
  notes: string[];
}

/** Exchange rates of a currency, by the currency to be converted. */
const RATES_URL = "https://rates.example.com/latest";

const ONE_DAY = 24 * 60 * 60;

/** Files an expense, approved at once when nobody has to sign it. */
export function CreateExpense(args: Partial<Claim>, ctx: agent.Context): Expense {
  const settings = settingsOf(ctx);
  const policy = { ...settings.policy, rates: currentRates(settings.policy) };
  const claim = { ...args, currency: args.currency ?? ctx.memory.user.Get("currency") ?? policy.currency } as Claim;

  const violations = Check(claim, today(), policy);
  const blocking = violations.filter((violation) => violation.blocking);
  if (blocking.length) throw new Exception(blocking.map((violation) => violation.message).join("; "), 422);

  const needs = Signatures(claim, violations, policy);
  const record = {
    ...claim,
    user_id: ctx.User.ID,
    team_id: ctx.Team.ID,
    status: needs.length ? "submitted" : "approved",
    total: Convert(claim.amount, claim.currency, policy),
    needs,
    signed: [],
    notes: violations.map((violation) => violation.message),
  };
  const id = Process<number>("models.expense.Create", record);
  ctx.memory.chat.Push("filed", [id]);
  return { id, ...record } as Expense;
}

/** The expenses that the user may see, newest first, and what they come to. */
export function ListExpenses(args: { status?: string; month?: string }, ctx: agent.Context) {
  const allowed = ctx.authorized.constraints?.team_only
    ? { column: "team_id", value: ctx.Team.ID }
    : { column: "user_id", value: ctx.User.ID };
  const wheres: Record<string, any>[] = [allowed];
  if (args.status) wheres.push({ column: "status", value: args.status });
  if (args.month) wheres.push({ column: "date", op: "match", value: `${args.month}-` });

  const items = Process<Expense[]>("models.expense.Get", {
    wheres,
    orders: [{ column: "date", option: "desc" }],
    limit: 50,
  });
  const total = items.reduce((sum, item) => sum + Math.round(item.total * 100), 0) / 100;
  return { items, total };
}

/** Signs an expense in the name of the user, for the next role that has not signed. */
export function ApproveExpense(args: { id: number; comment?: string }, ctx: agent.Context) {
  const { expense, role } = openExpense(args.id, ctx);
  const signed = [...expense.signed, { role, by: ctx.User.ID, at: new Date().toISOString(), comment: args.comment }];
  const next = expense.needs[signed.length] ?? null;
  const status = next ? "submitted" : "approved";
  Process("models.expense.Update", expense.id, { signed, status });
  return { id: expense.id, status, next };
}

/** Rejects an expense in the name of the user. */
export function RejectExpense(args: { id: number; reason: string }, ctx: agent.Context) {
  if (!args.reason?.trim()) throw new Exception("Give a reason, the employee will see it", 400);
  const { expense, role } = openExpense(args.id, ctx);
  const notes = [...expense.notes, `Rejected by ${role}: ${args.reason.trim()}`];
  Process("models.expense.Update", expense.id, { status: "rejected", notes });
  return { id: expense.id, status: "rejected" };
}

/** What the receipt reader makes of the picture of a receipt: a claim, with what it could read. */
export function ReadReceipt(args: { url: string }, ctx: agent.Context): Partial<Claim> {
  const picture = { type: "image_url", image_url: { url: args.url } };
  const answer = ctx.agent.Call("expense.receipts", [{ role: "user", content: [picture] }]);
  if (answer.error) throw new Exception(`The receipt cannot be read: ${answer.error}`, 502);
  const found = Process("text.ExtractJSON", answer.content);
  if (!found) throw new Exception("The receipt cannot be read, enter the expense by hand", 422);
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== null));
}

/** An expense that the user may decide about, and the role in which. */
function openExpense(id: number, ctx: agent.Context): { expense: Expense; role: string } {
  const settings = settingsOf(ctx);
  const expense = Process<Expense | null>("models.expense.Find", id, {});
  if (!expense || expense.team_id !== ctx.Team.ID) throw new Exception(`There is no expense ${id}`, 404);
  if (expense.status !== "submitted") throw new Exception(`Expense ${id} is ${expense.status} already`, 409);
  if (expense.user_id === ctx.User.ID) throw new Exception("Nobody decides about their own expenses", 403);
  const role = expense.needs[expense.signed.length] ?? "";
  if (!settings.approvers[role]?.includes(ctx.User.ID)) throw new Exception(`Expense ${id} waits for ${role}`, 403);
  return { expense, role };
}

function settingsOf(ctx: agent.Context): Settings {
  const settings = LoadSettings(ctx);
  if (!settings) throw new Exception("The expense assistant is not set up for this team", 412);
  return settings;
}

/** The rates of the day, kept until tomorrow; those of the policy when the service does not answer. */
function currentRates(policy: Policy): Policy["rates"] {
  return new Store("expense.rates").GetSet(
    policy.currency,
    () => {
      const answer = http.Get(RATES_URL, { base: policy.currency });
      if (answer.status === 200) return { ...policy.rates, ...answer.data.rates };
      log.Warn("No exchange rates (status %d), using those of the policy", answer.status);
      return policy.rates;
    },
    ONE_DAY,
  );
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}
