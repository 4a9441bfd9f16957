"""The rules of `replies.yml` and `runner.yml`: reading them, and which of them applies."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from runner.application.documents import line_in_yaml, read_yaml
from runner.connectors.reply_situation import Situation
from runner.errors import ConfigurationError, did_you_mean

T = TypeVar("T")


def read_rules(path: Path, label: str, example: str, rule: Callable[[int, Any, bool], T]) -> tuple[T, ...]:
    """The rules in a file, which messages call `label`. Raises ConfigurationError, with the line of the rule that is
    wrong.

    Args:
        example: a rule, for those who have written none.
        rule: makes one of its number, counted from 1, its value in the file, and whether it is the last one. It raises
            ConfigurationError.
    """
    entries = read_yaml(path, path.stem)
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


class _Rule(Protocol):
    @property
    def number(self) -> int: ...

    @property
    def times(self) -> int | None: ...

    def holds(self, situation: Situation) -> bool: ...


AnyRule = TypeVar("AnyRule", bound=_Rule)


def used_before(rules: Sequence[_Rule], situation: Situation) -> dict[int, int]:
    """How many of the earlier answers each rule gave, by its number; worked out again from the conversation."""
    used: dict[int, int] = {}
    if any(rule.times for rule in rules):
        for earlier in situation.earlier():
            rule = first_rule(rules, earlier, used)
            if rule is not None:
                used[rule.number] = used.get(rule.number, 0) + 1
    return used


def first_rule(rules: Sequence[AnyRule], situation: Situation, used: dict[int, int]) -> AnyRule | None:
    """The rule that applies, or None."""
    for rule in rules:
        if rule.times is not None and used.get(rule.number, 0) >= rule.times:
            continue
        if rule.holds(situation):
            return rule
    return None
