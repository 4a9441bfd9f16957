"""The worlds of the script tests of a run, each made when its test first asks for something."""

from __future__ import annotations

from scripttest import TestKey

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from bindings.world import World


class Worlds:
    """The worlds of the running script tests. Threads may share it. The owner must close it."""

    def __init__(self, seed: int | None = None) -> None:
        """`seed`: of `--seed`. The random numbers of a test are seeded with it and the name of the test."""
        self._seed = seed
        self._worlds: dict[TestKey, World] = {}

    def of(self, test: TestKey) -> World:
        """The world of a run of a test."""
        found = self._worlds.get(test)
        if found is None:
            from bindings.world import World  # most tests ask for nothing

            seed = "" if self._seed is None else f"{self._seed} {test.test}"
            found = World(suite=test.suite, test=test.test, run=test.run, seed=seed, of_case=False)
            found = self._worlds.setdefault(test, found)
        return found

    def known(self, test: TestKey) -> World | None:
        """The world of a run of a test; None when that has asked for nothing."""
        return self._worlds.get(test)

    def end(self, test: TestKey) -> World | None:
        """Closes the world of a run that has ended, and forgets it; None when it has asked for nothing."""
        world = self._worlds.pop(test, None)
        if world is not None:
            world.close()
        return world

    def forget(self, module: str, tests: Collection[str] | None) -> None:
        """Closes the worlds of tests of a module, by name, because they run again; None: of all its tests."""
        for key in list(self._worlds):
            if key.suite == module and (tests is None or key.test in tests):
                self.end(key)

    def close(self) -> None:
        """Closes all that are left."""
        while self._worlds:
            self._worlds.popitem()[1].close()
