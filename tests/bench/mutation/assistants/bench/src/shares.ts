/** Money: sharing amounts without losing a cent, interest, and balances between people. */
export function share(cents: number, weights: number[]): number[] {
  if (!Number.isInteger(cents)) throw new TypeError("cents are whole");
  const sum = weights.reduce((all, weight) => all + weight, 0);
  if (sum <= 0 || weights.some((weight) => weight < 0)) throw new RangeError("weights are above 0");
  const parts = weights.map((weight) => Math.floor((cents * weight) / sum));
  let rest = cents - parts.reduce((all, part) => all + part, 0);
  for (let at = 0; rest > 0; at = (at + 1) % parts.length) {
    if (weights[at] > 0) {
      parts[at]++;
      rest--;
    }
  }
  return parts;
}

export function interest(cents: number, percent: number, months: number, compound = true): number {
  const monthly = percent / 100 / 12;
  const factor = compound ? (1 + monthly) ** months : 1 + monthly * months;
  return Math.round(cents * factor) - cents;
}

export interface Bill {
  paidBy: string;
  cents: number;
  for: string[];
}

export function balances(bills: Bill[]): Record<string, number> {
  const found: Record<string, number> = {};
  for (const bill of bills) {
    if (!bill.for.length) continue;
    found[bill.paidBy] = (found[bill.paidBy] ?? 0) + bill.cents;
    const parts = share(bill.cents, bill.for.map(() => 1));
    bill.for.forEach((name, at) => {
      found[name] = (found[name] ?? 0) - parts[at];
    });
  }
  return found;
}

export function settle(bills: Bill[]): { from: string; to: string; cents: number }[] {
  const open = Object.entries(balances(bills)).filter(([, cents]) => cents !== 0);
  const debtors = open.filter(([, cents]) => cents < 0).sort((a, b) => a[1] - b[1]);
  const creditors = open.filter(([, cents]) => cents > 0).sort((a, b) => b[1] - a[1]);
  const payments = [];
  while (debtors.length && creditors.length) {
    const [debtor, creditor] = [debtors[0], creditors[0]];
    const cents = Math.min(-debtor[1], creditor[1]);
    payments.push({ from: debtor[0], to: creditor[0], cents });
    debtor[1] += cents;
    creditor[1] -= cents;
    if (debtor[1] === 0) debtors.shift();
    if (creditor[1] === 0) creditors.shift();
  }
  return payments;
}
