"""Keys that occur twice in the other files that people write: the application's, and those of flags."""

from __future__ import annotations

import pytest
from agent_files import agent, case_file
from command import make_application


@pytest.fixture
def cases() -> dict[str, str]:
    return agent(cases=[{"id": "A", "input": "Hi"}])


FILES = {
    "package.yao": (
        "/assistants/demo/package.yao",
        '{\n  // which model\n  "connector": "scripted",\n  "connector": "other"\n}\n',
        'package.yao:4:3: "connector" is set twice, first at assistants/demo/package.yao:3:3',
    ),
    "deep in package.yao, with a comment between": (
        "/assistants/demo/package.yao",
        '{"connector": "scripted", "options": {"temperature": 1, /* "top_p": 1 */ "temperature": 0}}',
        'package.yao:1:74: "temperature" is set twice, first at assistants/demo/package.yao:1:39',
    ),
    "prompts.yml": (
        "/assistants/demo/prompts.yml",
        "- role: system\n  content: Be brief.\n  content: Be long.\n",
        'prompts.yml:3:3: "content" is set twice, first at assistants/demo/prompts.yml:2:3',
    ),
    "replies.yml": (
        "/assistants/demo/replies.yml",
        "- reply: Hello\n  when: {turn: 1}\n  reply: Bye\n",
        'replies.yml:3:3: "reply" is set twice, first at assistants/demo/replies.yml:1:3',
    ),
    "a context": (
        "/context.json",
        '{"locale": "de",\n "locale": "en"}',
        'context.json:2:2: "locale" is set twice, first at <app>/context.json:1:2',
    ),
    "a connector": (
        "/connectors/other.conn.yao",
        '{"type": "openai", "options": {"host": "https://a.example", "host": "https://b.example"}}',
        'other.conn.yao:1:61: "host" is set twice, first at <app>/connectors/other.conn.yao:1:32',
    ),
}


@pytest.mark.parametrize(("name", "text", "said"), FILES.values(), ids=FILES.keys())
def test_a_key_that_stands_twice_is_an_error_with_both_places(
    tmp_path_factory: pytest.TempPathFactory, cases: dict[str, str], name: str, text: str, said: str
) -> None:
    app = make_application(tmp_path_factory.mktemp("app"), {**cases, name: text})
    flags = {"/context.json": ["--ctx", "context.json"], "/connectors/other.conn.yao": ["-c", "other"]}
    run = app.run("-i", case_file(), *flags.get(name, []))
    assert run.code != 0
    assert said in run.stdout + run.stderr


def test_a_merged_key_may_be_overridden(tmp_path_factory: pytest.TempPathFactory, cases: dict[str, str]) -> None:
    replies = "- &base {reply: {text: Hello}, name: hello}\n- {<<: *base, name: other}\n"
    app = make_application(tmp_path_factory.mktemp("app"), {**cases, "/assistants/demo/replies.yml": replies})
    run = app.run("-i", case_file())
    assert "is set twice" not in run.stdout + run.stderr


def test_numbers_and_texts_are_different_keys_where_they_stay_so(tmp_path_factory: pytest.TempPathFactory) -> None:
    files = agent(cases=[{"id": "A", "input": "Hi", "assert": {"type": "contains", "value": "Hi"}}])
    replies = "- when: {metadata: {1: a, '1': b}}\n  reply: No\n- reply: Hi\n"
    app = make_application(tmp_path_factory.mktemp("app"), {**files, "/assistants/demo/replies.yml": replies})
    run = app.run("-i", case_file())
    assert "is set twice" not in run.stdout + run.stderr
