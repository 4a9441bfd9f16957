export function TestSeq(t) {
  const f = (a) => (a, 5); let x; const y = (1, 2); x = (3, 4); const g = () => (0, 6);
  if ((0, true)) x = (x, 7);
  const z = [(1, 8), ...[(2, 9)]].map((v) => (v, v + 1));
  let i = 0; const h = i++ + ++i; const o = { a: (1, 2), b: -i, ["c" + 1]: i ? (2, 3) : 4, get d() { return (1, 11); } };
  const { p = (1, 12), ...rest } = { q: 3 } as any; const n = (null as any)?.b?.[i++]?.(i++) ?? (0, 13);
  label: for (const k of (0, [1, 2])) { for (;;) { if (k > 1) break label; continue label; } }
  const s = typeof undefinedThing, d = delete o.a, w = void 0, neg = !(1, 0); let big = 1n; big++; const tt = String.raw`a${(1, 2)}`;
  class A { static s = (1, 2); #p = 4; m(a = (1, 3)) { return this.#p + a; } static { A.s++; } } const inst = new A(); const nested = new (class { v = (1, 9); })().v;
  var fn = function* () { const got = yield (1, 2); return got; }; const it = fn(); it.next(); const gen = it.next((5, 6)).value;
  do x++; while (x < 10); switch ((1, x)) { case (0, 10): x = 20; default: x += 1; }
  const chained = o?.d, called = [3, 1, 2].sort()[0], opt = inst.m?.((1, 2)), inn = "q" in rest, cls = inst instanceof A;
  try { throw (1, new Error("e")); } catch { x++; } finally { x++; }
  t.assert.Equal({ f: f(1), x, y, g: g(), z, i, h, o, p, rest, n, s, d, w, neg, big: String(big), tt, m: inst.m(), nested, gen, chained, called, opt, inn, cls, as: A.s }, 0);
}
