"""Case files: however valid cases are written they read the same, and any bytes at all read or are refused with a
place."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import assume, example, given
from hypothesis import strategies as st
from made_up import alike, json_values, texts

from bindings.processes.formats import resolve_like_yao
from runner.application.documents import read_json, read_yaml
from runner.cases import reader
from runner.cases.kinds import model_of
from runner.cases.model import Case
from runner.cases.reader import CaseFile
from runner.errors import ConfigurationError

Record = dict[str, Any]

# what valid cases are

ids = st.text(
    st.one_of(st.sampled_from("aB1 -{}[]\",:#/\\'\n中😀\u2028\x85"), st.characters(codec="utf-8")),
    min_size=1,
    max_size=6,
)
free_values = json_values()
objects = st.dictionaries(texts, free_values, max_size=3)
messages = st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant", "system"]), "content": texts})
assertions = st.one_of(
    st.fixed_dictionaries({"type": st.just("contains"), "value": texts.filter(bool)}),
    st.fixed_dictionaries({"value": free_values, "negate": st.booleans()}),
    st.fixed_dictionaries({"type": st.just("json_path"), "path": st.just("$.a[0]"), "value": free_values}),
    st.fixed_dictionaries(
        {"type": st.just("any_of"), "value": st.just([{"type": "regex", "value": "a+"}, "snapshot"])}
    ),
)
standard = st.fixed_dictionaries(
    {"id": ids, "input": st.one_of(texts, messages, st.lists(messages, min_size=1, max_size=3))},
    optional={
        "name": texts,
        "assert": st.lists(assertions, min_size=1, max_size=2),
        "expected": free_values,
        "metadata": objects,
        "tags": st.lists(texts, max_size=2),
        "skip": st.one_of(st.booleans(), texts),
        "timeout": st.sampled_from(["30s", "1m30s"]),
        "x-note": free_values,
    },
)
said = texts.filter(str.strip)
turns = st.lists(
    st.fixed_dictionaries({"input": said}, optional={"assert": st.lists(assertions, min_size=1, max_size=2)}),
    min_size=1,
    max_size=2,
)
several_turns = st.fixed_dictionaries(
    {"id": ids, "turns": turns}, optional={"metadata": objects, "x-note": free_values}
)


@st.composite
def records(draw: st.DrawFn, largest: int = 5) -> list[Record]:
    """Cases as a file has them, with ids of their own."""
    found = draw(st.lists(st.one_of(standard, standard, several_turns), min_size=1, max_size=largest))
    for number, record in enumerate(found):
        assume(record["id"].strip())
        record["id"] += f" {number}"
    return found


# how they may be written

comments = st.sampled_from(['// a "comment', "# {not a case}", "//", "#]", '# "id": "A",', "  // [", "\t# }"])
fillers = st.lists(st.one_of(st.just(""), st.just("  "), comments), max_size=2)


@st.composite
def as_json(draw: st.DrawFn, found: list[Record]) -> str:
    """A JSON text of cases in one of the forms that people write."""
    is_list = draw(st.booleans())
    margin = " " * draw(st.sampled_from([0, 0, 2, 3]))
    lines = ["["] if is_list and draw(st.booleans()) else []
    opened = bool(lines)
    for number, record in enumerate(found):
        lines += draw(fillers)
        indent = draw(st.sampled_from([None, None, 0, 1, 2, "\t"]))
        text = json.dumps(record, ensure_ascii=draw(st.booleans()), indent=indent)
        if indent is not None:
            text = draw(commented(text))
        head = "[" if is_list and not opened and number == 0 else ""
        comma = "," if (is_list and number + 1 < len(found)) or draw(st.booleans()) else ""
        tail = "]" if is_list and not opened and number + 1 == len(found) else ""
        ending = " " + draw(comments) if draw(st.booleans()) else ""
        tail = "\n]" if tail and "\n" in text else tail
        lines += [head + margin + ("\n" + margin).join(text.split("\n")) + comma + tail + ending]
    lines += draw(fillers)
    if opened:
        lines.append("]")
    end = draw(st.sampled_from(["\n", "\r\n"]))
    start = draw(st.sampled_from(["", "\ufeff"]))
    return start + end.join(lines).replace("\n", end).replace("\r\r", "\r") + draw(st.sampled_from(["", end]))


@st.composite
def commented(draw: st.DrawFn, text: str) -> str:
    """Pretty-printed JSON with comments at the ends of some lines and between them, and a comma before the last
    bracket."""
    lines = []
    for line in text.split("\n"):
        lines.append(line + (" " + draw(comments) if draw(st.integers(0, 5)) == 0 else ""))
        if draw(st.integers(0, 5)) == 0:
            lines.append(draw(comments))
    return (
        re.sub(r"\n?}$", ",\n}", "\n".join(lines))
        if draw(st.booleans())
        and lines[-1] == "}"
        and not lines[-2].lstrip().startswith(("#", "//"))
        and "#" not in lines[-2]
        and "//" not in lines[-2]
        else "\n".join(lines)
    )


@st.composite
def as_yaml(draw: st.DrawFn, found: list[Record]) -> str:
    """A YAML text of cases in one of its forms."""
    style: Record = {
        "default_flow_style": draw(st.sampled_from([True, False, None])),
        "allow_unicode": draw(st.booleans()),
        "sort_keys": draw(st.booleans()),
        "default_style": draw(st.sampled_from([None, None, '"'])),
        "width": draw(st.sampled_from([20, 80, 10000])),
    }
    form = draw(st.sampled_from(["list", "tests", "cases", "documents"]))
    if form == "documents":
        return str(yaml.dump_all(found, Dumper=_Plain, explicit_start=True, **style))
    value = found if form == "list" else {"x-owner": "me", form: found}
    return str(yaml.dump(value, Dumper=_Plain, **style))


class _Plain(yaml.SafeDumper):
    """Writes equal lists and objects out each time, and texts in quotes that Yao would take for numbers."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


resolve_like_yao(_Plain)


def check(folder: Path, content: bytes, name: str) -> CaseFile:
    path = folder / name
    path.write_bytes(content)
    return CaseFile.check(path, name=name)


def same(case: Case, record: Record) -> bool:
    """Whether a case is what its record says, numbers of free values to the last bit."""
    own = {key: value for key, value in record.items() if not key.startswith("x-")}
    expected = model_of(own).model_validate(own)
    free = ("expected", "metadata", "tags", "id", "name", "skip")
    return case == expected and all(alike(getattr(case, key), own[key]) for key in free if key in own)


@given(st.data(), records())
def test_cases_read_the_same_in_every_form_of_json(tmp_path: Path, data: st.DataObject, found: list[Record]) -> None:
    content = data.draw(as_json(found)).encode()
    file = check(tmp_path, content, "cases.jsonl")
    located = list(file)

    assert [same(item.case, record) for item, record in zip(located, found, strict=True)] == [True] * len(found)
    assert (file.total, file.count, file.warnings) == (len(found), len(found), [])
    lines = content.decode("utf-8-sig").split("\n")
    assert [lines[item.line - 1].lstrip(" [,")[:1] for item in located] == ["{"] * len(found)


@given(st.data(), records(3))
def test_cases_read_the_same_in_every_form_of_yaml(tmp_path: Path, data: st.DataObject, found: list[Record]) -> None:
    found = json.loads(
        re.sub("[\x85\u2028\u2029]", "_", json.dumps(found, ensure_ascii=False))
    )  # PyYAML splits at them
    text = data.draw(as_yaml(found))
    located = list(check(tmp_path, text.encode(), "cases.yaml"))

    assert [same(item.case, record) for item, record in zip(located, found, strict=True)] == [True] * len(found)


@given(st.data(), records(), st.integers(1, 300))
def test_the_size_of_the_pieces_in_which_a_file_is_read_makes_no_difference(
    tmp_path: Path, data: st.DataObject, found: list[Record], letters: int
) -> None:
    content = data.draw(as_json(found)).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "READ_AT_ONCE", letters)
        patch.setattr(reader, "KEPT", 0)
        patch.setattr(reader, "CHECKED_AT_ONCE", letters)
        in_pieces = list(check(tmp_path, content, "cases.jsonl"))
    assert in_pieces == list(check(tmp_path, content, "cases.jsonl"))


# what is none

fragments = st.sampled_from(
    [
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"\x00",
        b"\xed\xa0\x80",
        b'"',
        b"\\",
        b"\\ud800",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"\n",
        b"\r",
        b"//",
        b"#",
        b"NaN",
        b"1e999",
        b"-",
        b"- ",
        b"9" * 5000,
        b"[" * 3000,
        b'{"a":' * 300,
        b"? ",
        b"&a ",
        b"*a",
        b"!!int x",
        b"!!bool",
        b"<<: ",
        b"|\n",
        b">",
        b"---\n",
        b"...",
        b"%YAML 1.1",
        b"\t",
        b"\xe2\x80\xa8",
        b"\xc2\x85",
        b'"id": "x", ',
        b"id: x\n",
        b"null",
    ]
)


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """Bytes that differ from these in a few places."""
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(content)))
        kind = draw(st.sampled_from(["cut", "drop", "insert", "insert", "replace", "double"]))
        end = min(len(content), at + draw(st.integers(1, 30)))
        if kind == "cut":
            content = content[:at]
        elif kind == "drop":
            content = content[:at] + content[end:]
        elif kind == "insert":
            content = content[:at] + draw(fragments) + content[at:]
        elif kind == "replace":
            content = content[:at] + draw(fragments) + content[end:]
        else:
            content = content[:end] + content[at:]
    return content


def reads_or_refuses(folder: Path, content: bytes, name: str) -> None:
    """The file reads wholly, or is refused with places that are in it."""
    try:
        file = check(folder, content, name)
    except ConfigurationError as error:
        assert error.message.startswith("Cannot read cases from "), error.message
        assert name in error.message
        places_exist(error.message, content, name)
        return
    assert len(list(file)) == file.count == file.total


def places_exist(message: str, content: bytes, name: str) -> None:
    """Each line:column of a message is one of the file, or just behind its end. YAML has further line ends, and one at
    the end of the text."""
    text = content.decode("utf-8-sig", "replace")
    is_yaml = name.endswith(".yaml")
    further = is_yaml and "not UTF-8" not in message
    lines = re.split(r"\r\n|[\r\n\x85\u2028\u2029]" if further else r"\r\n|[\r\n]", text) + [""] * is_yaml
    for line, column in re.findall(
        rf"^(?:  |Cannot read cases from ){re.escape(name)}:(\d+):(\d+):", message, re.MULTILINE
    ):
        assert 1 <= int(line) <= len(lines), (line, len(lines), message)
        assert 1 <= int(column) <= len(lines[int(line) - 1]) + 1, (line, column, message)


@pytest.mark.parametrize("name", ["cases.jsonl", "cases.yaml"])
@given(st.data(), records(3))
def test_a_damaged_file_reads_or_is_refused_with_a_place(
    tmp_path: Path, name: str, data: st.DataObject, found: list[Record]
) -> None:
    text = data.draw(as_yaml(found) if name.endswith(".yaml") else as_json(found))
    reads_or_refuses(tmp_path, data.draw(damaged(text.encode())), name)


@pytest.mark.parametrize("name", ["cases.jsonl", "cases.yaml"])
@given(st.one_of(st.binary(max_size=60), st.lists(fragments, max_size=8).map(b"".join)))
@example(b"")
@example(b"\xef\xbb\xbf")
@example(b"[" * 100_000)
@example(b'{"a":' * 20_000)
@example(b"- " * 20_000)
@example(b"id: a\ninput: b\nexpected: !!bool maybe")
@example(b"id: a\ninput: b\nexpected: !!int ''")
@example(b"id: a\ninput: b\nexpected: !!timestamp x")
@example(b"id: a\ninput: b\nexpected: " + b"[" * 160 + b"]" * 160)
@example(b"id: a\ninput: &a [*a]")
@example(b'{"id": "a", "input": "b", "expected": ' + b"9" * 5000 + b"}")
@example(b'{"id": "a", "input": "b", "expected": "\\ud800"}')
@example(b'{"id": "\xed\xa0\x80", "input": "b"}')
@example(b"{\r\xff")
@example('{"id": "a", "input": "b"}'.encode("utf-16"))
def test_any_bytes_read_or_are_refused_with_a_place(tmp_path: Path, name: str, content: bytes) -> None:
    reads_or_refuses(tmp_path, content, name)


@pytest.mark.parametrize("name", ["cases.jsonl", "cases.yaml"])
def test_a_file_that_is_cut_off_anywhere_reads_or_is_refused(tmp_path: Path, name: str) -> None:
    cases = [{"id": "é", "input": "Hi", "metadata": {"a": [1, {"b": None}]}}, {"id": "B", "input": [{"content": "😀"}]}]
    text = (
        yaml.dump(cases, allow_unicode=True)
        if name == "cases.yaml"
        else json.dumps(cases, ensure_ascii=False, indent=1)
    )
    for length in range(len(text.encode()) + 1):
        reads_or_refuses(tmp_path, text.encode()[:length], name)


@given(records(3), st.data())
def test_one_bad_case_of_a_file_keeps_all_from_running(
    tmp_path: Path, found: list[Record], data: st.DataObject
) -> None:
    bad = data.draw(
        st.sampled_from([{"input": "no id"}, {"id": "z"}, {"id": 5, "input": "a"}, {"id": "z", "inptu": "a"}, found[0]])
    )
    lines = [json.dumps(record) for record in found]
    at = data.draw(st.integers(1, len(lines))) if bad is found[0] else data.draw(st.integers(0, len(lines)))
    lines.insert(at, json.dumps(bad))
    with pytest.raises(ConfigurationError, match=rf"cases.jsonl:{at + 1}:\d+: "):
        check(tmp_path, "\n".join(lines).encode(), "cases.jsonl")


@pytest.mark.parametrize("name", ["package.json", "prompts.yml"])
@given(st.data(), free_values)
def test_any_document_reads_or_is_refused(tmp_path: Path, name: str, data: st.DataObject, value: Any) -> None:
    text = json.dumps(value) if name.endswith("json") else yaml.dump(value, Dumper=_Plain)
    content = data.draw(st.one_of(damaged(text.encode()), st.lists(fragments, max_size=8).map(b"".join)))
    path = tmp_path / name
    path.write_bytes(content)
    try:
        (read_json if name.endswith("json") else read_yaml)(path, "the document")
    except ConfigurationError as error:
        assert error.message.startswith(f"Cannot read the document {path}")


@given(free_values)
def test_a_document_reads_back_as_it_was_written(tmp_path: Path, value: Any) -> None:
    (tmp_path / "a.json").write_text(json.dumps(value, indent=1), "utf-8")
    assert alike(read_json(tmp_path / "a.json", "the document"), value)
