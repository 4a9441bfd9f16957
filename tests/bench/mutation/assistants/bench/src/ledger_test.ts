import { type Account, amount, Ledger } from "./ledger";

const day = "2031-03-10";
const pair = (from: string, to: string, cents: number) => [{ account: from, cents: -cents }, { account: to, cents }];
function opened(...more: Account[]): Ledger {
  const ledger = new Ledger();
  for (const account of [{ name: "cash", kind: "asset" }, { name: "sales", kind: "income" }, { name: "rent", kind: "cost" }, ...more] as Account[]) ledger.open(account);
  return ledger;
}
function code(work: () => unknown): string {
  try {
    work();
    return "none";
  } catch (error) {
    return (error as { code: string }).code;
  }
}

export function TestStartsEmpty(t: testing.T) { t.assert.Equal(opened().balance("cash"), 0); }
export function TestOpensOnce(t: testing.T) { t.assert.Equal(code(() => opened().open({ name: "cash", kind: "asset" })), "exists"); }
export function TestUnknownAccount(t: testing.T) { t.assert.Equal(code(() => opened().balance("gold")), "unknown"); }
export function TestBooks(t: testing.T) { const one = opened(); one.book(day, "Sale", pair("sales", "cash", 500)); t.assert.Equal([one.balance("cash"), one.balance("sales")], [500, -500]); }
export function TestNumbersBookings(t: testing.T) { const one = opened(); t.assert.Equal([1, 2].map(() => one.book(day, "Sale", pair("sales", "cash", 5)).id), [1, 2]); }
export function TestKeepsTheText(t: testing.T) { t.assert.Equal(opened().book(day, " Sale ", pair("sales", "cash", 5)).text, "Sale"); }
export function TestTextIsOptional(t: testing.T) { t.assert.Contains(opened().book(day, "", pair("sales", "cash", 5)).text, "no text"); }
export function TestDayIsChecked(t: testing.T) { t.assert.Equal(["10.3.2031", "2031-3-10", "x2031-03-10", "2031-03-100"].map((one) => code(() => opened().book(one, "", pair("sales", "cash", 5)))), ["no day", "no day", "no day", "no day"]); }
export function TestTwoEntries(t: testing.T) { t.assert.Equal(code(() => opened().book(day, "", [{ account: "cash", cents: 5 }])), "too few entries"); }
export function TestWholeCents(t: testing.T) { t.assert.Equal(code(() => opened().book(day, "", pair("sales", "cash", 0.5))), "no amount"); }
export function TestNotZero(t: testing.T) { t.assert.Equal(code(() => opened().book(day, "", pair("sales", "cash", 0))), "no amount"); }
export function TestBalanced(t: testing.T) { t.assert.Equal(code(() => opened().book(day, "", [{ account: "cash", cents: 5 }, { account: "sales", cents: -4 }])), "not balanced"); }
export function TestThreeEntries(t: testing.T) { t.assert.NotNil(opened().book(day, "", [{ account: "cash", cents: 5 }, { account: "rent", cents: 5 }, { account: "sales", cents: -10 }])); }
export function TestEntriesOfUnknown(t: testing.T) { t.assert.Equal(code(() => opened().book(day, "", pair("gold", "cash", 5))), "unknown"); }
export function TestNothingIsKeptOfARefusal(t: testing.T) { const one = opened(); code(() => one.book(day, "", pair("cash", "gold", 5))); t.assert.Equal(one.balance("cash"), 0); }
export function TestEntriesAreCopied(t: testing.T) { const entries = pair("sales", "cash", 5); const made = opened().book(day, "", entries); entries.pop(); t.assert.Len(made.entries, 2); }
export function TestWithinTheLimit(t: testing.T) { t.assert.NotNil(opened({ name: "card", kind: "debt", limit: 100 }).book(day, "", pair("card", "cash", 100))); }
export function TestOverTheLimit(t: testing.T) { t.assert.Equal(code(() => opened({ name: "card", kind: "debt", limit: 100 }).book(day, "", pair("card", "cash", 101))), "over the limit"); }
export function TestNoLimit(t: testing.T) { t.assert.Equal(code(() => opened().book(day, "", pair("cash", "rent", 1_000_000))), "none"); }
export function TestPayingBackIsNoMatter(t: testing.T) { const one = opened({ name: "card", kind: "debt", limit: 0 }); t.assert.Equal(code(() => one.book(day, "", pair("cash", "card", 5))), "none"); }
export function TestCloses(t: testing.T) { const one = opened(); one.close("rent"); t.assert.Equal(code(() => one.book(day, "", pair("cash", "rent", 5))), "closed"); }
export function TestClosesOnlyEmpty(t: testing.T) { const one = opened(); one.book(day, "", pair("cash", "rent", 5)); t.assert.Equal(code(() => one.close("rent")), "not empty"); }
export function TestClosesOnlyKnown(t: testing.T) { t.assert.Panic(() => opened().close("gold")); }
export function TestLocks(t: testing.T) { const one = opened(); one.lock(day); t.assert.Equal(code(() => one.book(day, "", pair("cash", "rent", 5))), "locked"); }
export function TestAfterTheLock(t: testing.T) { const one = opened(); one.lock(day); t.assert.Equal(code(() => one.book("2031-03-11", "", pair("cash", "rent", 5))), "none"); }
export function TestLockStays(t: testing.T) { const one = opened(); one.lock(day); one.lock("2030-01-01"); t.assert.Equal(code(() => one.book(day, "", pair("cash", "rent", 5))), "locked"); }
export function TestReverses(t: testing.T) { const one = opened(); one.book(day, "", pair("cash", "rent", 5)); one.reverse(1, day); t.assert.Equal([one.balance("cash"), one.balance("rent")], [0, 0]); }
export function TestReversalSaysSo(t: testing.T) { const one = opened(); one.book(day, "Rent", pair("cash", "rent", 5)); const back = one.reverse(1, day); t.assert.Equal([back.text, back.reverses], ["Reversal of Rent", 1]); }
export function TestReversesOnce(t: testing.T) { const one = opened(); one.book(day, "", pair("cash", "rent", 5)); one.reverse(1, day); t.assert.Equal(code(() => one.reverse(1, day)), "reversed already"); }
export function TestReversesNoReversal(t: testing.T) { const one = opened(); one.book(day, "", pair("cash", "rent", 5)); one.reverse(1, day); t.assert.Equal(code(() => one.reverse(2, day)), "is a reversal"); }
export function TestReversesOnlyKnown(t: testing.T) { t.assert.Equal(code(() => opened().reverse(1, day)), "unknown booking"); }
export function TestBalanceUntil(t: testing.T) { const one = opened(); one.book(day, "", pair("cash", "rent", 5)); one.book("2031-04-01", "", pair("cash", "rent", 7)); t.assert.Equal([one.balance("rent", day), one.balance("rent")], [5, 12]); }
export function TestStatementOfNothing(t: testing.T) { t.assert.Equal(opened().statement("cash", day, day), ["Before 2031-03-10: 0.00"]); }
export function TestStatementLines(t: testing.T) { const one = opened(); one.book(day, "Sale", pair("sales", "cash", 150)); t.assert.Equal(one.statement("cash", day, day)[1], "2031-03-10 Sale: +1.50 = 1.50"); }
export function TestStatementOfCosts(t: testing.T) { const one = opened(); one.book(day, "Rent", pair("cash", "rent", 150)); t.assert.Contains(one.statement("cash", day, day)[1], "-1.50 = -1.50"); }
export function TestStatementBefore(t: testing.T) { const one = opened(); one.book("2031-03-09", "", pair("sales", "cash", 500)); t.assert.Contains(one.statement("cash", day, day)[0], "5.00"); }
export function TestStatementWithin(t: testing.T) { const one = opened(); for (const when of ["2031-03-09", day, "2031-03-11"]) one.book(when, "", pair("sales", "cash", 5)); t.assert.Len(one.statement("cash", day, day), 2); }
export function TestStatementInOrder(t: testing.T) { const one = opened(); one.book("2031-03-12", "B", pair("sales", "cash", 5)); one.book(day, "A", pair("sales", "cash", 5)); t.assert.Contains(one.statement("cash", day, "2031-03-31")[1], "A"); }
export function TestProfit(t: testing.T) { const one = opened(); one.book(day, "", pair("sales", "cash", 500)); one.book(day, "", pair("cash", "rent", 200)); t.assert.Equal(one.profit(), 300); }
export function TestNoProfit(t: testing.T) { t.assert.Equal(opened().profit(), 0); }
export function TestAmountOfCents(t: testing.T) { t.assert.Equal([amount(5), amount(50), amount(0)], ["0.05", "0.50", "0.00"]); }
export function TestAmountOfThousands(t: testing.T) { t.assert.Equal(amount(123456789), "1 234 567.89"); }
export function TestAmountOfAHundred(t: testing.T) { t.assert.Equal(amount(10000), "100.00"); }
export function TestAmountBelowZero(t: testing.T) { t.assert.Equal(amount(-150), "-1.50"); }
export function TestErrorsNameTheAccount(t: testing.T) { let said = ""; try { opened().balance("gold"); } catch (error) { said = String(error); } t.assert.Equal(said, "LedgerError: unknown: gold"); }
