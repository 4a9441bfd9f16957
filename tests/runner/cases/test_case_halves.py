"""Large files, whose halves are checked by two processes, say what small ones say."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from runner.cases.halves import LARGE, Second, middle_of
from runner.cases.reader import CaseFile
from runner.errors import ConfigurationError

COUNT = 12_000
Change = Callable[[list[str]], None]


def write(path: Path, change: Change = lambda lines: None) -> Path:
    """A file of many cases, and above the size from which it is checked in halves."""
    words = {"input": "é" * 60, "name": "n" * 60}
    lines = [json.dumps({"id": f"c{n}", **words}, ensure_ascii=False) for n in range(COUNT)]
    change(lines)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert path.stat().st_size > LARGE
    return path


def replace(**lines: str) -> Change:
    """Puts other text into the lines of these numbers, from 1: `l7`."""

    def change(all: list[str]) -> None:
        for name, text in lines.items():
            all[int(name[1:]) - 1] = text

    return change


@pytest.fixture(autouse=True)
def two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})


def test_a_large_file_is_read_in_the_middle_of_its_lines(tmp_path: Path) -> None:
    path = write(tmp_path / "cases.jsonl")
    middle = middle_of(path)
    assert middle is not None
    assert path.read_bytes()[middle - 2 : middle + 2] == b'}\n{"'
    file = CaseFile.check(path, chosen=lambda case: case.id != "c11999")
    assert (file.total, file.count) == (COUNT, COUNT - 1)
    cases = list(file)
    assert [cases[0].line, cases[-1].line, cases[-1].case.id] == [1, COUNT - 1, "c11998"]


def test_dependencies_reach_from_one_half_into_the_other(tmp_path: Path) -> None:
    change = replace(l11000='{"id": "last", "input": "x", "depends_on": ["c1"]}')
    file = CaseFile.check(write(tmp_path / "cases.jsonl", change), chosen=lambda case: case.id == "last")
    assert (file.count, file.needs.added) == (2, {"c1": "last"})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (replace(l11990='{"id": "a", "inputt": "x"}'), "cases.jsonl:11990:13: "),
        (replace(l3='{"id": "a", "inputt": "x"}'), "cases.jsonl:3:13: "),
        (replace(l11990='{"id": "c4", "input": "x"}'), 'cases.jsonl:11990:2: the id "c4" is taken by '),
        (replace(l11990='{"id": "a", "input": "x", "depends_on": ["nobody"]}'), 'there is no case "nobody"'),
        (replace(l11990='{"id": "a", "input": "x"'), "cases.jsonl:11990:"),
        (replace(l1="[" + "\n", l12000="{}"), "cases.jsonl:"),
    ],
    ids=["in the second half", "in the first half", "an id in both", "a missing dependency", "broken JSON", "a list"],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, change: Change, said: str) -> None:
    path = write(tmp_path / "cases.jsonl", change)
    with pytest.raises(ConfigurationError) as caught:
        CaseFile.check(path, name="cases.jsonl")
    assert said in caught.value.message


def test_an_object_over_several_lines_in_the_middle_is_read_whole(tmp_path: Path) -> None:
    def widen(lines: list[str]) -> None:
        lines[5000:7000] = [line.replace(', "name"', ',\n\n"name"') for line in lines[5000:7000]]

    path = write(tmp_path / "cases.jsonl", widen)
    assert CaseFile.check(path).total == COUNT


def test_a_helper_that_fails_has_no_value(capfd: pytest.CaptureFixture[str]) -> None:
    with Second(lambda: object()) as unable:
        assert unable.value() is None
    with Second(lambda: os.kill(os.getpid(), 9)) as killed:
        assert killed.value() is None
    with Second(lambda: [1, "é", {2}]) as second:
        assert second.value() == [1, "é", {2}]
    assert capfd.readouterr() == ("", "")
