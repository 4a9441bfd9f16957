function plain(a, b) { return a + b; }
const arrow = (x) => x * 2;
const obj = () => ({ a: 1, b: { c: [1, 2] } });
class Point { y = 1; constructor(x) { this.x = x; } double() { return (this.x + 1) * 2; } get z() { return this.x ? 1 : 2; } static s(a = 1, { b, c = 2 } = {}) { let q; q = a; q++; return [q, b, c]; } empty() {} }
function cond(a) {
  if (a) return 1;
  else if (a > 2) { a = 3; } else a = 4;
  for (const x of [1]) console.log(x);
  while (a--) { if (a) break; else continue; }
  for (let i = 0; i < 3; i++) a += i;
  try { plain(1, 2); } catch (error) { throw error; } finally { a = 1; }
  const { r, s = 5 } = a as any; const f = function () { return /[)(]\//.test("a)" + `b${a}(`); };
  switch (a) { case 1: return; default: a = 2 }
  return a?.b.c(r)[s] ?? f();
}
async function asy(u) { const r = await (await cond(u)).json(); let k = (r.x = 3) + 1; return k ? plain((a) => a.b, 1) : -k; }
const nested = (a) => (b) => { const c = a + b; return () => c; };
const none = () => { return; };
const loop = (list) => list.map((x) => { if (x) return x + 1; }).filter((x) => x).length;
export function TestTexts(t) {
  const texts = [plain, arrow, obj, Point, cond, asy, nested, none, loop, Point.prototype.double, Function.prototype.toString].map(String);
  const sums = texts.map((text) => [...text].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 1000003, text.length));
  t.assert.Equal([sums, plain.name, arrow.name, cond.length, Point.name], 0);
}
