"""Converts the calls that left the scripts of a test to JSON and back: `[{call, answered, count, message?}]`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bindings import Answered, OutsideCall


def outside_records(calls: Iterable[OutsideCall]) -> list[dict[str, Any]]:
    """`answered` is `served`, `mocked`, `missing` or `pending`; `message` says of a missing one what to do."""
    return [
        {"call": call.name, "answered": call.answered.value, "count": call.count}
        | ({"message": call.message} if call.message else {})
        for call in calls
    ]


def outside_of(records: Iterable[Mapping[str, Any]]) -> tuple[OutsideCall, ...]:
    """The calls in some records."""
    return tuple(
        OutsideCall(
            name=record["call"],
            answered=Answered(record["answered"]),
            count=record["count"],
            message=record.get("message", ""),
        )
        for record in records
    )
