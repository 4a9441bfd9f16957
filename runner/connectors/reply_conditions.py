"""Conditions of reply rules on a value of the situation.

| written | true if |
| --- | --- |
| text | `input` and `system` contain it, in upper or lower case; every other value equals it |
| number, null | the value equals it |
| true, false | the value exists and is not empty, or not |
| list | one of its items fits; if the value is a list (`tools`), if an item fits one of its items |
| `{contains: text}` | the value contains it, in upper or lower case |
| `{equals: value}` | the value equals it |
| `{regex: pattern}` | it matches somewhere, in Go's syntax; its groups are `match.1`, `match.name` |

Texts may have templates. If the value of a template is missing, the text fits nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runner.connectors.reply_situation import ValuePath
from runner.connectors.reply_templates import (
    Lookup,
    TemplateError,
    as_json,
    as_text,
    compile_templates,
    names_in,
    path_of,
    render,
)
from runner.errors import ConfigurationError, did_you_mean
from scripttest.values import Value

if TYPE_CHECKING:
    from bindings import Pattern

_CONTAINED = ("input", "system")
_KINDS = ("contains", "equals", "regex")


class Comparison(Value):
    """What a value is compared with."""

    kind: str
    """contains, equals, regex, present."""
    source: Any
    """As written."""
    value: Any = None
    """The same, with templates compiled."""
    pattern: Pattern | None = None

    def holds(self, actual: Any, lookup: Lookup) -> bool:
        """Whether a value fits."""
        if self.kind == "present":
            return bool(actual) is bool(self.value)
        if self.pattern is not None:
            return any(self.pattern.search(as_text(item)) for item in _items(actual))
        try:
            value = render(self.value, lookup)
        except TemplateError:
            return False
        if self.kind == "contains":
            return any(as_text(value).casefold() in as_text(item).casefold() for item in _items(actual))
        return _equal(actual, value) or any(_equal(item, value) for item in _items(actual))

    @property
    def shown(self) -> str:
        """What it asks for, in words."""
        if self.kind == "present":
            return "is there" if self.value else "is not there"
        words = {"contains": "contains", "equals": "is", "regex": "matches"}[self.kind]
        return f"{words} {as_json(self.source)}"


class Condition(Value):
    """One line of `when`."""

    path: ValuePath
    comparisons: tuple[Comparison, ...]
    """One of them must be true."""

    def holds(self, lookup: Lookup) -> bool:
        """Whether the situation fits."""
        actual = self._actual(lookup)
        return any(comparison.holds(actual, lookup) for comparison in self.comparisons)

    def groups(self, lookup: Lookup) -> dict[str, str | None] | None:
        """The groups of its first regex that matches, or None."""
        text = as_text(self._actual(lookup))
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

    @property
    def names(self) -> set[str]:
        """The first names of the paths in its templates."""
        return {name for comparison in self.comparisons for name in names_in(comparison.value)}

    def _actual(self, lookup: Lookup) -> Any:
        try:
            return lookup(self.path)
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
    return Condition(path=path, comparisons=tuple(_comparison(name, option, path) for option in options))


def _comparison(name: str, wanted: Any, path: ValuePath) -> Comparison:
    if isinstance(wanted, bool):
        return Comparison(kind="present", source=wanted, value=wanted)
    if isinstance(wanted, str):
        kind = "contains" if len(path) == 1 and path[0] in _CONTAINED else "equals"
        return Comparison(kind=kind, source=wanted, value=compile_templates(wanted))
    if wanted is None or isinstance(wanted, int | float):
        return Comparison(kind="equals", source=wanted, value=wanted)
    if not isinstance(wanted, dict) or len(wanted) != 1:
        hint = f"It is text, a number, true, false, null, a list of these, or one of {', '.join(_KINDS)} with its value"
        raise ConfigurationError(f'cannot read the condition for "{name}"', hint)
    ((kind, value),) = wanted.items()
    if kind not in _KINDS:
        hint = did_you_mean(str(kind), _KINDS) or f"There are {', '.join(_KINDS)}"
        raise ConfigurationError(f'unknown comparison "{kind}" for "{name}"', hint)
    if kind != "equals" and not isinstance(value, str):
        raise ConfigurationError(f'"{kind}" of "{name}" must be text', "Put it in quotes")
    if kind == "regex":
        return Comparison(kind=kind, source=value, pattern=_pattern(name, value))
    return Comparison(kind=kind, source=value, value=compile_templates(value))


def _pattern(name: str, source: str) -> Pattern:
    from bindings import PatternError, compile

    try:
        return compile(source)
    except PatternError as error:
        raise ConfigurationError(f'"{name}": {error}', "It is a Go (RE2) regular expression") from error


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _equal(actual: Any, wanted: Any) -> bool:
    return isinstance(actual, bool) == isinstance(wanted, bool) and bool(actual == wanted)
