"""What is expected of a case: `expected`, scripts and validators, by the real command."""

from __future__ import annotations

from typing import Any

from agent_files import agent, errors, run_cases
from command import MakeApplication, Record

EXPECTED: list[tuple[str, Record, str]] = [
    ("object in a fence", {"input": "fence", "expected": {"a": 1}}, "passed"),
    ("other object", {"input": "fence", "expected": {"a": 2}}, "failed"),
    ("text", {"input": "text", "expected": "plain"}, "passed"),
    ("other text", {"input": "text", "expected": "plai"}, "failed"),
    ("null is not given", {"input": "text", "expected": None}, "passed"),
    ("assert wins", {"input": "text", "expected": "no", "assert": {"type": "contains", "value": "lain"}}, "passed"),
    ("all have to hold", {"input": "text", "assertions": [{"value": "plain"}, {"type": "contains", "value": "x"}]}, "failed"),
    ("a type name alone", {"input": "text", "assert": [{"type": "type", "value": "string"}]}, "passed"),
    ("nothing", {"input": "text"}, "passed"),
    ("messages win", {"input": "fence", "messages": [{"content": "text"}], "expected": "plain"}, "passed"),
]  # fmt: skip


def test_expected_is_the_output_and_assert_wins_over_it(app: MakeApplication) -> None:
    replies = '- when: { input: text }\n  reply: plain\n- reply: "```json\\n{\\"a\\": 1,}\\n```"\n'
    cases = [{"id": id, **case} for id, case, _ in EXPECTED]

    records = run_cases(app(agent(replies=replies, cases=cases)), code=1)

    assert {id: record["status"] for id, record in records.items()} == {id: status for id, _, status in EXPECTED}
    both = records["all have to hold"]
    assert [assertion["passed"] for assertion in both["assertions"]] == [True, False]
    assert len(both["assertion_errors"]) == 1


JUDGES = """\
export function Assert(output, input, expected, metadata) {
  return { pass: output === expected, message: `saw ${output} for ${input}, ${JSON.stringify(metadata ?? null)}` };
}
export function Short(output: string) { return output.length < 3; }
export function Nonsense() { return "maybe"; }
export function Throws() { throw new Error("no rates"); }
"""
SCRIPTS: dict[str, tuple[Record, str | None]] = {
    "app function": ({"script": "scripts.test.Assert", "value": "hi"}, None),
    "app function fails": ({"script": "scripts.test.Assert", "value": "ho"}, "saw hi for x"),
    "by use": ({"use": "scripts:test.Short"}, None),
    "by role": ({"use": "scripts:tests.validate-expense", "value": "hi"}, None),
    "by role, in the agent's tests": ({"use": "scripts:tests.judge-expense", "value": "hi"}, None),
    "by role, in the agent's src": ({"use": "scripts:tests.check-amount", "value": "hi"}, None),
    "by role, in the module": ({"use": "scripts:judges.validate-expense", "value": "hi"}, None),
    "by its letters, in the module": ({"use": "scripts:judges.check-total", "value": "hi"}, None),
    "the other role": ({"use": "scripts:judges.assert-it"}, "Assert says no"),
    "default export": ({"use": "scripts:tests.default"}, None),
    "own module": ({"script": "checks.Polite"}, None),
    "own module in full": ({"script": "scripts.demo.checks.Polite"}, None),
    "metadata": ({"use": "scripts:test.Assert", "options": {"metadata": {"min": 1}}}, '{"min":1}'),
    "nonsense": ({"script": "scripts.test.Nonsense"}, "maybe"),
    "throws": ({"script": "scripts.test.Throws"}, "scripts.test.Throws: no rates (at scripts/test.ts:6:38)"),
    "negated throws": ({"script": "scripts.test.Throws", "negate": True}, "no rates"),
    "broken": ({"use": "scripts:tests.broken"}, 'scripts/tests/broken.ts:1:10: '),
}  # fmt: skip


def test_script_assertions_find_their_function(app: MakeApplication) -> None:
    cases = [
        {"id": id, "input": "x", "assert": {"type": "script", **assertion}} for id, (assertion, _) in SCRIPTS.items()
    ]
    application = app(
        {
            **agent(replies="- reply: hi", cases=cases),
            "checks.ts": "function Polite(output) { return output === 'hi'; }",
            "/scripts/test.ts": JUDGES,
            "/scripts/tests/validate-expense.ts": "export function Validate(output, input, expected) { return output === expected; }",
            "/assistants/demo/tests/judge-expense.ts": "export function Validate(output: string, _: any, expected: string) { return output === expected; }",
            "tests/check-amount.ts": "function Validate(output, input, expected) { return output === expected; }",
            "/scripts/judges.ts": "export function Validate(o, i, e) { return o === e; }\nexport function checkTotal(o) { return true; }\nexport function Assert() { return {pass: false, message: 'Assert says no'}; }",
            "/scripts/tests/default.ts": "export default function (output) { return { pass: output === 'hi' }; }",
            "/scripts/tests/helpers.ts": "export function help() {}\nfunction other() {}",
            "/scripts/tests/broken.ts": "let a = {;",
        }
    )

    found = errors(application)

    passing = {id for id, (_, error) in SCRIPTS.items() if error is None}
    assert {id for id, error in found.items() if error is None} == passing
    for id, error in found.items():
        part = SCRIPTS[id][1]
        assert part is None or part in (error or ""), (id, error)


def test_a_validator_judges_and_one_that_answers_prose_fails_the_case(app: MakeApplication) -> None:
    def judged(use: str, **more: Any) -> Record:
        return {"type": "agent", "use": f"agents:{use}", **more}

    assertions: dict[str, Record] = {
        "shipped": judged("workers.test.validator", value='Mentions "hi"'),
        "by metadata": judged("workers.test.validator", options={"metadata": {"criteria": 'Mentions "hi"'}}),
        "unhappy": judged("workers.test.validator", value='Mentions "tea"'),
        "negated": judged("workers.test.validator", value='Mentions "tea"', negate=True),
        "own": judged("judge", value="Is polite"),
        "prose": judged("prose", value="Is polite"),
        "negated prose": judged("prose", value="Is polite", negate=True),
    }
    cases = [{"id": id, "input": "x", "assert": assertion} for id, assertion in assertions.items()]
    judge = '- when: { input.criteria: Is polite, metadata.test_mode: validator, input.output: hi, input.input: x }\n  reply: { json: { passed: true, score: 0.9, reason: "It is." } }'
    application = app(
        {
            **agent(replies="- reply: hi", cases=cases),
            **agent("judge", replies=judge),
            **agent("prose", replies="- reply: Looks good to me."),
        }
    )

    records = run_cases(application, code=1)

    found = {id: record["error"] for id, record in records.items()}
    assert [id for id, error in found.items() if error is None] == ["shipped", "by metadata", "negated", "own"]
    assert records["own"]["assertions"][0]["score"] == 0.9
    assert found["unhappy"] == (
        'assertion failed: Expected the output to meet "Mentions \\"tea\\"", but workers.test.validator says: '
        'The answer does not contain "tea"'
    )
    assert "validator prose did not return a verdict" in found["prose"]
    assert "validator prose did not return a verdict" in found["negated prose"]
    causes = {id: records[id]["cause"] for id in ("prose", "negated prose", "unhappy")}
    assert causes == {
        "prose": "infrastructure",
        "negated prose": "infrastructure",
        "unhappy": "assertion",
    }
