"""Checks before the run whether any of its cases can ask a model; if none can, the run does not start.

If some can, the cases that cannot are reported as broken, and the others run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from runner.agents.assistant import Assistant, Assistants
from runner.errors import ConfigurationError
from runner.security.files import read_text

if TYPE_CHECKING:
    from runner.planning.case_source import CaseSource

_MAY_CHOOSE = r"\b(?:connector|delegate|import|require)\b"
"""Words in a handler that show that its Create hook may choose another connector or another agent."""


def check_own_connectors(sources: Sequence[CaseSource], assistants: Assistants, check: Callable[[str], None]) -> None:
    """Raises ConfigurationError when no case can ask its model, since the connector in `package.yao` of each agent is
    not there or cannot be used. `check` raises it for one reference."""
    problems: dict[str, ConfigurationError] = {}
    for source in sources:
        if not _runs(source):
            continue
        try:
            assistant = assistants.get(source.assistant.id)
            if source.broken or not _asks(assistant):
                return
        except (ConfigurationError, OSError, UnicodeDecodeError):
            return  # its cases say it
        try:
            check(assistant.connector)
        except ConfigurationError as error:
            problems[assistant.id] = error
        if assistant.id not in problems or _names_connector(source):
            return
    if len(problems) == 1:
        (id, problem), *_ = problems.items()
        raise ConfigurationError(f"Cannot run the cases of {id}: {problem.message}", problem.hint)
    if problems:
        listing = "".join(f"\n  {id}: {problem.message}" for id, problem in problems.items())
        raise ConfigurationError(f"Cannot run the cases: no agent can ask its model{listing}", "Nothing was run")


def _runs(source: CaseSource) -> bool:
    return bool(source.broken) or any(
        not located.case.skip and located.case.id not in source.ended for located in source.cases()
    )


def _asks(assistant: Assistant) -> bool:
    """Whether an agent is certain to ask the model of its own connector."""
    if assistant.sandbox is not None or not (assistant.prompts or assistant.servers):
        return False
    handler = "" if assistant.script is None else read_text(assistant.script)
    return "Create" not in handler or not re.search(_MAY_CHOOSE, handler)


def _names_connector(source: CaseSource) -> bool:
    """Whether a case names a connector itself."""
    return source.refers and any(
        reference.kind == "connector" for located in source.cases() for reference in located.case.references()
    )
