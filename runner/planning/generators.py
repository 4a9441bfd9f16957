"""Cases that an agent or a script makes: `-i "agents:workers.test.generator?count=10&focus=edge-cases" -n expense`
(seed 000, "Generator Agent Interface").

The generator gets a description of the tested agent, and the parameters after the `?`. Its answer is checked like a
case file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bindings import World
from runner.agents.answer import AgentError
from runner.agents.chat import Chat
from runner.agents.references import ScriptReferenceError, call_function
from runner.agents.requests import Scope
from runner.cases.reader import MadeCases, cases_from_values
from runner.durations import in_words
from runner.errors import ConfigurationError
from runner.options.options import report_path
from runner.planning.generator_parameters import DEFAULT_COUNT
from runner.reading.helper_answers import read_cases
from scripttest import HostError
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.agents.assistant import Assistant
    from runner.agents.helpers import Helpers
    from runner.agents.runtime import Runtime
    from runner.application.application import Application
    from runner.planning.case_source import CaseSource
    from runner.planning.inputs import GeneratorInput

ROLES = ("Generate",)
"""The functions that may be meant by a script reference without a function name."""
SHOWN = 300
"""At most this many characters of an answer without cases are shown."""

_FORM = 'It must give {"cases": [{"id": "G001", "input": "..."}]}, or the list alone'


class Generators(Value):
    """Calls generators with the services of one run."""

    application: Application
    runtime: Runtime
    helpers: Helpers
    context: Mapping[str, Any]
    """The fields of the run's context."""
    connector: str
    """`--connector`; empty when it is not given."""
    timeout: float
    """Seconds for one generator."""
    seed: int | None
    """`--seed`."""


async def generate(input: GeneratorInput, generators: Generators, folder: Path, lenient: bool) -> MadeCases:
    """Calls the generator. Each case that it makes has a unique id.

    Args:
        folder: where relative attachments of the cases are looked for.
        lenient: leave out wrong cases with a warning.

    Raises:
        ConfigurationError: there is no such generator, it failed, or it made no case that can be run.
    """
    import asyncio

    generation = _Generation(input, generators)
    try:
        async with asyncio.timeout(generators.timeout):
            answer = await generation.answer()
    except TimeoutError as error:
        raise _failed(input, f"timeout after {in_words(generators.timeout)}") from error
    except AgentError as error:
        raise _failed(input, error.placed, error.hint) from error
    except (ScriptReferenceError, HostError) as error:
        raise _failed(input, error.message, error.hint) from error
    finally:
        generation.world.close()
    values = read_cases(answer)
    if not values:
        said = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        shown = said if len(said) <= SHOWN else f"{said[:SHOWN]}... ({len(said)} characters)"
        raise _failed(input, f"it gave no cases: {shown}", _FORM)
    made = cases_from_values(with_ids(values), input.named, folder, lenient)
    missing = [f"{input.named}: {call.warning}" for call in generation.world.ledger.missing]
    return made.replace(warnings=(*made.warnings, *missing))


def with_ids(values: Iterable[Any]) -> list[Any]:
    """Values of cases, each with an id of its own: `G001-2` where `G001` is taken, `generated-3` where the third has
    none. What is not an object stays as it is."""
    values = list(values)
    taken: set[str] = set()
    found: list[Any] = []
    for number, value in enumerate(values, 1):
        if not isinstance(value, dict):
            found.append(value)
            continue
        id = value.get("id")
        id = f"generated-{number}" if id is None or isinstance(id, (bool, dict, list)) else str(id).strip()
        id = unique = id or f"generated-{number}"
        copy = 1
        while unique in taken:
            copy += 1
            unique = f"{id}-{copy}"
        taken.add(unique)
        found.append({**value, "id": unique})
    return found


def check_outputs(outputs: Sequence[str]) -> None:
    """Raises ConfigurationError when cases cannot be written to one of the files of `--output`."""
    for output in outputs:
        if not output.endswith(".jsonl"):
            raise ConfigurationError(f"Cannot write cases to {output}: they go to a .jsonl file")


def write_cases(
    sources: Sequence[CaseSource], outputs: Sequence[str], directory: Path, redact: Callable[[str], str]
) -> list[Path]:
    """Writes the generated cases to the files of `--output`, one line for each case, after `redact` has removed
    secrets, and returns the paths of the files. Ids that occur twice are made unique. Raises ConfigurationError."""
    cases = [located.case for source in sources if source.suite.is_generated for located in source.cases()]
    values = with_ids(case.model_dump(exclude_unset=True) for case in cases)
    text = "".join(json.dumps({"id": value["id"], **value}, ensure_ascii=False) + "\n" for value in values)
    paths = [report_path(output, directory) for output in outputs]
    for path in paths:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(redact(text), "utf-8")
        except OSError as error:
            raise ConfigurationError(f"Cannot write cases to {path}: {error.strerror}") from error
    return paths


class _Generation:
    def __init__(self, input: GeneratorInput, generators: Generators) -> None:
        self._input = input
        self._generators = generators
        self._target = generators.runtime.assistants.get(input.agent)
        seed = "" if generators.seed is None else f"{generators.seed} @generate"
        self.world = World(suite=input.id, test="@generate", seed=seed, mocked=False)

    async def answer(self) -> Any:
        """The answer of the generator as a JSON value."""
        payload = await self._payload()
        context = {**self._generators.context, "assistant_id": self._target.id, "chat_id": "agent-test-generate"}
        chat = Chat(context, self.world, of_suite=True)
        if self._input.reference.is_agent:
            return await self._of_agent(payload, chat)
        return await self._of_script(payload, chat)

    async def _payload(self) -> dict[str, Any]:
        """The argument of a generator: `{target_agent, target_description, target_tools, count, focus?, complexity?,
        ...}`."""
        target = self._target
        return {
            "target_agent": target.id,
            "target_description": target.description,
            "target_tools": await self._tools(target),
            "count": DEFAULT_COUNT,
            **self._input.parameters,
        }

    async def _tools(self, target: Assistant) -> list[dict[str, Any]]:
        """The tools of the tested agent as `{name, description, parameters}`, named as for `tool_called`."""
        if not target.servers:
            return []
        box = await self._generators.runtime.toolbox(target.servers, str(target.folder / "package.yao"))
        found = [(box.find(tool["name"]), tool) for tool in box.tools()]
        return [{**tool, "name": offered.tool.name if offered else tool["name"]} for offered, tool in found]

    async def _of_agent(self, payload: dict[str, Any], chat: Chat) -> Any:
        generators, id = self._generators, self._input.reference.text
        generator = generators.runtime.assistants.get(id)
        options: dict[str, Any] = {}
        if (
            not generator.connector
            and not generators.connector
            and not generators.runtime.connectors.has_role("default")
        ):
            options["connector"] = self._target.connector
        return (await generators.helpers.ask(id, "generator", payload, options, chat)).output

    async def _of_script(self, payload: dict[str, Any], chat: Chat) -> Any:
        generators, reference = self._generators, self._input.reference.text
        scope = Scope(chat=chat, assistant=self._target, context=chat.context, depth=0)
        return await call_function(reference, ROLES, [payload], scope, generators.runtime, generators.application)


def _failed(input: GeneratorInput, why: str, hint: str | None = None) -> ConfigurationError:
    return ConfigurationError(f"Cannot generate cases with {input.named}: {why}", hint)
