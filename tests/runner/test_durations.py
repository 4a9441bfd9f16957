"""Durations: every form that the documents name, back and forth, and what is no duration."""

from __future__ import annotations

import pytest

from runner.durations import in_words, seconds_of
from runner.errors import ConfigurationError

FORMS = [("500ms", 0.5), ("30s", 30.0), ("1m30s", 90.0), ("2h", 7200.0), ("1h30m", 5400.0), ("2.5s", 2.5)]


@pytest.mark.parametrize(("text", "seconds"), FORMS)
def test_a_duration_is_read_and_written_in_the_same_form(text: str, seconds: float) -> None:
    assert seconds_of(text, "--timeout") == seconds
    assert in_words(seconds) == text


@pytest.mark.parametrize("text", ["", "30", "1 m", "-5s", "5d", "ms", "1e3s", "५s seconds"])
def test_another_text_is_refused_with_the_forms_that_there_are(text: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        seconds_of(text, "--timeout")
    assert error.value.message == f'Cannot read --timeout "{text}": not a duration'
    assert error.value.hint == "Write it as 500ms, 30s, 1m30s or 2h"


@pytest.mark.parametrize("text", ["0s", "0ms", "0h0m0s"])
def test_no_time_at_all_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="longer than nothing"):
        seconds_of(text, "timeout")
