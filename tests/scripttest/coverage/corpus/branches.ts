export function pick(n: number | null, s?: string) {
  if (n) { s; } else if (s) s; else { return 0; }
  if (n && s || n === 2) return 1;
  if (!n)
    if (s) return 2;
    else return 3;
  return n ? (s ? "a" : "b") : n ?? s ?? "c";
}
pick(1);
pick(1, "x");
pick(null, "y");
