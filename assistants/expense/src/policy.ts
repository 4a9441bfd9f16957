/**
 * The spending policy: what may be claimed, what a claim needs, and who has to sign it.
 *
 * Nothing here calls anything or keeps anything: every answer follows from the arguments.
 */

/** What money is spent on. */
export type Category = "meals" | "travel" | "lodging" | "equipment" | "other";

/** An expense as an employee claims it. */
export interface Claim {
  category: Category;
  /** In units of the currency: 12.5 is 12 euros 50. */
  amount: number;
  /** ISO code, such as `EUR`. */
  currency: string;
  /** The day of the expense, `YYYY-MM-DD`. */
  date: string;
  description?: string;
  /** Id of the uploaded receipt. */
  receipt?: string;
  /** People at the table, or nights; 1 if not given. */
  units?: number;
}

/** What the policy says about one category, in the currency of the policy. */
export interface Rule {
  /** What one unit may cost without an explanation to finance. */
  limit: number;
  /** The total from which a receipt is needed. */
  receiptFrom: number;
  /** What is counted as a unit. */
  per?: "person" | "night";
}

/** The policy of a team. */
export interface Policy {
  /** The currency that books are kept in. */
  currency: string;
  /** What one unit of a currency is worth in that currency. */
  rates: Record<string, number>;
  /** Days in which an expense has to be claimed. */
  days: number;
  rules: Record<Category, Rule>;
  /** Roles that sign, and the total from which each has to. */
  signatures: { role: string; from: number }[];
}

/** What is wrong with a claim. */
export interface Violation {
  /** Which rule: `category`, `amount`, `date`, `age`, `receipt` or `limit`. */
  rule: string;
  /** For the employee. */
  message: string;
  /** Whether the claim cannot be filed. If not, finance has to sign it. */
  blocking: boolean;
}

const DAY = 86_400_000; // yao-test-ignore mutate: a millisecond more makes no difference, days are rounded

/** The policy of a team that has none of its own. */
export const DEFAULT_POLICY: Policy = {
  currency: "EUR",
  rates: { EUR: 1, GBP: 1.17, JPY: 0.0061, USD: 0.92 },
  days: 60,
  rules: {
    meals: { limit: 60, receiptFrom: 25, per: "person" },
    travel: { limit: 1500, receiptFrom: 0 },
    lodging: { limit: 220, receiptFrom: 0, per: "night" },
    equipment: { limit: 1000, receiptFrom: 0 },
    other: { limit: 150, receiptFrom: 25 },
  },
  signatures: [
    { role: "manager", from: 100 },
    { role: "finance", from: 1000 },
    { role: "cfo", from: 5000 },
  ],
};

/** Converts an amount into the currency of the policy, rounded to cents. Throws 400 for a currency without a rate. */
export function Convert(amount: number, currency: string, policy: Policy = DEFAULT_POLICY): number {
  const rate = policy.rates[currency.toUpperCase()];
  if (!rate) throw new Exception(`There is no exchange rate for ${currency}`, 400);
  return Math.round(amount * rate * 100) / 100;
}

/** Everything that is wrong with a claim on a given day (`YYYY-MM-DD`); an empty list if nothing is. */
export function Check(claim: Claim, today: string, policy: Policy = DEFAULT_POLICY): Violation[] {
  const found: Violation[] = [];
  const block = (rule: string, message: string) => found.push({ rule, message, blocking: true });

  const rule = policy.rules[claim.category];
  if (!rule) block("category", `There is no category "${claim.category}"`);
  if (!(claim.amount > 0)) block("amount", "The amount must be more than nothing");

  const age = daysBetween(claim.date, today);
  if (Number.isNaN(age)) block("date", `"${claim.date}" is not a date`);
  else if (age < 0) block("date", "The date is in the future");
  else if (age > policy.days) block("age", `Expenses have to be claimed within ${policy.days} days`);
  if (found.length) return found;

  const total = Convert(claim.amount, claim.currency, policy);
  if (total >= rule.receiptFrom && !claim.receipt) {
    block("receipt", rule.receiptFrom ? `A receipt is needed from ${rule.receiptFrom} ${policy.currency}` : "A receipt is needed");
  }
  if (total > rule.limit * (claim.units ?? 1)) {
    const unit = rule.per ? ` a ${rule.per}` : "";
    const message = `${claim.category}: more than ${rule.limit} ${policy.currency}${unit}`;
    found.push({ rule: "limit", message, blocking: false });
  }
  return found;
}

/** The roles that have to sign a claim, in the order in which they do; an empty list if none has to. */
export function Signatures(claim: Claim, violations: Violation[], policy: Policy = DEFAULT_POLICY): string[] {
  const total = Convert(claim.amount, claim.currency, policy);
  const explains = violations.some((violation) => violation.rule === "limit");
  return policy.signatures
    .filter(({ role, from }) => total >= from || (role === "finance" && explains))
    .map(({ role }) => role);
}

/** The limits in one line, for the prompt. */
export function Describe(policy: Policy = DEFAULT_POLICY): string {
  return Object.entries(policy.rules)
    .map(([category, { limit, per }]) => `${category} ${limit} ${policy.currency}${per ? ` a ${per}` : ""}`)
    .join(", ");
}

function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / DAY);
}
