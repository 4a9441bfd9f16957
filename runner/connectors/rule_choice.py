"""Which rule of a `replies.yml` or `runner.yml` applies: the first that fits and is not used up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from runner.connectors.reply_situation import Situation


class _Rule(Protocol):
    @property
    def number(self) -> int: ...

    @property
    def times(self) -> int | None: ...

    def holds(self, situation: Situation) -> bool: ...


AnyRule = TypeVar("AnyRule", bound=_Rule)


def used_before(rules: Sequence[_Rule], situation: Situation, label: str) -> dict[int, int]:
    """How many of the earlier answers each rule gave, by its number; worked out again from the conversation. Raises
    ConnectorError."""
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
