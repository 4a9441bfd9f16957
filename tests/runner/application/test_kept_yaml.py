"""What a YAML file says is kept for later runs, which use it while the text is the same and nobody else can have put it
there."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from agent_files import agent
from command import MakeApplication

from runner.application.documents import read_yaml
from runner.application.kept_yaml import KeptYaml
from runner.errors import ConfigurationError
from scripttest.shortcuts import PLAIN

VALUES = {
    "texts": "- role: system\n  content: |\n    Grüße\n    yes\n- content: on\n",
    "numbers": "a: 1\nb: 1.5\nc: true\nd: null\ne: [1_000, '2', 2024-01-01]\n",
    "aliases": "base: &base {x: 1}\ncopy: *base\nmerged: {<<: *base, y: 2}\n",
    "a key that is no text": "2: one\ntrue: two\n",
    "nothing": "",
}


def said(folder: Path, text: str) -> tuple[Any, bool]:
    """The value of a text, and whether it was known without reading."""
    asked: list[Any] = []
    path = folder.parent / "prompts.yml"

    def read() -> Any:
        path.write_text(text)
        asked.append(read_yaml(path, "prompts"))
        return asked[0]

    return KeptYaml(folder).value(text, read), not asked


@pytest.mark.parametrize("name", VALUES)
def test_a_value_is_kept_as_it_was_read(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "cache/yaml"
    folder.parent.mkdir()
    first, was_kept = said(folder, VALUES[name])
    assert not was_kept
    again, was_kept = said(folder, VALUES[name])
    assert was_kept
    assert repr(again) == repr(first)


def test_another_text_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "cache/yaml"
    folder.parent.mkdir()
    assert said(folder, "a: 1\n") == ({"a": 1}, False)
    assert said(folder, "a: 2\n") == ({"a": 2}, False)
    (kept,) = [file for file in folder.iterdir() if b"\x02\x00\x00\x00" in file.read_bytes()]
    for other in folder.iterdir():
        other.write_bytes(kept.read_bytes())  # as if both texts had the same file
    assert said(folder, "a: 1\n") == ({"a": 1}, False)


def test_what_is_damaged_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "cache/yaml"
    folder.parent.mkdir()
    said(folder, "a: 1\n")
    (file,) = folder.iterdir()
    for content in (b"", b"no marshal", file.read_bytes()[:-3]):
        file.write_bytes(content)
        assert said(folder, "a: 1\n") == ({"a": 1}, False)
        assert said(folder, "a: 1\n") == ({"a": 1}, True)


def test_nothing_is_used_from_a_folder_that_others_can_write(tmp_path: Path) -> None:
    folder = tmp_path / "cache/yaml"
    folder.parent.mkdir()
    said(folder, "a: 1\n")
    folder.chmod(0o777)
    assert said(folder, "a: 1\n") == ({"a": 1}, False)


def test_the_plain_way_reads_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "cache/yaml"
    folder.parent.mkdir()
    said(folder, "a: 1\n")
    monkeypatch.setenv(PLAIN, "yaml")
    assert said(folder, "a: 1\n") == ({"a": 1}, False)


def test_a_mistake_is_said_each_time(tmp_path: Path) -> None:
    folder = tmp_path / "cache/yaml"
    folder.parent.mkdir()
    for _ in range(2):
        with pytest.raises(ConfigurationError, match=r"prompts\.yml:2:1"):
            said(folder, "a: 1\na: 2\n")


def test_prompts_that_change_between_runs_are_those_that_are_sent(app: MakeApplication) -> None:
    replies = '- reply: "{{ messages.0.content }}"\n'
    application = app(agent(replies=replies, cases=[{"id": "a", "input": "hi"}]))
    sent = []
    for text in ("one", "one", "two", "one"):
        application.write({"/assistants/demo/prompts.yml": f"- role: system\n  content: {text}\n"})
        application.run("-i", "assistants/demo/tests/cases.jsonl", "-o", "r.json")
        sent.append(json.loads((application.root / "r.json").read_text())["results"][0]["output"])
    assert sent == ["one", "one", "two", "one"]
    kept = [len(os.listdir(folder)) for folder in application.home.rglob("yaml")]
    assert kept == [3]  # two prompts and the replies


def test_replies_that_change_between_runs_are_those_that_answer(app: MakeApplication) -> None:
    application = app(agent(cases=[{"id": "a", "input": "hi"}]))
    answered = []
    for text in ("one", "one", "two"):
        application.write({"/assistants/demo/replies.yml": f"- reply: {text}\n"})
        application.run("-i", "assistants/demo/tests/cases.jsonl", "-o", "r.json")
        answered.append(json.loads((application.root / "r.json").read_text())["results"][0]["output"])
    assert answered == ["one", "one", "two"]
    application.write({"/assistants/demo/replies.yml": "- rply: two\n"})
    said = application.run("-i", "assistants/demo/tests/cases.jsonl").stdout
    assert "replies.yml:1" in said
    assert "rply" in said


@pytest.mark.parametrize("flags", [["--no-writes"], ["--require-trust"]])
def test_nothing_is_kept_where_nothing_may_be_written_or_files_need_approval(
    app: MakeApplication, flags: list[str]
) -> None:
    application = app(agent(cases=[{"id": "a", "input": "hi"}]))
    application.run("-i", "assistants/demo/tests/cases.jsonl", *flags)
    assert not [*application.home.rglob("yaml")]
