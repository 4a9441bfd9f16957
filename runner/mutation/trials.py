"""Which of the planted mutants are tried: all, those of a change, some that are drawn, those of a shard; and which
tests are tried on which of them, and in which order: those first that are quick and have noticed other mutants of the
same function. A worker goes on with the module that it has loaded. Then what differs at the point of a survivor:
the values there with the mutant and without it. Equal values are a test that is missing; other ones are values at which
no test looks."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import islice, zip_longest
from pathlib import Path
from random import Random

from runner.errors import ConfigurationError, did_you_mean
from runner.mutation.verdicts import Point, Status, Verdict, place_of
from scripttest import Cause, GitError, Mutant, MutantHost, TestKey, Trial, Tried, merge_base, read_at
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.options.values import Shard

ROUNDS = 30
"""A test may go so many times the rounds that it goes without a mutant,"""
MORE_ROUNDS = 300
"""and so many more."""
WAITS = 10
"""Its timers may wait so many times as long as it took,"""
MORE_WAITS = 1.0
"""and so many seconds more. What a clock says of the time since is no matter."""
SLOWER = 20
"""A test may take so many times as long as without a mutant, or the time limit of a test if that is less,"""
MORE_SECONDS = 5.0
"""and so many seconds more. What the clock ends has no verdict, so this is wide."""
MOST_POINTS = 200
"""At most this many survivors are looked at,"""
MOST_TESTS = 25
"""each in at most this many tests."""
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
_JSON = "="
_UNDEFINED = "=undefined"


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


class Walk(Value):
    """A test that has passed without a mutant."""

    key: TestKey
    index: int
    """Its index in its module."""
    seconds: float
    rounds: int
    """How many rounds loops and functions went."""


class Trials:
    """The mutants of a run that have no verdict yet. For one thread."""

    def __init__(
        self,
        mutants: Iterable[Mutant],
        walks: Mapping[int, list[Walk]],
        passed: Mapping[int, frozenset[TestKey]],
        limit: float,
    ) -> None:
        """Takes mutants that tests reach.

        Args:
            walks: number of a mutant → the tests that reach it.
            passed: number of a mutant → those that are known to pass with it.
            limit: the time limit of a test in seconds.
        """
        self._limit = limit
        self._kills: Counter[tuple[str, str, TestKey]] = Counter()
        """(file, function, test) → how many mutants of that function it has noticed."""
        self._asked: Counter[tuple[str, str, TestKey]] = Counter()
        self._open: dict[int, Verdict] = {}
        """Number of a mutant → what is known of it: that it is undecided."""
        self._tries: dict[int, Generator[Trial, Tried, Verdict]] = {}
        self._waiting: dict[str, deque[tuple[int, Trial | None]]] = {}
        """Module that has the quickest test of a mutant → the mutants, and behind them those that have survived the
        tests of another one, with their next trial."""
        for mutant in mutants:
            number, tests = mutant.number, walks[mutant.number]
            keys = tuple(walk.key for walk in tests)
            self._open[number] = Verdict(mutant=mutant, status=Status.UNDECIDED, reached_by=keys)
            self._tries[number] = self._trying(self._open[number], tests, passed[number])
            self._wait(min(tests, key=lambda walk: walk.seconds).key.suite, number, None)

    @property
    def left(self) -> int:
        """How many mutants have no verdict."""
        return len(self._open)

    def following(self, module: str) -> Trial | None:
        """The next trial, of the module that a worker has loaded where there is one; None when there is none now."""
        waiting = self._waiting.get(module) or max(self._waiting.values(), key=len, default=None)
        if not waiting:
            return None
        number, trial = waiting.popleft()
        return trial or next(self._tries[number])

    def take(self, tried: Tried) -> Verdict | None:
        """Takes the result of a trial; the verdict on its mutant, unless tests of other modules are to be tried."""
        number = tried.trial.mutant
        try:
            trial = self._tries[number].send(tried)
        except StopIteration as end:
            del self._open[number]
            verdict: Verdict = end.value
            return verdict
        self._wait(trial.key, number, trial)
        return None

    def undecided(self, reason: str) -> list[Verdict]:
        """The verdicts on what is left when the run ends early."""
        return [verdict.replace(reason=reason) for verdict in self._open.values()]

    def _wait(self, module: str, number: int, trial: Trial | None) -> None:
        """Lets a mutant wait for a worker that has a module."""
        self._waiting.setdefault(module, deque()).append((number, trial))

    def _trying(
        self, verdict: Verdict, tests: list[Walk], passed: frozenset[TestKey]
    ) -> Generator[Trial, Tried, Verdict]:
        """Tries the tests of a mutant, module by module, until one notices it."""
        mutant, ran = verdict.mutant, 0
        ordered = sorted(tests, key=lambda walk: self._worth(mutant, walk), reverse=True)
        verdict = verdict.replace(status=Status.SURVIVED)
        left = [walk for walk in ordered if walk.key not in passed]
        for module in dict.fromkeys(walk.key.suite for walk in left):
            of_module = [walk for walk in left if walk.key.suite == module]
            tried = yield trial_of(of_module, mutant.number, self._limit)
            names = [walk.key.test for walk in of_module]
            done = names.index(tried.test) + 1 if tried.test in names else len(names)
            ran += done
            self._asked.update((mutant.file, mutant.within, walk.key) for walk in of_module[:done])
            status, reason = _status(tried)
            verdict = verdict.replace(status=status, reason=reason, ran=ran)
            if tried.test:
                killer = TestKey(suite=module, test=tried.test)
                self._kills[mutant.file, mutant.within, killer] += 1
                return verdict.replace(killed_by=killer)
        return verdict

    def _worth(self, mutant: Mutant, walk: Walk) -> float:
        place = (mutant.file, mutant.within, walk.key)
        likely = (self._kills[place] + 1) / (self._asked[place] + 2)
        return likely / (walk.seconds + 0.0005)  # a realm takes time, too


def trial_of(walks: Sequence[Walk], mutant: int, limit: float, noted: int = 0) -> Trial:
    """The trial of tests of one module with a mutant. `limit` is the time limit of a test in seconds; `noted` the place
    whose values are noted, 0 for none."""
    return Trial(
        key=walks[0].key.suite,
        tests=tuple(walk.index for walk in walks),
        mutant=mutant,
        noted=noted,
        rounds=tuple(ROUNDS * walk.rounds + MORE_ROUNDS for walk in walks),
        patience=tuple(WAITS * walk.seconds + MORE_WAITS for walk in walks),
        seconds=tuple(min(limit, SLOWER * walk.seconds + MORE_SECONDS) for walk in walks),
    )


def _status(tried: Tried) -> tuple[Status, str]:
    """The status that the last trial of a mutant gives it, and what is said of it."""
    if tried.is_endless:
        return (
            Status.TIMEOUT,
            f"{tried.test} looped more than {ROUNDS} times as often as without it, or waited {WAITS} times as long",
        )
    if not tried.failures:
        return Status.SURVIVED, ""
    causes = {failure.cause for failure in tried.failures}
    said = tried.failures[0].message
    if Cause.TIMEOUT in causes:
        return Status.UNDECIDED, f"{tried.test} ran out of time: {said}"
    if causes & {Cause.CRASH, Cause.INFRASTRUCTURE}:
        return Status.BROKEN, said
    return Status.KILLED, said


def _looking(mutant: Mutant, tests: list[Walk], limit: float) -> Generator[Trial, tuple[str, ...], Point | None]:
    """Looks at a survivor in one test after the other: each trial gets the values that it has noted. The point, if it
    can be told."""
    last = ""
    for walk in tests[:MOST_TESTS]:
        without = yield trial_of([walk], -mutant.number, limit, mutant.noted)  # no mutant, in a world of its own
        mutated = yield trial_of([walk], mutant.number, limit, mutant.noted)
        if not (without or mutated):
            return None
        for before, after in zip_longest(without, mutated, fillvalue=_JSON):
            if not (before.startswith(_JSON) and after.startswith(_JSON)):
                return None
            if before != after:
                is_void = before == _UNDEFINED and after == _JSON  # a call that returns nothing, and is left out
                return None if is_void else Point(test=walk.key, without=before[1:], mutated=after[1:])
            last = before[1:]
    return Point(without=last) if len(tests) <= MOST_TESTS else None


def points_of(
    survivors: Iterable[Mutant],
    walks: Mapping[int, list[Walk]],
    host: MutantHost,
    left: Callable[[], float | None],
    limit: float,
) -> dict[int, Point]:
    """Number of a survivor → its point, where that can be told. Blocks.

    Args:
        walks: number of a mutant → the tests that reach it.
        left: as for `MutantHost.try_all`.
        limit: the time limit of a test in seconds.
    """
    noted = (mutant for mutant in islice(survivors, MOST_POINTS) if mutant.noted)
    looks = {mutant.number: _looking(mutant, walks[mutant.number], limit) for mutant in noted}
    waiting = deque(map(next, looks.values()))
    points: dict[int, Point] = {}

    def following(module: str) -> Trial | None:
        for _ in range(len(waiting)):  # a worker goes on with the module that it has loaded
            if waiting[0].key == module:
                break
            waiting.rotate(-1)
        return waiting.popleft() if waiting else None

    for tried in host.try_all(following, left):
        number = abs(tried.trial.mutant)
        try:
            waiting.append(looks[number].send(tried.values))
        except StopIteration as end:
            if end.value is not None:
                points[number] = end.value
    return points
