"""Servers whose tools are processes: files found and read, arguments mapped and checked, results in the protocol's form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mcp_application import Processes, use, write

from bindings import ProcessError
from runner.agents.mcp.base import ToolError, value_of
from runner.agents.mcp.process import match_uri, process_arguments, render
from runner.errors import ConfigurationError

ARGUMENTS = {"order": {"id": 7, "lines": [{"sku": "A"}, {"sku": "B"}]}, "note": None, "args": "own"}


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        pytest.param(None, None, id="no list"),
        pytest.param([], [], id="no arguments"),
        pytest.param([":arguments"], [ARGUMENTS], id="the whole"),
        pytest.param(["$args.order.id", "$order.id"], [7, 7], id="a field, long and short"),
        pytest.param(["$order.lines.1.sku"], ["B"], id="an item of a list"),
        pytest.param(["$args.note", "$args.none", "$order.none.deep", "$order.lines.9"], [None] * 4, id="missing"),
        pytest.param(["$args"], ["own"], id="a field called args"),
        pytest.param(
            [1, True, None, "text", "$", ":other", {"a": "$b"}],
            [1, True, None, "text", "$", ":other", {"a": "$b"}],
            id="constants",
        ),
    ],
)
def test_arguments_are_mapped(template: Any, expected: Any) -> None:
    assert process_arguments(template, {"arguments": ARGUMENTS}, {"args": ARGUMENTS}) == expected


@pytest.mark.parametrize(
    ("template", "uri", "expected"),
    [
        pytest.param("a://list", "a://list", ({}, {}), id="literal"),
        pytest.param("a://list", "a://lists", None, id="another"),
        pytest.param("a://{id}/x", "a://7/x", ({"id": "7"}, {}), id="parameter"),
        pytest.param("a://{id}/x", "a://7/8/x", None, id="a parameter is one segment"),
        pytest.param("a://{id}", "a://b%20c", ({"id": "b c"}, {}), id="percent encoding"),
        pytest.param("a://l?page={p}&q={q}", "a://l?q=x&page=2&z=1", ({"p": "2", "q": "x"}, {"q": "x", "page": "2", "z": "1"}), id="query in any order"),
        pytest.param("a://l?page={p}", "a://l", None, id="the query is needed"),
        pytest.param("a://l?kind=x", "a://l?kind=y", None, id="a constant of the query differs"),
        pytest.param("a://l", "a://l?page=2", ({}, {"page": "2"}), id="a query beyond the template"),
        pytest.param("a://x.y", "a://xzy", None, id="dots are dots"),
    ],
)  # fmt: skip
def test_uris_are_matched(template: str, uri: str, expected: Any) -> None:
    assert match_uri(template, uri) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Hi {{name}}, {{ name }}!", "Hi Ann, Ann!", id="variables"),
        pytest.param("[{{none}}]", "[]", id="missing"),
        pytest.param("{{list}} {{on}} {{user.city}}", '["a"] true Bonn', id="other than text"),
        pytest.param("{{#if name}}yes{{else}}no{{/if}}", "yes", id="if"),
        pytest.param("{{#if none}}yes{{else}}no{{/if}}", "no", id="else"),
        pytest.param("{{#if none}}yes{{/if}}.", ".", id="no else"),
        pytest.param("{{#if on}}a{{#if none}}b{{else}}c{{/if}}{{/if}}", "ac", id="nested"),
        pytest.param("{{tricky}}", "{{name}} {{#if on}}x{{/if}}", id="values are not templates"),
    ],
)
def test_prompts_are_filled_in(text: str, expected: str) -> None:
    variables = {
        "name": "Ann",
        "list": ["a"],
        "on": True,
        "user": {"city": "Bonn"},
        "tricky": "{{name}} {{#if on}}x{{/if}}",
    }
    assert render(text, variables) == expected


SHOP = {
    "label": "Shop",
    "transport": "process",
    "tools": {"find": "scripts.shop.Find", "ping": "scripts.shop.Ping", "pay": "scripts.shop.Pay"},
    "resources": {"order": "scripts.shop.Order", "about": "scripts.shop.About"},
    "prompts": {"made": "scripts.shop.Prompt"},
}
FIND = """{
  // comments are fine
  "description": "Finds orders",
  "type": "object",
  "properties": { "id": { "type": "integer", "minimum": 1 }, "state": { "enum": ["open", "paid"] } },
  "required": ["id"],
  "x-process-args": ["$args.id", ":arguments", "shop"],
}"""
FILES = {
    "mcps/shop.mcp.yao": SHOP,
    "mcps/mapping/shop/schemes/find.in.yao": FIND,
    "mcps/mapping/shop/schemes/find.out.yao": {"type": "array"},
    "mcps/mapping/shop/schemes/find.jsonl": '{"name": "one", "input": {"id": 1}, "output": []}\n\n// more\n{"input": {"id": 2}}\n',
    "mcps/mapping/shop/resources/order.res.yao": {
        "uri": "orders://{id}?page={page}",
        "name": "Order",
        "mimeType": "application/json",
        "schema": {"properties": {"page": {"type": "integer", "maximum": 9}, "id": {"type": "object"}}, "required": ["total"]},
        "x-process-args": ["$uri.id", "$query.page", ":uri", ":parameters", "$page"],
    },
    "mcps/mapping/shop/resources/about.res.json": {"uri": "about://shop"},
    "mcps/mapping/shop/prompts/greet.pmt.yao": {
        "description": "Greets",
        "arguments": [{"name": "name", "required": True}, {"name": "mood"}, {"required": True}],
        "messages": [{"role": "assistant", "content": "I greet."}, {"role": "user", "content": "Greet {{name}}{{#if mood}} ({{mood}}){{/if}}"}],
    },
    "mcps/mapping/shop/prompts/short.pmt.yao": {"template": "Say {{word}}"},
}  # fmt: skip
PROCESSES = {
    "scripts.shop.Find": [{"id": 1}],
    "scripts.shop.Ping": "pong",
    "scripts.shop.Pay": ProcessError("no money", 402),
    "scripts.shop.Order": {"id": "7"},
    "scripts.shop.About": "# Shop",
    "scripts.shop.Prompt": "Hello",
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    write(tmp_path, FILES)
    return tmp_path


def test_tools_are_listed_with_their_schemas(shop: Path) -> None:
    assert use(shop, lambda servers: servers.server("shop").list_tools()) == [
        {
            "name": "find",
            "description": "Finds orders",
            "inputSchema": {
                "type": "object",
                "properties": {"id": {"type": "integer", "minimum": 1}, "state": {"enum": ["open", "paid"]}},
                "required": ["id"],
            },
            "outputSchema": {"type": "array"},
        },
        {"name": "ping", "description": "", "inputSchema": {"type": "object", "properties": {}}},
        {"name": "pay", "description": "", "inputSchema": {"type": "object", "properties": {}}},
    ]


def test_a_tool_calls_its_process_with_mapped_arguments_and_the_context(shop: Path) -> None:
    processes = Processes(PROCESSES)
    context = object()
    answer = use(shop, lambda servers: servers.server("shop").call_tool("find", {"id": 3}, context), processes)
    assert processes.calls == [("scripts.shop.Find", [3, {"id": 3}, "shop"], context)]
    assert answer == {"content": [{"type": "text", "text": '[{"id":1}]'}], "isError": False}
    assert value_of(answer) == [{"id": 1}]


def test_a_tool_without_a_schema_is_given_all_its_arguments(shop: Path) -> None:
    processes = Processes(PROCESSES)
    answer = use(shop, lambda servers: servers.server("shop").call_tool("ping", {"a": 1}, None), processes)
    assert (processes.calls, value_of(answer)) == ([("scripts.shop.Ping", [{"a": 1}], None)], "pong")


def test_a_tool_that_throws_is_an_answer(shop: Path) -> None:
    answer = use(shop, lambda servers: servers.server("shop").call_tool("pay", {}, None), Processes(PROCESSES))
    assert answer == {
        "content": [{"type": "text", "text": "Error executing tool pay: no money"}],
        "isError": True,
    }


def test_arguments_that_break_the_schema_are_listed_and_the_process_is_not_called(shop: Path) -> None:
    processes = Processes(PROCESSES)
    with pytest.raises(ToolError) as error:
        use(shop, lambda servers: servers.server("shop").call_tool("find", {"id": 0, "state": "gone"}, None), processes)
    assert error.value.message == (
        'Cannot call tool "find" of MCP server shop: validation failed: '
        "id: 0 is less than the minimum of 1; state: 'gone' is not one of ['open', 'paid']"
    )
    assert (error.value.code, error.value.retryable, processes.calls) == (400, True, [])


def test_an_unknown_tool_is_named_with_the_closest(shop: Path) -> None:
    with pytest.raises(ToolError) as error:
        use(shop, lambda servers: servers.server("shop").call_tool("fnd", {}, None))
    assert (error.value.code, error.value.message, error.value.hint) == (
        404,
        'Cannot call tool "fnd" of MCP server shop: there is no such tool',
        'Did you mean "find"?',
    )


def test_resources_are_listed_and_read(shop: Path) -> None:
    processes = Processes(PROCESSES)

    async def action(servers: Any) -> Any:
        server = servers.server("shop")
        return [
            await server.list_resources(),
            await server.read_resource("orders://a%2Fb?page=2", "context"),
            await server.read_resource("about://shop", "context"),
        ]

    assert use(shop, action, processes) == [
        [{"uri": "about://shop", "name": "about"}, {"uri": "orders://{id}?page={page}", "name": "Order", "mimeType": "application/json"}],
        {"contents": [{"uri": "orders://a%2Fb?page=2", "mimeType": "application/json", "text": '{"id":"7"}'}]},
        {"contents": [{"uri": "about://shop", "text": "# Shop"}]},
    ]  # fmt: skip
    assert processes.calls == [
        ("scripts.shop.Order", ["a/b", "2", "orders://a%2Fb?page=2", {"page": "2", "id": "a/b"}, "2"], "context"),
        ("scripts.shop.About", ["about://shop"], "context"),
    ]


@pytest.mark.parametrize(
    ("uri", "code", "message"),
    [
        pytest.param("orders://7", 404, "there is no such resource", id="unknown"),
        pytest.param("shop://7", 404, "there is no such resource", id="another scheme"),
    ],
)  # fmt: skip
def test_a_resource_that_cannot_be_read_says_why(shop: Path, uri: str, code: int, message: str) -> None:
    with pytest.raises(ToolError) as error:
        use(shop, lambda servers: servers.server("shop").read_resource(uri, None))
    assert (error.value.code, error.value.message) == (
        code,
        f'Cannot read resource "{uri}" of MCP server shop: {message}',
    )


def test_a_resource_that_is_half_there_is_told_what_it_lacks(tmp_path: Path) -> None:
    """A process without a file that says its URI, and a file without a process."""
    resources = {"notes://all": "scripts.notes.All", "one": "scripts.notes.One", "bare": "scripts.notes.Bare"}
    folder = "mcps/mapping/notes/resources"
    files = {f"{folder}/one.res.yao": {"uri": "notes://1"}, f"{folder}/two.res.yao": {"uri": "notes://2"}}
    write(tmp_path, {"mcps/notes.mcp.yao": {"resources": resources}, **files})
    with pytest.raises(ToolError) as error:
        use(tmp_path, lambda servers: servers.server("notes").read_resource("notes://all", None))
    assert error.value.hint == (
        f'Its resources are notes://1. "notes://all" is not a resource: there is no {tmp_path}/{folder}/<name>.res.yao '
        f'with its "uri". "bare" is not a resource: there is no {tmp_path}/{folder}/bare.res.yao with its "uri". '
        f'{tmp_path}/{folder}/two.res.yao is not used: {tmp_path}/mcps/notes.mcp.yao has no "two" among its resources'
    )


@pytest.mark.parametrize(
    "text", ["10", "007", "1e3", "true", "false", "null", "", "12345678901234567890"], ids=lambda text: text or "empty"
)
def test_parameters_of_a_resource_are_texts_whatever_its_content_is(shop: Path, text: str) -> None:
    processes = Processes(PROCESSES)
    uri = f"orders://{text or '0'}?page={text}"

    use(shop, lambda servers: servers.server("shop").read_resource(uri, None), processes)

    id = text or "0"
    assert processes.calls == [("scripts.shop.Order", [id, text, uri, {"page": text, "id": id}, text], None)]


@pytest.mark.parametrize(
    "schema",
    [{"type": "array", "items": {"type": "object"}}, {"type": "string"}, {"type": ["object", "null"]}, {}],
    ids=["a list", "a text", "several", "anything"],
)
def test_a_schema_describes_any_content(tmp_path: Path, schema: Any) -> None:
    resource = {"uri": "orders://{id}", "schema": schema, "x-process-args": ["$uri.id"]}
    write(tmp_path, {**FILES, "mcps/mapping/shop/resources/order.res.yao": resource})
    processes = Processes(PROCESSES)

    use(tmp_path, lambda servers: servers.server("shop").read_resource("orders://7", None), processes)

    assert processes.calls == [("scripts.shop.Order", ["7"], None)]


def test_prompts_are_listed_and_filled_in(shop: Path) -> None:
    async def action(servers: Any) -> Any:
        server = servers.server("shop")
        return [
            await server.list_prompts(),
            await server.get_prompt("greet", {"name": "Ann", "mood": "glad"}),
            await server.get_prompt("short", {"word": "hi"}),
            await server.get_prompt("made", {}),
        ]

    assert use(shop, action, Processes(PROCESSES)) == [
        [
            {
                "name": "greet",
                "description": "Greets",
                "arguments": [{"name": "name", "required": True}, {"name": "mood"}, {"required": True}],
            },
            {"name": "short"},
            {"name": "made"},
        ],
        {
            "description": "Greets",
            "messages": [
                {"role": "assistant", "content": {"type": "text", "text": "I greet."}},
                {"role": "user", "content": {"type": "text", "text": "Greet Ann (glad)"}},
            ],
        },
        {"messages": [{"role": "user", "content": {"type": "text", "text": "Say hi"}}]},
        {"messages": [{"role": "user", "content": {"type": "text", "text": "Hello"}}]},
    ]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        pytest.param("greet", 'Cannot get prompt "greet" of MCP server shop: missing name', id="missing argument"),
        pytest.param("gret", 'Cannot get prompt "gret" of MCP server shop: there is no such prompt', id="unknown"),
    ],
)
def test_a_prompt_that_cannot_be_filled_in_says_why(shop: Path, name: str, message: str) -> None:
    with pytest.raises(ToolError) as error:
        use(shop, lambda servers: servers.server("shop").get_prompt(name, {"mood": "x"}))
    assert error.value.message == message


def test_samples_are_numbered(shop: Path) -> None:
    async def action(servers: Any) -> Any:
        server = servers.server("shop")
        return server.samples("tool", "find"), server.samples("tool", "ping"), server.samples("resource", "../x")

    assert use(shop, action) == (
        [
            {"name": "one", "input": {"id": 1}, "output": [], "index": 0},
            {"name": "", "input": {"id": 2}, "index": 1},
        ],
        [],
        [],
    )


def test_ids_are_the_paths_of_the_files(tmp_path: Path) -> None:
    definition = {"tools": {"t": "scripts.x.T"}}
    write(
        tmp_path,
        {
            "mcps/a.mcp.yao": definition,
            "mcps/deep/er/b.mcp.json": definition,
            "mcps/notes.json": "not one",
            "assistants/shop/package.yao": {"name": "Shop"},
            "assistants/shop/mcps/own.mcp.jsonc": definition,
            "assistants/shop/mcps/mapping/own/schemes/t.in.yao": {"description": "mapped"},
            "assistants/group/stock-room/package.yao": {"name": "Stock"},
            "assistants/group/stock-room/mcps/sub/c.mcp.yao": definition,
            "assistants/group/stock-room/mcps/mapping/sub/c/schemes/t.in.yao": {"description": "deeper"},
        },
    )

    async def action(servers: Any) -> Any:
        return {id: (await servers.server(id).list_tools())[0]["description"] for id in servers.ids()}

    assert use(tmp_path, action) == {
        "a": "",
        "deep.er.b": "",
        "agents.shop.own": "mapped",
        "agents.group.stock-room.sub.c": "deeper",
    }


DEFINITION = "mcps/shop.mcp.yao"
MAPPING = "mcps/mapping/shop"


@pytest.mark.parametrize(
    ("files", "id", "message", "hint"),
    [
        pytest.param({DEFINITION: SHOP}, "shp", "Cannot find MCP server shp; there are shop", 'Did you mean "shop"?', id="unknown server"),
        pytest.param({}, "shop", "Cannot find MCP server shop; the application has no MCP servers", None, id="no servers"),
        pytest.param({DEFINITION: '{"tools": {\n "a" "b"}}'}, "shop", f"Cannot read MCP server <app>/{DEFINITION}:2:6: Expecting ':' delimiter", "It must be JSON; comments and trailing commas are fine", id="broken file"),
        pytest.param({DEFINITION: []}, "shop", f"Cannot read MCP server <app>/{DEFINITION}: it is not an object", None, id="not an object"),
        pytest.param({DEFINITION: {"transport": "htp"}}, "shop", f'Cannot read MCP server <app>/{DEFINITION}: unknown transport "htp"', 'Did you mean "http"?', id="unknown transport"),
        pytest.param({DEFINITION: {"tools": ["a"]}}, "shop", f'Cannot read MCP server <app>/{DEFINITION}: "tools" is not an object of process names', 'Write it as "tools": {"<name>": "agents.<agent>.<module>.<Function>"}', id="tools as a list"),
        pytest.param({DEFINITION: {"transport": "http", "url": "$ENV.SHOP_URL"}}, "shop", f"Cannot read MCP server <app>/{DEFINITION}: the environment variable SHOP_URL is not set", "Set it, or add it to the application's .env file", id="missing variable"),
        pytest.param({DEFINITION: {"transport": "stdio"}}, "shop", f'Cannot read MCP server <app>/{DEFINITION}: transport stdio requires a "command"', None, id="no command"),
        pytest.param({DEFINITION: {"transport": "http", "url": "shop"}}, "shop", f'Cannot read MCP server <app>/{DEFINITION}: transport http needs a "url" with http(s)://', None, id="no url"),
        pytest.param({DEFINITION: {"transport": "http", "url": "http://x", "timeout": "soon"}}, "shop", f'Cannot read "timeout" of MCP server <app>/{DEFINITION} "soon": not a duration', "Write it as 500ms, 30s, 1m30s or 2h", id="bad timeout"),
        pytest.param({DEFINITION: SHOP, f"{MAPPING}/schemes/find.in.yao": "{"}, "shop", f"Cannot read tool schema <app>/{MAPPING}/schemes/find.in.yao:1:2: Expecting property name enclosed in double quotes", "It must be JSON; comments and trailing commas are fine", id="broken schema file"),
        pytest.param({DEFINITION: SHOP, f"{MAPPING}/schemes/find.in.yao": {"properties": {"id": {"type": "int"}}}}, "shop", f"Cannot read schema <app>/{MAPPING}/schemes/find.in.yao: invalid JSON Schema: properties.id.type: 'int' is not valid under any of the given schemas", None, id="invalid schema"),
        pytest.param({DEFINITION: SHOP, f"{MAPPING}/resources/order.res.yao": {}}, "shop", f'Cannot read resource <app>/{MAPPING}/resources/order.res.yao: it has no "uri"', None, id="resource without a URI"),
        pytest.param({DEFINITION: SHOP, f"{MAPPING}/prompts/p.pmt.yao": {}}, "shop", f'Cannot read prompt <app>/{MAPPING}/prompts/p.pmt.yao: it has neither "template" nor "messages"', None, id="empty prompt"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_named(tmp_path: Path, files: Any, id: str, message: str, hint: str | None) -> None:
    write(tmp_path, files)

    async def action(servers: Any) -> Any:
        return servers.server(id)

    with pytest.raises(ConfigurationError) as error:
        use(tmp_path, action)
    assert (error.value.message.replace(str(tmp_path), "<app>"), error.value.hint) == (message, hint)


def test_a_broken_sample_is_named_with_its_line(shop: Path) -> None:
    file = shop / "mcps/mapping/shop/schemes/find.jsonl"
    file.write_text('{"input": 1}\n{"input" 2}\n')

    async def action(servers: Any) -> Any:
        return servers.server("shop").samples("tool", "find")

    with pytest.raises(ConfigurationError) as error:
        use(shop, action)
    assert error.value.message == f"Cannot read samples {file}:2:10: Expecting ':' delimiter"


def test_a_sample_may_have_separators_of_lines_in_its_texts_and_nests_within_bounds(shop: Path) -> None:
    file = shop / "mcps/mapping/shop/schemes/find.jsonl"
    file.write_text('{"input": "one\u2028two"}\n', "utf-8")

    async def action(servers: Any) -> Any:
        return servers.server("shop").samples("tool", "find")

    assert [sample["input"] for sample in use(shop, action)] == ["one\u2028two"]
    file.write_text(f'{{"input": {"[" * 200_000}\n')
    with pytest.raises(ConfigurationError) as error:
        use(shop, action)
    assert error.value.message == f"Cannot read samples {file}:1: it is nested too deeply"
