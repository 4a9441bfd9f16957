"""What a result says of each criterion by its id, and which scores count."""

from __future__ import annotations

import math
from typing import Any

Record = dict[str, Any]


def score_in(value: Any) -> float | None:
    """A score from 0 to 1; None for anything else, such as NaN, a text, or a number outside of that."""
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not math.isfinite(value):
        return None
    return float(value) if 0 <= value <= 1 else None


def criteria_of(record: Record) -> dict[str, float]:
    """Id of a criterion → 1 or 0, or its score: of scores, of their assertions, and of checkpoints. Those that nobody
    could judge are left out."""
    found: dict[str, float] = {}
    for item in record.get("scores") or ():
        score = score_in(item.get("score"))
        if item.get("name") and score is not None:
            found[str(item["name"])] = score
        for check in item.get("assertions") or ():
            found |= _criterion(check)
    for check in record.get("checkpoints") or ():
        found |= _criterion(check)
    return found


def _criterion(check: Record) -> dict[str, float]:
    id = check.get("id") or check.get("name")
    if not id or check.get("judged") is False:
        return {}
    score = score_in(check.get("score"))
    reached = check.get("passed", check.get("reached"))
    value = score if score is not None else float(bool(reached)) if isinstance(reached, bool) else None
    return {} if value is None else {str(id): value}
