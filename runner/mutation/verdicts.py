"""What became of mutants, and the score; statuses and the score are those of StrykerJS.

| status | of StrykerJS | when | in the score |
|---|---|---|---|
| killed | Killed | a test failed | noticed |
| timeout | Timeout | loops or functions went far more rounds than without it | noticed |
| survived | Survived | tests reached it, and all passed | not noticed |
| no coverage | NoCoverage | no test reached it | not noticed |
| broken | RuntimeError | a worker crashed, or something around the tests broke | no |
| undecided | Pending | the clock ended a test or the run; it is asked again | no |
| ignored | Ignored | a comment, a setting or a rule leaves it out | no |

Verdicts are kept for later runs: in the store, or without one in the user's cache. A verdict holds as long as the tests
that it rests on run the same code: the test, what it needs of its module, of the handlers and of what they import, and
all else that its result depends on. So after a change of one test only the mutants are asked again that it noticed or
reached. What a clock decided, and what a real judge said, is not kept."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from hashlib import blake2b
from itertools import groupby
from pathlib import Path
from typing import Any

from runner.fingerprints.parts import without_numbers
from runner.planning.last_failed import write_json
from runner.version import VERSION
from scripttest import Mutant, TestKey
from scripttest.values import Value


class Status(Enum):
    """What became of a mutant; the value is the word for it."""

    KILLED = "killed"
    TIMEOUT = "timeout"
    SURVIVED = "survived"
    NO_COVERAGE = "no coverage"
    BROKEN = "broken"
    UNDECIDED = "undecided"
    IGNORED = "ignored"


LONGEST = 60
"""Characters of a value that are shown."""
NOTICED = (Status.KILLED, Status.TIMEOUT)
MISSED = (Status.SURVIVED, Status.NO_COVERAGE)
FORMAT = 2
NAME = "mutants.json"
_BLANK = re.compile(r"\n\s*")
_LETTERS = {Status.KILLED: "k", Status.TIMEOUT: "t", Status.SURVIVED: "s"}
KEPT = "from an earlier run"


class Point(Value):
    """The values at the point of a survivor."""

    test: TestKey | None = None
    """The test that has another value there with the mutant; None: no test has one."""
    without: str = ""
    """The first value that differs, without the mutant: JSON, or as JavaScript writes `undefined`; if all are the same,
    the last one. Empty where the code there did not run."""
    mutated: str = ""
    """That with it."""

    @property
    def text(self) -> str:
        """In words."""
        if self.test is None:
            return f"all tests give the same value here, such as {_shown(self.without)}: add one with another value"
        before, after = _shown(self.without), _shown(self.mutated)
        return f"the value here is {before}, with the mutant {after}, in {self.test.test}: no test checks it"


def _shown(value: str) -> str:
    if not value:
        return "none"
    return value if len(value) <= LONGEST else f"{value[:LONGEST]}…"


class Verdict(Value):
    """What became of one mutant."""

    mutant: Mutant
    status: Status
    reached_by: tuple[TestKey, ...] = ()
    """The tests that reach it, in the order in which they were tried."""
    killed_by: TestKey | None = None
    reason: str = ""
    """What the test said that noticed it; why it is ignored, broken or undecided."""
    ran: int = 0
    """How many tests ran with it."""
    is_kept: bool = False
    """Whether the verdict is that of an earlier run."""
    point: Point | None = None
    """The values at the point of a survivor, where they can be told."""


class Score(Value):
    """How many mutants were noticed of those that count."""

    counts: Counter[Status]

    @property
    def noticed(self) -> int:
        """Killed ones and timeouts."""
        return sum(self.counts[status] for status in NOTICED)

    @property
    def counted(self) -> int:
        """Those that are in the score."""
        return self.noticed + sum(self.counts[status] for status in MISSED)

    @property
    def share(self) -> float | None:
        """From 0 to 1; None when there is none to count."""
        return self.noticed / self.counted if self.counted else None


def score_of(statuses: Iterable[Status]) -> Score:
    """The score of the verdicts that have these statuses."""
    return Score(counts=Counter(statuses))


def is_below(share: float | None, least: float | None) -> bool:
    """Whether a score is lower than the least that is good enough."""
    return least is not None and share is not None and share < least


def place_of(mutant: Mutant) -> tuple[str, int, int, str, str]:
    """What mutants are ordered by."""
    return mutant.file, mutant.line, mutant.column, mutant.mutator, mutant.replacement


def by_file(verdicts: Iterable[Verdict]) -> dict[str, list[Verdict]]:
    """Path of a handler → the verdicts on its mutants, in the order of their places."""
    ordered = sorted(verdicts, key=lambda one: place_of(one.mutant))
    return {file: list(found) for file, found in groupby(ordered, key=lambda one: one.mutant.file)}


def by_function(verdicts: Sequence[Verdict]) -> dict[str, list[Verdict]]:
    """Name of a function → the verdicts on the mutants in it; empty: those at the top of the module."""
    found: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        found.setdefault(verdict.mutant.within, []).append(verdict)
    return found


def digest_of(*texts: str) -> str:
    """A digest of texts, in which neither the numbers of mutants nor empty lines matter."""
    digest = blake2b(digest_size=12)
    for text in texts:
        digest.update(_BLANK.sub("\n", without_numbers(text)).encode())
        digest.update(b"\0")
    return digest.hexdigest()


class Kept(Value):
    """What a file of verdicts has."""

    key: str
    """What values of variables are hashed with, on which results depend."""
    rows: Mapping[str, list[str]] = {}
    """Name of a mutant → a letter for its verdict, and the digests of the tests on which that rests."""


class KeptVerdicts:
    """The verdicts of earlier runs."""

    def __init__(
        self, rows: Mapping[str, list[str]], tests: Mapping[TestKey, str | None], *, fresh: bool = False
    ) -> None:
        """Takes those of `Kept`. `fresh`: nothing is known of earlier runs. `tests`: test → the digest of all that its
        result depends on; None: it cannot be told."""
        self._tests = tests
        self._by_digest = {digest: key for key, digest in tests.items() if digest is not None}
        self._found = rows
        self._asked = {} if fresh else rows

    def known(
        self, mutants: Iterable[Mutant], reached_by: Mapping[int, tuple[TestKey, ...]]
    ) -> dict[int, Verdict | frozenset[TestKey]]:
        """Number of a mutant → the verdict, if it still holds, else the tests that are known to pass with it;
        `reached_by` has the tests that reach it."""
        found: dict[int, Verdict | frozenset[TestKey]] = {}
        for name, mutant in named(mutants).items():
            letter, *digests = self._asked.get(name, ["?"])
            keys = [self._by_digest[digest] for digest in digests if digest in self._by_digest]
            reached = reached_by.get(mutant.number, ())
            passed = frozenset(keys) & frozenset(reached) if letter == "s" else frozenset()
            verdict = Verdict(mutant=mutant, status=Status.SURVIVED, reached_by=reached, is_kept=True)
            if letter in ("k", "t") and keys and keys[0] in reached:
                status = Status.KILLED if letter == "k" else Status.TIMEOUT
                found[mutant.number] = verdict.replace(status=status, killed_by=keys[0], reason=KEPT)
            else:
                found[mutant.number] = verdict if passed and passed == frozenset(reached) else passed
        return found

    def after(self, verdicts: Iterable[Verdict], mutants: Iterable[Mutant]) -> dict[str, list[str]]:
        """The rows after a run that has verdicts on some of the mutants of its handlers; what is known of the others,
        and of those of other handlers, stays."""
        by_mutant = {verdict.mutant.number: verdict for verdict in verdicts if verdict.mutant.number}
        there = named(mutants)
        files = {mutant.file for mutant in there.values()}
        merged = {name: entry for name, entry in self._found.items() if name.partition(" ")[0] not in files}
        for name, mutant in there.items():
            verdict = by_mutant.get(mutant.number)
            entry = (verdict and self._entry(verdict)) or self._found.get(name)
            if entry is not None:
                merged[name] = entry
        return merged

    def _entry(self, verdict: Verdict) -> list[str] | None:
        letter = _LETTERS.get(verdict.status)
        keys = verdict.reached_by if verdict.killed_by is None else (verdict.killed_by,)
        digests = [digest for key in keys if (digest := self._tests.get(key)) is not None]
        return [letter, *digests] if letter is not None and len(digests) == len(keys) else None


def named(mutants: Iterable[Mutant]) -> dict[str, Mutant]:
    """Name of a mutant that stays when other code of its file changes → the mutant."""
    counts: Counter[str] = Counter()
    found = {}
    for mutant in sorted(mutants, key=lambda one: (one.file, one.line, one.column, one.number)):
        own = digest_of(mutant.within, mutant.mutator, mutant.original, mutant.replacement)
        name = f"{mutant.file} {own}"
        counts[name] += 1
        found[f"{name} {counts[name]}"] = mutant
    return found


def read_kept(path: Path) -> Kept:
    """What a file has; nothing where it is none of this version."""
    content: Any = None
    with suppress(OSError, ValueError, RecursionError):
        content = json.loads(path.read_bytes())
    known = isinstance(content, dict) and content.get("format") == FORMAT and content.get("version") == VERSION
    key, rows = (content.get("key"), content.get("verdicts")) if known else (None, None)
    if not isinstance(key, str) or not isinstance(rows, dict):
        return Kept(key=os.urandom(8).hex())
    whole = (name for name, row in rows.items() if isinstance(row, list) and {*map(type, row)} == {str})
    return Kept(key=key, rows={name: rows[name] for name in whole})


def write_kept(path: Path, kept: Kept) -> None:
    """Writes such a file. Raises OSError."""
    write_json(path, {"format": FORMAT, "version": VERSION, "key": kept.key, "verdicts": kept.rows})
