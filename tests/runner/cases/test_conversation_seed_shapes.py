"""Cases of several turns as the design documents show them: counterparts with the same fields in the same layout, and
the documents' own blocks where these are at hand."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from case_files import read

from runner.assertions.model import Assertion
from runner.cases.messages import messages_of
from runner.cases.model import Case
from runner.cases.other_cases import ConversationCase, DynamicCase, MultiTurnCase
from runner.cases.turns import Criterion, Grader

SEEDS = Path(__file__).parents[4] / "shared/seeds"
MULTI_TURN = """\
{
  "id": "K01",
  "name": "A room, from the question to the booking",
  "type": "multi_turn",
  "options": {
    "connector": "local-small",
    "skip": {
      "history": true
    },
    "metadata": {
      "test_scenario": "plain"
    }
  },
  "turns": [
    {
      "input": "I need a room",
      "assertions": [
        {
          "type": "contains",
          "value": "which town"
        }
      ]
    },
    {
      "input": "Bergen, two nights, below 200",
      "assertions": [
        {
          "type": "tool_called",
          "name": "book_room"
        }
      ]
    }
  ],
  "simulator": {
    "use": "agents:workers.test.user-simulator",
    "options": {
      "metadata": {
        "persona": "A guest in a hurry",
        "goal": "A room in Bergen",
        "max_turns": 10
      }
    }
  },
  "interactive": {
    "enabled": false,
    "timeout": "5m"
  },
  "on_missing_input": "skip",
  "final_assertions": [
    {
      "type": "json_path",
      "path": "$.booking.state",
      "value": "done"
    }
  ]
}
"""
EARLIER_SIMULATOR = """\
{
  "id": "K02",
  "name": "A room, in the earlier spelling",
  "type": "multi_turn",
  "turns": [
    {
      "input": "I need a room"
    }
  ],
  "simulator": {
    "use": "agents:workers.test.user-simulator",
    "persona": "A guest in a hurry",
    "goal": "A room in Bergen",
    "max_turns": 10
  },
  "on_missing_input": "skip"
}
"""
HYBRID = """\
{
  "id": "K03",
  "turns": [
    {
      "input": "A room, please"
    },
    {
      "input": "Two nights"
    }
  ],
  "simulator": {
    "use": "agents:workers.test.user-sim",
    "metadata": {
      "goal": "See the booking through"
    }
  }
}
"""
ATTACHMENTS = """\
{
  "id": "K04",
  "name": "A ticket",
  "turns": [
    {
      "input": "I want my ticket read",
      "attachments": [
        {
          "type": "image",
          "source": "file://./tests/fixtures/ticket.jpg"
        }
      ]
    },
    {
      "input": "It is for tomorrow"
    }
  ]
}
"""
SINGLE_TURN = """\
// As ever
{"id": "K05", "input": "Good day", "assertions": [{"type": "contains", "value": "day"}]}

// The same in another way
{"id": "K06", "type": "single_turn", "turns": [{"input": "Good day", "assertions": [{"type": "contains", "value": "day"}]}]}
"""
DYNAMIC = """\
{
  "id": "K07",
  "name": "All that belongs to a booking",
  "simulator": {
    "use": "workers.test.user-simulator",
    "options": {
      "metadata": {
        "persona": "A guest in a hurry",
        "goal": "A room in Bergen"
      }
    }
  },
  "checkpoints": [
    {
      "id": "ask_town",
      "description": "It asks for the town",
      "assertion": {
        "type": "contains",
        "value": "town"
      }
    },
    {
      "id": "call_book",
      "description": "It books",
      "after": [
        "ask_town"
      ],
      "assertion": {
        "type": "tool_called",
        "name": "book_room"
      }
    }
  ],
  "max_turns": 10,
  "timeout": "2m"
}
"""
CONVERSATION = """\
tests:
  - id: garden-planning
    mode: conversation
    criteria: The agent keeps in mind what it was told and gives advice that fits
    aggregation: mean # mean (default) | min ("weakest link") | max
    input:
      - role: system
        input: You help people with their gardens.
    turns:
      - input: I'm planning a garden of 40 m². What should I think of first?
        # a reference; the real answer goes on
        expected_output: |-
          Begin with light and soil: see where the sun is at noon, and
          dig a hole to find out how fast water goes away.
        assertions:
          - Asks for or mentions light
          - Mentions the soil (sand, loam, clay)
      - input: It's shady, and I don't want any lawn.
        assertions:
          - Proposes plants that bear shade
          - type: contains
            value: fern
      - input: Queue
        assertions:
          - Asks how much money there is
          - type: rubrics
            criteria:
              - id: no-early-list
                outcome: Gives no shopping list before it knows the budget
                weight: 2
                required: true
    # Conversation-level
    assertions:
      - The agent never contradicts what it said before
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("tests/fixtures/ticket.jpg", "tests/fixtures/receipt.jpg", "fixtures/receipt.jpg"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"jpg")
    return tmp_path


def test_turns_with_simulator_person_and_final_assertions(folder: Path) -> None:
    (located,) = read(folder, MULTI_TURN)
    case = located.case
    assert isinstance(case, MultiTurnCase)
    assert (case.type, case.on_missing_input, case.interactive.enabled, case.interactive.timeout) == (
        "multi_turn",
        "skip",
        False,
        "5m",
    )
    assert [(turn.input, turn.assertions) for turn in case.turns] == [
        ("I need a room", [Assertion(type="contains", value="which town")]),
        ("Bergen, two nights, below 200", [Assertion(type="tool_called", name="book_room")]),
    ]
    assert case.simulator is not None
    assert case.simulator.options.metadata == {
        "persona": "A guest in a hurry",
        "goal": "A room in Bergen",
        "max_turns": 10,
    }
    assert case.final_assertions == [Assertion(type="json_path", path="$.booking.state", value="done")]


def test_a_simulator_in_the_earlier_spelling(folder: Path) -> None:
    (located,) = read(folder, EARLIER_SIMULATOR)
    assert isinstance(located.case, MultiTurnCase)
    assert located.case.simulator is not None
    assert located.case.simulator.model_dump(exclude_unset=True) == {
        "use": "agents:workers.test.user-simulator",
        "persona": "A guest in a hurry",
        "goal": "A room in Bergen",
        "max_turns": 10,
    }


def test_turns_and_then_a_simulator(folder: Path) -> None:
    (located,) = read(folder, HYBRID)
    assert isinstance(located.case, MultiTurnCase)
    assert located.case.simulator is not None
    assert len(located.case.turns) == 2
    assert located.case.simulator.metadata == {"goal": "See the booking through"}


def test_attachments_of_a_turn(folder: Path) -> None:
    (located,) = read(folder, ATTACHMENTS)
    assert isinstance(located.case, MultiTurnCase)
    assert [len(turn.attachments) for turn in located.case.turns] == [1, 0]


def test_a_single_turn_in_two_ways(folder: Path) -> None:
    one, other = [located.case for located in read(folder, SINGLE_TURN)]
    assert type(one) is Case
    assert isinstance(other, MultiTurnCase)
    assert other.turns[0].input == one.input
    assert other.turns[0].assertions == one.assertions


def test_simulator_and_checkpoints(folder: Path) -> None:
    (located,) = read(folder, DYNAMIC)
    case = located.case
    assert isinstance(case, DynamicCase)
    assert (case.max_turns, case.timeout, case.simulator.use) == (10, "2m", "workers.test.user-simulator")
    assert [(item.id, item.description, item.after, item.assertions) for item in case.checkpoints] == [
        ("ask_town", "It asks for the town", [], [Assertion(type="contains", value="town")]),
        ("call_book", "It books", ["ask_town"], [Assertion(type="tool_called", name="book_room")]),
    ]


def test_a_graded_conversation_in_yaml(folder: Path) -> None:
    (located,) = read(folder, CONVERSATION, "cases.yaml")
    case = located.case
    assert isinstance(case, ConversationCase)
    assert messages_of(case, folder) == [{"role": "system", "content": "You help people with their gardens."}]
    assert [turn.assertions for turn in case.turns] == [
        ["Asks for or mentions light", "Mentions the soil (sand, loam, clay)"],
        ["Proposes plants that bear shade", Grader(type="contains", value="fern")],
        [
            "Asks how much money there is",
            Grader(
                type="rubrics",
                criteria=[
                    Criterion(
                        id="no-early-list",
                        outcome="Gives no shopping list before it knows the budget",
                        weight=2,
                        required=True,
                    )
                ],
            ),
        ],
    ]
    assert [turn.expected_output is None for turn in case.turns] == [False, True, True]
    assert case.assertions == ["The agent never contradicts what it said before"]
    assert (case.aggregation, case.criteria is None) == ("mean", False)


def blocks(seed: str) -> list[dict[str, Any]]:
    """The cases that a design document prints: its blocks with turns, checkpoints or an id."""
    (path,) = SEEDS.glob(f"{seed}_*.txt")
    found = []
    for block in re.findall(r"^```jsonl\n(.*?)^```$", path.read_text("utf-8"), re.M | re.S):
        text = re.sub(r"\[\.\.\.\]", "[]", re.sub(r"^//.*$", "", block, flags=re.M)).strip()
        while text:
            value, end = json.JSONDecoder().raw_decode(text)
            text = text[end:].strip()
            if value.keys() & {"turns", "checkpoints", "input", "messages"} and "status" not in value:
                found.append(value)
    return found


@pytest.mark.skipif(not SEEDS.is_dir(), reason="the design documents are not at hand")
@pytest.mark.parametrize(
    ("seed", "modes"),
    [
        ("000", {"Case": 3, "MultiTurnCase": 4}),
        ("001", {"Case": 8, "DynamicCase": 1}),
        ("002", {"Case": 2, "MultiTurnCase": 4}),
    ],
)
def test_every_case_of_a_design_document_is_read(folder: Path, seed: str, modes: dict[str, int]) -> None:
    cases = [{**value, "id": f"{index}"} for index, value in enumerate(blocks(seed))]
    counts: dict[str, int] = {}
    for located in read(folder, "\n".join(json.dumps(case, indent=2) for case in cases)):
        name = type(located.case).__name__
        counts[name] = counts.get(name, 0) + 1
    assert counts == modes


def indented(text: str, apart: bool) -> str:
    """The design document's YAML, which lost its indentation, with it. `apart`: role and input of its system prompt
    stay two elements."""
    lines, section, inside = [], "", ""
    for line in text.splitlines():
        key = re.match(r"(mode|criteria|aggregation|input|turns):", line)
        if line == "tests:" or line.startswith("- id: travel"):
            indent = 0 if line == "tests:" else 2
        elif key or line == "# Conversation-level":
            section, indent = (key[1] if key else "whole"), 4
        elif section == "whole":
            indent = 4 if line == "assertions:" else 6
        elif section == "input":
            indent = 6
            if line.startswith("- input:") and not apart:
                line = f"  {line[2:]}"
        elif line.startswith("- input:"):
            inside, indent = "", 6
        elif re.match(r"(expected_output|assertions):|#", line):
            inside, indent = line.partition(":")[0], 8
        else:
            indent = 10
        lines.append(" " * indent + line)
    assert inside == "assertions"
    return "\n".join(lines) + "\n"


@pytest.mark.skipif(not SEEDS.is_dir(), reason="the design documents are not at hand")
@pytest.mark.parametrize("apart", [False, True], ids=["system prompt in one", "system prompt as printed"])
def test_the_conversation_of_the_design_document_is_read(folder: Path, apart: bool) -> None:
    (path,) = SEEDS.glob("003_*.txt")
    text = "tests:\n" + path.read_text("utf-8").partition("\ntests:\n")[2].partition("\nMixing shorthand")[0]
    (located,) = read(folder, indented(text, apart), "travel.yaml")
    case = located.case
    assert isinstance(case, ConversationCase)
    ((role, content),) = [(message["role"], message["content"]) for message in messages_of(case, folder)]
    assert (role, str(content).startswith("You are a ")) == ("system", True)
    assert [len(turn.assertions or ()) for turn in case.turns] == [2, 3, 3, 4]
    assert [turn.expected_output is not None for turn in case.turns] == [True, True, False, False]
    assert all(isinstance(turn.input, str) and len(turn.input) > 20 for turn in case.turns)
    assert len(case.assertions or ()) == 3
    assert (case.aggregation, str(case.criteria).startswith("Agent maintains context")) == ("mean", True)
