import { Stock } from "./stock";

export function TestAdd(t: testing.T) {
  const stock = new Stock().add("a", 2).add("a").add("b");
  t.assert.Equal([stock.free("a"), stock.free("b"), stock.free("c"), stock.size], [3, 1, 0, 4]);
}

export function TestCountsAreChecked(t: testing.T) {
  t.assert.Panic(() => new Stock().add("a", 0));
  t.assert.Panic(() => new Stock().add("a", 1.5));
}

export function TestLimits(t: testing.T) {
  const stock = new Stock({ a: 2 }).add("a", 2);
  t.assert.Panic(() => stock.add("a"));
}

export function TestOf(t: testing.T) {
  t.assert.Equal(Stock.of({ a: 1, b: 2 }).size, 3);
}

export function TestHold(t: testing.T) {
  const stock = Stock.of({ a: 3 });
  t.assert.Equal(stock.hold("a", 2), "h1");
  t.assert.Equal(stock.free("a"), 1);
  t.assert.Nil(stock.hold("a", 2));
  t.assert.NotNil(stock.hold("a", 1));
}

export function TestRelease(t: testing.T) {
  const stock = Stock.of({ a: 3 });
  const id = stock.hold("a", 3) as string;
  t.assert.True(stock.release(id));
  t.assert.Equal(stock.free("a"), 3);
  t.assert.False(stock.release(id));
}

export function TestTake(t: testing.T) {
  const stock = Stock.of({ a: 3 });
  t.assert.Equal(stock.take(stock.hold("a", 2) as string), 1);
  t.assert.Equal(stock.size, 1);
}

export function TestTakeTheLast(t: testing.T) {
  const stock = Stock.of({ a: 1, b: 5 });
  stock.take(stock.hold("a", 1) as string);
  t.assert.Equal(stock.lowest(), "b");
}

export function TestTakeNothing(t: testing.T) {
  t.assert.Panic(() => new Stock().take("h9"));
}

export function TestEvents(t: testing.T) {
  const stock = Stock.of({ a: 1 });
  stock.hold("a", 1);
  t.assert.Len(stock.events, 2);
}
