"""`ResultKey`: what identifies a result within a report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scripttest.values import Value


class ResultKey(Value):
    """The suite of a test, and its name or the id of the case."""

    suite: str
    id: str


def key_of(record: Mapping[str, Any]) -> ResultKey:
    """The key of a result in a report."""
    return ResultKey(suite=record["suite"], id=record["id"])
