"""The table of words of other tools: what it says to write can be written, and no word in it is one of ours."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from runner.assertions import TYPES
from runner.cases.kinds import further_models
from runner.cases.model import Case
from runner.commands import COMMANDS
from runner.commands.words import VERBS, refuse_habits
from runner.errors import ConfigurationError
from runner.options.options import FLAGS, options_from, texts_in
from runner.shapes.declared import known_fields
from scripttest.habits import filled, table

ROOT = Path(__file__).parents[3]
OWN = {spelling for flag in FLAGS for spelling in flag.spellings}


def lines_of(place: str) -> dict[str, str]:
    """Each line to write → one of its words."""
    return {line: word for word, (line, _) in table()[place].items() if line}


def line_for(*words: str) -> list[str]:
    """The words after `yao-test` of the hint for a command line."""
    with pytest.raises(ConfigurationError) as refused:
        refuse_habits(words, lambda _: False)
    assert refused.value.hint is not None
    assert refused.value.hint.startswith("Type: yao-test")
    return shlex.split(refused.value.hint)[2:]


def test_no_word_is_one_of_ours() -> None:
    assert not set(table()["flag"]) & (OWN - {"-n"})
    assert not set(table()["type"]) & set(TYPES)
    assert not set(table()["command"]) & {*COMMANDS, *VERBS}
    assert not set(table()["field"]) & set(known_fields(Case))
    fields = {name for model in further_models() for name in known_fields(model)}
    assert set(table()["field"]) & fields == {"description"} & fields


def test_every_place_has_words() -> None:
    assert {place: len(words) > 20 for place, words in table().items()} == dict.fromkeys(
        "name matcher import type field flag reporter command".split(), True
    )


def test_every_flag_becomes_a_line_that_can_be_typed() -> None:
    for word, (line, _) in table()["flag"].items():
        if word[-1] != ".":
            typed = line_for(*[word, "7"] if "<" in line.partition(" | ")[0] else [word])
            assert texts_in(typed) is not None, (word, typed)


def test_a_line_that_was_typed_is_an_option() -> None:
    for word in ("-k", "--maxfail", "-p", "--epochs", "--cov-fail-under", "--time-limit", "--random-order-seed", "-m"):
        values = texts_in(line_for(word, "7"))
        assert values is not None
        options_from(values)


@pytest.mark.parametrize("place", ["name", "matcher"])
def test_the_assertions_to_write_exist(place: str) -> None:
    declared = set(re.findall(r" as ([A-Z]\w+) ", (ROOT / "bindings/src/assert/index.ts").read_text()))
    written = {name for line in lines_of(place) for name in re.findall(r"t\.assert\.(\w+)", line)}
    assert len(written) > 4
    assert written <= declared


def test_the_types_and_fields_to_write_are_known() -> None:
    for place in ("type", "field"):
        for line in lines_of(place):
            text = filled(line, value='"x"', contains='[{"type": "contains", "value": "x"}]').replace("[...]", "[]")
            if not text.startswith('"'):
                assert text == "prompts.yml"
                continue
            if text.startswith('"vars"'):
                continue
            [(field, value)] = json.loads(f"{{{text}}}").items()
            assert field in {"defaults", "tests", *known_fields(Case)} | {
                name for model in further_models() for name in known_fields(model)
            }
            for one in value if isinstance(value, list) else [value]:
                if field == "assert":
                    assert one["type"] in TYPES
