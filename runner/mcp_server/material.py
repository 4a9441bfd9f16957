"""What a client reads or begins with: schemas and reports of kept runs as resources, and prompts."""

from __future__ import annotations

from collections.abc import Mapping
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
    """Something that a person asks for, about a part of a file. What the model is told is in `prompts`, by the name."""

    name: str
    title: str
    description: str
    takes: Mapping[str, str]
    """Argument → what it is: the file, then its part. All are required."""
    of: tuple[str, ...]
    """How the name of the file ends."""
    hint: str
    """What to do where the file does not have the part."""

    async def text(self, actions: Actions, given: Mapping[str, str]) -> str:
        """What the model is told. Raises ConfigurationError."""
        if missing := [name for name in self.takes if not given.get(name)]:
            raise ConfigurationError(f"{self.name} needs {' and '.join(missing)}: {self.takes[missing[0]]}")
        path, text = _file(actions, given["file"], self.of)
        part = list(self.takes)[1]
        if given[part] not in text:
            raise ConfigurationError(f"{path} has no {f'{part} ' * (part == 'case')}{given[part]}", self.hint)
        told = {"part": given[part], "path": path, "address": ADDRESS}
        if self.of == CODE:
            test = path.with_name(f"{path.stem}_test{path.suffix}")
            told |= {"test": test, "module": actions.application.module_at(actions.application.root / test).id}
        template = (Path(__file__).parent / "prompts" / f"{self.name}.md").read_text("utf-8")
        return template.format(text=bounded(text, LONGEST), **told)


PROMPTS: Mapping[str, Prompt] = {
    prompt.name: prompt
    for prompt in (
        Prompt(
            name="test_function",
            title="Write a test for this function",
            description="Script tests for a function of a handler, and what they have to notice.",
            takes={"file": "Path of the handler in the application.", "function": "Its name."},
            of=CODE,
            hint="Name a function of this file",
        ),
        Prompt(
            name="stricter_case",
            title="Make this case stricter",
            description="Assertions that notice what a case lets pass.",
            takes={"file": "Path of the case file in the application.", "case": "The id of the case."},
            of=CASE_FILES,
            hint="list_tests names the cases",
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
