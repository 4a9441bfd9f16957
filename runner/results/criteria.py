"""Reads the criteria of a result, and decides which scores count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scripttest.typing_names import Record
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CRITERION, CHECKPOINT = "criterion", "checkpoint"


def score_in(value: Any) -> float | None:
    """A score from 0 to 1; None for anything else, such as NaN, a text, or a number outside of that."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    return float(value) if 0 <= value <= 1 else None


def objects_in(value: Any) -> list[Record]:
    """The objects of a list in a saved report; empty if there is something else."""
    return [item for item in value if isinstance(item, dict)] if value and isinstance(value, list) else []


class Part(Value):
    """A group of cases: those of a `suite` or a `tag`, or those with a `criterion` or a `checkpoint`."""

    kind: str
    name: str

    def __hash__(self) -> int:
        return hash((self.kind, self.name))


def criteria_of(record: Mapping[str, Any]) -> dict[str, float]:
    """Name of a criterion, its id or else its text → 1 or 0, or its score: of scores, of their assertions, and of
    checkpoints; the mean where there are several of a name. Those that nobody could judge are left out."""
    if not record.get("scores") and not record.get("checkpoints"):
        return {}
    found: dict[str, list[float]] = {}
    for item in objects_in(record.get("scores")):
        score = score_in(item.get("score"))
        if item.get("name") and score is not None:
            found.setdefault(str(item["name"]), []).append(score)
    for _, check in _checks(record):
        name, value = _name(check), _value(check)
        if name and value is not None:
            found.setdefault(name, []).append(value)
    return {name: sum(values) / len(values) for name, values in found.items()}


def parts_in(record: Mapping[str, Any]) -> list[Part]:
    """The criteria and the checkpoints of a result, named as by `criteria_of`."""
    return list(dict.fromkeys(Part(kind=kind, name=_name(check)) for kind, check in _checks(record) if _name(check)))


def only_criteria(record: Mapping[str, Any]) -> Record:
    """`{scores?, checkpoints?}` of a record, reduced to what rates are computed from."""
    kept = ("id", "name", "text", "passed", "score", "judged", "inconclusive")
    checks = [(kind, {key: check[key] for key in kept if key in check}) for kind, check in _checks(record)]
    scores = [{"assertions": [check for kind, check in checks if kind == CRITERION]}]
    checkpoints = [check for kind, check in checks if kind != CRITERION]
    return {"scores": scores, "checkpoints": checkpoints} if checks else {}


def _checks(record: Mapping[str, Any]) -> Iterator[tuple[str, Record]]:
    for item in objects_in(record.get("scores")):
        for check in objects_in(item.get("assertions")):
            yield CRITERION, check
    for check in objects_in(record.get("checkpoints")):
        yield CHECKPOINT, check


def _name(check: Record) -> str:
    return str(check.get("id") or check.get("name") or check.get("text") or "")


def _value(check: Record) -> float | None:
    """1 or 0, or the score; None: it was not judged, or votes did not decide."""
    if check.get("judged") is False or check.get("inconclusive"):
        return None
    score = score_in(check.get("score"))
    reached = check.get("passed", check.get("reached"))
    return score if score is not None else float(reached) if isinstance(reached, bool) else None
