"""Checks before the run, and before any model is asked, whether everything exists that cases and flags name: agents,
functions of scripts, connectors. What cases name only while they run is checked then.

A script that cannot be loaded is not reported here: it breaks only the cases that need it. Nor is the connector of an
agent that cannot be used, unless no case of the run can ask a model: then the run does not start."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module

from bindings import given_mocks
from runner.agents.assistant import Assistant, Assistants
from runner.agents.references import ScriptReferenceError, find_function
from runner.cases.model import Reference, simulator_reference
from runner.errors import ConfigurationError
from runner.security.files import read_text
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from runner.agents.runtime import Runtime
    from runner.options.options import RunOptions
    from runner.planning.plan import CaseSource, GeneratorInput


SHOWN = 20
"""At most this many references are listed in an error, each with at most this many places."""
_ROLES = {
    "generator": "runner.planning.generators",
    "judge": "runner.assertions.judges",
    "simulator": "runner.modes.simulators",
}
"""Role of a function → the module that knows the names of functions with this role."""


class ReferencesError(ConfigurationError):
    """References name things that do not exist: `lines` has one for each reference, with the places that name it."""

    def __init__(self, message: str, hint: str | None, lines: list[str]) -> None:
        super().__init__(message, hint)
        self.lines = lines

    @classmethod
    def of(cls, lines: list[str]) -> ReferencesError:
        """One error for several of these errors."""
        shown = [*lines[:SHOWN], f"and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else lines
        listing = "".join(f"\n  {line}" for line in shown)
        return cls(f"Cannot run the cases: {len(lines)} references cannot be resolved{listing}", "Nothing ran", lines)


class Named(Value):
    """A reference, and the place that names it."""

    reference: Reference
    folder: Path
    """The folder of the tested agent, in which scripts are looked for."""
    place: str
    """Such as `--before env_test.Befor`, or the case with its file and line."""


def named_by(
    sources: Iterable[CaseSource],
    generators: Iterable[GeneratorInput],
    options: RunOptions,
    folders: Mapping[str, Path],
) -> Iterator[Named]:
    """The references in flags and in the cases that will run, without agents that mocks of their case answer for.
    `folders`: tested agent → its folder."""
    connector, simulator = options.connector or "", options.simulator or ""
    flags = [(Reference(kind="connector", text=connector), f"-c {connector}")] if connector else []
    flags += [(simulator_reference(simulator), f"--simulator {simulator}")] if simulator else []
    hooks = (("before", options.before), ("after", options.after))
    flags += [(Reference(kind="hook", text=hook), f"--{flag} {hook}") for flag, hook in hooks if hook]
    for folder in folders.values():
        for reference, flag in flags:
            yield Named(reference=reference, folder=folder, place=flag)
    for generator in generators:
        yield Named(reference=generator.reference, folder=folders[generator.agent], place=f"-i {generator.id}")
    for source in sources:
        for located in source.running() if source.refers and not source.broken else ():
            case = located.case
            mocks = None if case.mocks is None else given_mocks(case.mocks.model_dump())
            where = f"{source.suite.label}:{located.line}" if located.line else source.suite.label
            for reference in dict.fromkeys(case.references(connector, simulator)):
                if mocks is None or reference.kind != "agent" or mocks.find("agent", reference.text) is None:
                    yield Named(reference=reference, folder=source.assistant.folder, place=f'{where}: case "{case.id}"')


async def check_references(named: Iterable[Named], runtime: Runtime) -> None:
    """Raises ReferencesError with all references to things that do not exist, and the places that name them."""
    wrong: dict[str, tuple[ConfigurationError, dict[str, None]]] = {}
    found: dict[tuple[Reference, Path], ConfigurationError | None] = {}
    for item in named:
        key = (item.reference, item.folder)
        if key not in found:
            found[key] = await _problem(item, runtime)
        if (error := found[key]) is not None:
            wrong.setdefault(error.message, (error, {}))[1][item.place] = None
    lines = []
    for error, (place, *others) in wrong.values():
        more = [f"{len(others) - SHOWN} more"] if len(others) > SHOWN else []
        also = f" (also {', '.join([*others[:SHOWN], *more])})" if others else ""
        lines.append(f"{place}: {error.message}{f'. {error.hint}' if error.hint else ''}{also}")
        if len(wrong) == 1:
            raise ReferencesError(f"Cannot use {place}: {error.message}{also}", error.hint, lines)
    if lines:
        raise ReferencesError.of(lines)


async def _problem(item: Named, runtime: Runtime) -> ConfigurationError | None:
    kind, text = item.reference.kind, item.reference.text
    try:
        if kind == "agent":
            runtime.assistants.find(text)
        elif kind == "connector":
            runtime.connectors.find(runtime.connectors.resolve(text))
        elif kind == "embedding":
            runtime.connectors.check_embeds(runtime.connectors.resolve(text))
        else:
            roles = import_module(_ROLES[kind]).ROLES if kind in _ROLES else ()
            await find_function(text, roles, item.folder, runtime)
    except ConfigurationError as error:
        return error
    except ScriptReferenceError as error:
        return None if error.infrastructure else ConfigurationError(error.message, error.hint)
    return None


_MAY_CHOOSE = r"\b(?:connector|delegate|import|require)\b"
"""Words in a handler that show that its Create hook may choose another connector or another agent."""


def check_own_connectors(sources: Sequence[CaseSource], assistants: Assistants, check: Callable[[str], None]) -> None:
    """Raises ConfigurationError when no case can ask its model, since the connector in `package.yao` of each agent is
    not there or cannot be used. `check` raises it for one reference."""
    problems: dict[str, ConfigurationError] = {}
    for source in sources:
        if not (source.broken or any(True for _ in source.running())):
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
        references = (one for located in source.cases() for one in located.case.references())
        if assistant.id not in problems or (source.refers and any(one.kind == "connector" for one in references)):
            return
    if len(problems) == 1:
        (id, problem), *_ = problems.items()
        raise ConfigurationError(f"Cannot run the cases of {id}: {problem.message}", problem.hint)
    if problems:
        listing = "".join(f"\n  {id}: {problem.message}" for id, problem in problems.items())
        raise ConfigurationError(f"Cannot run the cases: no agent can call its model{listing}", "Nothing ran")


def _asks(assistant: Assistant) -> bool:
    if assistant.sandbox is not None or not (assistant.prompts or assistant.servers):
        return False
    handler = "" if assistant.script is None else read_text(assistant.script)
    return "Create" not in handler or not re.search(_MAY_CHOOSE, handler)
