export function all(items: number[]) {
  let sum = 0;
  for (let i = 0, n = items.length; i < n; i++) sum += i;
  for (const x of items) { if (x > 1) continue; sum += x; }
  for (const key in items) sum += key.length;
  while (sum > 100) sum--;
  do sum++; while (sum < 5)
  outer: for (;;) { inner: for (;;) { break outer; } }
  for (;;) if (sum) break; else sum = 1;
  one: two: sum++;
  block: { if (sum) break block; sum = 0; }
  return sum;
}
all([1, 2, 3]);
