"""The loop of a coding agent: a bug is planted in the example, the tools alone lead to its line, and it is mended."""

from __future__ import annotations

import shutil
from typing import Any, NamedTuple

import pytest
from command import MakeApplication
from mcp import ClientSession
from mcp.types import CallToolResult
from mcp_session import talk
from source_modules import ROOT

LAST = 10
"""Of the lines of a story, those among which the bug has to be."""


class Bug(NamedTuple):
    """Code of the example, and what is planted instead."""

    file: str
    code: str
    planted: str


BUGS = {
    "a border": Bug("policy.ts", "total >= from ||", "total > from ||"),
    "an order": Bug("policy.ts", "else if (age < 0)", "else if (age > 0)"),
}


@pytest.mark.parametrize("name", BUGS)
def test_the_tools_lead_to_the_line_of_a_bug(name: str, app: MakeApplication) -> None:
    bug = BUGS[name]
    app = app({})
    shutil.copytree(ROOT / "assistants", app.root / "assistants", dirs_exist_ok=True)
    path = f"assistants/expense/src/{bug.file}"
    right = (app.root / path).read_text("utf-8")
    assert right.count(bug.code) == 1
    (app.root / path).write_text(right.replace(bug.code, bug.planted), "utf-8")
    line = right[: right.index(bug.code)].count("\n") + 1

    async def loop(client: ClientSession) -> None:
        async def answer(tool: str, **arguments: Any) -> dict[str, Any]:
            found: CallToolResult = await client.call_tool(tool, arguments)
            assert found.structuredContent is not None, found
            return found.structuredContent

        inputs = (await answer("list_tests", input="scripts.expense"))["inputs"]
        module = next(one["input"] for one in inputs if one["input"].endswith(f".{bug.file.removesuffix('.ts')}"))
        run = await answer("run_tests", input=module)
        assert run["failed"] > 0
        stories = []
        for one in run["tests"]:
            stories.append((await answer("explain_failure", test=one["test"], input=one["input"]))["story"])
            if (path, line) in ((told["file"], told["line"]) for told in stories[-1][-LAST:]):
                break
        else:
            pytest.fail(f"no story leads to the line: {stories}")
        (app.root / path).write_text(right, "utf-8")
        assert (await answer("run_tests", last_failed=True))["status"] == "passed"

    talk(app, loop)
