"""Cases that an agent or a script makes: `-i "agents:workers.test.generator?count=10&focus=edge-cases" -n expense`
(seed 000, "Generator Agent Interface").

The generator gets a description of the tested agent, and the parameters after the `?`. Its answer is checked like a
case file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, count
from pathlib import Path
from typing import Any

from bindings import World
from runner.agents.answer import AgentError
from runner.agents.chat import Chat, Scope
from runner.agents.helpers import ask_helper
from runner.agents.references import ScriptReferenceError, call_function
from runner.amounts import in_words
from runner.cases.reader import MadeCases, cases_from_values
from runner.errors import ConfigurationError
from runner.options.options import report_path
from runner.reading.helper_answers import read_cases
from scripttest import HostError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.agents.assistant import Assistant
    from runner.agents.runtime import Runtime
    from runner.agents.service import AgentService
    from runner.planning.plan import CaseSource, GeneratorInput, RunRequest

ROLES = ("Generate",)
"""The functions that may be meant by a script reference without a function name."""
SHOWN = 300
"""At most this many characters of an answer without cases are shown."""
DEFAULT_COUNT = 5
"""How many cases are asked for when the parameters do not say it."""
_TARGET = ("target_agent", "target_description", "target_tools")
"""What a generator gets besides its parameters."""
_VALUE = re.compile(r"true|false|-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?")
"""Matches parameters that are no texts."""
_FORM = 'It must return {"cases": [{"id": "G001", "input": "..."}]}, or the list alone'


async def generate(input: GeneratorInput, request: RunRequest, service: AgentService, folder: Path) -> MadeCases:
    """Calls the generator. Each case that it makes has a unique id. Relative attachments are looked for in `folder`.
    Raises ConfigurationError when there is no such generator, it fails, or it makes no case that can be run."""
    import asyncio

    options = request.options
    seed = "" if options.seed is None else f"{options.seed} @generate"
    world = World(suite=input.id, test="@generate", seed=seed, mocked=False)
    try:
        async with asyncio.timeout(options.case_timeout):
            answer = await _answer(input, request, service, world)
    except TimeoutError as error:
        raise _failed(input, f"timeout after {in_words(options.case_timeout)}") from error
    except AgentError as error:
        raise _failed(input, error.placed, error.hint) from error
    except (ScriptReferenceError, HostError) as error:
        raise _failed(input, error.message, error.hint) from error
    finally:
        world.close()
    values = read_cases(answer)
    if not values:
        said = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        shown = said if len(said) <= SHOWN else f"{said[:SHOWN]}... ({len(said)} characters)"
        raise _failed(input, f"it returned no cases: {shown}", _FORM)
    made = cases_from_values(with_ids(values), input.named, folder, options.lenient)
    missing = [f"{input.named}: {call.warning}" for call in world.ledger.missing]
    return made.replace(warnings=(*made.warnings, *missing))


async def _answer(input: GeneratorInput, request: RunRequest, service: AgentService, world: World) -> Any:
    """The answer of a generator as a JSON value, to `{target_agent, target_description, target_tools, count, ...}`."""
    runtime, reference = service.runtime, input.reference.text
    target = runtime.assistants.get(input.agent)
    payload = {
        "target_agent": target.id,
        "target_description": target.description,
        "target_tools": await _tools(target, runtime),
        "count": DEFAULT_COUNT,
        **input.parameters,
    }
    chat = Chat({**request.context, "assistant_id": target.id, "chat_id": "agent-test-generate"}, world, of_suite=True)
    if not input.reference.is_agent:
        scope = Scope(chat=chat, assistant=target, context=chat.context, depth=0)
        return await call_function(reference, ROLES, [payload], scope, runtime)
    has_own = runtime.assistants.get(reference).connector or request.options.connector
    options = {} if has_own or runtime.connectors.has_role("default") else {"connector": target.connector}
    return (await ask_helper(service.runtime, reference, "generator", payload, options, chat)).output


async def _tools(target: Assistant, runtime: Runtime) -> list[dict[str, Any]]:
    """The tools of the tested agent as `{name, description, parameters}`, named as for `tool_called`."""
    if not target.servers:
        return []
    box = await runtime.toolbox(target.servers, str(target.folder / "package.yao"))
    return [{**tool, "name": box.offered[tool["name"]].tool["name"]} for tool in box.tools()]


def with_ids(values: Iterable[Any]) -> list[Any]:
    """Cases, each with its own id: `G001-2` where `G001` is taken, `generated-3` where the third has none."""
    values = list(values)
    taken: set[str] = set()
    found: list[Any] = []
    for number, value in enumerate(values, 1):
        if not isinstance(value, dict):
            found.append(value)
            continue
        id = value.get("id")
        id = f"generated-{number}" if id is None or isinstance(id, (bool, dict, list)) else str(id).strip()
        id = id or f"generated-{number}"
        unique = next(one for one in chain([id], (f"{id}-{copy}" for copy in count(2))) if one not in taken)
        taken.add(unique)
        found.append({**value, "id": unique})
    return found


def check_outputs(outputs: Sequence[str]) -> None:
    """Raises ConfigurationError when cases cannot be written to one of the files of `--output`."""
    for output in outputs:
        if not output.endswith(".jsonl"):
            raise ConfigurationError(f"Cannot write cases to {output}: the file must be a .jsonl file")


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


def _failed(input: GeneratorInput, why: str, hint: str | None = None) -> ConfigurationError:
    return ConfigurationError(f"Cannot generate cases with {input.named}: {why}", hint)


def parameters(query: str, where: str) -> dict[str, Any]:
    """Reads `count=10&focus=edge-cases`. Numbers, `true` and `false` become numbers and booleans, everything else stays
    text. Raises ConfigurationError, whose message names `where`."""
    from urllib.parse import parse_qsl

    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=True) if query else []
    except ValueError as error:
        raise ConfigurationError(
            f"Cannot read {where}: its parameters must have the form name=value&name=value"
        ) from error
    values = {name: json.loads(value) if _VALUE.fullmatch(value) else value for name, value in pairs}
    for name in values:
        if name in _TARGET:
            raise ConfigurationError(f'Cannot use {where}: "{name}" is set with -n and cannot be a parameter')
    count = values.get("count", DEFAULT_COUNT)
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise ConfigurationError(f"Cannot use {where}: count must be a whole number of at least 1")
    return values
