"""`yao-test diff` of two saved reports: what it prints and writes, and when it fails."""

from __future__ import annotations

import json
import re

import pytest
from command import Application, MakeApplication, on_terminal
from saved_runs import case, run_of

# diff

BEFORE = run_of(
    case("breaks"),
    case("fixed", "failed", error="old"),
    case("still", "failed", error="old"),
    case("slower"),
    case("changed", output={"a": 1, "b": 2}),
    case("gone"),
    case("unsteady", runs={"attempts": [{"run": n, "status": "passed", "duration_ms": 1} for n in (1, 2, 3)]}),
    case("same", output={"b": 1, "a": 2}),
)
AFTER = run_of(
    case("breaks", "failed", error="it is\nbroken"),
    case("fixed"),
    case("still", "failed", error="new"),
    case("slower", duration_ms=900),
    case("changed", output={"b": 3, "a": 1}),
    case("new"),
    case("new and bad", "failed", error="never worked"),
    case(
        "unsteady",
        "failed",
        error="now and then",
        runs={"attempts": [{"run": n, "status": s, "duration_ms": 1} for n, s in ((1, "passed"), (2, "failed"))]},
    ),
    case("same", output={"a": 2, "b": 1}),
)


@pytest.fixture
def two(app: MakeApplication) -> Application:
    return app({"/a.jsonl": BEFORE, "/b.jsonl": AFTER})


def test_diff_tells_what_changed(two: Application) -> None:
    run = two.run("diff", "a.jsonl", "b.jsonl")

    assert (run.code, run.stderr) == (0, "")
    assert run.stdout == (
        """\
2 of 7 cases got worse, 1 got better. Too few runs to be sure.
  To find out whether these 2 cases really got worse, run each 5 times on both sides: \
yao-test -i c.jsonl --run '^(breaks|unsteady)$' --runs 5 -o again.jsonl
  1 case only in A: gone.
  2 cases only in B: new, new and bad.
  A: a.jsonl, B: b.jsonl

  Case      A    B    Verdict
  breaks    1/1  0/1  probably worse
  unsteady  3/3  1/2  probably worse

  Measure         A      B      Difference   Verdict
  Case pass rate  71.4%  64.3%  -7.1 points  cannot tell
  Duration        86ms   200ms  x1.37        no clear change

New failures (2)
  c.jsonl › breaks: passed → failed
    it is broken
  c.jsonl › new and bad: new → failed
    never worked

Lower pass rates (1)
  c.jsonl › unsteady: 3 of 3 → 1 of 2 runs passed, looks worse
    now and then

Flaky (1)
  c.jsonl › unsteady: passed → flaky (3 of 3 → 1 of 2 runs passed)
    now and then

Still failing (1)
  c.jsonl › still

Fixed (1)
  c.jsonl › fixed: failed → passed

Slower (1)
  c.jsonl › slower: 100ms → 900ms, 9.0 times as long

Changed outputs (1)
  c.jsonl › changed
      {
        "a": 1,
    -   "b": 2
    +   "b": 3
      }

Added (2)
  c.jsonl › new: passed
  c.jsonl › new and bad: failed

Removed (1)
  c.jsonl › gone: passed

3 results look worse
"""
    )


LISTS = """\
New failures (1)
  c.jsonl › ends: passed → failed
    xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx

Fixed (1)
  c.jsonl › long: failed → passed

1 result looks worse
"""


def test_diff_on_a_terminal(app: MakeApplication) -> None:
    old = run_of(case("ends"), case("long", "failed", error="[red]no[/red] \x1b]0;x\x07"))
    new = run_of(case("ends", "failed", error="x" * 40), case("long"))
    here = app({"/a.jsonl": old, "/b.jsonl": new})

    code, shown = on_terminal(here, "diff", "a.jsonl", "b.jsonl", NO_COLOR="1")

    assert (code, shown.replace("\r", "").endswith(f"\n\n{LISTS}")) == (0, True)
    assert shown.startswith("1 of 2 cases got worse, 1 got better. Too few runs to be\n  sure.\n")
    _, colored = on_terminal(here, "diff", "a.jsonl", "b.jsonl")
    assert ("\x1b[31mNew failures (1)\x1b[0m" in colored, "\\u001b" in colored) == (True, False)
    assert re.sub(r"\x1b\[\d+m", "", colored) == shown


def test_diff_fails_on_regressions_when_asked_to(two: Application) -> None:
    assert two.run("diff", "a.jsonl", "b.jsonl", "--fail-on-regression").code == 1
    assert two.run("diff", "b.jsonl", "b.jsonl", "--fail-on-regression").code == 0
    assert two.run("diff", "a.jsonl", "a.jsonl").stdout.endswith(
        """

Still failing (2)
  c.jsonl › fixed
  c.jsonl › still

Nothing looks worse
"""
    )


def test_diff_writes_what_changed(two: Application) -> None:
    run = two.run("diff", "a.jsonl", "b.jsonl", "-o", "d.json", "-o", "d.md")

    assert "\n3 results look worse\n" in run.stdout
    assert run.stdout.endswith("\nWrote <app>/d.json\nWrote <app>/d.md\n")
    found = json.loads((two.root / "d.json").read_text())
    assert {kind: [change["id"] for change in changes] for kind, changes in found.items() if type(changes) is list} == {
        "new_failures": ["breaks", "new and bad"],
        "dropped": ["unsteady"],
        "flaky": ["unsteady"],
        "errors": [],
        "still_failing": ["still"],
        "fixed": ["fixed"],
        "lower_scores": [],
        "slower": ["slower"],
        "faster": [],
        "more_tokens": [],
        "higher_costs": [],
        "changed": ["changed"],
        "other": [],
        "added": ["new", "new and bad"],
        "removed": ["gone"],
    }
    assert found["regressions"] == 3
    assert found["slower"] == [
        {"suite": "c.jsonl", "id": "slower", "before": "passed", "after": "passed", "before_ms": 100, "after_ms": 900}
    ]
    text = (two.root / "d.md").read_text()
    assert text.startswith("# Changes\n\n**2 of 7 cases got worse, 1 got better. Too few runs to be sure.**\n")
    assert "\n3 results look worse\n\n| Kind             | Results |\n" in text
    assert "- c.jsonl › **breaks**: passed → failed\n" in text


def test_diff_writes_a_page_that_compares(two: Application) -> None:
    assert two.run("diff", "a.jsonl", "b.jsonl", "-o", "d.html").code == 0

    page = (two.root / "d.html").read_text()
    alone = two.run("show", "b.jsonl", "-o", "b.html")
    assert alone.code == 0
    assert len(page) > len((two.root / "b.html").read_text()), "the older report is in it too"


@pytest.mark.parametrize(
    ("flags", "slower"),
    [((), True), (("--slower-factor", "10"), False), (("--slower-by", "1s"), False), (("--slower-by", "500ms"), True)],
)
def test_diff_takes_for_slower_what_the_flags_say(two: Application, flags: tuple[str, ...], slower: bool) -> None:
    assert ("Slower (1)" in two.run("diff", "a.jsonl", "b.jsonl", *flags).stdout) is slower


def test_diff_of_equal_runs_says_so(app: MakeApplication) -> None:
    here = app({"/a.jsonl": run_of(case("a"))})

    run = here.run("diff", "a.jsonl", "a.jsonl", "--fail-on-regression")
    assert (run.code, run.stderr) == (0, "")
    assert run.stdout.endswith("\n\nNo changes\n")
