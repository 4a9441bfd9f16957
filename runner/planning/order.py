"""`--shuffle` and `--failed-first`: the order in which tests run. Reports list them in their usual order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from runner.planning.suite_key import suite_key
from scripttest.typing_names import TypeVar
from scripttest.values import Value

T = TypeVar("T")


class Order(Value):
    """The order of one run. Whether one test runs before another depends on these two only, so that a part of the tests
    runs in the same order."""

    root: Path
    """The root of the application."""
    seed: int | None
    """The seed of the random order; None: failed tests come first."""
    failed: Mapping[str, Sequence[str]]
    """Suite key → its tests that failed."""

    def suites(self, items: Sequence[T], id_of: Callable[[T], str]) -> list[T]:
        """Sorts suites into the order in which they run."""
        keys = [suite_key(id_of(item), self.root) for item in items]
        places = self._sorted(keys, lambda key: key in self.failed)
        return [items[place] for place in places]

    def tests(self, suite: str, names: Sequence[str]) -> list[int]:
        """Positions of the tests of a suite, in the order in which they run."""
        key = suite_key(suite, self.root)
        failed = frozenset(self.failed.get(key, ()))
        return self._sorted([f"{key}\0{name}" for name in names], lambda name: name.partition("\0")[2] in failed)

    def _sorted(self, keys: Sequence[str], is_first: Callable[[str], bool]) -> list[int]:
        if self.seed is None:
            return sorted(range(len(keys)), key=lambda place: not is_first(keys[place]))
        return sorted(range(len(keys)), key=lambda place: self._number(keys[place]))

    def _number(self, key: str) -> bytes:
        from hashlib import blake2b

        return blake2b(f"{self.seed}\0{key}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
