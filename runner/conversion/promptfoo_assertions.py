"""Assertions of promptfoo as ours: https://www.promptfoo.dev/docs/configuration/expected-outputs/."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from runner.assertions import TYPES
from runner.conversion.sources import judged, parsed, pattern_problem
from scripttest.typing_names import Record

PLAIN = {name: name.replace("-", "_") for name in ("equals", "contains", "icontains", "starts-with", "regex")}
LISTS = {
    "contains-any": ("any_of", "contains"),
    "icontains-any": ("any_of", "icontains"),
    "contains-all": ("all_of", "contains"),
    "icontains-all": ("all_of", "icontains"),
}
"""Its type → ours, and that of the assertions within."""
JUDGED = {
    "llm-rubric": "{}",
    "model-graded-closedqa": "{}",
    "g-eval": "{}",
    "factuality": "States the same facts as: {}",
    "model-graded-factuality": "States the same facts as: {}",
}
"""Its type → the criterion of a judge."""
LIMITS = {"latency": "latency_ms", "cost": "cost"}
CODE = ("javascript", "python", "ruby", "webhook")
INSTEAD = {
    **dict.fromkeys(CODE, "write it as a TypeScript function, for a `script` assertion"),
    "select-best": "a `preference` assertion",
    "is-refusal": "a criterion in words, for an `agent` assertion",
    "is-valid-openai-tools-call": "an assertion `tool_called`",
    "is-valid-function-call": "an assertion `tool_called`",
}
"""Its type → what to do instead."""
READ = ("type", "value", "threshold", "assert", "weight", "description")
"""Fields of an assertion that are read here, or say nothing about verdicts."""
SIMILARITY = 0.75
_EXPECTED = re.compile(r"(?P<type>(?:not-)?[a-z-]+)(?:\((?P<threshold>[\d.]+)\))?(?:\s*:\s*(?P<value>.*))?\Z", re.S)
_ALIASES = {"eval": "javascript", "fn": "javascript", "grade": "llm-rubric"}

Render = Callable[[Any], Any]


class Assertions:
    """Converts assertions, and tells what has no counterpart."""

    def __init__(self, render: Render, lacks: Callable[[str], None]) -> None:
        """`render` puts variables into a value."""
        self._render = render
        self._lacks = lacks
        self.lost: list[Record] = []
        """Assertions that have no counterpart."""

    def of(self, given: Record) -> Iterator[Record]:
        """An assertion; nothing when it has no counterpart."""
        said = str(given.get("type", ""))
        negated, type = said.startswith("not-"), said.removeprefix("not-")
        value, threshold = self._render(given.get("value")), given.get("threshold")
        for name in sorted(given.keys() - READ):
            self._lacks(f"`{name}` of an assertion")
        if given.get("weight", 1) != 1:
            self._lacks("`weight` of an assertion: every assertion must pass; `rubrics` have weights")
        found = list(self._found(type, value, threshold, given))
        if not found:
            hint = f": {INSTEAD[type]}" if type in INSTEAD else ""
            if type == "regex" and (problem := pattern_problem(value)):
                hint = f": {problem}"
            self._lacks(f"assertion `{said}`{hint}")
            self.lost.append(given)
        for check in found:
            if negated and check["type"] == "contains":
                yield {**check, "type": "not_contains"}
            else:
                yield check | ({"negate": True} if negated else {})

    def _found(self, type: str, value: Any, threshold: Any, given: Record) -> Iterator[Record]:
        if isinstance(value, str) and value.startswith("file://"):
            return
        if type == "regex" and pattern_problem(value):
            return
        if type in PLAIN:
            yield {"type": PLAIN[type], "value": _parsed(value) if type == "equals" else value}
        elif type in LISTS:
            of_all, of_each = LISTS[type]
            values = value if isinstance(value, list) else [part.strip() for part in str(value).split(",")]
            yield {"type": of_all, "value": [{"type": of_each, "value": one} for one in values]}
        elif type in ("is-json", "contains-json"):
            schema = _parsed(value)
            if value is None or isinstance(schema, dict):
                yield {"type": "json_schema", "value": schema or {}}
        elif type in JUDGED and value:
            for one in value if isinstance(value, list) else [value]:
                yield judged(JUDGED[type].format(one))
            if threshold is not None:
                self._lacks("`threshold` of a judged assertion: it passes or fails")
        elif type in LIMITS and threshold is not None:
            yield {"type": LIMITS[type], "value": threshold}
        elif type == "similar" and isinstance(value, str):
            yield {"type": "similar", "value": value, "threshold": SIMILARITY if threshold is None else threshold}
        elif type == "assert-set":
            yield from self._set(given.get("assert") or [], threshold)
        elif type.startswith("trajectory:") and type in TYPES:
            yield {"type": type, "value": value}

    def _set(self, given: list[Record], threshold: Any) -> Iterator[Record]:
        inner = [check for one in given for check in self.of(one)]
        if not inner:
            return
        needs_all = threshold is None or threshold >= 1
        if not needs_all and threshold * len(given) > 1:
            self._lacks("`threshold` of an assert-set: all of its assertions must pass")
            needs_all = True
        yield {"type": "all_of" if needs_all else "any_of", "value": inner}


def expected_in(cell: str) -> Record:
    """The assertion of a cell `__expected`: `contains: Oslo`, `similar(0.8): Oslo`; any other text equals the
    answer."""
    found = _EXPECTED.match(cell.strip())
    type = found["type"] if found else ""
    bare = _ALIASES.get(type, type).removeprefix("not-")
    known = bare in (*PLAIN, *LISTS, *JUDGED, *LIMITS, *INSTEAD, "is-json", "contains-json", "similar")
    needs_value = bare not in ("is-json", "contains-json")
    if found is None or not (known or ":" in type) or (needs_value and found["value"] is None):
        return {"type": "equals", "value": cell.strip()}
    value: Any = found["value"]
    threshold = float(found["threshold"]) if found["threshold"] else None
    if bare in LIMITS and value and threshold is None:
        threshold, value = float(value), None
    more = {} if threshold is None else {"threshold": threshold}
    return {"type": _ALIASES.get(type, type), **({} if value is None else {"value": value.strip()}), **more}


def _parsed(value: Any) -> Any:
    """A text that is a JSON object or list, as that."""
    is_json = isinstance(value, str) and value.strip()[:1] in ("{", "[")
    return parsed(value, otherwise=value) if is_json else value
