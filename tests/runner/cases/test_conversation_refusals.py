"""What can be wrong with a case of several turns, and the messages about it."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read, refusal

REFUSED = {
    "turn without input": (
        '{"id": "C", "turns": [{"input": "a"}, {"assertions": []}]}',
        ':1:39: case "C": "input" is missing in "turns[1]"',
    ),
    "turn with an empty input": (
        '{"id": "C", "turns": [{"input": " "}]}',
        ':1:24: case "C": turn 1 has no message [Put the message of the user in "input"]',
    ),
    "turn with an empty message": (
        '{"id": "C", "turns": [{"input": {"role": "user"}}]}',
        ':1:24: case "C": turn 1 has no message [Put the message of the user in "input"]',
    ),
    "turn without parts": (
        '{"id": "C", "mode": "conversation", "turns": [{"input": []}]}',
        ':1:48: case "C": turn 1 has no message [Put the message of the user in "input"]',
    ),
    "turn of the assistant": (
        '{"id": "C", "turns": [{"input": {"role": "assistant", "content": "a"}}]}',
        ':1:34: case "C": turn 1 must be from the user, not the assistant [Put earlier messages in '
        '"input" of the case]',
    ),
    "turn that is a text": (
        '{"id": "C", "turns": ["a"]}',
        ':1:23: case "C": "turns[0]" must be an object, not a string',
    ),
    "turns that are no list": ('{"id": "C", "turns": "a"}', ':1:13: case "C": "turns" must be a list, not a string'),
    "input of a turn is a number": (
        '{"id": "C", "turns": [{"input": 1}]}',
        ':1:24: case "C": "turns[0].input" must be a string, an object or a list, not a number',
    ),
    "unknown part in a turn": (
        '{"id": "C", "turns": [{"input": [{"type": "imag", "source": "file://a"}]}]}',
        ':1:35: case "C": unknown part type "imag" [Did you mean "image"?]',
    ),
    "missing attachment of a turn": (
        '{"id": "C", "turns": [{"input": "a", "attachments": [{"type": "image", "source": "file://gone.png"}]}]}',
        ':1:54: case "C": the file "file://gone.png" does not exist: <folder>/gone.png',
    ),
    "missing file in the input of a turn": (
        '{"id": "C", "mode": "conversation", "turns": [{"input": [{"type": "file", "source": "file://gone.txt"}]}]}',
        ':1:58: case "C": the file "file://gone.txt" does not exist: <folder>/gone.txt',
    ),
    "unknown field of a turn": (
        '{"id": "C", "turns": [{"input": "a", "asserts": []}]}',
        ':1:38: case "C": unknown field "asserts" in "turns[0]" [Did you mean "assert"?]',
    ),
    "assertion of a turn": (
        '{"id": "C", "turns": [{"input": "a", "assertions": [{"type": "contains", "valu": "x"}]}]}',
        ':1:74: case "C": unknown field "valu" in "turns[0].assertions[0]" [Did you mean "value"?]',
    ),
    "incomplete assertion of a turn": (
        '{"id": "C", "turns": [{"input": "a", "assertions": [{"type": "snapshot"}, {"type": "contains"}]}]}',
        ':1:75: case "C": assertion 2: "contains" needs "value": what to look for in the output',
    ),
    "unknown assertion of a turn": (
        '{"id": "C", "turns": [{"input": "a", "assertions": [{"type": "containz", "value": 1}]}]}',
        ':1:54: case "C": unknown assertion type "containz" [Did you mean "contains"?]',
    ),
    "both spellings in a turn": (
        '{"id": "C", "turns": [{"input": "a", "assert": [], "assertions": []}]}',
        ':1:52: case "C": "assert" and "assertions" set the same field in "turns[0]" [Keep one of them]',
    ),
    "unknown option of a turn": (
        '{"id": "C", "turns": [{"input": "a", "options": {"conector": "c"}}]}',
        ':1:50: case "C": unknown field "conector" in "turns[0].options" [Did you mean "connector"?]',
    ),
    "incomplete assertion of the whole": (
        '{"id": "C", "turns": [{"input": "a"}], "assertions": [{"type": "contains"}]}',
        ':1:55: case "C": assertion 1: "contains" needs "value": what to look for in the output',
    ),
    "several turns in a single one": (
        '{"id": "C", "type": "single_turn", "turns": [{"input": "a"}, {"input": "b"}]}',
        ':1:13: case "C": "type" is "single_turn", but there are 2 turns [A case with several turns is a multi-turn case]',
    ),
    "unknown type": (
        '{"id": "C", "turns": [{"input": "a"}], "type": "multiturn"}',
        ':1:40: case "C": unknown type "multiturn" [Did you mean "multi_turn"?]',
    ),
    "unknown on_missing_input": (
        '{"id": "C", "turns": [{"input": "a"}], "on_missing_input": "ignore"}',
        ':1:40: case "C": unknown on_missing_input "ignore" [It is one of skip, fail, end]',
    ),
    "final assertion": (
        '{"id": "C", "turns": [{"input": "a"}], "final_assertions": [{"type": "json_path"}]}',
        ':1:61: case "C": assertion 1: "json_path" needs "path", such as "$.status"',
    ),
    "time of a person": (
        '{"id": "C", "turns": [{"input": "a"}], "interactive": {"timeout": "soon"}}',
        ':1:56: case "C": cannot read timeout "soon": not a duration [Write it as 500ms, 30s, 1m30s or 2h]',
    ),
    "timeout": (
        '{"id": "C", "turns": [{"input": "a"}], "timeout": "soon"}',
        ':1:40: case "C": cannot read timeout "soon": not a duration [Write it as 500ms, 30s, 1m30s or 2h]',
    ),
    "turns counted from nothing": (
        '{"id": "C", "turns": [{"input": "a"}], "max_turns": 0}',
        ':1:40: case "C": "max_turns" must be at least 1, not 0',
    ),
    "turns counted in a text": (
        '{"id": "C", "turns": [{"input": "a"}], "max_turns": "3"}',
        ':1:40: case "C": "max_turns" must be a whole number, not a string',
    ),
    "aggregation without mode": (
        '{"id": "C", "turns": [{"input": "a"}], "aggregation": "mean"}',
        ':1:40: case "C": "aggregation" needs "mode": "conversation" [Add it, or remove "aggregation"]',
    ),
    "on_turn_failure without mode": (
        '{"id": "C", "turns": [{"input": "a"}], "on_turn_failure": "stop"}',
        ':1:40: case "C": "on_turn_failure" needs "mode": "conversation" [Add it, or remove "on_turn_failure"]',
    ),
    "window_size without mode": (
        '{"id": "C", "turns": [{"input": "a"}], "window_size": 2}',
        ':1:40: case "C": "window_size" needs "mode": "conversation" [Add it, or remove "window_size"]',
    ),
    "expected_output of a turn without mode": (
        '{"id": "C", "turns": [{"input": "a", "expected_output": "b"}]}',
        ':1:38: case "C": "expected_output" in "turns[0]" needs "mode": "conversation" [Add it, or remove "expected_output"]',
    ),
    "turns and checkpoints": (
        '{"id": "C", "turns": [{"input": "a"}], "checkpoints": [], "simulator": {}}',
        ':1:40: case "C": "checkpoints" needs "mode": "conversation" [Add it, or remove "checkpoints"]',
    ),
    "multi-turn field in a standard case": (
        '{"id": "C", "input": "a", "final_assertions": []}',
        ':1:27: case "C": "final_assertions" needs "mode": "conversation" or "turns" or "checkpoints" '
        '[Add it, or remove "final_assertions"]',
    ),
    "field of several modes in a standard case": (
        '{"id": "C", "input": "a", "max_turns": 2}',
        ':1:27: case "C": "max_turns" needs "mode": "conversation" or "turns" or "checkpoints" '
        '[Add it, or remove "max_turns"]',
    ),
    "conversation field in a standard case": (
        '{"id": "C", "input": "a", "window_size": 2}',
        ':1:27: case "C": "window_size" needs "mode": "conversation" [Add it, or remove "window_size"]',
    ),
    "misspelt turns": (
        '{"id": "C", "turnes": [{"input": "a"}]}',
        ':1:13: case "C": unknown field "turnes" [Did you mean "turns"?]',
    ),
    "conversation field in a dynamic case": (
        '{"id": "C", "simulator": {"use": "sim"}, "checkpoints": [{"id": "a", "assertion": {"type": '
        '"contains", "value": "x"}}], "aggregation": "min"}',
        ':1:121: case "C": "aggregation" needs "mode": "conversation" [Add it, or remove "aggregation"]',
    ),
    "type of a dynamic case": (
        '{"id": "C", "simulator": {"use": "sim"}, "checkpoints": [{"id": "a", "assertion": {"type": '
        '"contains", "value": "x"}}], "type": "single_turn"}',
        ':1:121: case "C": "type" cannot be set in a dynamic case [The type follows from the other fields]',
    ),
    "checkpoint without assertion": (
        '{"id": "C", "simulator": {"use": "sim"}, "checkpoints": [{"id": "a"}]}',
        ':1:58: case "C": "assertion" is missing in "checkpoints[0]"',
    ),
    "checkpoint with no assertion": (
        '{"id": "C", "simulator": {"use": "sim"}, "checkpoints": [{"id": "a", "assertions": []}]}',
        ':1:70: case "C": checkpoint "a" has no assertion, so it is never reached',
    ),
    "checkpoint without id": (
        '{"id": "C", "simulator": {"use": "sim"}, "checkpoints": [{"assertion": "snapshot"}]}',
        ':1:58: case "C": "id" is missing in "checkpoints[0]"',
    ),
    "assertion of a checkpoint": (
        '{"id": "C", "simulator": {"use": "sim"}, "checkpoints": [{"id": "a", "assertion": {"type": "contains"}}]}',
        ':1:70: case "C": assertion 1: "contains" needs "value": what to look for in the output',
    ),
    "unknown field of a checkpoint": (
        '{"id": "C", "simulator": {"use": "sim"}, "checkpoints": [{"id": "a", "assertion": {"type": '
        '"contains", "value": "x"}, "afer": []}]}',
        ':1:119: case "C": unknown field "afer" in "checkpoints[0]" [Did you mean "after"?]',
    ),
    "both spellings in a checkpoint": (
        '{"id": "C", "simulator": {"use": "sim"}, "checkpoints": [{"id": "a", "assertion": {"type": '
        '"contains", "value": "x"}, "assert": "snapshot"}]}',
        ':1:119: case "C": "assertion" and "assert" set the same field in "checkpoints[0]" [Keep one of them]',
    ),
    "no checkpoints": (
        '{"id": "C", "simulator": {"use": "sim"}, "checkpoints": []}',
        ':1:42: case "C": "checkpoints" must not be empty',
    ),
    "checkpoint ids": (
        '{"id": "C", "simulator": {"use": "sim"}, "checkpoints": [{"id": "a", "assertion": {"type": '
        '"contains", "value": "x"}}, {"id": "a", "assertion": {"type": "contains", "value": "x"}}]}',
        ':1:121: case "C": the id "a" is already used by checkpoint 1 [Give each checkpoint of a case its own id]',
    ),
    "unknown after": (
        '{"id": "C", "simulator": {"use": "sim"}, "checkpoints": [{"id": "ask_town", "assertion": '
        '{"type": "contains", "value": "x"}}, {"id": "book", "assertion": {"type": "contains", "value": '
        '"x"}, "after": ["ask_twon"]}]}',
        ':1:201: case "C": there is no checkpoint "ask_twon" [Did you mean "ask_town"?]',
    ),
    "after itself": (
        '{"id": "C", "simulator": {"use": "sim"}, "checkpoints": [{"id": "a", "assertion": {"type": '
        '"contains", "value": "x"}, "after": ["a"]}]}',
        ':1:129: case "C": the checkpoint "a" depends on itself',
    ),
    "circle of checkpoints": (
        '{"id": "C", "simulator": {"use": "sim"}, "checkpoints": [{"id": "a", "assertion": {"type": '
        '"contains", "value": "x"}, "after": ["c"]}, {"id": "b", "assertion": {"type": "contains", '
        '"value": "x"}, "after": ["a"]}, {"id": "c", "assertion": {"type": "contains", "value": "x"}, '
        '"after": ["b"]}]}',
        ':1:129: case "C": checkpoints that depend on each other: a → c → b → a [Remove one of these dependencies]',
    ),
    "unknown field of a simulator": (
        '{"id": "C", "simulator": {"use": "sim", "persna": "x"}}',
        ':1:41: case "C": unknown field "persna" in "simulator" [Did you mean "persona"?]',
    ),
    "simulator without a name": (
        '{"id": "C", "simulator": {"use": "agents:"}}',
        ':1:27: case "C": "simulator.use" is empty [Use an agent or a script, such as "workers.test.user-simulator"]',
    ),
    "simulator that is a text": (
        '{"id": "C", "simulator": "sim"}',
        ':1:13: case "C": "simulator" must be an object, not a string',
    ),
    "turns of a simulator": (
        '{"id": "C", "simulator": {"use": "sim", "max_turns": 0}}',
        ':1:41: case "C": "simulator.max_turns" must be at least 1, not 0',
    ),
    "turns in the metadata of a simulator": (
        '{"id": "C", "simulator": {"use": "sim", "metadata": {"max_turns": "3"}}}',
        ':1:54: case "C": "simulator.metadata.max_turns" must be a whole number of at least 1',
    ),
    "turns in the options of a simulator": (
        '{"id": "C", "simulator": {"use": "sim", "options": {"metadata": {"max_turns": 0}}}}',
        ':1:66: case "C": "simulator.options.metadata.max_turns" must be a whole number of at least 1',
    ),
    "unknown mode": (
        '{"id": "C", "mode": "conversaton", "turns": []}',
        ':1:13: case "C": unknown mode "conversaton" [Did you mean "conversation"?]',
    ),
    "mode of another kind": (
        '{"id": "C", "mode": "chat", "input": "a"}',
        ':1:13: case "C": unknown mode "chat" [It can only be conversation]',
    ),
    "mode that is not a string": (
        '{"id": "C", "mode": 1, "input": "a"}',
        ':1:13: case "C": "mode" must be a string, not a number',
    ),
    "conversation without turns": (
        '{"id": "C", "mode": "conversation", "input": "a"}',
        ':1:1: case "C": "turns" is missing',
    ),
    "conversation with no turns": (
        '{"id": "C", "mode": "conversation", "turns": []}',
        ':1:37: case "C": "turns" must not be empty',
    ),
    "expected_output of a conversation": (
        '{"id": "C", "mode": "conversation", "turns": [{"input": "a"}], "expected_output": "b"}',
        ':1:64: case "C": "expected_output" belongs in a turn, not in the case',
    ),
    "expected of a conversation": (
        '{"id": "C", "mode": "conversation", "turns": [{"input": "a"}], "expected": "b"}',
        ':1:64: case "C": "expected" cannot be set in a conversation ["expected_output" in a turn is a '
        "reference for its answer]",
    ),
    "type of a conversation": (
        '{"id": "C", "mode": "conversation", "turns": [{"input": "a"}], "type": "single_turn"}',
        ':1:64: case "C": unknown type "single_turn" [It can only be multi_turn]',
    ),
    "unknown aggregation": (
        '{"id": "C", "mode": "conversation", "turns": [{"input": "a"}], "aggregation": "median"}',
        ':1:64: case "C": unknown aggregation "median" [Did you mean "mean"?]',
    ),
    "unknown on_turn_failure": (
        '{"id": "C", "mode": "conversation", "turns": [{"input": "a"}], "on_turn_failure": "stopp"}',
        ':1:64: case "C": unknown on_turn_failure "stopp" [Did you mean "stop"?]',
    ),
    "negative window": (
        '{"id": "C", "mode": "conversation", "turns": [{"input": "a"}], "window_size": -1}',
        ':1:64: case "C": "window_size" must be at least 1, not -1',
    ),
    "window that is a fraction": (
        '{"id": "C", "mode": "conversation", "turns": [{"input": "a"}], "window_size": 1.5}',
        ':1:64: case "C": "window_size" must be a whole number, not 1.5',
    ),
    "threshold": (
        '{"id": "C", "mode": "conversation", "turns": [{"input": "a"}], "threshold": 1.2}',
        ':1:64: case "C": "threshold" must be at most 1, not 1.2',
    ),
    "no trials": (
        '{"id": "C", "mode": "conversation", "turns": [{"input": "a"}], "trials": 0}',
        ':1:64: case "C": "trials" must be at least 1, not 0',
    ),
    "empty criterion": (
        '{"id": "C", "mode": "conversation", "turns": [{"input": "a", "assertions": ["ok", " "]}]}',
        ':1:83: case "C": "turns[0].assertions[1]" must not be empty',
    ),
    "blank criteria": (
        '{"id": "C", "mode": "conversation", "turns": [{"input": "a"}], "criteria": "  "}',
        ':1:64: case "C": "criteria" must not be empty',
    ),
    "blank criteria of one answer": (
        '{"id": "C", "input": "a", "criteria": ""}',
        ':1:27: case "C": "criteria" must not be empty',
    ),
    "blank criteria of rubrics": (
        '{"id": "C", "input": "a", "assert": [{"type": "rubrics", "criteria": " "}]}',
        ':1:58: case "C": "assert[0].criteria" must not be empty',
    ),
    "rubrics without criteria": (
        '{"id": "C", "mode": "conversation", "turns": [{"input": "a", "assertions": [{"type": "rubrics"}]}]}',
        ':1:77: case "C": assertion 1: "rubrics" needs "criteria": a list of strings, or of {"outcome": ...}',
    ),
    "rubrics of nothing": (
        '{"id": "C", "mode": "conversation", "turns": [{"input": "a"}], "assertions": [{"type": '
        '"rubrics", "criteria": []}]}',
        ':1:79: case "C": assertion 1: "rubrics" needs "criteria": a list of strings, or of {"outcome": ...}',
    ),
    "rubrics with a value": (
        '{"id": "C", "mode": "conversation", "turns": [{"input": "a", "assertions": [{"type": "rubrics", '
        '"criteria": ["a"], "value": "b"}]}]}',
        ':1:77: case "C": assertion 1: "rubrics" does not accept "value"; it accepts criteria, weight, '
        "required, options and message",
    ),
    "negated rubrics": (
        '{"id": "C", "mode": "conversation", "turns": [{"input": "a", "assertions": [{"type": "rubrics", '
        '"criteria": ["a"], "negate": true}]}]}',
        ':1:77: case "C": assertion 1: "rubrics" does not accept "negate"; it accepts criteria, weight, '
        "required, options and message",
    ),
    "criterion without outcome": (
        '{"id": "C", "mode": "conversation", "turns": [{"input": "a", "assertions": [{"type": "rubrics", '
        '"criteria": ["a", {"id": "b"}]}]}]}',
        ':1:115: case "C": "outcome" is missing in "turns[0].assertions[0].criteria[1]"',
    ),
    "weight of a criterion": (
        '{"id": "C", "mode": "conversation", "turns": [{"input": "a", "assertions": [{"type": "rubrics", '
        '"criteria": [{"outcome": "b", "weight": 0}]}]}]}',
        ':1:127: case "C": "turns[0].assertions[0].criteria[0].weight" must be more than 0, not 0',
    ),
    "weight of an assertion": (
        '{"id": "C", "mode": "conversation", "turns": [{"input": "a", "assertions": ["a", {"type": '
        '"contains", "value": "a", "weight": -1}]}]}',
        ':1:117: case "C": "turns[0].assertions[1].weight" must be more than 0, not -1',
    ),
    "unknown assertion of a conversation": (
        '{"id": "C", "mode": "conversation", "turns": [{"input": "a", "assertions": [{"type": "rubric", '
        '"criteria": ["a"]}]}]}',
        ':1:78: case "C": unknown assertion type "rubric" [Did you mean "rubrics"?]',
    ),
    "incomplete assertion of a conversation": (
        '{"id": "C", "mode": "conversation", "turns": [{"input": "a", "assertions": ["a", {"type": "contains"}]}]}',
        ':1:82: case "C": assertion 2: "contains" needs "value": what to look for in the output',
    ),
    "criteria of an agent": (
        '{"id": "C", "mode": "conversation", "turns": [{"input": "a", "assertions": [{"type": "agent", '
        '"use": "agents:v", "criteria": ["a"]}]}]}',
        ':1:77: case "C": assertion 1: "agent" takes one string of criteria; for a list, use the type "rubrics"',
    ),
    "criteria of another type": (
        '{"id": "C", "mode": "conversation", "turns": [{"input": "a", "assertions": [{"type": '
        '"contains", "value": "x", "criteria": ["a"]}]}]}',
        ':1:77: case "C": assertion 1: "contains" does not accept "criteria"; it accepts value, message and negate',
    ),
    "grader without a name": (
        '{"id": "C", "mode": "conversation", "turns": [{"input": "a"}], "grader": " "}',
        ':1:64: case "C": "grader" must not be empty [Use an agent, such as "workers.test.validator"]',
    ),
    "unknown type of a standard case": (
        '{"id": "C", "type": "multi_tern", "input": "a"}',
        ':1:13: case "C": unknown type "multi_tern" [Did you mean "multi_turn"?]',
    ),
    "expected_output of a standard case": (
        '{"id": "C", "input": "a", "expected_output": "b"}',
        ':1:27: case "C": unknown field "expected_output" [Write: "expected": "b"]',
    ),
    "expected_output of a multi-turn case": (
        '{"id": "C", "turns": [{"input": "a"}], "expected_output": "b"}',
        ':1:40: case "C": "expected_output" belongs in a turn, not in the case',
    ),
}
"""A case, and what follows the name of the file."""


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    assert refusal(tmp_path, text) == f"Cannot read cases from cases.jsonl{message}"


def test_places_are_right_in_yaml_and_over_several_lines(tmp_path: Path) -> None:
    yaml = "tests:\n- id: C\n  turns:\n  - input: a\n  - input: b\n    expected_output: c\n"
    message = (
        'case "C": "expected_output" in "turns[1]" needs "mode": "conversation" [Add it, or remove "expected_output"]'
    )
    assert refusal(tmp_path, yaml, "cases.yaml") == f"Cannot read cases from cases.yaml:6:5: {message}"
    json = '{\n  "id": "C",\n  "turns": [\n    {"input": "a"},\n    {"input": ""}\n  ]\n}\n'
    said = 'case "C": turn 2 has no message [Put the message of the user in "input"]'
    assert refusal(tmp_path, json) == f"Cannot read cases from cases.jsonl:5:6: {said}"


def test_everything_wrong_with_cases_of_all_modes_is_told_at_once(tmp_path: Path) -> None:
    lines = [
        '{"id": "S", "input": "a", "turn": 1}',
        '{"id": "M", "turns": [{"inputs": "a"}]}',
        '{"id": "D", "checkpoints": [{"id": "x", "assertion": "snapshot", "after": ["y"]}]}',
        '{"id": "C", "mode": "conversation", "turns": [{"input": "a"}], "trials": 0}',
        '{"id": "M", "turns": []}',
        '{"id": "O", "input": "a"}',
    ]
    assert refusal(tmp_path, "\n".join(lines)) == (
        "Cannot read cases from cases.jsonl: 5 problems\n"
        '  cases.jsonl:1:27: case "S": unknown field "turn". Did you mean "turns"?\n'
        '  cases.jsonl:2:23: case "M": "input" is missing in "turns[0]"\n'
        '  cases.jsonl:2:24: case "M": unknown field "inputs" in "turns[0]". Did you mean "input"?\n'
        '  cases.jsonl:3:76: case "D": there is no checkpoint "y"\n'
        '  cases.jsonl:4:64: case "C": "trials" must be at least 1, not 0 [No cases were run]'
    )


def test_lenient_reading_drops_what_no_mode_has_and_nothing_else(tmp_path: Path) -> None:
    file = read(tmp_path, '{"id": "M", "turns": [{"input": "a", "asert": 1}], "colour": 2}', lenient=True)
    assert file.total == 1
    assert file.warnings == [
        'cases.jsonl:1:38: case "M": unknown field "asert" in "turns[0]". Did you mean "assert"?',
        'cases.jsonl:1:52: case "M": unknown field "colour"',
    ]
