"""Durations in JSON: texts such as `1m30s`, whose seconds are known once they are read."""

from __future__ import annotations

from typing import Annotated

from runner.durations import Duration
from runner.errors import ConfigurationError
from runner.shapes.declared import Shaped, changed, complaint

NO_DURATION = "no_duration"
"""Type of the complaint; its `problem` and `hint` say what is wrong."""


def _read(text: str) -> Duration:
    try:
        return Duration(text, "")
    except ConfigurationError as error:
        said = {"problem": error.message.rpartition(": ")[2], "hint": error.hint}
        raise complaint(NO_DURATION, "no duration", said) from error


DurationText = Annotated[Duration, Shaped(lambda schema: changed(schema, _read))]
"""A text of a duration."""
