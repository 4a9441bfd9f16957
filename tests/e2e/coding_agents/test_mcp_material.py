"""`yao-test mcp`: resources, prompts, survivors of mutants, and the server over HTTP."""

from __future__ import annotations

import asyncio
import json
import re
import signal
from typing import Any

import httpx
import pytest
from agent_files import agent, case_file
from command import PATIENCE, Application, MakeApplication
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import McpError
from mcp_session import talk, text_of
from pydantic import AnyUrl

HANDLER = "export function Fee(days: number) {\n  return days > 7 ? 5 : 0;\n}\n"
TESTS = 'import { Fee } from "./fee";\nexport function TestFee(t: testing.T) { t.assert.Equal(Fee(30), 5); }\n'


@pytest.fixture(scope="module")
def fees(shared_app: MakeApplication) -> Application:
    return shared_app({"fee.ts": HANDLER, "fee_test.ts": TESTS, "/.yao-test/.keep": "", "/secret.txt": "no"})


def test_schemas_and_kept_runs_are_resources(fees: Application) -> None:
    async def look(client: ClientSession) -> dict[str, str]:
        await client.call_tool("run_tests", {})
        listed = (await client.list_resources()).resources
        found = {}
        for one in listed:
            (part,) = (await client.read_resource(one.uri)).contents
            found[str(one.uri)] = getattr(part, "text", "")
        with pytest.raises(McpError, match="There is no resource yao-test://schemas/cases"):
            await client.read_resource(AnyUrl("yao-test://schemas/cases"))
        return found

    found = talk(fees, look)
    schemas = {uri: text for uri, text in found.items() if "/schemas/" in uri}
    assert [uri.rpartition("/")[2] for uri in schemas] == ["case", "file", "config", "result"]
    assert all("$schema" in json.loads(text) for text in schemas.values())
    (run,) = [text for uri, text in found.items() if uri not in schemas]
    assert "TestFee" in run


def test_prompts_have_the_code_and_the_way(fees: Application) -> None:
    fees.write({"/assistants/demo/tests/talks.jsonl": '{"id": "hello", "input": "Hello"}\n'})

    async def look(client: ClientSession) -> list[str]:
        texts = []
        for name, arguments in (
            ("test_function", {"file": "assistants/demo/src/fee.ts", "function": "Fee"}),
            ("stricter_case", {"file": "assistants/demo/tests/talks.jsonl", "case": "hello"}),
        ):
            prompt = await client.get_prompt(name, arguments)
            (message,) = prompt.messages
            texts.append(getattr(message.content, "text", ""))
        for arguments, said in (
            ({"file": "secret.txt", "function": "no"}, "secret.txt is not a file of the application"),
            ({"file": "../x.ts", "function": "no"}, "outside of the application"),
            ({"file": "assistants/demo/src/fee.ts", "function": "Fees"}, "has no Fees"),
            ({"file": "assistants/demo/src/fee.ts"}, "needs function"),
        ):
            with pytest.raises(McpError, match=said):
                await client.get_prompt("test_function", arguments)
        assert [one.name for one in (await client.list_prompts()).prompts] == ["test_function", "stricter_case"]
        return texts

    function, case = talk(fees, look)
    assert "days > 7 ? 5 : 0" in function and "scripts.demo.fee" in function
    assert '"id": "hello"' in case and "yao-test mutate -i assistants/demo/tests/talks.jsonl" in case


def test_survivors_are_those_of_the_last_run_of_mutate(fees: Application) -> None:
    async def ask(client: ClientSession) -> Any:
        return await client.call_tool("survivors", {})

    assert text_of(talk(fees, ask)).startswith("No run of mutate is stored. ")
    printed = json.loads(fees.run("mutate", "-i", "scripts.demo.fee", "--json").stdout)
    answer = talk(fees, ask)
    found = answer.structuredContent
    assert (found["score"], len(found["mutants"])) == (printed["score"], len(printed["mutants"]))
    assert {"file": "assistants/demo/src/fee.ts", "line": 2, "status": "survived"}.items() <= found["mutants"][
        0
    ].items()
    assert " → " in text_of(answer)


def test_survivors_are_also_those_of_cases_and_prompts(app: MakeApplication) -> None:
    cases = [{"id": "weak", "input": "Hello", "assert": {"type": "regex", "value": "."}}]
    app = app({**agent(replies="- reply: Good day to you.", cases=cases), "/.yao-test/.keep": ""})
    assert app.run("mutate", "-i", case_file()).code == 0
    assert app.run("mutate", "-i", case_file(), "--prompts", "--yes").code == 0

    async def ask(client: ClientSession) -> Any:
        return [await client.call_tool("survivors", given) for given in ({}, {"file": case_file()})]

    both, one = (answer.structuredContent["mutants"] for answer in talk(app, ask))
    of_cases = [mutant for mutant in both if mutant["file"] == case_file()]
    assert (one, [mutant for mutant in both if mutant["mutator"] == "rule"]) == (of_cases, both[len(of_cases) :])
    assert len(both) > len(of_cases) > 0
    assert {"line": 1, "status": "survived", "reached_by": ["weak"]}.items() <= of_cases[0].items()


def test_over_http_who_has_the_token_is_served(fees: Application) -> None:
    process = fees.start("mcp", "--http")
    stdout: Any = process.stdout
    address, bearer, _ = (stdout.readline().decode().strip() for _ in range(3))
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/mcp", address)
    token = bearer.removeprefix("Authorization: ")

    async def ask() -> list[str]:
        async with (
            httpx.AsyncClient(headers={"Authorization": token}, timeout=PATIENCE) as http,
            streamable_http_client(address, http_client=http) as (read, write, _),
            ClientSession(read, write) as client,
        ):
            await client.initialize()
            run = await client.call_tool("run_tests", {"input": "scripts.demo"})
            return [text_of(run), *(tool.name for tool in (await client.list_tools()).tools)]

    try:
        said, *names = asyncio.run(ask())
        assert (said[:18], len(names)) == ("1 passed, 0 failed", 11)
        hello = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        for headers in ({}, {"Authorization": "Bearer no"}, {"Authorization": token, "Host": "example.com"}):
            assert httpx.post(address, json=hello, headers=headers).status_code in (403, 421)
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
        process.communicate()
