import { type Item, reduced, shipping, stepOf, subtotal, total } from "./price";

const item = (price: number, count = 1, tags?: string[]): Item => ({ sku: "a", price, count, tags });

export function TestSubtotal(t: testing.T) {
  t.assert.Equal(subtotal([item(10), item(2.5, 2)]), 15);
  t.assert.Equal(subtotal([]), 0);
}

export function TestSubtotalOfMany(t: testing.T) {
  t.assert.Equal(subtotal([item(1, 20)]), 18);
  t.assert.Equal(subtotal([item(1, 100)]), 85);
}

export function TestCountsAreChecked(t: testing.T) {
  t.assert.Panic(() => subtotal([item(1, 0)]));
  t.assert.Panic(() => subtotal([item(1, -1)]));
}

export function TestSteps(t: testing.T) {
  t.assert.Equal([1, 4, 5, 19, 20, 99, 100, 1000].map(stepOf), [0, 0, 3, 3, 10, 10, 15, 15]);
}

export function TestNoCoupon(t: testing.T) {
  t.assert.Equal(reduced(10, null, "2031-01-01"), 10);
}

export function TestPercent(t: testing.T) {
  t.assert.Equal(reduced(200, { code: "x", percent: 25 }, "2031-01-01"), 150);
}

export function TestAmount(t: testing.T) {
  t.assert.Equal(reduced(20, { code: "x", amount: 5 }, "2031-01-01"), 15);
  t.assert.Equal(reduced(3, { code: "x", amount: 5 }, "2031-01-01"), 0);
}

export function TestLeast(t: testing.T) {
  t.assert.Equal(reduced(40, { code: "x", amount: 5, least: 50 }, "2031-01-01"), 40);
}

export function TestUntil(t: testing.T) {
  t.assert.Equal(reduced(40, { code: "x", amount: 5, until: "2030-12-31" }, "2031-01-01"), 40);
  t.assert.Less(reduced(40, { code: "x", amount: 5, until: "2031-12-31" }, "2031-01-01"), 40);
}

export function TestShipping(t: testing.T) {
  t.assert.Equal([shipping([item(1)], 10), shipping([item(1)], 50)], [4.9, 0]);
}

export function TestShippingOfHeavyItems(t: testing.T) {
  t.assert.Greater(shipping([item(1, 1, ["heavy"])], 100), 0);
  t.assert.Greater(shipping([item(1, 1, ["heavy"])], 10, "SE"), shipping([item(1)], 10, "SE"));
}

export function TestTotal(t: testing.T) {
  t.assert.Equal(total([item(10, 2)], null, "2031-01-01"), 24.9);
}
