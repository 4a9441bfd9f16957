// Import style: the test file imports what it tests. Tables of inputs become subtests, one line in the report each.
import { Check, Convert, DEFAULT_POLICY, Describe, Signatures } from "./policy";
import type { Claim, Policy } from "./policy";

const TODAY = "2025-03-31";

/** A claim that nothing is wrong with, but for what a test changes. */
function claim(changes: Partial<Claim> = {}): Claim {
  return { category: "travel", amount: 38, currency: "EUR", date: "2025-03-28", receipt: "r-1", ...changes };
}

export function TestConvert(t: testing.T) {
  const table = [
    { amount: 12.5, currency: "EUR", expected: 12.5 },
    { amount: 100, currency: "USD", expected: 92 },
    { amount: 19.99, currency: "gbp", expected: 23.39 },
    { amount: 15000, currency: "JPY", expected: 91.5 },
  ];
  for (const { amount, currency, expected } of table) {
    t.run(`${amount} ${currency}`, (t) => {
      t.assert.Equal(Convert(amount, currency), expected);
    });
  }
}

export function TestConvertNeedsARate(t: testing.T) {
  try {
    Convert(10, "XAU");
    t.fail("gold has no rate");
  } catch (error) {
    t.assert.Equal([(error as Exception).message, (error as Exception).code], ["There is no exchange rate for XAU", 400]);
  }
}

export function TestCheckAcceptsAPlainClaim(t: testing.T) {
  t.assert.Equal(Check(claim(), TODAY), []);
  t.assert.Equal(Check(claim({ date: TODAY }), TODAY), [], "an expense of today");
  t.assert.Equal(Check(claim({ amount: 0.5 }), TODAY), [], "a small one");
}

export function TestCheckNamesTheRule(t: testing.T) {
  const table: Record<string, { changes: Partial<Claim>; rules: string[] }> = {
    "no such category": { changes: { category: "yacht" as any }, rules: ["category"] },
    "nothing spent": { changes: { amount: 0 }, rules: ["amount"] },
    "amount is not a number": { changes: { amount: NaN }, rules: ["amount"] },
    "tomorrow": { changes: { date: "2025-04-01" }, rules: ["date"] },
    "not a date": { changes: { date: "last week" }, rules: ["date"] },
    "60 days ago": { changes: { date: "2025-01-30" }, rules: [] },
    "61 days ago": { changes: { date: "2025-01-29" }, rules: ["age"] },
    "travel without receipt": { changes: { receipt: "" }, rules: ["receipt"] },
    "coffee without receipt": { changes: { category: "meals", amount: 4.2, receipt: "" }, rules: [] },
    "lunch without receipt": { changes: { category: "meals", amount: 25, receipt: "" }, rules: ["receipt"] },
    "dinner for one": { changes: { category: "meals", amount: 61 }, rules: ["limit"] },
    "dinner for two": { changes: { category: "meals", amount: 61, units: 2 }, rules: [] },
    "three nights": { changes: { category: "lodging", amount: 660, units: 3 }, rules: [] },
    "two at once": { changes: { amount: -1, date: "2026-01-01" }, rules: ["amount", "date"] },
    "a night without receipt": { changes: { category: "lodging", amount: 0.5, receipt: "" }, rules: ["receipt"] },
    "a cable without receipt": { changes: { category: "equipment", amount: 0.5, receipt: "" }, rules: ["receipt"] },
    "a ticket without receipt": { changes: { amount: 0.5, receipt: "" }, rules: ["receipt"] },
    "flowers without receipt": { changes: { category: "other", amount: 24.99, receipt: "" }, rules: [] },
    "a gift without receipt": { changes: { category: "other", amount: 25, receipt: "" }, rules: ["receipt"] },
    "dinner at the border": { changes: { category: "meals", amount: 24.99, receipt: "" }, rules: [] },
    "both": { changes: { category: "meals", amount: 61, receipt: "" }, rules: ["receipt", "limit"] },
  };
  for (const [name, { changes, rules }] of Object.entries(table)) {
    t.run(name, (t) => {
      const found = Check(claim(changes), TODAY);
      t.assert.Equal(found.map((violation) => violation.rule), rules);
    });
  }
}

export function TestLimitDoesNotBlock(t: testing.T) {
  const [violation] = Check(claim({ category: "meals", amount: 61 }), TODAY);

  t.assert.Equal(violation, { rule: "limit", message: "meals: more than 60 EUR a person", blocking: false });

  const messages: [changes: Partial<Claim>, message: string][] = [
    [{ amount: 1501 }, "travel: more than 1500 EUR"],
    [{ category: "yacht" as any }, 'There is no category "yacht"'],
    [{ amount: 0 }, "The amount must be more than nothing"],
    [{ date: "last week" }, '"last week" is not a date'],
    [{ date: "2025-04-01" }, "The date is in the future"],
    [{ date: "2025-01-29" }, "Expenses have to be claimed within 60 days"],
    [{ receipt: "" }, "A receipt is needed"],
    [{ category: "meals", receipt: "" }, "A receipt is needed from 25 EUR"],
  ];
  for (const [changes, message] of messages) t.assert.Equal(Check(claim(changes), TODAY)[0].message, message);
}

export function TestLimitsAreInTheCurrencyOfThePolicy(t: testing.T) {
  // 65 dollars are 59.80 euros, 66 are 60.72
  t.assert.Len(Check(claim({ category: "meals", amount: 65, currency: "USD" }), TODAY), 0);
  t.assert.Len(Check(claim({ category: "meals", amount: 66, currency: "USD" }), TODAY), 1);
}

export function TestSignatures(t: testing.T) {
  const table: [amount: number, roles: string[]][] = [
    [99.99, []],
    [100, ["manager"]],
    [1000, ["manager", "finance"]],
    [5000, ["manager", "finance", "cfo"]],
  ];
  for (const [amount, roles] of table) {
    t.run(`from ${amount}`, (t) => {
      t.assert.Equal(Signatures(claim({ amount }), []), roles);
    });
  }
}

export function TestFinanceSignsWhatIsOverTheLimit(t: testing.T) {
  const dinner = claim({ category: "meals", amount: 80 });

  t.assert.Equal(Signatures(dinner, Check(dinner, TODAY)), ["finance"]);
  t.assert.Equal(Signatures(dinner, [{ rule: "receipt", message: "", blocking: true }]), [], "only for that");
}

export function TestTeamsMayHaveTheirOwnPolicy(t: testing.T) {
  const strict: Policy = { ...DEFAULT_POLICY, days: 7, signatures: [{ role: "manager", from: 0 }] };

  t.assert.Equal(Check(claim({ date: "2025-03-20" }), TODAY, strict).map((violation) => violation.rule), ["age"]);
  t.assert.Equal(Signatures(claim({ amount: 1 }), [], strict), ["manager"]);
}

export function TestDescribe(t: testing.T) {
  t.assert.Equal(
    Describe(),
    "meals 60 EUR a person, travel 1500 EUR, lodging 220 EUR a night, equipment 1000 EUR, other 150 EUR",
  );
}
