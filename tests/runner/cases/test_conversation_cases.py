"""Cases of several turns: how the mode of an entry is known, what its fields become, and what waits for what."""

from __future__ import annotations

import json
from base64 import b64encode
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from case_files import read, refusal, write
from table_tests import each

from runner.assertions.model import Assertion
from runner.cases.kinds import further_models
from runner.cases.messages import message_of, messages_of
from runner.cases.model import CallOptions, Case, Message, MessagePart
from runner.cases.other_cases import ConversationCase, DynamicCase, MultiTurnCase
from runner.cases.reader import CaseFile, cases_from_values, chooser
from runner.cases.turns import Checkpoint, ConversationTurn, Criterion, Grader, Simulator, Turn
from runner.errors import ConfigurationError

STANDARD = {"id": "S", "input": "a"}
MULTI_TURN = {"id": "M", "turns": [{"input": "a", "assertions": [{"type": "contains", "value": "b"}]}]}
DYNAMIC = {
    "id": "D",
    "simulator": {"use": "sim"},
    "checkpoints": [{"id": "x", "assertion": {"type": "contains", "value": "b"}}],
}
CONVERSATION = {"id": "C", "mode": "conversation", "turns": [{"input": "a", "assertions": ["It greets"]}]}

MODES: dict[str, tuple[dict[str, Any], type[Case]]] = {
    "input": (STANDARD, Case),
    "input, and type single_turn": ({**STANDARD, "type": "single_turn"}, Case),
    "turns": (MULTI_TURN, MultiTurnCase),
    "one turn, and type single_turn": ({**MULTI_TURN, "type": "single_turn"}, MultiTurnCase),
    "no turns": ({"id": "M", "turns": []}, MultiTurnCase),
    "type multi_turn": ({"id": "M", "type": "multi_turn", "input": "a"}, MultiTurnCase),
    "nothing but type multi_turn": ({"id": "M", "type": "multi_turn"}, MultiTurnCase),
    "turns and a simulator": ({**MULTI_TURN, "simulator": {"use": "sim"}}, MultiTurnCase),
    "simulator": ({"id": "M", "simulator": {"use": "sim"}}, MultiTurnCase),
    "simulator and input": ({"id": "M", "input": "a", "simulator": {"use": "sim"}}, MultiTurnCase),
    "simulator and checkpoints": (DYNAMIC, DynamicCase),
    "checkpoints": ({"id": "D", "checkpoints": DYNAMIC["checkpoints"]}, DynamicCase),
    "mode": (CONVERSATION, ConversationCase),
    "mode, and type multi_turn": ({**CONVERSATION, "type": "multi_turn"}, ConversationCase),
}


@pytest.mark.parametrize(("record", "model"), MODES.values(), ids=MODES.keys())
def test_the_mode_of_a_case_is_known_by_its_fields(tmp_path: Path, record: dict[str, Any], model: type[Case]) -> None:
    (located,) = read(tmp_path, json.dumps(record))
    assert type(located.case) is model
    assert located.case == model.model_validate(record)
    assert cases_from_values([record], "agents:gen", tmp_path).cases == (located.case,)


MIXED = [STANDARD, MULTI_TURN, DYNAMIC, CONVERSATION, {"id": "S2", "input": "b"}]
FORMS = {
    "a line each": ("a.jsonl", "\n".join(map(json.dumps, MIXED)), [1, 2, 3, 4, 5]),
    "free fields": ("a.jsonl", "\n".join(json.dumps({**record, "x-a": 1}) for record in MIXED), [1, 2, 3, 4, 5]),
    "comments": ("a.jsonl", "\n".join(f"{json.dumps(record)} // it" for record in MIXED), [1, 2, 3, 4, 5]),
    "over several lines": ("a.jsonl", "\n".join(json.dumps(record, indent=2) for record in MIXED), [1, 5, 19, 34, 46]),
    "list": ("a.json", json.dumps(MIXED), [1, 1, 1, 1, 1]),
    "YAML": ("a.yaml", "tests:\n" + "".join(f"- {json.dumps(record)}\n" for record in MIXED), [2, 3, 4, 5, 6]),
}


@pytest.mark.parametrize(("name", "text", "lines"), FORMS.values(), ids=FORMS.keys())
def test_cases_of_all_modes_are_read_from_one_file(tmp_path: Path, name: str, text: str, lines: list[int]) -> None:
    file = read(tmp_path, text, name)
    assert [located.case for located in file] == [
        Case(id="S", input="a"),
        MultiTurnCase(id="M", turns=[Turn(input="a", assertions=[Assertion(type="contains", value="b")])]),
        DynamicCase(
            id="D",
            simulator=Simulator(use="sim"),
            checkpoints=[Checkpoint(id="x", assertions=[Assertion(type="contains", value="b")])],
        ),
        ConversationCase(id="C", mode="conversation", turns=[ConversationTurn(input="a", assertions=["It greets"])]),
        Case(id="S2", input="b"),
    ]
    assert [located.line for located in file] == lines
    assert file.several_turns


def test_a_file_of_standard_cases_has_none_of_several_turns(tmp_path: Path) -> None:
    assert not read(tmp_path, '{"id": "S", "input": "the \\"turns\\" of a screw"}').several_turns


def test_free_fields_are_allowed_in_every_part(tmp_path: Path) -> None:
    free = {"x-a": 1}
    records = [
        {
            "id": "M",
            "turns": [{"input": {"content": "a", **free}, "assert": [{"value": 1, **free}], **free}],
            "interactive": free,
        },
        {
            "id": "D",
            "simulator": {"use": "s", "metadata": free, **free},
            "checkpoints": [{"id": "x", "assert": {"value": 1, **free}, **free}],
        },
        {
            "id": "C",
            "mode": "conversation",
            "turns": [
                {
                    "input": [{"type": "text", "text": "a"}],
                    "assertions": [{"type": "rubrics", "criteria": [{"outcome": "b", **free}], **free}],
                }
            ],
        },
    ]
    multi_turn, dynamic, conversation = [
        located.case for located in read(tmp_path, "\n".join(map(json.dumps, records)))
    ]
    assert multi_turn == MultiTurnCase(
        id="M", turns=[Turn(input=Message(content="a"), assertions=[Assertion(value=1)])]
    )
    assert dynamic == DynamicCase(
        id="D",
        simulator=Simulator(use="s", metadata=free),
        checkpoints=[Checkpoint(id="x", assertions=[Assertion(value=1)])],
    )
    assert conversation == ConversationCase(
        id="C",
        mode="conversation",
        turns=[
            ConversationTurn(
                input=[MessagePart(type="text", text="a")],
                assertions=[Grader(type="rubrics", criteria=[Criterion(outcome="b")])],
            )
        ],
    )


GRADERS: dict[str, tuple[Any, list[Any]]] = {
    "a text": ("It greets", ["It greets"]),
    "texts": (["It greets", "snapshot"], ["It greets", "snapshot"]),
    "an object": ({"type": "contains", "value": "a"}, [Grader(type="contains", value="a")]),
    "weight": ([{"value": "a", "weight": 2, "required": True}], [Grader(value="a", weight=2, required=True)]),
    "rubrics": (
        [{"type": "rubrics", "criteria": ["a", {"id": "b", "outcome": "c", "weight": 0.5, "required": True}]}],
        [Grader(type="rubrics", criteria=["a", Criterion(id="b", outcome="c", weight=0.5, required=True)])],
    ),
    "rubrics of one text": ({"type": "rubrics", "criteria": "a"}, [Grader(type="rubrics", criteria="a")]),
    "agent": (
        {"type": "agent", "use": "agents:v", "criteria": "a"},
        [Grader(type="agent", use="agents:v", criteria="a")],
    ),
}


@pytest.mark.parametrize("spelling", ["assert", "assertions"])
@pytest.mark.parametrize(("written", "read_as"), GRADERS.values(), ids=GRADERS.keys())
def test_what_grades_a_conversation_is_a_list(tmp_path: Path, spelling: str, written: Any, read_as: list[Any]) -> None:
    record = {"id": "C", "mode": "conversation", "turns": [{"input": "a", spelling: written}], spelling: written}
    (case,) = (located.case for located in read(tmp_path, json.dumps(record)))
    assert isinstance(case, ConversationCase)
    assert case.turns[0].assertions == read_as
    assert case.assertions == read_as


@pytest.mark.parametrize("spelling", ["assertion", "assert", "assertions"])
def test_a_checkpoint_takes_its_assertions_by_any_name(tmp_path: Path, spelling: str) -> None:
    record = {"id": "D", "checkpoints": [{"id": "x", spelling: ["snapshot", {"value": 1}]}]}
    (case,) = (located.case for located in read(tmp_path, json.dumps(record)))
    assert isinstance(case, DynamicCase)
    assert case.checkpoints[0].assertions == [Assertion(type="snapshot"), Assertion(value=1)]


CONTEXTS: dict[str, tuple[Any, list[dict[str, Any]]]] = {
    "nothing": (None, []),
    "text": ("Hi", [{"role": "user", "content": "Hi"}]),
    "content": ([{"role": "system", "content": "Be kind"}], [{"role": "system", "content": "Be kind"}]),
    "input": ([{"role": "system", "input": "Be kind"}], [{"role": "system", "content": "Be kind"}]),
    "role and input apart": (
        [{"role": "system"}, {"input": "Be kind"}, {"role": "user", "input": "Hi"}],
        [{"role": "system", "content": "Be kind"}, {"role": "user", "content": "Hi"}],
    ),
}


@pytest.mark.parametrize(("written", "messages"), CONTEXTS.values(), ids=CONTEXTS.keys())
def test_what_comes_before_the_turns_of_a_conversation(
    tmp_path: Path, written: Any, messages: list[dict[str, Any]]
) -> None:
    (located,) = read(tmp_path, json.dumps({**CONVERSATION, "input": written}))
    assert messages_of(located.case, tmp_path) == messages


PNG = f"data:image/png;base64,{b64encode(b'png').decode()}"
IMAGE = {"type": "image", "source": "file://a.png"}
IMAGE_SENT = {"type": "image_url", "image_url": {"url": PNG, "detail": "auto"}}
TURNS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "text": ({"input": "Hi"}, {"role": "user", "content": "Hi"}),
    "message": ({"input": {"content": "Hi", "name": "maria"}}, {"role": "user", "content": "Hi", "name": "maria"}),
    "parts": (
        {"input": [{"type": "text", "text": "Look"}, IMAGE]},
        {"role": "user", "content": [{"type": "text", "text": "Look"}, IMAGE_SENT]},
    ),
    "message with a part": ({"input": {"content": IMAGE}}, {"role": "user", "content": [IMAGE_SENT]}),
    "attachments": (
        {"input": "Look", "attachments": [IMAGE]},
        {"role": "user", "content": [{"type": "text", "text": "Look"}, IMAGE_SENT]},
    ),
    "parts and attachments": (
        {"input": [{"type": "text", "text": "Look"}], "attachments": [IMAGE]},
        {"role": "user", "content": [{"type": "text", "text": "Look"}, IMAGE_SENT]},
    ),
}


@pytest.mark.parametrize("mode", [{}, {"mode": "conversation"}], ids=["multi-turn", "conversation"])
@pytest.mark.parametrize(("turn", "message"), TURNS.values(), ids=TURNS.keys())
def test_what_the_user_says_in_a_turn(
    tmp_path: Path, turn: dict[str, Any], message: dict[str, Any], mode: dict[str, str]
) -> None:
    (tmp_path / "a.png").write_bytes(b"png")
    (case,) = (located.case for located in read(tmp_path, json.dumps({"id": "M", "turns": [turn], **mode})))
    assert isinstance(case, MultiTurnCase | ConversationCase)
    assert message_of(case.turns[0].input, case.turns[0].attachments, tmp_path) == message


def test_the_message_of_a_turn_is_new_at_each_call(tmp_path: Path) -> None:
    turn = Turn(input="Hi", attachments=[MessagePart(type="text", text="b")])
    message_of(turn.input, turn.attachments, tmp_path)["content"].append("changed")
    assert message_of(turn.input, turn.attachments, tmp_path)["content"] == [
        {"type": "text", "text": "Hi"},
        {"type": "text", "text": "b"},
    ]


def test_a_file_of_a_turn_that_has_gone_since_the_check_is_an_error(tmp_path: Path) -> None:
    turn = Turn(input=[MessagePart(type="file", source="file://gone")])
    with pytest.raises(ConfigurationError) as caught:
        message_of(turn.input, turn.attachments, tmp_path)
    assert caught.value.message == f"Cannot read attachment {tmp_path}/gone: No such file or directory"


def test_every_spelling_of_a_simulator_is_kept(tmp_path: Path) -> None:
    said = {"persona": "p", "goal": "g", "max_turns": 3}
    simulators = [{"use": "a", **said}, {"use": "a", "metadata": said}, {"use": "a", "options": {"metadata": said}}]
    records = [{"id": f"M{index}", "simulator": simulator} for index, simulator in enumerate(simulators)]
    cases = [located.case for located in read(tmp_path, "\n".join(map(json.dumps, records)))]
    assert [getattr(case, "simulator", None) for case in cases] == [
        Simulator(use="a", persona="p", goal="g", max_turns=3),
        Simulator(use="a", metadata=said),
        Simulator(use="a", options=CallOptions(metadata=said)),
    ]


def waiting(**waits: list[str]) -> str:
    """Standard cases with what they depend on, a line each."""
    return "\n".join(json.dumps({"id": id, "input": "a", "depends_on": others}) for id, others in waits.items())


CIRCLE = "Remove one of these dependencies"
BAD_DEPENDENCIES = {
    "unknown": (
        waiting(login=[], order=["login", "logni"]),
        ':2:55: case "order": there is no case "logni" [Did you mean "login"?]',
    ),
    "itself": (waiting(a=["a"]), ':1:42: case "a": the case "a" depends on itself'),
    "each other": (
        waiting(a=[], b=["c"], c=["a", "b"]),
        f':2:42: case "b": cases that depend on each other: b → c → b [{CIRCLE}]',
    ),
    "in a circle": (
        waiting(a=["b"], b=["c"], c=["d"], d=["b"]),
        f':2:42: case "b": cases that depend on each other: b → c → d → b [{CIRCLE}]',
    ),
    "two circles": (
        waiting(a=["b"], b=["a"], c=["d"], d=["c"]),
        ": 2 problems\n"
        f'  cases.jsonl:1:42: case "a": cases that depend on each other: a → b → a. {CIRCLE}\n'
        f'  cases.jsonl:3:42: case "c": cases that depend on each other: c → d → c. {CIRCLE} [No cases were run]',
    ),
    "a large circle": (
        waiting(**{f"c{n}": [f"c{(n + 1) % 5000}"] for n in range(5000)}),
        ':1:43: case "c0": cases that depend on each other: '
        f"c0 → c1 → c2 → c3 → c4 → c5 → c6 → c7 → c8 → ... → c0 [{CIRCLE}]",
    ),
    "no list": ('{"id": "a", "input": "a", "depends_on": "b"}', None),
}


@pytest.mark.parametrize(("text", "message"), BAD_DEPENDENCIES.values(), ids=BAD_DEPENDENCIES.keys())
def test_dependencies_that_cannot_be_kept_are_refused(tmp_path: Path, text: str, message: str | None) -> None:
    message = message or ':1:27: case "a": "depends_on" must be a list, not a string'
    assert refusal(tmp_path, text) == f"Cannot read cases from cases.jsonl{message}"


def test_cases_of_any_mode_may_depend_on_later_ones(tmp_path: Path) -> None:
    records = [{**CONVERSATION, "depends_on": ["S"]}, {**DYNAMIC, "depends_on": ["C", "M"]}, MULTI_TURN, STANDARD]
    file = read(tmp_path, "\n".join(map(json.dumps, records)))
    assert [(located.case.id, located.case.depends_on) for located in file] == [
        ("C", ["S"]),
        ("D", ["C", "M"]),
        ("M", []),
        ("S", []),
    ]
    assert file.needs.ids == {"S", "C", "M"}
    assert file.needs.added == {}


def test_what_a_chosen_case_depends_on_runs_too(tmp_path: Path) -> None:
    path = write(tmp_path, waiting(other=["user"], order=["login"], login=["user"], user=[], lonely=[]))
    file = CaseFile.check(path, chosen=chooser("order"))
    assert [located.case.id for located in file] == ["order", "login", "user"]
    assert (file.total, file.count) == (5, 3)
    assert file.needs.added == {"login": "order", "user": "login"}


@each("model", [Case, *further_models()])
def test_each_model_names_the_class_that_runs_its_cases(model: type[Case]) -> None:
    module, _, name = model.run_by.partition(".")
    assert callable(getattr(import_module(f"runner.modes.{module}"), name))
