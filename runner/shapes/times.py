"""Times in JSON, at which a clock can be stopped: as `t.mock.now` takes them as texts."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from runner.shapes.declared import Shaped, changed, complaint

NO_TIME = "no_time"
"""Type of the complaint; its `hint` says what is wrong."""
_FIRST, _LAST = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)
"""As in `bindings/src/mocks/clock.ts`."""


def milliseconds_of(text: str) -> float:
    """The time of a text in ISO 8601, in milliseconds since 1970. A date alone is midnight in UTC, and a time without a
    zone is in the zone of this machine. Raises ValueError, OverflowError or OSError."""
    time = datetime.fromisoformat(text)
    if time.tzinfo is None:
        time = time.astimezone() if "T" in text or " " in text else time.replace(tzinfo=UTC)
    if not _FIRST <= time <= _LAST:
        raise ValueError("a clock can stand from 0001-01-02 to 9999-12-30")
    return time.timestamp() * 1000


def _checked(text: str) -> str:
    try:
        milliseconds_of(text)
    except (ValueError, OverflowError, OSError) as error:
        is_beyond = str(error).startswith("a clock") or isinstance(error, OverflowError)
        hint = "A clock can stand from 0001-01-02 to 9999-12-30" if is_beyond else 'Write it as "2030-01-31T09:00:00Z"'
        raise complaint(NO_TIME, "no time", {"hint": hint}) from error
    return text


TimeText = Annotated[str, Shaped(lambda schema: changed(schema, _checked))]
"""A text of a time."""
