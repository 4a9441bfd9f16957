"""Durations: every form that the documents name, back and forth, and what is no duration."""

from __future__ import annotations

import json

import pytest
from table_tests import each

from runner.amounts import Duration, in_words, seconds_of
from runner.cases.model import Case
from runner.cases.other_cases import MultiTurnCase
from runner.errors import ConfigurationError
from runner.shapes.shape import Misfit

FORMS = [("500ms", 0.5), ("30s", 30.0), ("1m30s", 90.0), ("2h", 7200.0), ("1h30m", 5400.0), ("2.5s", 2.5)]


@each(("text", "seconds"), FORMS)
def test_a_duration_is_read_and_written_in_the_same_form(text: str, seconds: float) -> None:
    assert seconds_of(text, "--timeout") == seconds
    assert in_words(seconds) == text


@each("text", ["", "1 m", "-5s", "5d", "ms", "1e3s", "५s seconds"])
def test_another_text_is_refused_with_the_forms_that_there_are(text: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        seconds_of(text, "--timeout")
    assert error.value.message == f'Cannot read --timeout "{text}": not a duration'
    assert error.value.hint == "Write it as 500ms, 30s, 1m30s or 2h"


def test_a_number_without_a_unit_is_refused_with_two_of_them() -> None:
    with pytest.raises(ConfigurationError) as error:
        seconds_of("30", "--timeout")
    assert (error.value.message, error.value.hint) == (
        'Cannot read --timeout "30": not a duration',
        "Write it as 30s or 30ms",
    )


@pytest.mark.parametrize("text", ["0s", "0ms", "0h0m0s"])
def test_no_time_at_all_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="longer than 0"):
        seconds_of(text, "timeout")


@each(("text", "seconds"), FORMS)
def test_a_duration_is_its_text_and_knows_its_seconds(text: str, seconds: float) -> None:
    duration = Duration(text, "timeout")
    assert (duration, duration.seconds, json.dumps([duration])) == (text, seconds, f'["{text}"]')
    with pytest.raises(ConfigurationError, match="Cannot read timeout"):
        Duration(text + "!", "timeout")


def test_the_durations_of_cases_are_read_with_the_case() -> None:
    entry = {"id": "c", "type": "multi_turn", "timeout": "1m30s", "interactive": {"timeout": "250ms"}}
    case = MultiTurnCase.model_validate(entry)
    assert case.timeout is not None
    assert (case.timeout.seconds, case.interactive.timeout.seconds) == (90.0, 0.25)
    assert MultiTurnCase.model_validate({"id": "c"}).interactive.timeout.seconds == 300
    assert case.model_dump(exclude_unset=True) == entry
    with pytest.raises(Misfit, match="longer than 0"):
        Case.model_validate({"id": "c", "input": "hi", "timeout": "0s"})
