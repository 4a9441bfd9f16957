"""Conditions of reply rules: what a value of the situation has to be.

| written | holds when the value |
| --- | --- |
| text | occurs in it, in upper or lower case, for `input` and `system`; is it, for everything else |
| number, null | is equal |
| true, false | is there and not empty, or is not |
| list | fits one of the items; a value that is a list (`tools`) fits when one of its items does |
| `{contains: text}` | occurs in it, in upper or lower case |
| `{equals: value}` | is equal |
| `{regex: pattern}` | matches somewhere, in Go's syntax; its groups are `match.1`, `match.name` |
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from runner.connectors.reply_situation import Path, Situation
from runner.connectors.reply_templates import as_text, path_of
from runner.errors import ConfigurationError, did_you_mean

if TYPE_CHECKING:
    from bindings import Pattern

_CONTAINED = ("input", "system")
_KINDS = ("contains", "equals", "regex")


class Comparison(NamedTuple):
    """What a value is compared with."""

    kind: str
    """contains, equals, regex, present."""
    value: Any
    pattern: Pattern | None = None

    def holds(self, actual: Any) -> bool:
        """Whether a value fits. Raises PatternError when a search takes too long."""
        if isinstance(actual, list) and self.kind != "present" and not isinstance(self.value, list):
            return any(self.holds(item) for item in actual)
        match self.kind:
            case "present":
                return bool(actual) is bool(self.value)
            case "contains":
                return str(self.value).casefold() in as_text(actual).casefold()
            case "regex":
                return bool(self.pattern and self.pattern.search(as_text(actual)))
            case _:
                return isinstance(actual, bool) == isinstance(self.value, bool) and bool(actual == self.value)

    @property
    def shown(self) -> str:
        """What it asks for, in words."""
        if self.kind == "present":
            return "is there" if self.value else "is not there"
        words = {"contains": "contains", "equals": "is", "regex": "matches"}[self.kind]
        return f"{words} {json.dumps(self.value, ensure_ascii=False, default=str)}"


class Condition(NamedTuple):
    """One line of `when`."""

    path: Path
    comparisons: tuple[Comparison, ...]
    """One of them has to hold."""

    def holds(self, situation: Situation) -> bool:
        """Whether the situation fits. Raises PatternError when a search takes too long."""
        actual = self._actual(situation)
        return any(comparison.holds(actual) for comparison in self.comparisons)

    def groups(self, situation: Situation) -> dict[str, str | None] | None:
        """The groups of its first regex that matches, or None."""
        text = as_text(self._actual(situation))
        for comparison in self.comparisons:
            if comparison.pattern is not None and (found := comparison.pattern.groups(text)) is not None:
                return found
        return None

    @property
    def has_pattern(self) -> bool:
        """Whether it has a regex."""
        return any(comparison.pattern for comparison in self.comparisons)

    @property
    def shown(self) -> str:
        """What it asks for, in words."""
        return f"{'.'.join(self.path)} {' or '.join(comparison.shown for comparison in self.comparisons)}"

    def _actual(self, situation: Situation) -> Any:
        try:
            return situation.value(self.path)
        except KeyError:
            return None


def read_conditions(when: Any) -> tuple[Condition, ...]:
    """The conditions of one rule. Raises ConfigurationError, whose message is the detail only."""
    if when is None:
        return ()
    if not isinstance(when, dict):
        raise ConfigurationError('"when" must be an object', "Write it as when: { input: some text }")
    return tuple(_condition(str(name), wanted) for name, wanted in when.items())


def _condition(name: str, wanted: Any) -> Condition:
    path = path_of(name)
    options = wanted if isinstance(wanted, list) else [wanted]
    if not options:
        raise ConfigurationError(f'the list for "{name}" is empty')
    return Condition(path, tuple(_comparison(name, option, path) for option in options))


def _comparison(name: str, wanted: Any, path: Path) -> Comparison:
    if isinstance(wanted, bool):
        return Comparison("present", wanted)
    if isinstance(wanted, str):
        return Comparison("contains" if len(path) == 1 and path[0] in _CONTAINED else "equals", wanted)
    if wanted is None or isinstance(wanted, int | float):
        return Comparison("equals", wanted)
    if not isinstance(wanted, dict) or len(wanted) != 1:
        hint = f"It is text, a number, true, false, null, a list of these, or one of {', '.join(_KINDS)} with its value"
        raise ConfigurationError(f'cannot read what "{name}" has to be', hint)
    ((kind, value),) = wanted.items()
    if kind not in _KINDS:
        hint = did_you_mean(str(kind), _KINDS) or f"There are {', '.join(_KINDS)}"
        raise ConfigurationError(f'unknown comparison "{kind}" for "{name}"', hint)
    if kind != "equals" and not isinstance(value, str):
        raise ConfigurationError(f'"{kind}" of "{name}" must be text', "Put it in quotes")
    return Comparison(kind, value, _pattern(name, value) if kind == "regex" else None)


def _pattern(name: str, source: str) -> Pattern:
    from bindings import PatternError, compile

    try:
        return compile(source)
    except PatternError as error:
        raise ConfigurationError(f'"{name}": {error}', "It is a Go (RE2) regular expression") from error
