"""`--tag` and `--last-failed`: select tests by their tags and earlier results, before any module is loaded."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from runner.errors import ConfigurationError
from runner.planning.selection import hint_of
from runner.planning.suite_key import suite_key
from runner.planning.tags import tags_in
from runner.security.files import read_text
from scripttest import kind_of

if TYPE_CHECKING:
    from runner.application.application import TestModule
    from runner.cases.model import Case
    from runner.cases.selection import Chosen


class Picks:
    """Selects tests and cases by tags and earlier failures, and collects the tags that it meets."""

    def __init__(
        self,
        root: Path,
        tags: Sequence[str],
        failed: Mapping[str, Sequence[str]] | None,
        *,
        named: Callable[[str], bool] | None = None,
        resumes: bool = False,
    ) -> None:
        """Reads nothing yet.

        Args:
            root: the application.
            tags: a test must have one of these; empty: all tests are selected.
            failed: key of a suite → its tests that failed, which are selected; None: all are.
            named: whether `--run` selects a test of a module; None: it selects all.
            resumes: whether suites stay in the run when none of their tests that failed is there any more.
        """
        self._root = root
        self._tags = frozenset(tags)
        self._failed = failed
        self._named = named
        self._resumes = resumes
        self._seen: set[str] = set()
        """All tags that were met."""
        self.warnings: list[str] = []

    @property
    def by_failure(self) -> bool:
        """Whether only tests that failed are selected."""
        return self._failed is not None

    def failed_of(self, suites: Iterable[str]) -> dict[str, list[str]]:
        """Key → the tests that failed, for those of these suites that have some."""
        keys = (suite_key(id, self._root) for id in suites)
        return {key: list(names) for key in keys if (names := (self._failed or {}).get(key))}

    def keeps(self, suite: str) -> bool:
        """Whether a suite stays in the run although none of its tests is selected."""
        return self._resumes and suite_key(suite, self._root) in (self._failed or {})

    def modules(self, modules: Sequence[TestModule]) -> dict[str, frozenset[str] | None]:
        """Module → its selected tests, None for all; modules without selected tests are left out."""
        found: dict[str, frozenset[str] | None] = {}
        for module in modules:
            names = self._of_module(module)
            if names is None or names or self.keeps(module.id):
                found[module.id] = names
        return found

    def chosen(self, suite: str) -> Chosen:
        """Returns the function that says whether a case of this suite is selected."""
        failed = None if self._failed is None else frozenset(self._failed.get(suite_key(suite, self._root), ()))

        def is_picked(case: Case) -> bool:
            self._seen.update(case.tags)
            return (failed is None or case.id in failed) and (not self._tags or not self._tags.isdisjoint(case.tags))

        return is_picked

    def nothing(self) -> ConfigurationError:
        """The error for a run in which no test has one of the tags."""
        first, *others = sorted(self._tags)
        what = f"one of the tags {', '.join([first, *others])}" if others else f"the tag {first}"
        return ConfigurationError(f"No test and no case has {what}", hint_of(first, sorted(self._seen), "tags"))

    def _of_module(self, module: TestModule) -> frozenset[str] | None:
        failed = None if self._failed is None else self._failed.get(module.id, ())
        if failed is not None and not failed:
            return frozenset()
        try:
            source = read_text(module.test, "replace")
        except OSError:  # said when the module is compiled
            return None
        names = None
        if failed is not None and all(map(kind_of, failed)):
            names = frozenset(name for name in failed if re.search(rf"\b{re.escape(name)}\b", source))
            if self._named is not None:
                names = frozenset(filter(self._named, names))
        if not self._tags:
            return names
        tags = tags_in(source)
        self._seen.update(*tags.of.values())
        self.warnings += [
            f"{module.label}:{line}: @tag {text} stands above no test, and tags nothing" for line, text in tags.stray
        ]
        tagged = frozenset(name for name, of in tags.of.items() if not self._tags.isdisjoint(of))
        return tagged if names is None else tagged & names
