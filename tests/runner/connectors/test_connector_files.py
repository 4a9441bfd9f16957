"""Connector files, references to connectors, and what is wrong with either."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from runner.connectors.load import Connectors
from runner.errors import ConfigurationError

SECRET = "sk-secret-0123456789"


def make(root: Path, files: dict[str, Any], variables: dict[str, str] | None = None) -> Connectors:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return Connectors(root, variables or {})


def openai(**options: Any) -> dict[str, Any]:
    return {"label": "L", "type": "openai", "options": {"model": "m", **options}}


FILES = {
    "connectors/gpt.conn.yao": openai(),
    "connectors/openai/gpt-4.conn.yao": '// a comment\n{"type": "openai", "options": {"model": "gpt-4",},}',
    "connectors/a/b/claude.conn.json": {"type": "anthropic", "options": {"model": "claude"}},
    "connectors/server.conn.jsonc": {"type": "yao", "options": {"host": "https://yao.example.com"}},
    "connectors/fake.conn.yao": {"type": "scripted"},
    "connectors/db.conn.yao": {"type": "mysql", "options": {"db": "x"}},
    "connectors/embed.conn.yao": {"type": "fastembed"},
    "connectors/odd.conn.yao": {"type": "opanai"},
    "connectors/broken.conn.yao": '{\n  "type": "openai",\n  oops\n}',
    "connectors/notes.txt": "not a connector",
}


def test_models_are_found_by_dotted_id(tmp_path: Path) -> None:
    connectors = make(tmp_path, FILES)
    ids = ["a.b.claude", "fake", "gpt", "openai.gpt-4", "scripted", "server"]
    assert connectors.ids() == ids
    assert {id: (type(connectors.get(id)).__name__, connectors.get(id).id) for id in ids} == {
        "a.b.claude": ("AnthropicConnector", "a.b.claude"),
        "fake": ("ScriptedConnector", "fake"),
        "gpt": ("OpenAIConnector", "gpt"),
        "openai.gpt-4": ("OpenAIConnector", "openai.gpt-4"),
        "scripted": ("ScriptedConnector", "scripted"),
        "server": ("YaoConnector", "server"),
    }
    asyncio.run(connectors.close())


def test_a_connector_is_made_once(tmp_path: Path) -> None:
    connectors = make(tmp_path, FILES)
    assert connectors.get("gpt") is connectors.get("gpt")


def test_an_application_without_connectors_has_the_scripted_one(tmp_path: Path) -> None:
    connectors = make(tmp_path, {})
    assert connectors.ids() == ["scripted"]
    assert connectors.get("scripted").id == "scripted"


AGENT = """
system: {default: gpt, light: $ENV.LIGHT, vision: "use::light", "": x}
uses: {default: neo, audio: openai.gpt-4, search: workers.search}
"""


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("gpt", "gpt"),
        ("$ENV.LIGHT", "openai.gpt-4"),
        ("$ENV.ROLE", "openai.gpt-4"),
        ("", "gpt"),
        (None, "gpt"),
        ("use::default", "gpt"),
        ("use::light", "openai.gpt-4"),
        ("use::audio", "openai.gpt-4"),
        ("use::search", "gpt"),
        ("use::heavy", "gpt"),
    ],
)
def test_references_are_resolved(tmp_path: Path, reference: str | None, expected: str) -> None:
    connectors = make(tmp_path, {**FILES, "agent/agent.yml": AGENT}, {"LIGHT": "openai.gpt-4", "ROLE": "use::light"})
    assert connectors.resolve(reference) == expected


@pytest.mark.parametrize(
    ("reference", "files", "message", "hint"),
    [
        (
            "$ENV.NONE",
            {},
            "Cannot resolve connector $ENV.NONE: the environment variable NONE is not set",
            "Set NONE in the environment or in .env to the id of a connector, or name one with -c",
        ),
        (
            "",
            {"connectors/gpt.conn.yao": openai()},
            'Cannot resolve the connector of role "default": agent/agent.yml names none under system.default',
            "Add it, set connector in package.yao, or name one with -c: gpt, scripted",
        ),
        (
            "",
            {"connectors/gpt.conn.yao": openai(), "agent/agent.yml": "uses: {default: [gpt]}"},
            'Cannot resolve the connector of role "default": agent/agent.yml names none under system.default',
            "Add it, set connector in package.yao, or name one with -c: gpt, scripted",
        ),
        (
            "use::vision",
            {"agent/agent.yml": "system: {vision: 'use::light', light: $ENV.LOOP}"},
            "Cannot resolve connector use::vision: it refers to itself,"
            " use::vision -> use::light -> $ENV.LOOP -> use::vision",
            None,
        ),
        (
            "use::x",
            {"agent/agent.yml": "system:\n\t- a"},
            "Cannot read agent settings <root>/agent/agent.yml:2:1: a tab, or another character that cannot start a value, is here; indent YAML with spaces, and quote strings that begin with @ or `",
            "It must be YAML",
        ),
    ],
    ids=["variable", "no role", "a list", "circle", "broken file"],
)
def test_a_reference_that_leads_nowhere_is_an_error(
    tmp_path: Path, reference: str, files: dict[str, Any], message: str, hint: str | None
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        make(tmp_path, files, {"LOOP": "use::vision"}).resolve(reference)
    assert (caught.value.message.replace(str(tmp_path), "<root>"), caught.value.hint) == (message, hint)


@pytest.mark.parametrize(
    ("id", "message", "hint"),
    [
        ("openai.gpt4", "Cannot find connector \"openai.gpt4\": no such file below <root>/connectors", 'Did you mean "openai.gpt-4"?'),
        ("zzz", 'Cannot find connector "zzz": no such file below <root>/connectors', "There are: a.b.claude, fake, gpt, openai.gpt-4, scripted, server"),
        ("db", 'Cannot use connector "db" from connectors/db.conn.yao: it is not a model: mysql is a database', "Model connectors: a.b.claude, fake, gpt, openai.gpt-4, scripted, server"),
        ("odd", 'Cannot use connector "odd" from connectors/odd.conn.yao: unknown type "opanai"', 'Did you mean "openai"?'),
        ("broken", "Cannot read connector file <root>/connectors/broken.conn.yao:3:3: Expecting property name enclosed in double quotes", "It must be JSON; comments and trailing commas are fine"),
    ],
)  # fmt: skip
def test_an_id_that_is_no_model_is_an_error(tmp_path: Path, id: str, message: str, hint: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        make(tmp_path, FILES).get(id)
    assert (caught.value.message.replace(str(tmp_path), "<root>"), caught.value.hint) == (message, hint)


START = 'Cannot use connector "x" from connectors/x.conn.yao: '


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "it must contain an object"),
        ({"options": {}}, "type must be a string"),
        ({"type": "openai", "options": []}, "options must be an object"),
        ({"type": "openai"}, "options.model is missing"),
        ({"type": "yao"}, "options.host is missing"),
        (openai(model=4), "options.model must be a string"),
        (openai(max_tokens=True), "options.max_tokens must be a whole number"),
        (openai(max_concurrency=0), "options.max_concurrency must be a whole number above 0"),
        (openai(requests_per_minute=-1), "options.requests_per_minute must be a number above 0"),
        (openai(retries=-1), "options.retries must be a whole number from 0"),
        (openai(host="api.example.com"), "options.host must be a URL"),
        (openai(proxy="https://:80"), "options.host must be a URL"),
        (openai(auth_mode="basic"), "auth_mode must be one of bearer, api-key, x-api-key"),
        ({**openai(), "auth_mode": "basic"}, "auth_mode must be one of bearer, api-key, x-api-key"),
        (openai(price={"input": "1"}), "options.price.input cannot be used"),
        (openai(price={"input": 1, "output": -2}), "options.price.output cannot be used"),
        (openai(key="a\nb"), "options.key contains characters that keys cannot have, such as a line break"),
        (openai(key="$ENV.KEY"), "the environment variable KEY, which options.key names, is not set"),
        (openai(key="$ENV.EMPTY"), "the environment variable EMPTY, which options.key names, is empty"),
        (openai(host="$ENV.SECRET"), "options.host must be a URL"),
    ],
)
def test_a_wrong_field_is_named_and_no_value_shown(tmp_path: Path, content: Any, message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        make(tmp_path, {"connectors/x.conn.yao": content}, {"EMPTY": " ", "SECRET": SECRET}).get("x")
    assert caught.value.message == START + message
    assert SECRET not in caught.value.message + str(caught.value.hint)


def test_a_missing_key_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        make(tmp_path, {"connectors/x.conn.yao": openai(key="$ENV.KEY")}).get("x")
    assert caught.value.hint == (
        "Set KEY in the environment or in .env, edit connectors/x.conn.yao, or test offline with -c scripted"
    )


def test_looking_for_connectors_loads_no_http_client() -> None:
    import subprocess
    import sys

    code = (
        "import sys; from pathlib import Path; from runner.connectors.load import Connectors\n"
        "Connectors(Path('.'), {}).ids(); print(sorted({'httpx', 'asyncio', 'yaml'} & sys.modules.keys()))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"


DOCUMENT = Path(__file__).parents[3] / "docs/connectors.md"
EXAMPLES = re.findall(r"```json\n(.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example_in_the_documentation_is_a_connector(tmp_path: Path, number: int) -> None:
    variables = dict.fromkeys(re.findall(r"\$ENV\.(\w+)", EXAMPLES[number]), SECRET)
    connectors = make(tmp_path, {"connectors/x.conn.yao": EXAMPLES[number]}, variables)
    assert connectors.get("x").id == "x"


def test_the_documentation_has_an_example_of_each_type_over_http() -> None:
    assert {json.loads(example)["type"] for example in EXAMPLES} == {"openai", "anthropic", "yao"}
