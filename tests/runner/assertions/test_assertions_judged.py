"""`script`, `agent`, `snapshot`: where something else than the assertion judges."""

from __future__ import annotations

from typing import Any

import pytest
from judging import Judges, NotEvaluated, judge
from table_tests import each

from runner.assertions.base import AssertionResult, Evidence

EVIDENCE = Evidence(output={"total": 7}, input="How much?", expected="seven", case="T001")
VALIDATOR = {"type": "agent", "use": "agents:workers.test.validator"}
SCRIPT = {"type": "script", "script": "scripts.test.Assert"}

SCRIPTS: list[tuple[str, bool, Any, bool, str, float | None]] = [
    ("true", False, True, True, "", None),
    ("pass", False, {"pass": True, "message": "fine", "score": 0.9}, True, "fine", 0.9),
    ("passed", False, {"passed": True, "reason": "fine"}, True, "fine", None),
    (
        "false",
        False,
        False,
        False,
        'Expected scripts.test.Assert to accept the output, but it did not: {"total": 7}',
        None,
    ),
    (
        "fail",
        False,
        {"pass": False, "message": "too low", "score": 0},
        False,
        "Expected scripts.test.Assert to accept the output, but it says: too low",
        0,
    ),
    (
        "a message that is no text",
        False,
        {"pass": False, "message": {"missing": ["total", None]}},
        False,
        'Expected scripts.test.Assert to accept the output, but it says: {"missing": ["total", null]}',
        None,
    ),
    (
        "negated true",
        True,
        True,
        False,
        'Expected scripts.test.Assert not to accept the output, but it did: {"total": 7}',
        None,
    ),
    ("negated false", True, {"pass": False, "message": "too low"}, True, "too low", None),
]
NONSENSE = "scripts.test.Assert returned {}, not true, false or {{pass, message}}"
SCRIPT_ERRORS: list[tuple[str, Any, str]] = [
    ("nothing", None, NONSENSE.format("null")),
    ("a text", "true", NONSENSE.format('"true"')),
    ("an object without a verdict", {"message": "x"}, NONSENSE.format('{"message": "x"}')),
    ("a yes and a no", {"passed": True, "pass": False}, NONSENSE.format('{"passed": true, "pass": false}')),
    ("not callable", NotEvaluated("there is no function Assert"), "there is no function Assert"),
    ("any exception", KeyError("x"), "KeyError: 'x'"),
]


@each(("negate", "answer", "passed", "message", "score"), [row[1:] for row in SCRIPTS], ids=[row[0] for row in SCRIPTS])
def test_a_script_judges(negate: bool, answer: Any, passed: bool, message: str, score: float | None) -> None:
    result = judge({**SCRIPT, "negate": negate}, EVIDENCE, Judges(answer))

    assert result == AssertionResult(
        type="script", passed=passed, expected="seven", actual={"total": 7}, message=message, error=False, score=score
    )


@each("negate", [False, True])
@each(("answer", "why"), [row[1:] for row in SCRIPT_ERRORS], ids=[row[0] for row in SCRIPT_ERRORS])
def test_a_script_that_gives_no_verdict_is_an_error(answer: Any, why: str, negate: bool) -> None:
    result = judge({**SCRIPT, "negate": negate}, EVIDENCE, Judges(answer))

    assert result == AssertionResult(
        type="script",
        passed=False,
        expected=None,
        actual={"total": 7},
        message=f'Cannot evaluate "script": {why}',
        error=True,
    )


@pytest.mark.parametrize(
    ("fields", "reference", "expected", "metadata"),
    [
        ({"script": "scripts.test.Assert"}, "scripts.test.Assert", "seven", {}),
        ({"script": "scripts.test.Assert", "value": [7]}, "scripts.test.Assert", [7], {}),
        (
            {"use": "scripts:tests.validate-expense", "options": {"metadata": {"min": 1}}},
            "scripts:tests.validate-expense",
            "seven",
            {"min": 1},
        ),
    ],
    ids=["script", "value", "use"],
)
def test_a_script_is_told_output_input_expected_metadata_and_transcript(
    fields: dict[str, Any], reference: str, expected: Any, metadata: dict[str, Any]
) -> None:
    judges = Judges(True)
    judge({"type": "script", **fields}, EVIDENCE, judges)

    transcript = {"messages": [], "output": {"total": 7}, "tools": [], "turns": []}
    arguments = [{"total": 7}, "How much?", expected, metadata, transcript]
    assert judges.asked == [(reference, ("Validate", "Assert"), arguments)]


@each(
    ("fields", "answer", "passed", "message", "score"),
    [
        ({"value": "polite"}, {"passed": True, "reason": "It is", "score": 1}, True, "It is", 1),
        ({"value": "polite"}, {"passed": True}, True, "", None),
        (
            {"value": "polite"},
            {"passed": False, "reason": "It is rude", "score": 0.2},
            False,
            'Expected the output to meet "polite", but workers.test.validator says: It is rude',
            0.2,
        ),
        (
            {},
            {"passed": False},
            False,
            "Expected the output to meet the criteria, but workers.test.validator says: it does not",
            None,
        ),
        (
            {"value": "rude", "negate": True},
            {"passed": True, "reason": "It is rude"},
            False,
            'Expected the output not to meet "rude", but workers.test.validator says: It is rude',
            None,
        ),
        ({"value": "rude", "negate": True}, {"passed": False, "reason": "It is kind"}, True, "It is kind", None),
    ],
    ids=["passes", "without a reason", "fails", "without criteria", "negated fails", "negated passes"],
)
def test_an_agent_judges(fields: dict[str, Any], answer: Any, passed: bool, message: str, score: float | None) -> None:
    result = judge({**VALIDATOR, **fields}, EVIDENCE, Judges(answer))

    assert result == AssertionResult(
        type="agent",
        judge="workers.test.validator",
        passed=passed,
        expected=fields.get("value"),
        actual={"total": 7},
        message=message,
        error=False,
        score=score,
    )


@pytest.mark.parametrize("negate", [False, True])
@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (NotEvaluated("workers.test.validator answered prose"), "workers.test.validator answered prose"),
        (
            {"reason": "so"},
            'workers.test.validator answered {"reason": "so"}, which is not a verdict on the output',
        ),
    ],
    ids=["prose", "no verdict"],
)
def test_an_agent_that_gives_no_verdict_is_an_error(answer: Any, why: str, negate: bool) -> None:
    result = judge({**VALIDATOR, "negate": negate}, EVIDENCE, Judges(answer))

    assert (result.passed, result.error, result.message) == (False, True, f'Cannot evaluate "agent": {why}')


OPTIONS = {"connector": "fast", "metadata": {"criteria": "kind", "tone": "friendly"}}


@each(
    ("fields", "payload", "options"),
    [
        ({}, {}, {"metadata": {}}),
        ({"value": "polite"}, {"criteria": "polite"}, {"metadata": {}}),
        ({"criteria": "polite"}, {"criteria": "polite"}, {"metadata": {}}),
        ({"options": OPTIONS}, {"criteria": "kind", "tone": "friendly"}, OPTIONS),
        ({"value": "polite", "options": OPTIONS}, {"criteria": "polite", "tone": "friendly"}, OPTIONS),
    ],
    ids=["nothing", "value", "criteria", "metadata", "value over metadata"],
)
def test_an_agent_is_told_output_input_criteria_and_metadata(
    fields: dict[str, Any], payload: dict[str, Any], options: dict[str, Any]
) -> None:
    judges = Judges({"passed": True})
    judge({**VALIDATOR, **fields}, EVIDENCE, judges)

    told = {"output": {"total": 7}, "input": "How much?", "messages": [], "tools": [], "turns": [], **payload}
    assert judges.asked == [("workers.test.validator", told, options)]


def test_a_snapshot_is_that_of_the_case_and_the_name() -> None:
    judges = Judges()
    judge({"type": "snapshot"}, EVIDENCE, judges)
    judge({"type": "snapshot", "name": "total"}, EVIDENCE, judges)

    assert judges.snapshots == {"T001": {"total": 7}, "T001 total": {"total": 7}}


@pytest.mark.parametrize(
    ("stored", "negate", "passed", "message"),
    [
        (1, False, True, ""),
        (2, False, False, 'Expected the output to match the snapshot "T": 1 instead of 2'),
        (1, True, False, 'Expected the output not to match the snapshot "T", found no difference'),
        (2, True, True, ""),
    ],
)
def test_a_snapshot_agrees_or_says_what_differs(stored: int, negate: bool, passed: bool, message: str) -> None:
    result = judge(
        {"type": "snapshot", "negate": negate}, Evidence(output=1, case="T"), Judges(snapshots={"T": stored})
    )

    assert result == AssertionResult(type="snapshot", passed=passed, expected="T", actual=1, message=message)
