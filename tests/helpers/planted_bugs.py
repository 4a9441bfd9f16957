"""Faulty handlers of many kinds, and what their stories have to tell."""

from __future__ import annotations

from typing import NamedTuple


class Bug(NamedTuple):
    """A faulty handler, and a test that notices."""

    handler: str
    call: str
    """What the test asserts of it, as `m`."""
    line: int
    key: str
    """What the line of the story has."""
    value: object


BUGS = {
    "a wrong border": Bug(
        """const STEPS = [{ from: 0, percent: 0 }, { from: 100, percent: 5 }];
export function Discount(total: number) {
  let percent = 0;
  for (const step of STEPS) {
    if (total <= step.from) break;
    percent = step.percent;
  }
  return (total * percent) / 100;
}""",
        "Equal(m.Discount(100), 5)",
        5,
        "read",
        {"total": 100, "step.from": 100},
    ),
    "an object that is shared": Bug(
        """const EMPTY = { items: [] as string[] };
export function Basket(first: string) {
  const basket = Object.assign({}, EMPTY);
  basket.items.push(first);
  return basket;
}""",
        'Equal((m.Basket("lamp"), m.Basket("chair").items), ["chair"])',
        4,
        "changed",
        {"basket.items": ["lamp", "chair"]},
    ),
    "a missing await": Bug(
        """async function isOpen(day: string) {
  await null;
  return day !== "sunday";
}
export async function Notice(day: string) {
  let notice = "closed";
  const open = isOpen(day);
  if (open) notice = "come in";
  return notice;
}""",
        'Equal(await m.Notice("sunday"), "closed")',
        8,
        "value",
        "Promise {<pending>}",
    ),
    "a return in a callback": Bug(
        """export function FirstLong(names: string[], length: number) {
  let found = "";
  names.forEach((name) => {
    if (name.length >= length) {
      found = name;
      return;
    }
  });
  return found;
}""",
        'Equal(m.FirstLong(["bo", "ingrid", "al", "sebastian"], 5), "ingrid")',
        5,
        "assigned",
        {"found": "sebastian"},
    ),
    "dates sorted as texts": Bug(
        """export function Latest(days: string[]) {
  const sorted = [...days].sort();
  return sorted[sorted.length - 1];
}""",
        'Equal(m.Latest(["28.01.2025", "03.02.2025", "15.01.2025"]), "03.02.2025")',
        2,
        "assigned",
        {"sorted": ["03.02.2025", "15.01.2025", "28.01.2025"]},
    ),
    "a text as the key of a number": Bug(
        """const stock = new Map<number, number>([[17, 4], [18, 9]]);
export function InStock(query: Record<string, any>) {
  const id = query.id;
  const pieces = stock.get(id) ?? 0;
  return pieces;
}""",
        'Equal(m.InStock({ id: "18" }), 9)',
        3,
        "assigned",
        {"id": "18"},
    ),
    "off by one": Bug(
        """export function LastOf(list: string[], count: number) {
  const from = list.length - count - 1;
  return list.slice(from);
}""",
        'Equal(m.LastOf(["a", "b", "c", "d"], 2), ["c", "d"])',
        2,
        "assigned",
        {"from": 1},
    ),
    "an argument that is changed": Bug(
        """function cheapest(prices: number[]) {
  return prices.sort((a, b) => a - b)[0];
}
export function Offer(prices: number[]) {
  const low = cheapest(prices);
  return { low, first: prices[0] };
}""",
        "Equal(m.Offer([9, 4, 7]), { low: 4, first: 9 })",
        5,
        "changed",
        {"prices": [4, 7, 9]},
    ),
    "a variable behind another one": Bug(
        """export function Total(prices: number[]) {
  let total = 0;
  for (const price of prices) {
    let total = 0;
    total += price;
  }
  return total;
}""",
        "Equal(m.Total([3, 4]), 7)",
        4,
        "assigned",
        {"total": 0},
    ),
    "precedence of operators": Bug(
        """export function Shipping(weight: number, base?: number) {
  const cost = weight * 2 + (base as number) || 5;
  return cost;
}""",
        "Equal(m.Shipping(3), 11)",
        2,
        "assigned",
        {"cost": 5},
    ),
    "a default that hides zero": Bug(
        """export function Limit(options: { limit?: number }) {
  const limit = options.limit || 10;
  return limit;
}""",
        "Equal(m.Limit({ limit: 0 }), 0)",
        2,
        "read",
        {"options.limit": 0},
    ),
    "lastIndex of a regular expression": Bug(
        """const DIGITS = /\\d+/g;
export function HasDigits(text: string) {
  return DIGITS.test(text);
}""",
        'Equal([m.HasDigits("a1"), m.HasDigits("b2")], [true, true])',
        3,
        "read",
        {"DIGITS": "/\\d+/g {lastIndex: 2}", "text": "b2"},
    ),
    "a closure over a loop": Bug(
        """export function Makers() {
  const made: (() => number)[] = [];
  for (var i = 0; i < 3; i++) {
    made.push(() => i);
  }
  return made.map((make) => make());
}""",
        "Equal(m.Makers(), [0, 1, 2])",
        4,
        "returned",
        3,
    ),
    "not a number": Bug(
        """export function Average(values: string[]) {
  let sum = 0;
  for (const value of values) {
    sum += parseInt(value);
  }
  return sum / values.length;
}""",
        'Equal(m.Average(["4", "", "5"]), 3)',
        4,
        "assigned",
        {"sum": "NaN"},
    ),
    "whole numbers and fractions": Bug(
        """export function Cents(euros: number) {
  const cents = euros * 100;
  return Math.floor(cents);
}""",
        "Equal(m.Cents(4.35), 435)",
        2,
        "assigned",
        {"cents": 434.99999999999994},
    ),
    "an exception that is swallowed": Bug(
        """function parse(text: string) {
  return JSON.parse(text).name;
}
export function NameOf(text: string) {
  let name = "nobody";
  try {
    name = parse(text);
  } catch (error) {
    name = "";
  }
  return name;
}""",
        'Equal(m.NameOf(\'{"name": "Ada"\'), "Ada")',
        8,
        "caught",
        "SyntaxError: Expected ',' or '}' after property value in JSON at position 14 (line 1 column 15)",
    ),
    "an early return": Bug(
        """export function CountLong(words: string[]) {
  let count = 0;
  for (const word of words) {
    if (word.length < 3) return count;
    count++;
  }
  return count;
}""",
        'Equal(m.CountLong(["one", "is", "three"]), 2)',
        4,
        "returned",
        1,
    ),
    "sorting in place": Bug(
        """export function Ranks(scores: number[]) {
  const sorted = scores.sort((a, b) => b - a);
  return scores.map((score) => sorted.indexOf(score) + 1);
}""",
        "Equal(m.Ranks([5, 9, 7]), [3, 1, 2])",
        2,
        "changed",
        {"scores": [9, 7, 5]},
    ),
    "a date that JSON makes a text": Bug(
        """export function NextYear(order: { at: Date }) {
  const copy = JSON.parse(JSON.stringify(order));
  copy.at = new Date(copy.at + 1);
  return copy.at.getFullYear();
}""",
        'Equal(m.NextYear({ at: new Date("2025-02-03T00:00:00Z") }), 2026)',
        2,
        "assigned",
        {"copy": {"at": "2025-02-03T00:00:00.000Z"}},
    ),
    "optional chaining that hides what is missing": Bug(
        """interface User { address?: { city?: string } }
export function Label(user: User) {
  const city = user?.adress?.city ?? "unknown";
  return `lives in ${city}`;
}""",
        'Equal(m.Label({ address: { city: "Bonn" } }), "lives in Bonn")',
        3,
        "assigned",
        {"city": "unknown"},
    ),
    "a case that falls through": Bug(
        """export function Fee(kind: string) {
  let fee = 0;
  switch (kind) {
    case "express":
      fee = 9;
    case "standard":
      fee = 4;
  }
  return fee;
}""",
        'Equal(m.Fee("express"), 9)',
        7,
        "assigned",
        {"fee": 4},
    ),
    "the order of asynchronous work": Bug(
        """async function wait(turns: number, value: string) {
  for (let i = 0; i < turns; i++) await null;
  return value;
}
export async function Names() {
  const names: string[] = [];
  await Promise.all([3, 1].map(async (turns) => {
    const name = await wait(turns, `n${turns}`);
    names.push(name);
  }));
  return names;
}""",
        'Equal(await m.Names(), ["n3", "n1"])',
        9,
        "changed",
        {"names": ["n1"]},
    ),
    "a fault in one line of many": Bug(
        """export function Invoice(net: number) {
  return {
    net,
    tax: net * 0.17,
    total: net + net * 0.19,
  };
}""",
        "Equal(m.Invoice(100), { net: 100, tax: 19, total: 119 })",
        4,
        "assigned",
        {"tax": 17},
    ),
    "a chain of several lines": Bug(
        """export function Sum(lines: { price: number; active: boolean }[]) {
  return lines
    .filter((line) => line.active)
    .map((line) => String(line.price))
    .reduce((sum, price) => sum + (price as any), 0);
}""",
        "Equal(m.Sum([{ price: 2, active: true }, { price: 3, active: true }]), 5)",
        5,
        "returned",
        "023",
    ),
}
