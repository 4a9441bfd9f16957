import { calculate, tokens } from "./calc";

export function TestTokens(t: testing.T) {
  t.assert.Equal(tokens("a1 + 2.5").map(({ kind, text }) => `${kind} ${text}`), ["name a1", "sign +", "number 2.5"]);
}

export function TestUnknownSigns(t: testing.T) {
  t.assert.Panic(() => tokens("1 # 2"));
}

export function TestSums(t: testing.T) {
  t.assert.Equal([calculate("1 + 2 - 4"), calculate("10-3-2")], [-1, 5]);
}

export function TestProducts(t: testing.T) {
  t.assert.Equal([calculate("2 + 3 * 4"), calculate("12 / 4 / 3")], [14, 1]);
}

export function TestBrackets(t: testing.T) {
  t.assert.Equal(calculate("(2 + 3) * 4"), 20);
}

export function TestPowers(t: testing.T) {
  t.assert.Equal([calculate("2 ^ 3 ^ 2"), calculate("-2 ^ 2")], [512, 4]);
}

export function TestNegative(t: testing.T) {
  t.assert.Equal(calculate("3 - -2"), 5);
}

export function TestNames(t: testing.T) {
  t.assert.Equal(calculate("price * 2", { price: 21 }), 42);
  t.assert.Panic(() => calculate("price"));
}

export function TestFunctions(t: testing.T) {
  t.assert.Equal([calculate("MAX(1, 2, 3)"), calculate("avg(1, 2)"), calculate("abs(-4)")], [3, 1.5, 4]);
  t.assert.Panic(() => calculate("sin(1)"));
}

export function TestDivisionByNothing(t: testing.T) {
  t.assert.Panic(() => calculate("1 / (2 - 2)"));
}

export function TestMistakes(t: testing.T) {
  for (const text of ["", "1 +", "(1", "1 2", ")", "min(1"]) t.assert.Panic(() => calculate(text));
}
