"""Files that are lists of rules: `replies.yml` and `runner.yml`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from runner.application.documents import line_in_yaml, read_yaml
from runner.errors import ConfigurationError

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
