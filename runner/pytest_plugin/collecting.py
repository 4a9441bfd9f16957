"""Files of an application as collectors of pytest, and their tests and cases as items. Nothing runs for it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runner.agents.assistant import Assistants
from runner.application.application import Application, find_root
from runner.cases.reader import CaseFile
from runner.connectors.load import Connectors
from runner.errors import ConfigurationError, RunnerError
from runner.planning.inputs import is_report
from runner.planning.tags import tags_in
from runner.pytest_plugin.running import TestFailedError, runs_of
from runner.security.files import read_text

_TEST = re.compile(
    r"^(?:export\s+)?(?:default\s+)?(?:async\s+)?(?:function\b\s*\*?\s*|(?:const|let|var)\s+)((?:Test|Fuzz(?![a-z]))\w*)"
)


def collected(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """The collector of a file; None for one that is of no agent."""
    try:
        application = Application(find_root(path))
        agent = application.agent_of(path)
    except RunnerError:
        return None
    if agent is None or not path.is_relative_to(application.assistants):
        return None
    if path.suffix in (".ts", ".js"):
        return ModuleFile.from_parent(parent, path=path) if path.is_relative_to(agent.folder / "src") else None
    return None if is_report(path.name) else CasesFile.from_parent(parent, path=path)


class YaoItem(pytest.Item):
    """A script test or a case."""

    def __init__(self, *, line: int, tags: tuple[str, ...], **more: Any) -> None:
        """`line` is counted from 1."""
        super().__init__(**more)
        self.line = line
        for tag in tags:
            marker = re.sub(r"\W", "_", tag)
            self.config.addinivalue_line("markers", f"{marker}: a tag of yao-test")
            self.add_marker(marker)

    def runtest(self) -> None:
        """Runs it, together with the others of its file."""
        runs_of(self.config).run(self)

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        """Where it stands."""
        return self.path, self.line - 1, self.name

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """A failure as yao-test prints it."""
        if isinstance(excinfo.value, TestFailedError | RunnerError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)


class BrokenItem(pytest.Item):
    """Stands for a file that cannot be read."""

    def __init__(self, *, problem: ConfigurationError, **more: Any) -> None:
        super().__init__(**more)
        self._problem = problem

    def runtest(self) -> None:
        """Says what is wrong."""
        raise self._problem

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        """The file."""
        return self.path, 0, self.name

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What is wrong, and what to do about it."""
        hint = f"\n{self._problem.hint}" if self._problem.hint else ""
        return f"{self._problem.message}{hint}"


class ModuleFile(pytest.File):
    """A test module."""

    def collect(self) -> Iterator[pytest.Item]:
        """Its test functions, read off the source text."""
        source = read_text(self.path, "replace")
        tags = tags_in(source).of
        seen = set()
        for number, line in enumerate(source.split("\n"), 1):
            test = _TEST.match(line)
            if test and test[1] not in seen:
                seen.add(test[1])
                own = tuple(sorted(tags.get(test[1], ())))
                yield YaoItem.from_parent(self, name=test[1], line=number, tags=own)


class CasesFile(pytest.File):
    """A case file."""

    def collect(self) -> Iterator[pytest.Item]:
        """Its cases; one item that fails where the file cannot be used."""
        try:
            located = list(CaseFile.check(self.path, False, None, self.path.name))
            asks = self._asks_models()
        except ConfigurationError as error:
            yield BrokenItem.from_parent(self, name="cases", problem=error)
            return
        for one in located:
            item = YaoItem.from_parent(self, name=one.case.id, line=one.line, tags=tuple(one.case.tags))
            if asks and not self.config.getoption("--yao-models"):
                item.add_marker(pytest.mark.skip(reason="a real model answers: --yao-models asks it"))
            yield item

    def _asks_models(self) -> bool:
        """Whether a real model stands behind the agent."""
        application = Application(find_root(self.path))
        agent = application.agent_of(self.path)
        connectors = Connectors(application.root, dict(os.environ))
        if agent is None:
            return False
        return not connectors.is_scripted(connectors.resolve(Assistants(application).get(agent.id).connector))
