"""Cases of several turns on the console."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from sample_conversations import BROKEN, CONVERSATION, DYNAMIC, SIMULATED, STATIC, WITHOUT_ANSWER

from runner.environment import Environment
from runner.options.options import RunOptions
from runner.record import events, model
from runner.record.fold import Execution
from runner.record.model import AGENT_TEST
from runner.reporters.console.case_lines import CaseLines
from runner.reporters.console.console import ConsoleReporter
from runner.reporters.console.style import Style, flags_of
from runner.security.secrets import Secrets
from runner.security.terminal import OWN, own

THREE = """\
═══════════════════════════════════════════════════════════════════════════════
  Agent Test (Multi-Turn)
═══════════════════════════════════════════════════════════════════════════════
ℹ Agent: hotel
ℹ Input: tests/trips.jsonl (3 test cases)

───────────────────────────────────────────────────────────────────────────────
  Running Tests
───────────────────────────────────────────────────────────────────────────────

► [B01] Room in three turns (3 turns)
  ├─ Turn 1: "I need a room" → PASSED (2.10s)
  │          Agent: "Which town shall it be?"
  │          ✓ contains "which town"
  │
  ├─ Turn 2: "Basel, two nights" → PASSED (3.20s)
  │          Agent: [tool: book_room({nights: 2, kind: "double", "guest-name": ["Ada"]})]
  │          ✓ tool_called "book_room"
  │
  ├─ Turn 3: "Yes" → PASSED (1.80s)
  │          Agent: "Booked as R-7"
  │
  └─ Final Assertions: PASSED
     ✓ $.room.status = "booked"

► [B02] Too many guests
  ├─ Turn 1: "A room for forty" → PASSED (2.00s)
  │          Agent: "A manager has to agree. Please give me a reference number."
  │
  ├─ Turn 2: SKIPPED
  │          Reason: Agent awaiting input, no next turn defined
  │          Agent asked: "Please give me a reference number"
  │          Hint: Add more turns, use --interactive, or configure a simulator
  │
  └─ Result: SKIPPED

► [B03] Whatever the guest says (simulator: workers.test.guest)
  ├─ Turn 1: [Initial] "Help me with a room" → PASSED (2.10s)
  ├─ Turn 2: [Simulated] "In Basel" → PASSED (800ms)
  ├─ Turn 3: [Human] "Now" → PASSED (2.20s)
  │          Goal achieved: a room is booked
  │
  └─ Final Assertions: PASSED

───────────────────────────────────────────────────────────────────────────────
  Summary
───────────────────────────────────────────────────────────────────────────────
  Total:   3 tests
  Passed:  2
  Failed:  0
  Skipped: 1

  Total turns: 7
  Avg turns/test: 2.3
  Time:    14.20s
"""
TREES: dict[str, tuple[model.TestResult, int, str]] = {
    "what failed": (
        BROKEN,
        0,
        """\
► [B04] (2 turns)
  ├─ Turn 1: "This one [image]" → FAILED (20ms)
  │          Agent: "{"id": "R-7"}"
  │          ✓ contains "which town"
  │          ✗ contains "R-8"
  │            Expected the output to contain "R-8"
  │
  ├─ Turn 2: "And now?" → FAILED (5ms)
  │          Error: agent error: no model
  │
  ├─ Final Assertions: FAILED
  │  ✗ contains "R-8"
  │    Expected the output to contain "R-8"
  │
  └─ Result: FAILED
     └─ max turns (2) exceeded
""",
    ),
    "checkpoints": (
        DYNAMIC,
        0,
        """\
► [D01] (simulator: workers.test.guest)
  ├─ Turn 1: [Simulated] "A room, please" → PASSED (100ms)
  │          Agent: "Booked"
  │
  ├─ Checkpoints: 1 of 3 reached
  │  ✓ ask_town: reached at turn 1 - Asks for the town
  │  ✗ confirm: missing
  │    Expected the output to contain "sure"
  │  ○ offer: missing (optional) - Offers breakfast
  │
  └─ Result: FAILED
     └─ missing checkpoints: confirm
""",
    ),
    "scores": (
        CONVERSATION,
        0,
        """\
► [C01] (2 turns)
  ├─ Turn 1: "Plan a trip" → PASSED (100ms)
  │          Agent: "Where to?"
  │          Score: 1.00 → PASS
  │          ✓ Asks back
  │
  ├─ Turn 2: "Peru" → FAILED (100ms)
  │          Agent: "Sure"
  │          Score: 0.50 → FAIL
  │          ✓ Is polite (weight 2, score 0.90)
  │          ✗ Names towns (required)
  │            There is none
  │
  ├─ Turn 3: "When?" → SKIPPED
  │          Reason: an earlier turn failed, and on_turn_failure is stop
  │
  ├─ Conversation: Score: 0.50 → FAIL
  │  ✗ Stays in Peru
  │
  ├─ Trials: 1 of 2 passed
  │  ✓ Trial 1: score 0.90 (100ms)
  │  ✗ Trial 2: score 0.50 (200ms)
  │
  └─ Score: 0.50 (threshold 0.80) → FAILED
     └─ score 0.50 is below the threshold 0.8
""",
    ),
    "all that a simulated case said": (
        SIMULATED,
        1,
        """\
► [B03] Whatever the guest says (simulator: workers.test.guest)
  ├─ Turn 1: [Initial] "Help me with a room" → PASSED (2.10s)
  │          Agent: "Where?"
  │          Awaiting input: agent_declared, hint: a town
  │
  ├─ Turn 2: [Simulated] "In Basel" → PASSED (800ms)
  │          Agent: "When?"
  │          Awaiting input: agent_declared, hint: a town
  │
  ├─ Turn 3: [Human] "Now" → PASSED (2.20s)
  │          Agent: "Done"
  │          Goal achieved: a room is booked
  │
  └─ Final Assertions: PASSED
""",
    ),
}


def declared(result: model.TestResult) -> model.TestResult:
    """The same, with turns that say why the agent waits."""
    assert result.case is not None
    turns = (
        turn.replace(awaiting_reason="agent_declared", input_hint="a town") if turn.awaiting_input else turn
        for turn in result.case.turns
    )
    return result.replace(case=result.case.replace(turns=tuple(turns)))


@pytest.mark.parametrize(("result", "verbose", "lines"), TREES.values(), ids=TREES)
def test_a_case_is_a_tree(result: model.TestResult, verbose: int, lines: str) -> None:
    trees = CaseLines(Style(False), verbose)

    shown = declared(result) if verbose else result
    assert trees.title(shown) + trees.tree(shown) == lines


def console(options: RunOptions, suites: tuple[model.Suite, ...], *results: model.TestResult) -> str:
    """What the console prints of a run with these results, all of the first suite."""
    stdout = io.StringIO()
    reporter = ConsoleReporter(
        options,
        Environment(directory=Path("/app"), variables={}, stdout=stdout, stderr=stdout, cpus=1, secrets=Secrets()),
        stdout.write,
    )
    run = Execution()
    stream: list[events.Event] = [
        events.RunStart(
            started_at="2026-01-01T00:00:00Z",
            version="1",
            suites=suites,
            environment={"user_id": "u", "team_id": "t"},
            flags=flags_of(options),
        )
    ]
    stream += [
        events.SuiteStart(suite=suites[0].id, selected=len(results), total=len(results)),
        *(events.TestEnd(result=result) for result in results),
        events.SuiteEnd(suite=suites[0].id),
    ]
    for suite in suites[1:]:
        stream += [events.SuiteStart(suite=suite.id, selected=1, total=1), events.SuiteEnd(suite=suite.id)]
    failed = any(result.outcome.status == "failed" for result in results)
    stream.append(
        events.RunEnd(status="failed" if failed else "passed", seconds=14.2, completed_at="2026-01-01T00:00:14Z")
    )
    for event in stream:
        run.add(event)
        reporter.on_event(event, run)
    return stdout.getvalue()


TRIPS = model.Suite(
    id="trips",
    kind=AGENT_TEST,
    label="tests/trips.jsonl",
    file="/app/tests/trips.jsonl",
    agent="hotel",
    connector="",
    multi_turn=True,
)
OTHERS = model.Suite(
    id="others", kind=AGENT_TEST, label="tests/others.jsonl", file="/app/tests/others.jsonl", agent="hotel"
)


def test_a_run_of_conversations_has_the_layout_of_the_design() -> None:
    assert console(RunOptions(inputs=()), (TRIPS,), STATIC, WITHOUT_ANSWER, SIMULATED) == (
        f"{THREE}  Case pass rate: 100%\n"
    )


def test_a_run_of_many_inputs_shows_the_turns_of_failing_cases_at_its_end() -> None:
    shown = console(RunOptions(inputs=(), name="hotel"), (TRIPS, OTHERS), STATIC, BROKEN)

    tree = TREES["what failed"][2].partition("\n")[2]
    assert shown == (
        "✗ tests/trips.jsonl  1 passed, 1 failed (8.10s)\n"
        "═══════════════════════════════════════════════════════════════════════════════\n"
        "  Failures\n"
        "═══════════════════════════════════════════════════════════════════════════════\n"
        "✗ tests/trips.jsonl › B04\n"
        f"{tree}"
        "  Rerun: yao-test -i tests/trips.jsonl --run '^B04$' --name hotel\n\n"
        "═══════════════════════════════════════════════════════════════════════════════\n"
        "  Summary: 1 passed, 1 failed, 0 skipped (14.20s) in 2 inputs\n"
        "  Case pass rate: 50.0%\n"
        "═══════════════════════════════════════════════════════════════════════════════\n"
    )


def test_colours_change_nothing_but_the_colours() -> None:
    import re

    for result, _, lines in list(TREES.values())[:3]:
        trees = CaseLines(Style(True), 0)
        colored = trees.title(result) + trees.tree(result)
        assert own("\x1b[31m") in colored
        assert re.sub(OWN, "", colored) == lines
