"""What a case says to its agent, attachments included."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from case_files import read

from runner.cases.messages import input_of, messages_of
from runner.cases.model import Case
from runner.errors import ConfigurationError

PNG = b"\x89PNG\r\n\x1a\n rest"
PNG_URL = f"data:image/png;base64,{b64encode(PNG).decode()}"
IMAGE_PART = {"type": "image_url", "image_url": {"url": PNG_URL, "detail": "auto"}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {
        "app.yao": b"{}",
        "tests/r.png": PNG,
        "shared/R.PNG": PNG,
        "tests/a.mp3": b"ID3",
        "tests/n.ts": b"let a",
        "tests/n.bin": b"\0",
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    return tmp_path / "tests"


def said(folder: Path, **fields: Any) -> list[dict[str, Any]]:
    return messages_of(Case.model_validate({"id": "A", **fields}), folder)


SAID: dict[str, tuple[dict[str, Any], list[dict[str, Any]]]] = {
    "text": ({"input": "Hi"}, [{"role": "user", "content": "Hi"}]),
    "message": ({"input": {"role": "system", "content": "Hi"}}, [{"role": "system", "content": "Hi"}]),
    "role is user by default": ({"input": {"content": "Hi"}}, [{"role": "user", "content": "Hi"}]),
    "conversation": (
        {"input": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]},
        [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}],
    ),
    "messages win": ({"input": "Hi", "messages": [{"content": "Ho"}]}, [{"role": "user", "content": "Ho"}]),
    "further fields": (
        {"messages": [{"role": "tool", "content": "4", "tool_call_id": "c1", "x-note": "mine"}]},
        [{"role": "tool", "content": "4", "tool_call_id": "c1"}],
    ),
    "arguments become text": (
        {
            "messages": [
                {
                    "role": "assistant",
                    "tool_calls": [
                        {"id": "c1", "type": "function", "function": {"name": "f", "arguments": {"a": "é"}}}
                    ],
                }
            ]
        },
        [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": "é"}'}}],
            }
        ],
    ),
}


@pytest.mark.parametrize(("fields", "messages"), SAID.values(), ids=SAID.keys())
def test_what_is_said(folder: Path, fields: dict[str, Any], messages: list[dict[str, Any]]) -> None:
    assert said(folder, **fields) == messages


PARTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "text": ({"type": "text", "text": "a"}, {"type": "text", "text": "a"}),
    "image": ({"type": "image", "source": "file://./r.png"}, IMAGE_PART),
    "image elsewhere": ({"type": "image", "source": "file://../shared/R.PNG"}, IMAGE_PART),
    "image by url": (
        {"type": "image", "url": "https://h/a", "detail": "low"},
        {"type": "image_url", "image_url": {"url": "https://h/a", "detail": "low"}},
    ),
    "image_url stays": (
        {"type": "image_url", "image_url": {"url": "https://h/a.png"}},
        {"type": "image_url", "image_url": {"url": "https://h/a.png"}},
    ),
    "audio": (
        {"type": "audio", "source": "file://a.mp3"},
        {"type": "input_audio", "input_audio": {"data": "SUQz", "format": "mp3"}},
    ),
    "audio as data": (
        {"type": "audio", "data": "SUQz", "format": "mp3"},
        {"type": "input_audio", "input_audio": {"data": "SUQz", "format": "mp3"}},
    ),
    "input_audio stays": (
        {"type": "input_audio", "input_audio": {"data": "SUQz", "format": "mp3"}},
        {"type": "input_audio", "input_audio": {"data": "SUQz", "format": "mp3"}},
    ),
    "file": (
        {"type": "file", "source": "file://n.ts"},
        {"type": "file", "file": {"url": "data:text/plain;base64,bGV0IGE=", "filename": "n.ts"}},
    ),
    "file with a name": (
        {"type": "file", "source": "file://n.bin", "name": "notes"},
        {"type": "file", "file": {"url": "data:application/octet-stream;base64,AA==", "filename": "notes"}},
    ),
    **{
        f"file elsewhere, its name {key} {where}": (
            {
                "type": "file",
                **(
                    {"file": {"url": "https://h/1", key: "o.pdf"}}
                    if where == "within"
                    else {"url": "https://h/1", key: "o.pdf"}
                ),
            },
            {"type": "file", "file": {"url": "https://h/1", "filename": "o.pdf"}},
        )
        for key in ("name", "filename")
        for where in ("within", "beside")
    },
    "file within": (
        {"type": "file", "file": {"url": "file://n.ts"}},
        {"type": "file", "file": {"url": "data:text/plain;base64,bGV0IGE=", "filename": "n.ts"}},
    ),
    "data stays": ({"type": "data", "data": {"sources": []}}, {"type": "data", "data": {"sources": []}}),
}


@pytest.mark.parametrize(("part", "sent"), PARTS.values(), ids=PARTS.keys())
@pytest.mark.parametrize("in_list", [True, False], ids=["in a list", "alone"])
def test_parts_are_sent_as_models_take_them(
    folder: Path, part: dict[str, Any], sent: dict[str, Any], in_list: bool
) -> None:
    content = [part] if in_list else part
    assert said(folder, input={"content": content}) == [{"role": "user", "content": [sent]}]


@pytest.mark.parametrize("part", [part for part, _ in PARTS.values()], ids=PARTS.keys())
def test_the_check_of_a_file_accepts_what_can_be_sent(folder: Path, part: dict[str, Any]) -> None:
    import json

    assert read(folder, json.dumps({"id": "A", "input": "Hi", "attachments": [part]})).total == 1


def test_attachments_join_the_last_message_of_the_user(folder: Path) -> None:
    attachment = {"type": "image", "source": "file://r.png"}
    messages = [{"content": "a"}, {"content": "look"}, {"role": "assistant", "content": "b"}]
    assert said(folder, messages=messages, attachments=[attachment]) == [
        {"role": "user", "content": "a"},
        {"role": "user", "content": [{"type": "text", "text": "look"}, IMAGE_PART]},
        {"role": "assistant", "content": "b"},
    ]
    parts = [{"type": "text", "text": "look"}]
    assert said(folder, input={"content": parts}, attachments=[attachment])[0]["content"] == [*parts, IMAGE_PART]


def test_messages_are_new_at_each_call(folder: Path) -> None:
    case = Case.model_validate({"id": "A", "input": "Hi", "attachments": [{"type": "text", "text": "b"}]})
    messages_of(case, folder)[0]["content"].append("changed")
    assert messages_of(case, folder)[0]["content"] == [{"type": "text", "text": "Hi"}, {"type": "text", "text": "b"}]


def test_a_file_that_has_gone_since_the_check_is_an_error(folder: Path) -> None:
    case = Case.model_validate({"id": "A", "input": "Hi", "attachments": [{"type": "file", "source": "file://gone"}]})
    with pytest.raises(ConfigurationError) as caught:
        messages_of(case, folder)
    assert caught.value.message == f"Cannot read attachment {folder}/gone: No such file or directory"


@pytest.mark.parametrize(
    "fields",
    [{"input": "Hi"}, {"input": {"content": "Hi"}}, {"input": [{"content": [{"type": "image", "url": "https://h"}]}]}],
    ids=["text", "message", "messages"],
)
def test_the_input_is_kept_as_written(fields: dict[str, Any]) -> None:
    assert input_of(Case.model_validate({"id": "A", **fields})) == fields["input"]
    if isinstance(fields["input"], list):
        assert input_of(Case.model_validate({"id": "A", "messages": fields["input"]})) == fields["input"]


OFFICE = "application/vnd.openxmlformats-officedocument."
TYPES = {
    "a.docx": OFFICE + "wordprocessingml.document",
    "A.XLSX": OFFICE + "spreadsheetml.sheet",
    "a.pptx": OFFICE + "presentationml.presentation",
    "a.ppt": "application/vnd.ms-powerpoint",
    "a.odt": "application/vnd.oasis.opendocument.text",
    "a.md": "text/markdown",
    "a.ts": "text/plain",
    "a.csv": "text/csv",
    "a.webp": "image/webp",
    "a.wav": "audio/wav",
    "a.flac": "audio/flac",
    "a.ogg": "audio/ogg",
    "a.m4a": "audio/mp4",
    "a.unknown": "application/octet-stream",
}


@pytest.mark.parametrize(("name", "kind"), TYPES.items())
def test_the_type_of_a_file_follows_from_its_extension(folder: Path, name: str, kind: str) -> None:
    (folder / name).write_text("a")

    (message,) = said(folder, input={"content": {"type": "file", "source": f"file://{name}"}})

    assert message["content"][0]["file"] == {"url": f"data:{kind};base64,YQ==", "filename": name}
