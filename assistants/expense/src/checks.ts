/** Checks for case files: `{"type": "script", "script": "scripts.expense.checks.AddsUp"}`. */

/** The total of a list is the sum of its items. */
export function AddsUp(output: any): testing.ScriptVerdict {
  const sum = output.items.reduce((total: number, item: any) => total + Math.round(item.total * 100), 0) / 100;
  return { pass: sum === output.total, message: `the items come to ${sum}, the total is ${output.total}` };
}

/** A filed expense is within the bounds that the case gives: what `scripts:expense.checks` means. */
export function Validate(output: any, input: any, expected: any, metadata: any): testing.ScriptVerdict {
  const { amount } = output.expense;
  if (amount < metadata.min_amount) return { pass: false, message: `${amount} is less than ${metadata.min_amount}` };
  if (amount > metadata.max_amount) return { pass: false, message: `${amount} is more than ${metadata.max_amount}` };
  return true;
}
