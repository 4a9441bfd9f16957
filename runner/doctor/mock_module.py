"""The module of mocks that `doctor --write-mocks` writes: a function for each agent. A mock that nobody has filled in
ends the test that calls it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from runner.doctor.findings import AgentFindings, Kind, Need

_HEAD = """\
// Mocks of what agents of this application call, and nothing answers in a test. Each ends the test that calls it until
// it is filled in: put a value, or a function of the call's arguments, in its place. A test calls the function of its
// agent first:
//
//   import {{ {example} }} from "{path}";
//   export function TestX(t: testing.T) {{ {example}(t); ... }}

function missing(t: testing.T, what: string, where: string): never {{
  t.fatal(`${{what}} is not mocked yet: fill it in where it is written. It is called in ${{where}}`);
}}
"""


def lacking(agents: Iterable[AgentFindings]) -> list[tuple[str, list[Need]]]:
    """The agents whose calls need mocks that are not there, and these."""
    found = [(agent.id, [need for need in agent.lacks if need.kind is Kind.MOCK]) for agent in agents]
    return [(id, needs) for id, needs in found if needs]


def mock_module(lacks: list[tuple[str, list[Need]]], path: str) -> str:
    """The text of the module in TypeScript; `path` is how a test would import it."""
    names: dict[str, str] = {}
    for id, _ in lacks:
        name = "mock" + "".join(word[:1].upper() + word[1:] for word in re.split(r"\W+|_", id))
        while name in names.values():
            name += "_"
        names[id] = name
    parts = [_HEAD.format(example=next(iter(names.values())), path=path)]
    for id, needs in lacks:
        lines = [f"\n/** Mocks for the agent {id}. */", f"export function {names[id]}(t: testing.T): void {{"]
        for need in needs:
            pattern = need.name.removeprefix("* ") if need.mocked == "http" else need.name
            what, where = json.dumps(need.name), json.dumps(", ".join(need.places))
            lines.append(f"  t.mock.{need.mocked}({json.dumps(pattern)}, () => missing(t, {what}, {where}));")
        parts.append("\n".join([*lines, "}\n"]))
    return "".join(parts)
