"""The rules of `replies.yml` and `runner.yml`: their conditions, reading them, and which of them applies.

A rule applies if all its conditions hold, of which each is on a value of the situation:

| written | true if |
| --- | --- |
| text | `input` and `system` contain it, in upper or lower case; every other value equals it |
| number, null | the value equals it |
| true, false | the value exists and is not empty, or not |
| list | one of its items fits; if the value is a list (`tools`), if an item fits one of its items |
| `{contains: text}` | the value contains it, in upper or lower case |
| `{equals: value}` | the value equals it |
| `{regex: pattern}` | it matches somewhere, in Go's syntax; its groups are `match.1`, `match.name` |

Texts may have templates. If the value of a template is missing, the text fits nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from runner.amounts import FORMS, seconds_of
from runner.application.documents import line_in_yaml, read_yaml
from runner.connectors.base import Connector, ConnectorError
from runner.connectors.scripted_templates import (
    Lookup,
    Situation,
    TemplateError,
    ValuePath,
    as_json,
    as_text,
    compile_templates,
    names_in,
    path_of,
    render,
)
from runner.errors import ConfigurationError, did_you_mean, shown_path
from scripttest.values import Value

if TYPE_CHECKING:
    from bindings import Pattern

_SHOWN_RULES = 20
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
            return "exists" if self.value else "does not exist"
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


class Rule(Value):
    """When a rule of a file applies, and how often; its answer is a matter of the file."""

    number: int
    """Counted from 1."""
    conditions: tuple[Condition, ...]
    times: int | None

    def holds(self, situation: Situation) -> bool:
        """Whether all its conditions do."""
        lookup = self.lookup(situation)
        return all(condition.holds(lookup) for condition in self.conditions)

    def lookup(self, situation: Situation) -> Lookup:
        """Finds the values of templates: those of the situation, and `match`, what the first regex took."""

        def find(path: ValuePath) -> Any:
            if path[0] != "match":
                return situation.value(path)
            found = (condition.groups(find) for condition in self.conditions if condition.has_pattern)
            return next((groups for groups in found if groups), {})[".".join(path[1:]) or "0"]

        return find

    @property
    def shown(self) -> str:
        """The conditions of the rule, in words."""
        conditions = " and ".join(condition.shown for condition in self.conditions) or "always"
        often = "" if self.times is None else f", {self.times} time{'' if self.times == 1 else 's'}"
        return f"rule {self.number}: {conditions}{often}"


R = TypeVar("R", bound=Rule)
MakeRule = Callable[[int, Any, bool], R]
"""(number, value in the file, whether it is the last one) → the rule. Raises ConfigurationError."""


class RuleConnector(Connector, Generic[R]):
    """A connector that answers by the rules of files. Each file that is right is read once, which blocks. Nothing else
    is kept between calls: what a rule looks at, `times` included, is in the request."""

    endpoint = None

    def __init__(self, application_root: Path, kept: Path | None = None) -> None:
        """`kept`: see `Application`."""
        self._root, self._kept = application_root, kept
        self._files: dict[Path, tuple[R, ...]] = {}

    def _label(self, path: Path) -> str:
        return shown_path(path, self._root)

    def _rules(
        self, path: Path, rule: MakeRule[R], example: str, missing: Callable[[], ConnectorError]
    ) -> tuple[R, ...]:
        """The rules of a file, see `_read`; `missing` makes the error for when it is not there. Raises
        ConnectorError."""
        if path not in self._files:
            if not path.is_file():
                raise missing()
            try:
                self._files[path] = _read(path, self._label(path), rule, example, self._kept)
            except ConfigurationError as error:
                raise ConnectorError(error.message, hint=error.hint) from error
        return self._files[path]


def listed(rules: Sequence[Rule]) -> str:
    """The rules in words, a line each."""
    more = f"\n  and {len(rules) - _SHOWN_RULES} more" if len(rules) > _SHOWN_RULES else ""
    return "\n".join(f"  {rule.shown}" for rule in rules[:_SHOWN_RULES]) + more


def used_before(rules: Sequence[Rule], situation: Situation) -> dict[int, int]:
    """How many of the earlier answers each rule gave, by its number; worked out again from the conversation."""
    used: dict[int, int] = {}
    if any(rule.times for rule in rules):
        for earlier in situation.earlier():
            rule = first_rule(rules, earlier, used)
            if rule is not None:
                used[rule.number] = used.get(rule.number, 0) + 1
    return used


def first_rule(rules: Sequence[R], situation: Situation, used: Mapping[int, int]) -> R | None:
    """The rule that applies, or None."""
    return next(
        (
            rule
            for rule in rules
            if (rule.times is None or used.get(rule.number, 0) < rule.times) and rule.holds(situation)
        ),
        None,
    )


def _read(path: Path, label: str, rule: MakeRule[R], example: str, kept: Path | None) -> tuple[R, ...]:
    """The rules in a file, which messages call `label`. Raises ConfigurationError, with the line of the rule that is
    wrong. `example`: a rule, for those who have written none."""
    entries = read_yaml(path, path.stem, kept=kept)
    if not isinstance(entries, list) or not entries:
        raise ConfigurationError(f"Cannot use {label}: it must be a list of rules", f"A rule is {example}")
    rules = []
    for number, entry in enumerate(entries, 1):
        try:
            rules.append(rule(number, entry, number == len(entries)))
        except ConfigurationError as error:
            where = f"{label}:{line_in_yaml(path, number - 1)}"
            raise ConfigurationError(f"Cannot use {where}: rule {number}: {error.message}", error.hint) from error
    return tuple(rules)


def fields_in(value: Any, what: str, known: Collection[str]) -> dict[str, Any]:
    """The fields of an object. Raises ConfigurationError when it is none, or has a field that is not `known`."""
    if not isinstance(value, dict):
        raise ConfigurationError(f"{what} must be an object", f"Its fields are {', '.join(known)}")
    for name in value:
        if name not in known:
            hint = did_you_mean(str(name), known) or f"There are {', '.join(known)}"
            raise ConfigurationError(f'unknown field "{name}" in {what}', hint)
    return value


def conditions_in(fields: Mapping[str, Any], used: Iterable[str] = ()) -> dict[str, Any]:
    """`conditions` and `times` of a rule, as fields of `Rule`; `used` are the names in the templates of its answer.
    Raises ConfigurationError, whose message is the detail only."""
    times = fields.get("times")
    if times is not None and (not isinstance(times, int) or isinstance(times, bool) or times < 1):
        raise ConfigurationError('"times" must be a whole number of at least 1')
    conditions = _conditions(fields.get("when"))
    names = {*used}.union(*[condition.names for condition in conditions])
    if "match" in names and not any(condition.has_pattern for condition in conditions):
        raise ConfigurationError(
            "it uses match, but none of its conditions is a regex", "Write one as { regex: pattern }"
        )
    return {"conditions": conditions, "times": times}


def duration_in(fields: Mapping[str, Any], name: str) -> float | None:
    """The seconds of a field that is a duration; None when it is not given. Raises ConfigurationError."""
    value = fields.get(name)
    if value is not None and not isinstance(value, str):
        raise ConfigurationError(f'"{name}" must be a duration', f"Write it as {FORMS}")
    return None if value is None else seconds_of(value, name)


def _conditions(when: Any) -> tuple[Condition, ...]:
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
        hint = f"Use text, a number, true, false, null, a list of these, or one of {', '.join(_KINDS)} with its value"
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
