"""Files of an application as collectors of pytest, and their tests and cases as items. Nothing runs for it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from runner.application.application import Application, find_root
from runner.errors import ConfigurationError, RunnerError, shown_path
from runner.planning.names import functions_in, tags_in
from runner.security.files import is_closed, is_report, is_test, read_text
from scripttest import HostError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.agents.assistant import Assistant
    from runner.cases.model import Case
    from runner.options.options import RunOptions


OF_PYTEST = frozenset(("filterwarnings", "parametrize", "skip", "skipif", "usefixtures", "xfail"))
"""Markers with which pytest itself does something."""


def collected(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """The collector of a file; None for one that is of no agent."""
    real = path.resolve()
    try:
        application = Application(find_root(real))
        agent = application.agent_of(real)
    except RunnerError:
        return None
    if agent is None or not real.is_relative_to(application.assistants):
        return None
    if any(map(is_closed, real.relative_to(application.assistants).parts)):
        return None
    if is_test(path.name):
        return ModuleFile.from_parent(parent, path=path) if real.is_relative_to(agent.folder / "src") else None
    return None if is_report(path.name) else CasesFile.from_parent(parent, path=path)


class YaoItem(pytest.Item):
    """A script test or a case."""

    def __init__(self, *, line: int, tags: tuple[str, ...], **more: Any) -> None:
        """`line` is counted from 1."""
        # As text, as pytest 9.2 reads ids for `--lf`: what it makes of a name with `[` is another id.
        super().__init__(nodeid=f"{more['parent'].nodeid}::{more['name']}", **more)
        self.line = line
        self.module = more["parent"].module
        for tag in tags:
            marker = _marker_of(tag)
            self.config.addinivalue_line("markers", f"{marker}: a tag of yao-test")
            self.add_marker(marker)

    def runtest(self) -> None:
        """Runs it."""
        from runner.pytest_plugin.running import runs_of

        runs_of(self.config).run(self)

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        """Its place in the source."""
        return self.path, self.line - 1, self.name

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """A failure as yao-test prints it."""
        from runner.pytest_plugin.running import TestFailedError

        if isinstance(excinfo.value, TestFailedError | RunnerError | HostError | pytest.fail.Exception):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)


def _marker_of(tag: str) -> str:
    """The name of the marker of a tag. No tag may skip a test, or let it fail, and no marker begins with `_`."""
    marker = re.sub(r"\W", "_", tag)
    if marker.startswith("_"):
        return f"tag{marker}"
    return f"tag_{marker}" if marker in OF_PYTEST else marker


def _line_of(name: str, source: str) -> int:
    """The first line that has a name; 1 where none does, as for a test of another file."""
    found = re.search(rf"\b{re.escape(name)}\b", source)
    return source.count("\n", 0, found.start()) + 1 if found else 1


class YaoFile(pytest.File):
    """A file of tests or cases."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        self.module = ModuleType(self.nodeid)
        """For plugins such as pytest-randomly, which keep the items of a module together."""

    def teardown(self) -> None:
        """Ends its run, before the items of other files begin."""
        from runner.pytest_plugin.running import end_file

        end_file(self.config)


class ModuleFile(YaoFile):
    """A test module."""

    def collect(self) -> Iterator[pytest.Item]:
        """Its tests, of which the module is asked, as for a run. If it cannot be loaded, those of its text, which fail.
        Warns where there are none. Raises CollectError where nothing can run."""
        from runner.pytest_plugin.running import runs_of

        source = read_text(self.path, "replace")
        tags, lines = tags_in(source).of, dict(functions_in(source))
        try:
            found, problem = runs_of(self.config).listed(self.path)
        except (RunnerError, HostError) as error:
            raise self.CollectError("\n".join(filter(None, [error.message, error.hint]))) from None
        if problem:
            found = list(lines)
        if not found:
            said = problem or "it has no function whose name begins with Test"
            self.warn(pytest.PytestCollectionWarning(f"No test is found in {self.nodeid}: {said}"))
        if beside := len(lines.keys() - found) if ".only(" in source else 0:
            said = f"{beside} other tests do" if beside > 1 else "1 other test does"
            self.warn(pytest.PytestCollectionWarning(f"t.only in {self.nodeid}: {said} not run"))
        for name in found:
            line = lines.get(name) or _line_of(name, source)
            yield YaoItem.from_parent(self, name=name, line=line, tags=tuple(sorted(tags.get(name, ()))))


class CasesFile(YaoFile):
    """A case file."""

    def collect(self) -> Iterator[pytest.Item]:
        """Its cases. Raises CollectError where the file cannot be used."""
        from runner.cases.reader import CaseFile
        from runner.pytest_plugin.running import CLOSED

        try:
            shown = str(shown_path(self.path, self.config.invocation_params.dir))
            located = list(CaseFile.check(self.path.resolve(), False, None, shown))
            models = self._models()
            asking = {one.case.id for one in located if models.asked_by(one.case)}
        except ConfigurationError as error:
            raise self.CollectError("\n".join(filter(None, [error.message, error.hint]))) from error
        for one in located:
            item = YaoItem.from_parent(self, name=one.case.id, line=one.line, tags=tuple(one.case.tags))
            if one.case.id in asking and not self.config.getoption("--yao-models"):
                item.add_marker(pytest.mark.skip(reason=CLOSED))
            yield item

    def _models(self) -> Models:
        from runner.application.configuration import configured
        from runner.options.options import RunOptions
        from runner.pytest_plugin.running import GIVEN

        path = self.path.resolve()
        application = Application(find_root(path))
        agent = application.agent_of(path)
        assert agent is not None, "only files in agents are collected"
        found = configured(RunOptions(), GIVEN, application)
        return Models(application, agent.id, found.settings.of(agent.id, found.options))


class Models:
    """Which cases of an agent ask real models, as far as that is written in files."""

    def __init__(self, application: Application, agent: str, options: RunOptions) -> None:
        """Raises ConfigurationError when the agent cannot be used; `options` are those of its cases."""
        from runner.agents.assistant import Assistants
        from runner.application.context import variables_of
        from runner.connectors.load import Connectors

        self._assistants = Assistants(application)
        self._connectors = Connectors(application.root, variables_of(application.root, dict(os.environ)).every)
        self._agent = self._assistants.get(agent)
        self._options = options

    def asked_by(self, case: Case) -> bool:
        """Whether the agent, a judge or a simulator of a case asks a real model. Raises ConfigurationError when a
        connector cannot be found."""
        from bindings import given_mocks

        options = self._options
        if options.replay:
            return False
        mocks = None if case.mocks is None else given_mocks(case.mocks.model_dump())
        named, helpers = [], []
        for reference in case.references(options.connector or "", options.simulator or ""):
            if reference.kind in ("connector", "embedding"):
                named.append(reference.text)
            elif reference.is_agent and (mocks is None or mocks.find("agent", reference.text) is None):
                helpers.append(reference.text)
        if helpers and options.judge_connector:
            named.append(options.judge_connector)
        if self._asks(self._agent, options.connector or case.options.connector or self._agent.connector):
            return True
        return any(map(self._is_real, named)) or any(map(self._helper_asks, helpers))

    def _asks(self, assistant: Assistant, connector: str) -> bool:
        has_model = assistant.sandbox is None and bool(assistant.prompts or assistant.servers)
        return has_model and self._is_real(connector)

    def _is_real(self, connector: str) -> bool:
        id = self._connectors.resolve(connector)
        self._connectors.find(id)
        return not self._connectors.is_scripted(id)

    def _helper_asks(self, id: str) -> bool:
        try:
            assistant = self._assistants.get(id)
            return self._asks(assistant, assistant.connector)
        except ConfigurationError:  # the run says what is wrong
            return False
