"""What a client reads or begins with: schemas and reports of kept runs as resources, and prompts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from runner.errors import ConfigurationError, beside_missing
from runner.execution.outcome import bounded
from runner.mcp_server.actions import Actions
from runner.mcp_server.running import Call
from runner.mcp_server.tools import nearest
from runner.security.files import read_text
from runner.security.walk import CASE_FILES, CODE
from scripttest.values import Value

ADDRESS = "yao-test://"
SCHEMAS: Mapping[str, str] = {
    "case": "A case, as on a line of JSONL",
    "file": "Case files",
    "config": "yao-test.toml",
    "result": "What --json prints",
}
"""Name of a schema, as `yao-test schema` has it → what it describes."""
LISTED = 20
"""Runs that are listed."""
LONGEST = 12_000
"""Characters of a file in a prompt."""


class Resource(Value):
    """Something that can be read."""

    uri: str
    name: str
    description: str
    media_type: str


def resources(actions: Actions) -> list[Resource]:
    """The schemas, and the newest runs."""
    schemas = [
        Resource(uri=f"{ADDRESS}schemas/{name}", name=f"schema {name}", description=said, media_type="application/json")
        for name, said in SCHEMAS.items()
    ]
    runs = [
        Resource(uri=f"{ADDRESS}runs/{id}", name=f"run {id}", description=f"{at}, {state}", media_type="text/markdown")
        for id, at, state in actions.kept.newest(LISTED)
    ]
    return schemas + runs


async def read(actions: Actions, uri: str) -> tuple[str, str]:
    """Text and media type of a resource. Raises ConfigurationError."""
    kind, _, name = uri.removeprefix(ADDRESS).partition("/")
    if kind == "schemas" and name in SCHEMAS:
        return await actions.printed(Call(), ["schema", name]), "application/json"
    if kind == "runs" and name.isalnum():
        words = ["show", f"run:{name}", f"--store={actions.store}", "-r", "report.markdown"]
        return await actions.printed(Call(), words), "text/markdown"
    known = [resource.uri for resource in resources(actions)]
    raise ConfigurationError(f"There is no resource {uri}", nearest(uri, known, "resources"))


class Prompt(Value):
    """Something that a person asks for."""

    name: str
    title: str
    description: str
    takes: Mapping[str, str]
    """Argument, all of which are required → what it is."""
    make: Callable[[Actions, Mapping[str, str]], Awaitable[str]]

    async def text(self, actions: Actions, given: Mapping[str, str]) -> str:
        """What the model is told. Raises ConfigurationError."""
        if missing := [name for name in self.takes if not given.get(name)]:
            raise ConfigurationError(f"{self.name} needs {' and '.join(missing)}: {self.takes[missing[0]]}")
        return await self.make(actions, given)


async def _test_for(actions: Actions, given: Mapping[str, str]) -> str:
    path, text = _file(actions, given["file"], CODE)
    function = given["function"]
    if function not in text:
        raise ConfigurationError(f"{path} has no {function}", "Name a function of this file")
    test = path.with_name(f"{path.stem}_test{path.suffix}")
    module = actions.application.module_at(actions.application.root / test)
    return (
        f"Write script tests for the function {function} of {path} in {test}, next to the existing ones: functions "
        "`export function TestSomething(t: testing.T, ctx: agent.Context)` with t.assert. Test what callers rely on: "
        "each branch, the boundaries of comparisons, empty and missing values, errors. Mock processes, the clock and "
        "web services with t.mock (describe_api tells how); do not mock what is tested. Then\n"
        f"1. run_tests with input {module.id}; explain_failure for each failure. If the function is wrong, say so, and "
        "do not adapt the test to it.\n"
        f"2. uncovered_lines with input {module.id} and file {path}: test what is left, or say why not.\n"
        f"3. Break the function in one place, see a test fail, and undo it.\n\n```ts\n{bounded(text, LONGEST)}\n```\n"
    )


async def _stricter(actions: Actions, given: Mapping[str, str]) -> str:
    path, text = _file(actions, given["file"], CASE_FILES)
    case = given["case"]
    if case not in text:
        raise ConfigurationError(f"{path} has no case {case}", "list_tests names the cases")
    return (
        f"Make the case {case} of {path} stricter: it should fail for each answer that a user would not accept, and "
        "still pass for every good one.\n"
        f"1. run_tests with input {path}, then read_result of {case}: what did the agent answer, with which calls?\n"
        "2. Think of bad answers: an apology, a part of the answer, other numbers, dates and names, another language, "
        "a tool call that is missing, repeated or has other arguments. Which of them pass now?\n"
        "3. Add the cheapest assertions that notice them: `equals`, `json_path`, `regex`, `tool_called` before a judge "
        f"(the resource {ADDRESS}schemas/case has all). Do not assert details that may change.\n"
        f"4. run_tests again; `yao-test mutate -i {path}` shows which changes of answers no case notices.\n\n"
        f"```\n{bounded(text, LONGEST)}\n```\n"
    )


PROMPTS: Mapping[str, Prompt] = {
    prompt.name: prompt
    for prompt in (
        Prompt(
            name="test_function",
            title="Write a test for this function",
            description="Script tests for a function of a handler, and what they have to notice.",
            takes={"file": "Path of the handler in the application.", "function": "Its name."},
            make=_test_for,
        ),
        Prompt(
            name="stricter_case",
            title="Make this case stricter",
            description="Assertions that notice what a case lets pass.",
            takes={"file": "Path of the case file in the application.", "case": "The id of the case."},
            make=_stricter,
        ),
    )
}


def _file(actions: Actions, name: str, suffixes: tuple[str, ...]) -> tuple[Path, str]:
    """Path in the application and text of a file of some kinds. Raises ConfigurationError."""
    path = Path(actions.inside(name))
    place = actions.application.root / path
    if not name.lower().endswith(suffixes) or not place.is_file():
        hint = beside_missing(place, lambda one: one.lower().endswith(suffixes))
        raise ConfigurationError(f"{name} is not a file of the application that ends in {', '.join(suffixes)}", hint)
    return path, read_text(place, "replace")
