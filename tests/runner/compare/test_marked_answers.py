"""What differs between two answers, and how much work it is to find that."""

from __future__ import annotations

import sys

from runner.compare.change_report import BeforeAfter
from runner.compare.variants import DiffSegment, marked


def calls_of_marking(first: str, other: str) -> int:
    """Calls of functions that it takes."""
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        marked(first, other)
    finally:
        sys.setprofile(None)
    return calls


def test_an_answer_that_says_the_same_again_and_again_costs_no_more_than_others() -> None:
    assert calls_of_marking("Yes. " * 150, "No. " * 150) < 20_000


def test_equal_answers_have_nothing_marked() -> None:
    same = (DiffSegment(text="Yes.", differs=False),)
    assert marked("Yes.", "Yes.") == BeforeAfter(a=same, b=same)
    assert marked("", "") == BeforeAfter(a=(), b=())
