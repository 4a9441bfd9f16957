import { balances, interest, settle, share } from "./shares";

export function TestShare(t: testing.T) {
  t.assert.Equal(share(100, [1, 1, 1]), [34, 33, 33]);
  t.assert.Equal(share(100, [1, 0, 3]), [25, 0, 75]);
}

export function TestShareLosesNothing(t: testing.T) {
  t.assert.Equal(share(101, [0, 2, 1]).reduce((a, b) => a + b), 101);
}

export function TestSharesAreChecked(t: testing.T) {
  t.assert.Panic(() => share(1.5, [1]));
  t.assert.Panic(() => share(1, []));
  t.assert.Panic(() => share(1, [2, -1]));
}

export function TestSimpleInterest(t: testing.T) {
  t.assert.Equal(interest(10_000, 12, 2, false), 200);
}

export function TestCompoundInterest(t: testing.T) {
  t.assert.Equal(interest(10_000, 12, 2), 201);
}

export function TestBalances(t: testing.T) {
  t.assert.Equal(balances([{ paidBy: "a", cents: 90, for: ["a", "b", "c"] }]), { a: 60, b: -30, c: -30 });
}

export function TestBillsForNobody(t: testing.T) {
  t.assert.Equal(balances([{ paidBy: "a", cents: 90, for: [] }]), {});
}

export function TestSettle(t: testing.T) {
  const bills = [
    { paidBy: "a", cents: 90, for: ["a", "b", "c"] },
    { paidBy: "b", cents: 10, for: ["c"] },
  ];
  t.assert.Equal(settle(bills), [
    { from: "c", to: "a", cents: 40 },
    { from: "b", to: "a", cents: 20 },
  ]);
}

export function TestNothingToSettle(t: testing.T) {
  t.assert.Len(settle([]), 0);
}
