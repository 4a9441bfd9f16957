"""The examples of conversations in the design document, where it is at hand, run as they stand."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_files import agent, run_cases
from command import MakeApplication

SEED = Path(__file__).parents[4] / "shared/seeds/003_30dd260c748b1a3c.txt"
FILE = "assistants/demo/tests/talks.yaml"


TRAVEL_REPLIES = """\
- when: { turn: 1, system: travel planning }
  reply: Kyoto and the Kumano Kodo, when the cherries bloom.
- when: { turn: 2 }
  reply: Koyasan and Shirakawa-go then.
- when: { turn: 3 }
  reply: With $3000, stay in guesthouses.
- when: { turn: 4 }
  reply: "Days 1 to 14: temples and trails."
"""
TRAVEL_VALIDATOR = """\
- when: { input.criteria: ["References or builds on regions mentioned in previous turn", "Includes specific locations discussed in earlier turns", "Each turn builds on prior context rather than starting fresh"] }
  reply: { json: { passed: false, reason: It does not } }
- reply: { json: { passed: true } }
"""
LEVELS = {"tests:": 0, "- id:": 2, "mode:": 4, "criteria:": 4, "aggregation:": 4, "input:": 4, "turns:": 4}
"""What lines of the example begin with → how far they are indented, at the level of the case."""


def example() -> str:
    """The first example of the document, its indentation restored."""
    lines = SEED.read_text("utf-8").splitlines()
    lines = lines[lines.index("tests:") : lines.index("Mixing shorthand with structured assertions")]
    found: list[str] = []
    inside, item = "case", 4
    for line in lines:
        if line.startswith("#"):
            inside = "case" if "level" in line else inside
            continue
        level = next((level for start, level in LEVELS.items() if line.startswith(start)), None)
        if line.startswith("- input:") and inside == "turns":
            level, item = 6, 10
        elif line.startswith(("expected_output:", "assertions:")):
            level = 4 if inside == "case" else 8
            item = level + 2
        elif level is None:
            level = item
        if line in ("turns:", "input:"):
            inside, item = ("turns" if line == "turns:" else inside), 6
        found.append(" " * level + line)
    return "\n".join(found) + "\n"


@pytest.mark.skipif(not SEED.exists(), reason="the design document is not at hand")
def test_the_example_of_the_design_document_runs_as_it_stands(app: MakeApplication) -> None:
    files = {
        **agent(replies=TRAVEL_REPLIES),
        **agent("workers.test.validator", replies=TRAVEL_VALIDATOR),
        f"/{FILE}": example(),
    }

    (record,) = run_cases(app(files), "-i", FILE, code=0).values()

    assert [(entry["name"], round(entry["score"], 2), entry["verdict"]) for entry in record["scores"]] == [
        ("turn-1", 1, "pass"),
        ("turn-2", 0.75, "fail"),
        ("turn-3", 1, "pass"),
        ("turn-4", 0.75, "fail"),
        ("assertions", 0.67, "fail"),
    ]
    assert [len(entry["assertions"]) for entry in record["scores"]] == [3, 4, 3, 4, 3]
    assert (record["test_id"], record["execution_status"]) == ("travel-planning", "ok")
    assert [message["role"] for message in record["output"] if message["role"] != "system"] == ["user", "assistant"] * 4
    for entry in record["scores"]:
        assert {"name", "type", "score", "verdict", "assertions"} <= entry.keys()
        assert all({"text", "passed"} <= item.keys() for item in entry["assertions"])


def mixed() -> str:
    """The second example of the document, a turn, in a case."""
    lines = SEED.read_text("utf-8").splitlines()
    start = lines.index("- input: Queue")
    lines = lines[start : lines.index("How it works")]
    level, found = 6, ["- id: queue", "  mode: conversation", "  turns:"]
    for line in lines:
        level = {"- input": 4, "assertions:": 6, "- id": 12}.get(line.partition(": ")[0], level)
        if line.startswith("- ") and level not in (4, 12):
            level = 8
        elif not line.startswith("- ") and line != "assertions:":
            level = 14 if level in (12, 14) else 10
        found.append(" " * level + line)
    return "\n".join(found) + "\n"


@pytest.mark.skipif(not SEED.exists(), reason="the design document is not at hand")
def test_the_example_with_structured_assertions_runs_as_it_stands(app: MakeApplication) -> None:
    files = {
        **agent(replies="- reply: Which tags, RTR or RTK? And is it CSS?"),
        f"/{FILE}": mixed(),
    }

    (record,) = run_cases(app(files), "-i", FILE, code=0).values()

    (entry,) = record["scores"]
    shown = [
        (item["text"], item["weight"], item.get("required", False), item.get("id")) for item in entry["assertions"]
    ]
    assert shown == [
        ("Asks about required tags (RTR, RTK, WFC, etc.)", 1, False, None),
        ('contains "CSS"', 1, False, None),
        ("Does not jump to a solution before gathering information", 2, True, "no-premature-diagnosis"),
    ]
