"""Which cases run."""

from __future__ import annotations

import pytest
from table_tests import each

from runner.cases.model import Case
from runner.cases.reader import chooser
from runner.errors import ConfigurationError

CHOSEN = {
    "part of the id": ("ip-1", True),
    "part of the name": ("hotel", True),
    "anchored": ("^1$", False),
    "flag of Go": ("(?i)HOTEL", True),
    "blanks": ("a hotel", True),
    "slash": ("tokyo/osaka", True),
    "neither": ("flight", False),
}


@each(("pattern", "chosen"), CHOSEN.values(), ids=CHOSEN.keys())
def test_the_pattern_is_searched_in_ids_and_names(pattern: str, chosen: bool) -> None:
    assert chooser(pattern)(Case(id="trip-1", name="Asks for a hotel in tokyo/osaka", input="")) is chosen


def test_a_case_without_a_name_is_chosen_by_its_id() -> None:
    assert [chooser("x")(Case(id=name, input="")) for name in ("x1", "y1")] == [True, False]


def test_a_broken_pattern_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r'Cannot read --run "\("'):
        chooser("(")
