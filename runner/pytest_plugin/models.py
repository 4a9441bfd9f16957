"""Which cases ask real models, as far as that is written in files; they do so only where pytest is told to."""

from __future__ import annotations

import os

from runner.errors import ConfigurationError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.agents.assistant import Assistant
    from runner.application.application import Application
    from runner.cases.model import Case
    from runner.options.options import RunOptions

GIVEN = frozenset({"input", "run", "skip-interactive", "watch", "quiet", "output", "max-failures", "fail-fast"})
"""Flags that the configuration file does not set here: pytest has its own of the kind."""
CLOSED = "it needs a real model: --yao-models calls it"
"""Why a test or a case is skipped."""


class Models:
    """The models that the cases of an agent ask."""

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
            elif reference.is_agent and (mocks is None or mocks.find_agent(reference.text) is None):
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
