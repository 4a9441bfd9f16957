"""Which of the planted mutants are tried: all, those of a change, some that are drawn, those of a shard."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from difflib import SequenceMatcher
from pathlib import Path
from random import Random

from runner.errors import ConfigurationError, did_you_mean
from runner.mutation.verdicts import place_of
from scripttest import GitError, Mutant, merge_base, read_at
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.options.values import Shard


STRYKER = frozenset(
    "ArithmeticOperator ArrayDeclaration ArrowFunction AssignmentOperator BlockStatement BooleanLiteral"
    " ConditionalExpression EqualityOperator LogicalOperator MethodExpression ObjectLiteral OptionalChaining Regex"
    " StringLiteral UnaryOperator UpdateOperator".split()
)
"""The mutators that StrykerJS has, too."""
OWN = frozenset(
    "AssignmentRemoval AwaitRemoval CallRemoval ConditionNegation DefaultRemoval MethodSwap NullishOperand"
    " NumberLiteral ReturnRemoval ReturnValue SpreadRemoval TernaryCondition ThrowRemoval".split()
)


def mutators_of(names: Iterable[str]) -> frozenset[str]:
    """The mutators that `--mutators` names; all without a name. Raises ConfigurationError."""
    found: frozenset[str] = frozenset()
    for name in names:
        if name not in (*STRYKER, *OWN, "stryker"):
            hint = (
                did_you_mean(name, [*STRYKER, *OWN]) or "docs/mutating.md lists them; stryker is the set of StrykerJS"
            )
            raise ConfigurationError(f"Cannot use --mutators {name}: unknown mutator", hint)
        found |= STRYKER if name == "stryker" else {name}
    return found or STRYKER | OWN


class Change(Value):
    """What has changed since a revision."""

    lines: Mapping[str, frozenset[int]]
    """Path of a handler from the root → its lines that are new or changed."""
    whole: frozenset[str]
    """Handlers of which all mutants are tried, because tests that load them have changed."""

    def has(self, mutant: Mutant) -> bool:
        """Whether a mutant is on a changed line, or in a handler whose tests changed."""
        lines = self.lines.get(mutant.file, frozenset())
        return mutant.file in self.whole or any(line in lines for line in range(mutant.line, mutant.end_line + 1))


def change_since(
    before: Callable[[str], str | None], texts: Mapping[str, str], tests: Mapping[Path, frozenset[str]], root: Path
) -> Change:
    """What has changed in the working tree.

    Args:
        before: tells what a file was, by its path from the root; None: it was not there.
        texts: path of a handler from the root → its text.
        tests: test file → the paths, from the root, of what it loads.
        root: of the application.
    """
    lines = {name: _changed(before(name), text) for name, text in texts.items()}
    whole: set[str] = set()
    for path, loaded in tests.items():
        if before(os.path.relpath(path, root)) != text_of(path):
            whole |= loaded & texts.keys()
    return Change(lines=lines, whole=frozenset(whole))


def text_of(path: Path) -> str:
    """The text of a script. Raises OSError."""
    return path.read_bytes().decode("utf-8-sig", "replace")


def texts_before(revision: str, root: Path, variables: Mapping[str, str]) -> Callable[[str], str | None]:
    """What tells what a file was at the merge base with a branch, a tag or a commit, by its path from the root, None
    when it was not there; blocks. `variables`: the environment, for `PATH` and `HOME`. Raises ConfigurationError when
    Git does not know the revision."""
    try:
        base = merge_base(revision, str(root), variables)
    except GitError as error:
        raise ConfigurationError(f"Cannot use --since {revision}: {error}", "Pass a branch or a commit") from error

    def before(name: str) -> str | None:
        try:
            return read_at(base, f"{root}/{name}", variables)[0].decode("utf-8-sig", "replace")
        except GitError:
            return None

    return before


def _changed(before: str | None, now: str) -> frozenset[int]:
    new = now.split("\n")
    if before is None:
        return frozenset(range(1, len(new) + 1))
    codes = SequenceMatcher(None, before.split("\n"), new, autojunk=False).get_opcodes()
    return frozenset(line + 1 for kind, _, _, start, end in codes if kind != "equal" for line in range(start, end))


def chosen(
    mutants: Iterable[Mutant],
    change: Change | None,
    sample: int | None,
    seed: int,
    shard: Shard | None,
) -> list[Mutant]:
    """The mutants that are tried, in the order of their places: of a change, then so many drawn, then those of a
    shard."""
    found = sorted(mutants, key=place_of)
    if change is not None:
        found = [mutant for mutant in found if change.has(mutant)]
    if sample is not None and sample < len(found):
        found = sorted(Random(seed).sample(found, sample), key=place_of)
    if shard is not None:
        found = found[shard.number - 1 :: shard.of]
    return found
