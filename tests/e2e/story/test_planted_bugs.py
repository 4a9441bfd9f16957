"""`--story`: the line of a bug, with the value there, is among the last ten lines of the story."""

from __future__ import annotations

import json
from typing import NamedTuple

import pytest
from command import MakeApplication


class Bug(NamedTuple):
    """A faulty handler, and a test that notices."""

    handler: str
    call: str
    """What the test calls of it, as `m`, and what comes of that."""
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
}


@pytest.mark.parametrize("name", BUGS)
def test_the_last_lines_have_the_place_and_the_value(name: str, app: MakeApplication) -> None:
    bug = BUGS[name]
    test = f'import * as m from "./bug";\nexport async function TestBug(t: testing.T) {{\n  t.assert.{bug.call};\n}}\n'
    made = app({"bug.ts": bug.handler, "bug_test.ts": test})
    document = json.loads(made.run("-i", "scripts.demo.bug", "--story", "--json").stdout)
    (failure,) = document["failures"]
    found = [
        line for line in failure["story"][-10:] if line["file"].endswith("/src/bug.ts") and line["line"] == bug.line
    ]
    assert bug.value in [line.get(bug.key) for line in found], failure["story"]
