"""The search of an agent before its model is asked, and images for models that do not see."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from agent_files import agent, errors, run_cases, server
from command import Application, MakeApplication
from model_server import ModelServer
from sample_agents import connector

ECHO = '- reply: "{{ messages }}"'
FERRY = {"title": "Timetable", "content": "The ferry leaves at nine", "url": "https://ferry.example"}
WEB = '<ref id="1" type="web" weight="0.6" source="auto">\nTimetable\nThe ferry leaves at nine\nURL: https://ferry.example\n</ref>'


def case(**more: Any) -> dict[str, Any]:
    return {"id": "a", "input": "When does the ferry leave?", **more}


def sent(app: MakeApplication, files: dict[str, str], **more: Any) -> list[dict[str, Any]]:
    """The messages that reached the model."""
    text = files | {"/assistants/demo/tests/cases.jsonl": json.dumps(case(**more)) + "\n"}
    (record,) = run_cases(app(text)).values()
    return json.loads(record["output"])


ASKING = {
    "Create": ({}, "function Create() { return { search: true } }", {}),
    "Create with types": (
        {},
        "function Create() { return { search: { need_search: true, search_types: ['web'] } } }",
        {},
    ),
    "Create over disabled": ({"uses": {"search": "disabled"}}, "function Create() { return { search: true } }", {}),
    "uses": ({"uses": {"search": "builtin"}}, None, {}),
    "uses of Create": ({}, "function Create() { return { uses: { search: 'builtin' } } }", {}),
    "search": ({"search": {"web": {"max_results": 3}}}, None, {}),
    "options of the case": ({}, None, {"options": {"search": True}}),
    "the deciding agent": (
        {"uses": {"search": "builtin"}},
        None,
        {"agent": {"__yao.needsearch": {"data": {"need_search": True, "search_types": ["web"]}}}},
    ),
}


@pytest.mark.parametrize(("package", "hooks", "more"), ASKING.values(), ids=ASKING.keys())
@pytest.mark.parametrize("search", [[FERRY], {"web": [FERRY]}], ids=["list", "object"])
def test_references_reach_the_model_before_the_conversation(
    app: MakeApplication, package: Any, hooks: str | None, more: dict[str, Any], search: Any
) -> None:
    options = {"options": more["options"]} if "options" in more else {}
    mocks = {"search": search, **({"agent": more["agent"]} if "agent" in more else {})}

    prompt, reference, said = sent(app, agent(package=package, hooks=hooks, replies=ECHO), mocks=mocks, **options)

    assert (prompt["content"], said["content"]) == ("Be brief.", "When does the ferry leave?")
    assert reference["role"] == "system"
    assert reference["content"].endswith(f"\n\n<references>\n{WEB}\n</references>")


QUIET = {
    "plain": ({}, None, {}),
    "disabled": ({"uses": {"search": "disabled"}, "search": {"web": {}}}, None, {}),
    "Create says no": ({"uses": {"search": "builtin"}}, "function Create() { return { search: false } }", {}),
    "Create without a need": ({}, "function Create() { return { search: { need_search: false } } }", {}),
    "the call skips it": ({"uses": {"search": "builtin"}}, None, {"options": {"skip": {"search": True}}}),
    "metadata": ({"uses": {"search": "builtin"}}, None, {"metadata": {"__disable_search": True}}),
    "the deciding agent": (
        {"uses": {"search": "builtin"}},
        None,
        {"mocks": {"agent": {"__yao.needsearch": {"data": {"need_search": False}}}}},
    ),
    "the application": ({"search": {"web": {}}}, None, {}),
}


@pytest.mark.parametrize("name", QUIET)
def test_an_agent_that_does_not_search_needs_nothing(app: MakeApplication, name: str) -> None:
    package, hooks, more = QUIET[name]
    settings = {"/agent/agent.yml": "uses: { search: disabled }\n"} if name == "the application" else {}
    files = {**agent(package=package, hooks=hooks, replies=ECHO, cases=[case(**more)]), **settings}

    (record,) = run_cases(app(files), "--strict", code=0).values()

    assert [message["role"] for message in json.loads(record["output"])] == ["system", "user"]


def test_a_search_that_nothing_answers_is_named_and_fails_strict_runs(app: MakeApplication) -> None:
    package = {"uses": {"search": "builtin"}, "kb": {"collections": ["manuals"]}}
    application = app(agent(package=package, cases=[case()]))

    (record,) = run_cases(application, code=0).values()
    strict = errors(application, "--strict")["a"]
    application.run("-i", "assistants/demo/tests/cases.jsonl")  # whose report, beside the cases, names mocks.search
    doctor = application.run("doctor").stdout

    assert [call["call"] for call in record["outside"] if call["answered"] == "missing"] == ["search.Web", "search.KB"]
    assert strict == (
        "Nothing answered search.Web: demo searches before its model is called, and nothing here answers the search. "
        'Provide references with mocks: {"search": [{"title": ..., "content": ..., "url": ...}]}'
    )
    assert "missing  mock  search.KB" in doctor and "missing  mock  search.Web" in doctor


def test_a_search_of_rows_and_fixtures_finds_them(app: MakeApplication) -> None:
    package = {"search": {"web": {}}, "kb": {"collections": ["manuals"]}, "db": {"models": ["boat"]}}
    model = {
        "name": "Boat",
        "table": {"name": "boat"},
        "columns": [{"name": "id", "type": "ID"}, {"name": "name", "type": "string"}],
    }
    files = {
        **agent(package=package, replies=ECHO),
        "/models/boat.mod.yao": json.dumps(model),
        "/assistants/demo/tests/fixtures/manuals.jsonl": '{"title": "Manual", "content": "Row"}\n',
        "/assistants/demo/tests/fixtures/boats.jsonl": '{"model": "boat", "row": {"name": "Ada"}}\n',
    }

    content = sent(app, files, mocks={"search": {"web": []}}, fixtures=["boats"])[1]["content"]

    assert '<ref id="1" type="kb" weight="0.6" source="auto">\nManual\nRow\n</ref>' in content
    assert '<ref id="2" type="db" weight="0.6" source="auto">\nboat\n{"id": 1, "name": "Ada"}\n</ref>' in content


@pytest.mark.parametrize("web", ["finder", "mcp:desk.find"])
def test_what_uses_web_names_is_asked(app: MakeApplication, web: str) -> None:
    find = f"const items = [{json.dumps(FERRY)}];\n"
    files = {
        **agent(package={"uses": {"search": "builtin", "web": web}}, replies=ECHO),
        **agent(
            "finder",
            prompts=None,
            replies=None,
            hooks=find
            + "function Next(ctx, { messages }) { return { data: JSON.parse(messages[0].content).type === 'web' ? { items } : {} } }",
        ),
        **server("desk", {"find": "scripts.desk.Find"}),
        "/scripts/desk.ts": find + "function Find(asked) { return { items } }",
        "/mcps/mapping/desk/schemes/find.in.yao": '{"type": "object", "properties": {}, "x-process-args": [":arguments"]}',
    }

    assert WEB in sent(app, files)[1]["content"]


@pytest.mark.parametrize(("web", "call"), [("mcp:gone.find", "mcp.gone.find"), ("mcp:find", "uses.web")])
def test_a_tool_for_searches_that_does_not_exist_is_named(app: MakeApplication, web: str, call: str) -> None:
    application = app(agent(package={"uses": {"search": "builtin", "web": web}}, cases=[case()]))

    (record,) = run_cases(application, code=0).values()

    assert [item["call"] for item in record["outside"] if item["answered"] == "missing"] == [call]
    assert (errors(application, "--strict")["a"] or "").startswith(f"Nothing answered {call}: ")


def test_types_of_a_search_that_are_no_list_are_none(app: MakeApplication) -> None:
    hooks = "function Create() { return { search: { need_search: true, search_types: 5 } } }"

    assert WEB in sent(app, agent(hooks=hooks, replies=ECHO), mocks={"search": [FERRY]})[1]["content"]


def test_hooks_find_what_the_case_gives_too(app: MakeApplication) -> None:
    hooks = "function Next(ctx) { return { data: ctx.search.Web('ferry').items[0].title } }"
    application = app(agent(hooks=hooks, cases=[case(mocks={"search": [FERRY]})]))

    assert run_cases(application)["a"]["output"] == "Timetable"


# Images

IMAGE = {
    "role": "user",
    "content": [{"type": "text", "text": "What is this?"}, {"type": "image", "source": "file://boat.png"}],
}
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNkYPhfDwAChAGAZM0fHQAAAABJRU5ErkJggg=="


SEEN = [{"type": "text", "text": "What is this?"}, {"type": "text", "text": "a yellow boat"}]
FAILED = [{"type": "text", "text": "What is this?"}, {"type": "text", "text": "[Image content could not be processed]"}]
PAINTER = agent("painter", replies="- when: { input: Please analyze this image. }\n  reply: a yellow boat")
DESK = {
    **server("desk", {"describe_image": "scripts.desk.Describe"}),
    "/scripts/desk.ts": "function Describe({ image, content_type }) { return content_type + image.slice(0, 15) }",
    "/mcps/mapping/desk/schemes/describe_image.in.yao": '{"type": "object", "properties": {}, "x-process-args": [":arguments"]}',
}
LOOKING = {
    "an agent": ({"vision": "painter"}, PAINTER, SEEN),
    "a tool": ({"vision": "mcp:desk"}, DESK, [SEEN[0], {"type": "text", "text": "image/pngdata:image/png;"}]),
    "an agent that fails": (
        {"vision": "painter"},
        agent("painter", hooks="function Create() { throw Error('no') }"),
        FAILED,
    ),
    "no agent": ({"vision": "nobody"}, {}, FAILED),
}


@pytest.fixture
def blind(app: MakeApplication) -> Iterator[tuple[ModelServer, Callable[..., Application]]]:
    """A host of a model that does not see, and what makes an application of an agent that asks it."""
    with ModelServer() as host:

        def made(uses: dict[str, str], files: dict[str, str], vision: bool = False, **more: Any) -> Application:
            package = {"connector": "blind", "uses": uses}
            application = app(
                {
                    **agent(package=package, replies=None, cases=[{"id": "a", "input": IMAGE}], **more),
                    "/connectors/blind.conn.yao": connector(
                        host, "m", key="k", capabilities={"vision": vision, "tool_calls": True}
                    ),
                    **files,
                }
            )
            (application.root / "assistants/demo/tests/boat.png").write_bytes(b64decode(PNG))
            return application

        yield host, made


@pytest.mark.parametrize(("uses", "files", "said"), LOOKING.values(), ids=LOOKING.keys())
def test_words_take_the_place_of_an_image_for_a_model_that_does_not_see(
    blind: Any, uses: dict[str, str], files: dict[str, str], said: list[Any]
) -> None:
    host, made = blind

    run_cases(made(uses, files), code=0)

    assert host.requests[-1].body["messages"][-1]["content"] == said


def test_a_tool_for_images_that_does_not_exist_is_named(blind: Any) -> None:
    _, made = blind

    (record,) = run_cases(made({"vision": "mcp:gone"}, {}), code=0).values()

    missing = [call["call"] for call in record["outside"] if call["answered"] == "missing"]
    assert missing == ["mcp.gone.describe_image"]


def test_without_anybody_who_looks_a_placeholder_is_sent_and_named(blind: Any) -> None:
    host, made = blind
    application = made({}, {})

    (record,) = run_cases(application, code=0).values()

    text = host.requests[-1].body["messages"][-1]["content"][1]["text"]
    assert text == "[Image content - vision model not available]"
    assert [call["call"] for call in record["outside"] if call["answered"] == "missing"] == ["uses.vision"]
    assert (errors(application, "--strict")["a"] or "").startswith("Nothing answered uses.vision: the model of blind")


def test_a_model_that_sees_gets_the_image_unless_the_hook_says_otherwise(blind: Any) -> None:
    host, made = blind

    run_cases(made({"vision": "painter"}, PAINTER, vision=True), code=0)
    assert host.requests[-1].body["messages"][-1]["content"][1]["type"] == "image_url"

    forced = "function Create() { return { force_uses: true } }"
    run_cases(made({"vision": "painter"}, PAINTER, vision=True, hooks=forced), code=0)
    assert host.requests[-1].body["messages"][-1]["content"] == SEEN


ODD = {"temperature": "hot", "top_p": 0.5, "colour": "red", "max_tokens": 100}


def test_options_of_a_package_that_have_no_effect_are_named(app: MakeApplication) -> None:
    (record,) = run_cases(app(agent(package={"options": ODD}, cases=[case()]))).values()

    assert record["logs"] == [
        'demo: options.temperature of package.yao has the wrong type, "hot", and no effect, as in Yao',
        "demo: options.colour of package.yao is not a model option and has no effect, as in Yao",
    ]


@pytest.mark.parametrize(
    ("key", "value"), [("uses", "web"), ("uses", {"search": False}), ("search", []), ("kb", {"collections": "manuals"})]
)
def test_a_setting_of_a_wrong_type_is_named(app: MakeApplication, key: str, value: Any) -> None:
    result = app(agent(package={key: value}, cases=[case()])).run("-i", "assistants/demo/tests/cases.jsonl")

    assert (result.code, f'"{key}' in result.stdout + result.stderr) == (1, True), result
