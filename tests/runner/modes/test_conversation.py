"""Conversation mode: what the agent is asked, how turns and the whole are graded, and what passes (seed 003)."""

from __future__ import annotations

from typing import Any

import pytest
from agent_files import agent
from case_runs import one_result
from command import MakeApplication, Record
from travel_planner import BAD, GOOD, HOLIDAY, conversation, demo, failures, turn, verdicts

from runner.record.case_result import CriterionResult, ScoreResult

TRAVEL = conversation(
    turn(
        HOLIDAY,
        'Names a place such as "Kyoto"',
        'Mentions the season: "April"',
        expected_output="Kyoto, for its temples and the cherry blossom.",
    ),
    turn(
        "I prefer quiet places to cities.",
        'Recommends "Koya"',
        'Compares with "Tokyo"',
        'Refers to "Kyoto" again',
        expected_output="A temple in Koya.",
    ),
    turn("What about a budget of 3000?", 'Stays within "3000"', 'Suggests "temples"'),
    turn("Make a plan of it.", 'Covers "Days 1"', 'Has "Koya" in it', 'Is feasible for "3000"'),
    input=[{"role": "system", "content": "You plan holidays."}],
    criteria="Keeps what was said in mind",
    assertions=['Remembers "Kyoto" to the end', 'Knows "the user" by name'],
)


BY: dict[str, Any] = {"judge": "workers.test.validator", "judge_connector": "scripted"}


def test_each_turn_and_the_whole_have_a_score_with_all_criteria(app: MakeApplication) -> None:
    result, case = one_result(demo(app), TRAVEL)

    def judged(text: str, quoted: str, passed: bool = True) -> CriterionResult:
        reason = f'The answer {"contains" if passed else "does not contain"} "{quoted}"'
        return CriterionResult(text=text, passed=passed, score=float(passed), reason=reason, **BY)

    reference = CriterionResult(
        text="Means the same as expected_output",
        passed=True,
        score=None,
        reason="There is an answer; what it says was not judged",
        judged=False,
        not_judged=1,
        **BY,
    )
    assert case.scores == (
        ScoreResult(
            name="turn-1",
            type="rubrics",
            score=1.0,
            verdict="pass",
            assertions=(
                judged('Names a place such as "Kyoto"', "Kyoto"),
                judged('Mentions the season: "April"', "April"),
                reference,
            ),
        ),
        ScoreResult(
            name="turn-2",
            type="rubrics",
            score=pytest.approx(2 / 3),
            verdict="fail",
            assertions=(
                judged('Recommends "Koya"', "Koya"),
                judged('Compares with "Tokyo"', "Tokyo", False),
                judged('Refers to "Kyoto" again', "Kyoto"),
                reference,
            ),
        ),
        ScoreResult(
            name="turn-3",
            type="rubrics",
            score=1.0,
            verdict="pass",
            assertions=(judged('Stays within "3000"', "3000"), judged('Suggests "temples"', "temples")),
        ),
        ScoreResult(
            name="turn-4",
            type="rubrics",
            score=pytest.approx(2 / 3),
            verdict="fail",
            assertions=(
                judged('Covers "Days 1"', "Days 1"),
                judged('Has "Koya" in it', "Koya"),
                judged('Is feasible for "3000"', "3000", False),
            ),
        ),
        ScoreResult(
            name="assertions",
            type="rubrics",
            score=0.5,
            verdict="fail",
            assertions=(
                judged('Remembers "Kyoto" to the end', "Kyoto"),
                judged('Knows "the user" by name', "the user", False),
            ),
        ),
    )
    assert case.score == pytest.approx((1 + 2 / 3 + 1 + 2 / 3 + 0.5) / 5)
    assert failures(result) == [
        (
            "assertion",
            'score 0.77 is below the threshold 0.8 (turn-2: "Compares with "Tokyo"": The answer does not contain '
            '"Tokyo"; turn-4: "Is feasible for "3000"": The answer does not contain "3000"; assertions: "Knows "the '
            'user" by name": The answer does not contain "the user")',
        )
    ]
    assert (case.mode, case.threshold, case.trials) == ("conversation", 0.8, ())


def test_the_real_answer_is_carried_forward_and_the_expected_one_is_not(app: MakeApplication) -> None:
    _, case = one_result(demo(app), TRAVEL)

    assert [(message["role"], message["content"]) for message in case.transcript] == [
        ("system", "You plan holidays."),
        ("user", HOLIDAY),
        ("assistant", "Go to Kyoto in April, when the cherries bloom."),
        ("user", "I prefer quiet places to cities."),
        ("assistant", "Then stay in Koya, an hour from Kyoto."),
        ("user", "What about a budget of 3000?"),
        ("assistant", "With 3000 you can stay in temples and inns."),
        ("user", "Make a plan of it."),
        ("assistant", "Days 1 to 5: Kyoto. Days 6 to 9: Koya. Be brief."),
    ]
    assert case.response == "Days 1 to 5: Kyoto. Days 6 to 9: Koya. Be brief."
    assert [(turn.turn, turn.input, turn.source, turn.status) for turn in case.turns] == [
        (1, HOLIDAY, "static", "passed"),
        (2, "I prefer quiet places to cities.", "static", "failed"),
        (3, "What about a budget of 3000?", "static", "passed"),
        (4, "Make a plan of it.", "static", "failed"),
    ]


INPUTS: dict[str, tuple[Any, list[tuple[str, str]]]] = {
    "a text": ("I am Ada.", [("user", "I am Ada.")]),
    "a message": ({"role": "developer", "content": "Be kind."}, [("developer", "Be kind.")]),
    "a conversation": (
        [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}],
        [("user", "Hi"), ("assistant", "Hello")],
    ),
}


@pytest.mark.parametrize(("input", "before"), INPUTS.values(), ids=INPUTS)
def test_input_comes_before_the_turns(app: MakeApplication, input: Any, before: list[tuple[str, str]]) -> None:
    _, case = one_result(demo(app), conversation("Tea", input=input))

    said = [(message["role"], message["content"]) for message in case.transcript]
    assert said == [*before, ("user", "Tea"), ("assistant", "You said: Tea")]


AGGREGATIONS: dict[str, tuple[Record, float, str]] = {
    "mean of turns": (conversation(BAD, GOOD, GOOD, GOOD), 0.875, "passed"),
    "mean with the whole": (conversation(BAD, GOOD, assertions=['Says "coffee"']), 0.5, "failed"),
    "min of turns": (conversation(BAD, GOOD, GOOD, GOOD, aggregation="min"), 0.5, "failed"),
    "min with the whole": (conversation(BAD, assertions=['Says "coffee"'], aggregation="min"), 0, "failed"),
    "max of turns": (conversation(BAD, GOOD, aggregation="max"), 1, "passed"),
    "max with the whole": (conversation(BAD, assertions=['Says "tea"'], aggregation="max"), 1, "passed"),
    "a turn without graders": (conversation(BAD, "Milk"), 0.75, "failed"),
    "no graders at all": (conversation("Milk", "Tea"), 1, "passed"),
}


@pytest.mark.parametrize(("case", "score", "status"), AGGREGATIONS.values(), ids=AGGREGATIONS)
def test_the_score_is_the_aggregation_of_all_entries(
    app: MakeApplication, case: Record, score: float, status: str
) -> None:
    result, found = one_result(demo(app), case)

    assert (found.score, result.outcome.status) == (pytest.approx(score), status)


THRESHOLDS: dict[str, tuple[Record, float, str, str]] = {
    "by default": ({}, 0.8, "fail", "failed"),
    "of the run": ({}, 0.5, "pass", "passed"),
    "of the case": ({"threshold": 0.5}, 0.9, "pass", "passed"),
    "of the case, stricter": ({"threshold": 0.51}, 0.1, "fail", "failed"),
    "nothing": ({"threshold": 0}, 0.8, "pass", "passed"),
}


@pytest.mark.parametrize(("more", "of_run", "verdict", "status"), THRESHOLDS.values(), ids=THRESHOLDS)
def test_a_verdict_is_pass_from_the_threshold_up(
    app: MakeApplication, more: Record, of_run: float, verdict: str, status: str
) -> None:
    result, case = one_result(demo(app), conversation(BAD, **more), threshold=of_run)

    assert (verdicts(case), result.outcome.status) == ([("turn-1", 0.5, verdict)], status)


def test_criteria_weigh_what_they_say(app: MakeApplication) -> None:
    case = conversation(
        turn(
            "Tea",
            'Says "coffee"',
            {"type": "contains", "value": "Tea", "weight": 2},
            {"type": "rubrics", "criteria": ['Says "said"', {"outcome": 'Says "milk"', "weight": 3}], "weight": 0.5},
        )
    )

    _, found = one_result(demo(app), case)

    assert [(item.text, item.passed, item.weight) for item in found.scores[0].assertions] == [
        ('Says "coffee"', False, 1),
        ('contains "Tea"', True, 2),
        ('Says "said"', True, 0.5),
        ('Says "milk"', False, 1.5),
    ]
    assert found.score == pytest.approx(2.5 / 5)


REQUIRED = {
    "a rubric": (
        {"type": "rubrics", "criteria": [{"id": "no-milk", "outcome": 'Says "milk"', "required": True}]},
        'turn-1: the required criterion "Says "milk"" is not met: The answer does not contain "milk"',
    ),
    "all of a rubric": (
        {"type": "rubrics", "criteria": ['Says "milk"'], "required": True},
        'turn-1: the required criterion "Says "milk"" is not met: The answer does not contain "milk"',
    ),
    "an assertion": (
        {"type": "contains", "value": "milk", "required": True},
        'turn-1: the required criterion "contains "milk"" is not met: Expected the output to contain "milk", found '
        '"You said: Tea"',
    ),
}


@pytest.mark.parametrize(("grader", "message"), REQUIRED.values(), ids=REQUIRED)
def test_a_required_criterion_fails_the_case_whatever_the_score(
    app: MakeApplication, grader: Record, message: str
) -> None:
    result, case = one_result(demo(app), conversation(turn("Tea", grader), aggregation="max", assertions=['A "tea"']))

    assert (case.score, failures(result)) == (1, [("assertion", message)])


def test_an_id_of_a_criterion_is_kept(app: MakeApplication) -> None:
    rubric = {"type": "rubrics", "criteria": [{"id": "drink", "outcome": 'Says "tea"'}]}
    _, case = one_result(demo(app), conversation(turn("Tea", rubric)))

    assert [item.id for item in case.scores[0].assertions] == ["drink"]


TYPES: dict[str, tuple[list[Any], str]] = {
    "texts": (['Says "tea"'], "rubrics"),
    "rubrics": ([{"type": "rubrics", "criteria": ['Says "tea"']}], "rubrics"),
    "one type": ([{"type": "contains", "value": "said"}, {"type": "contains", "value": "Tea"}], "contains"),
    "several types": ([{"type": "contains", "value": "Tea"}, {"type": "regex", "value": "T.a"}], "rubrics"),
    "a text and a type": (['Says "tea"', {"type": "contains", "value": "Tea"}], "rubrics"),
}


@pytest.mark.parametrize(("graders", "type"), TYPES.values(), ids=TYPES)
def test_an_entry_is_called_rubrics_unless_one_type_grades_it(
    app: MakeApplication, graders: list[Any], type: str
) -> None:
    _, case = one_result(demo(app), conversation(turn("Tea", *graders)))

    assert (case.scores[0].type, case.score) == (type, 1)


def test_a_failed_turn_ends_the_conversation_when_the_case_says_so(app: MakeApplication) -> None:
    result, case = one_result(demo(app), conversation(GOOD, BAD, GOOD, "Milk", on_turn_failure="stop"))

    assert verdicts(case) == [
        ("turn-1", 1, "pass"),
        ("turn-2", 0.5, "fail"),
        ("turn-3", 0, "skip"),
        ("turn-4", 0, "skip"),
    ]
    assert case.score == pytest.approx(1.5 / 4)
    assert [turn.status for turn in case.turns] == ["passed", "failed", "skipped", "skipped"]
    assert [message["content"] for message in case.transcript] == ["Tea", "You said: Tea"] * 2
    assert failures(result)[0][1] == (
        'score 0.38 is below the threshold 0.8 (turn-2: "Says "coffee"": The answer does not contain "coffee"; turn-3: '
        "not asked; turn-4: not asked)"
    )


def test_a_failed_turn_is_followed_by_the_others_when_nothing_is_said(app: MakeApplication) -> None:
    _, case = one_result(demo(app), conversation(BAD, GOOD))

    assert verdicts(case) == [("turn-1", 0.5, "fail"), ("turn-2", 1, "pass")]


CRITERIA: dict[str, tuple[Record, list[tuple[str, float, str]], str]] = {
    "alone, met": ({}, [("turn-1", 1, "pass"), ("assertions", 1, "pass")], "passed"),
    "alone, not met": ({"criteria": 'Says "milk"'}, [("turn-1", 1, "pass"), ("assertions", 0, "fail")], "failed"),
    "beside assertions": (
        {"criteria": 'Says "milk"', "assertions": ['Says "tea"']},
        [("turn-1", 1, "pass"), ("assertions", 1, "pass")],
        "passed",
    ),
    "beside a graded turn": (
        {"criteria": 'Says "milk"', "turns": [GOOD]},
        [("turn-1", 1, "pass")],
        "passed",
    ),
    "beside an expected output": (
        {"criteria": 'Says "milk"', "turns": [{"input": "Tea", "expected_output": "Tea"}]},
        [("turn-1", None, "pass")],
        "passed",
    ),
}


@pytest.mark.parametrize(("more", "entries", "status"), CRITERIA.values(), ids=CRITERIA)
def test_criteria_are_graded_when_nothing_else_is(
    app: MakeApplication, more: Record, entries: list[tuple[str, float | None, str]], status: str
) -> None:
    result, case = one_result(demo(app), {**conversation("Tea", criteria='Says "tea"'), **more})

    assert (verdicts(case), result.outcome.status) == (entries, status)


def test_criteria_that_alone_grade_a_case_have_to_be_met(app: MakeApplication) -> None:
    result, case = one_result(demo(app), conversation("Tea", "Tea", "Tea", "Tea", criteria='Says "milk"'))

    assert case.score == pytest.approx(0.8)
    assert failures(result) == [
        (
            "assertion",
            'assertions: the required criterion "Says "milk"" is not met: The answer does not contain "milk"',
        )
    ]


def test_a_turn_may_have_parts_and_attachments(app: MakeApplication) -> None:
    files = {**agent(replies="- reply: { json: '{{ messages.-1.content }}' }"), "/data/notes.txt": "Milk"}
    note = {"type": "file", "source": "file://data/notes.txt"}
    turns = [
        {"input": [{"type": "text", "text": "Read"}, note]},
        {"input": "And this", "attachments": [{"type": "text", "text": "Tea"}]},
        {"input": {"role": "user", "content": "Alone", "name": "ada"}},
    ]

    _, case = one_result(app(files), conversation(*turns, attachments=[{"type": "text", "text": "First"}]))

    kinds = [
        [part.get("text", part["type"]) for part in message["content"]]
        if isinstance(message["content"], list)
        else message["content"]
        for message in case.transcript
        if message["role"] == "user"
    ]
    assert kinds == [["Read", "file", "First"], ["And this", "Tea"], "Alone"]
    assert case.transcript[4]["name"] == "ada"
    assert [turn.input for turn in case.turns] == [turn["input"] for turn in turns]
