"""What a model is offered, what becomes of the calls that it makes, and the processes behind `ctx.mcp`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from mcp_application import Processes, use, write

from bindings import ProcessError
from runner.agents.mcp.toolbox import ServerChoice, ToolBox, ToolRun, open_toolbox, read_choices
from runner.assertions.base import ToolUse
from runner.errors import ConfigurationError

SHOP = {"tools": {"find": "scripts.shop.Find", "pay": "scripts.shop.Pay", "note": "scripts.shop.Note"}}
FILES = {
    "mcps/shop.mcp.yao": {"label": "Shop", "description": "Sells", **SHOP},
    "mcps/mapping/shop/schemes/find.in.yao": {
        "description": "Finds orders",
        "properties": {"id": {"type": "integer"}},
        "required": ["id"],
    },
    "mcps/mapping/shop/schemes/find.jsonl": "".join(f'{{"name": "s{n}", "input": {{"id": {n}}}, "output": "<{n}>"}}\n' for n in range(5)),
    "mcps/mapping/shop/schemes/pay.jsonl": '{"description": "pays", "input": {}}\n',
    "mcps/sub/my_shop.mcp.yao": {"tools": {"list__all": "scripts.shop.Find", "a b": "scripts.shop.Find"}},
    "mcps/sub.mcp.yao": {"tools": {"my_shop__list__all": "scripts.shop.Note"}},
    "mcps/sub_my_shop.mcp.yao": {"tools": {"list__all": "scripts.shop.Note"}},
    "mcps/many.mcp.yao": {"tools": {f"t{n}": "scripts.shop.Find" for n in range(23)}},
    "mcps/long.mcp.yao": {"tools": {"x" * 80 + end: "scripts.shop.Find" for end in "ab"}},
}  # fmt: skip
PROCESSES = {
    "scripts.shop.Find": {"id": 7, "total": 1.5},
    "scripts.shop.Pay": ProcessError("no money", 402),
    "scripts.shop.Note": "done ✓",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("shop")
    write(root, FILES)
    return root


def opened(root: Path, items: Any) -> ToolBox:
    return use(root, lambda servers: open_toolbox(servers, items, "package.yao"))


def ran(root: Path, name: str, arguments: str, known: Processes | None = None) -> ToolRun:
    async def action(servers: Any) -> ToolRun:
        box = await open_toolbox(servers, ["shop", "sub.my_shop"], "package.yao")
        return await box.run(name, arguments, "context")

    return use(root, action, known or Processes(PROCESSES))


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        pytest.param(None, [], id="none"),
        pytest.param(["a.b", "c"], [ServerChoice(server="a.b"), ServerChoice(server="c")], id="ids"),
        pytest.param([{"server_id": "a"}], [ServerChoice(server="a")], id="object"),
        pytest.param([{"server_id": "a", "tools": ["x"], "resources": ["r"]}], [ServerChoice(server="a", tools=("x",))], id="object with tools"),
        pytest.param([{"a": ["x", "y"]}], [ServerChoice(server="a", tools=("x", "y"))], id="key and list"),
        pytest.param([{"a": {"tools": ["x"], "resources": []}}], [ServerChoice(server="a", tools=("x",))], id="key and object"),
        pytest.param([{"a": None}, {"b": []}], [ServerChoice(server="a"), ServerChoice(server="b")], id="key and nothing"),
    ],
)  # fmt: skip
def test_every_spelling_of_a_server_is_read(items: Any, expected: list[ServerChoice]) -> None:
    assert read_choices(items, "package.yao") == expected


@pytest.mark.parametrize(
    ("items", "message"),
    [
        pytest.param("shop", "Cannot read the MCP servers of package.yao: it is not a list", id="no list"),
        pytest.param(["a", 5], "Cannot read MCP server 2 of package.yao: no server is named", id="a number"),
        pytest.param([{"tools": ["x"], "resources": []}], "Cannot read MCP server 1 of package.yao: no server is named", id="no id"),
        pytest.param([{"server_id": "a", "tools": "x"}], 'Cannot read MCP server 1 of package.yao: "tools" must be a list of names', id="tools as a text"),
    ],
)  # fmt: skip
def test_a_server_that_cannot_be_read_is_named(items: Any, message: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        read_choices(items, "package.yao")
    assert error.value.message == message


def test_an_unknown_server_is_a_configuration_error(shop: Path) -> None:
    with pytest.raises(ConfigurationError, match="Cannot find MCP server shopp; there are long, many, shop"):
        opened(shop, ["shopp"])


def test_tools_are_named_by_server_and_tool(shop: Path) -> None:
    assert opened(shop, [{"shop": ["find"]}]).tools() == [
        {
            "name": "shop__find",
            "description": "Finds orders",
            "parameters": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]},
        }
    ]


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        pytest.param(["shop"], {"shop__find": ("shop", "find"), "shop__pay": ("shop", "pay"), "shop__note": ("shop", "note")}, id="all"),
        pytest.param([{"shop": ["pay", "find"]}], {"shop__find": ("shop", "find"), "shop__pay": ("shop", "pay")}, id="filter keeps the server's order"),
        pytest.param([{"shop": ["pay"]}, "shop"], {"shop__pay": ("shop", "pay"), "shop__find": ("shop", "find"), "shop__note": ("shop", "note")}, id="the same server twice"),
        pytest.param(["sub.my_shop"], {"sub_my_shop__list__all": ("sub.my_shop", "list__all"), "sub_my_shop__a_b": ("sub.my_shop", "a b")}, id="underscores"),
        pytest.param(["sub.my_shop", "sub", "sub_my_shop"], {
            "sub_my_shop__list__all": ("sub.my_shop", "list__all"),
            "sub_my_shop__a_b": ("sub.my_shop", "a b"),
            "sub__my_shop__list__all": ("sub", "my_shop__list__all"),
            "sub_my_shop__list__all_2": ("sub_my_shop", "list__all"),
        }, id="names that would be the same"),
        pytest.param(["long"], {"long__" + "x" * 58: ("long", "x" * 80 + "a"), "long__" + "x" * 56 + "_2": ("long", "x" * 80 + "b")}, id="long names"),
    ],
)  # fmt: skip
def test_names_lead_back_to_their_tools(shop: Path, items: Any, expected: dict[str, tuple[str, str]]) -> None:
    box = opened(shop, items)
    assert {name: (one.server.id, one.tool["name"]) for name, one in box.offered.items()} == expected
    assert box.warnings == ()


def test_at_most_20_tools_are_offered(shop: Path) -> None:
    box = opened(shop, ["shop", "many"])
    assert [tool["name"] for tool in box.tools()] == ["shop__find", "shop__pay", "shop__note"] + [f"many__t{n}" for n in range(17)]  # fmt: skip
    assert box.warnings == ("Only 20 of 26 MCP tools are offered; left out: " + ", ".join(f"many.t{n}" for n in range(17, 23)),)  # fmt: skip


def test_what_is_odd_is_warned_of(tmp_path: Path) -> None:
    write(tmp_path, {"mcps/shop.mcp.yao": SHOP, "mcps/mapping/shop/schemes/fnd.in.yao": {}})
    box = opened(tmp_path, [{"shop": ["find", "nte"]}])
    assert [warning.replace(str(tmp_path), "<app>") for warning in box.warnings] == [
        '<app>/mcps/mapping/shop/schemes/fnd.in.yao is not used: <app>/mcps/shop.mcp.yao has no "fnd" among its tools',
        'MCP server shop has no tool "nte", which package.yao names. Did you mean "note"?',
    ]


def test_three_samples_of_a_tool_are_shown(shop: Path) -> None:
    assert opened(shop, ["shop"]).samples_message() == "\n\n".join(
        [
            "Example calls of your tools:",
            'shop__find (s0)\narguments: {"id":0}\nresult: "<0>"',
            'shop__find (s1)\narguments: {"id":1}\nresult: "<1>"',
            'shop__find (s2)\narguments: {"id":2}\nresult: "<2>"',
            "shop__pay (pays)\narguments: {}",
        ]
    )
    assert opened(shop, ["many"]).samples_message() is None


USE = ToolUse(name="find", server="shop", arguments={"id": 7}, result={"id": 7, "total": 1.5})


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        pytest.param("shop__find", '{"id": 7}', ToolRun(use=USE), id="object"),
        pytest.param("shop__find", "{'id': 7,", ToolRun(use=USE), id="broken JSON is repaired"),
        pytest.param("shop__note", "", ToolRun(use=ToolUse(name="note", server="shop", arguments={}, result="done ✓")), id="no arguments, a text"),
        pytest.param("sub_my_shop__list__all", "{}", ToolRun(use=ToolUse(name="list__all", server="sub.my_shop", arguments={}, result={"id": 7, "total": 1.5})), id="underscores"),
    ],
)  # fmt: skip
def test_a_call_is_answered_with_the_json_of_its_result(
    shop: Path, name: str, arguments: str, expected: ToolRun
) -> None:
    assert ran(shop, name, arguments) == expected


@pytest.mark.parametrize(
    ("name", "arguments", "use", "error"),
    [
        pytest.param("shop__pay", "{}", ToolUse(name="pay", server="shop", arguments={}), "no money", id="the tool throws"),
        pytest.param("shop__find", '{"id": "x"}', ToolUse(name="find", server="shop", arguments={"id": "x"}), "Cannot call tool \"find\" of MCP server shop: validation failed: id: 'x' is not of type 'integer'", id="against the schema"),
        pytest.param("shop__find", "[1]", ToolUse(name="find", server="shop", arguments=[1]), 'Cannot read the arguments of tool "shop__find": not an object', id="a list"),
        pytest.param("shop__find", "id is 7", ToolUse(name="find", server="shop", arguments="id is 7"), 'Cannot read the arguments of tool "shop__find": invalid JSON: is not JSON and cannot be repaired', id="prose"),
        pytest.param("shop_find", "{}", ToolUse(name="shop_find", server="", arguments={}), 'there is no tool "shop_find". Did you mean "shop__find"?', id="unknown tool"),
    ],
)  # fmt: skip
def test_a_call_that_the_model_could_mend_says_what_is_wrong(
    shop: Path, name: str, arguments: str, use: ToolUse, error: str
) -> None:
    assert ran(shop, name, arguments) == ToolRun(use=use.replace(error=error), retryable=True)


def test_the_context_reaches_the_process(shop: Path) -> None:
    known = Processes(PROCESSES)
    ran(shop, "shop__find", '{"id": 7}', known)
    assert known.calls == [("scripts.shop.Find", [{"id": 7}], "context")]


def test_calls_run_at_the_same_time(shop: Path) -> None:
    class Meeting(Processes):
        """Answers only when two calls are there."""

        def __init__(self) -> None:
            super().__init__({})
            self.barrier = asyncio.Barrier(2)

        async def call(self, name: str, arguments: list[Any], context: Any) -> Any:
            await self.barrier.wait()
            return name

    async def action(servers: Any) -> Any:
        box = await open_toolbox(servers, ["shop"], "package.yao")
        runs = await asyncio.gather(box.run("shop__find", '{"id": 1}', None), box.run("shop__note", "{}", None))
        return [run.use.result for run in runs]

    assert use(shop, action, Meeting()) == ["scripts.shop.Find", "scripts.shop.Note"]


def answered(root: Path, name: str, *args: Any) -> Any:
    return use(root, lambda servers: servers.answer(name, list(args), "context"), Processes(PROCESSES))


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        pytest.param("mcp.Info", ["shop"], {"id": "shop", "label": "Shop", "description": "Sells", "transport": "process"}, id="Info"),
        pytest.param("mcp.ListTools", ["sub_my_shop", "cursor"], {"tools": [{"name": "list__all", "description": "", "inputSchema": {"type": "object", "properties": {}}}]}, id="ListTools"),
        pytest.param("mcp.CallTool", ["shop", "find", {"id": 7}], {"content": [{"type": "text", "text": '{"id":7,"total":1.5}'}], "isError": False}, id="CallTool"),
        pytest.param("mcp.CallTool", ["shop", "note"], {"content": [{"type": "text", "text": "done ✓"}], "isError": False}, id="CallTool without arguments"),
        pytest.param("mcp.CallTool", ["shop", "pay", {}], {"content": [{"type": "text", "text": "Error executing tool pay: no money"}], "isError": True}, id="a tool that throws"),
        pytest.param("mcp.ListResources", ["shop"], {"resources": []}, id="ListResources"),
        pytest.param("mcp.ListPrompts", ["shop"], {"prompts": []}, id="ListPrompts"),
        pytest.param("mcp.ListSamples", ["shop", "tool", "pay"], {"samples": [{"name": "", "description": "pays", "input": {}, "index": 0}], "total": 1}, id="ListSamples"),
        pytest.param("mcp.GetSample", ["shop", "tool", "find", 4], {"name": "s4", "input": {"id": 4}, "output": "<4>", "index": 4}, id="GetSample"),
        pytest.param("MCP.calltool", ["shop", "note"], {"content": [{"type": "text", "text": "done ✓"}], "isError": False}, id="without case"),
    ],
)  # fmt: skip
def test_scripts_are_answered(shop: Path, name: str, args: list[Any], expected: Any) -> None:
    assert answered(shop, name, *args) == expected


@pytest.mark.parametrize(
    ("name", "args", "code", "message"),
    [
        pytest.param("mcp.CallTool", ["shp", "x"], 404, 'Cannot find MCP server shp; there are long, many, shop, sub, sub.my_shop, sub_my_shop. Did you mean "shop"?', id="unknown server"),
        pytest.param("mcp.CallTool", ["shop", "fnd"], 404, 'Cannot call tool "fnd" of MCP server shop: there is no such tool. Did you mean "find"?', id="unknown tool"),
        pytest.param("mcp.CallTool", ["shop", "find", {}], 400, "Cannot call tool \"find\" of MCP server shop: validation failed: value: 'id' is a required property", id="bad arguments"),
        pytest.param("mcp.CallTool", ["shop", "find", [1]], 400, "Cannot call mcp.CallTool: the arguments are not an object", id="arguments as a list"),
        pytest.param("mcp.CallTool", [None, "find"], 400, "Cannot call mcp.CallTool: the MCP server id is missing", id="no server"),
        pytest.param("mcp.CallTool", ["shop"], 400, "Cannot call mcp.CallTool: the name of a tool is missing", id="no tool"),
        pytest.param("mcp.GetSample", ["shop", "tool", "find", 5], 404, "Cannot call mcp.GetSample: MCP server shop has 5 samples of find, none with index 5", id="no such sample"),
        pytest.param("mcp.ListSamples", ["shop", "prompt", "x"], 400, 'Cannot call mcp.ListSamples: samples belong to a "tool" or a "resource"', id="samples of what"),
        pytest.param("mcp.Dance", ["shop"], 404, 'Process "mcp.Dance" does not exist', id="unknown process"),
    ],
)  # fmt: skip
def test_scripts_that_ask_wrongly_are_told(shop: Path, name: str, args: list[Any], code: int, message: str) -> None:
    with pytest.raises(ProcessError) as error:
        answered(shop, name, *args)
    assert (error.value.code, error.value.message) == (code, message)
