"""Reports made by hand, with an example of everything that a page shows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runner.record.lines import result_of
from runner.record.report import Report
from runner.record.saved import end_in, start_in
from scripttest.values import fields_of

Record = dict[str, Any]

NASTY = "</script><script>window.broken=1</script><img src=x onerror=window.broken=1> \x00\x1b[31m \u2028 \u202egnp.exe <!--"
"""Text that would break out of markup, of a script or of a line."""


def suite(id: str, kind: str = "agent_test", agent: str = "demo", connector: str = "", file: str = "") -> Record:
    return {"id": id, "kind": kind, "label": id, "file": file, "agent": agent, "connector": connector}


def result(suite: str, id: str, status: str = "passed", ms: int = 12, **more: Any) -> Record:
    error = more.pop("error", None)
    return {"type": "result", "suite": suite, "id": id, "status": status, "duration_ms": ms, "error": error, **more}


def report(suites: list[Record], results: list[Record], **more: Any) -> Report:
    """A report of results, whose summary is counted."""
    made = list(map(result_of, results))
    start = {
        "timestamp": more.get("timestamp", "2026-11-22T09:30:00Z"),
        "version": "0.9.0",
        "environment": {"user_id": "test-user", "team_id": "test-team", "locale": "en-us"},
        "suites": suites,
    }
    end = {"duration_ms": sum(one["duration_ms"] for one in results)}
    return Report(
        start=start_in(start),
        results=made,
        errors=more.get("errors", []),
        warnings=more.get("warnings", []),
        end=end_in(end, made, has_errors=False),
    )


class Summed(Report):
    """A report whose summary says more than its results."""

    more: Mapping[str, Any]

    @property
    def summary(self) -> Record:
        """The summary."""
        return super().summary | dict(self.more)


def summed(report: Report, **more: Any) -> Report:
    """The report with members of its summary made up."""
    return Summed(**fields_of(report), more=more)


def assertion(
    type: str, passed: bool, expected: Any = None, actual: Any = None, message: str = "", **more: Any
) -> Record:
    values = {"value": expected, "passed": passed, "expected": expected, "actual": actual, "message": message}
    return {"type": type, **values, **more}


CASES = "assistants/expense/tests/inputs.jsonl"
TALKS = "assistants/travel/tests/talks.yml"
SCRIPT = "scripts.expense.setup"

SOURCE = """import { Setup } from "./setup";

/** What comes back for a user without a team. */
function TestSetupReturnsId(t: testing.T, ctx: agent.Context) {
  const result = Setup(ctx, { name: "test" });
  t.assert.NotNil(result);
  t.assert.Equal(result.id, 1, "Result ID should match");
}
"""

BEFORE = {
    "status": "submitted",
    "amount": 3500,
    "currency": "EUR",
    "items": ["taxi", "hotel", "dinner"],
    "approver": None,
}
AFTER = {"status": "draft", "amount": 3500, "currency": "EUR", "items": ["taxi", "hotel"], "approver": None}


def everything(folder: Path) -> Report:
    """One report with each kind of result; the source of its script test is written to `folder`."""
    source = folder / "setup_test.ts"
    source.write_text(SOURCE, "utf-8")
    suites = [
        suite(SCRIPT, "script_test", "expense", file=str(source)),
        suite(CASES, agent="expense", connector="deepseek.v3", file=f"/app/{CASES}"),
        suite(TALKS, agent="travel", connector="openai.gpt4", file=f"/app/{TALKS}"),
    ]
    return report(
        suites, [*scripts(source), *cases(), *talks()], warnings=["Two cases have the id T001; both were run"]
    )


def scripts(source: Path) -> list[Record]:
    location = f"{source}:7:12"
    return [
        result(SCRIPT, "TestSystemReady", ms=12, logs=["connected", "[warn] the cache is cold"], script=SCRIPT),
        result(
            SCRIPT,
            "TestSetupReturnsId",
            "failed",
            15,
            script=SCRIPT,
            error="assertion failed: Result ID should match",
            cause="assertion",
            assertion={"type": "Equal", "expected": 1, "actual": 2, "message": "Result ID should match"},
            location=location,
            stack_trace=f"at TestSetupReturnsId ({location})\nat check ({source}:5:18)",
            steps=[
                {"name": "creates the record", "status": "passed", "duration_ms": 4},
                {"name": "returns its id", "status": "failed", "duration_ms": 7, "error": "Result ID should match"},
            ],
            logs=["setting up", "[error] the id was taken"],
        ),
        result(
            SCRIPT, "TestSlowSetup", "failed", 30_000, error="The test took longer than 30s", cause="timeout", logs=[]
        ),
        result(SCRIPT, "TestLater", "skipped", 0, skip_reason="needs the archive", logs=[]),
    ]


def cases() -> list[Record]:
    usage = {"input_tokens": 812, "output_tokens": 164, "cost": 0.00031}
    tool = {"name": "create_expense", "arguments": {"amount": 3500, "type": "travel"}, "server": "expenses"}
    shown: Record = {"response": "", "messages_count": 1, "connector": "deepseek.v3", "model_calls": 1, "usage": usage}
    return [
        result(
            CASES, "T001", ms=1834, name="Extracts keywords", input="Extract the keywords of: quarterly travel report",
            output={"keywords": ["quarterly", "travel", "report"], "confidence": 0.97, "final": True}, expected=None,
            assertions=[
                assertion("json_path", True, "travel", "travel", path="$.keywords[1]"),
                assertion("agent", True, "The keywords come from the text", None, "All three do", score=0.95),
            ],
            tags=["smoke", "keywords"], line=3, tools=[{**tool, "result": {"id": 17}, "error": None}], **shown,
        ),
        result(
            CASES, "T002", "failed", 2410, name="Submits an expense", input=[
                {"role": "user", "content": "I paid 3500 EUR for the trip"},
                {"role": "assistant", "content": "Shall I submit it?"},
                {"role": "user", "content": [{"type": "text", "text": "Yes, submit it"}, {"type": "image_url", "image_url": {"url": "receipt.png"}}]},
            ],
            output=AFTER, expected=BEFORE, error="assertion failed: the output is not what was expected", cause="assertion",
            assertion_errors=["assertion failed: the output is not what was expected", 'assertion failed: no "submitted" in the answer'],
            assertions=[
                assertion("equals", False, BEFORE, AFTER, "the output is not what was expected"),
                assertion("contains", False, "submitted", "It is saved as a draft.", 'no "submitted" in the answer'),
                assertion("regex", True, "draft|submitted", "It is saved as a draft."),
            ],
            tags=["money"], metadata={"owner": "finance", "ticket": 4711}, line=4,
            tools=[{**tool, "result": None, "error": "403: the user may not submit"}], **shown,
        ),
        result(
            CASES, "T003", "failed", 60_012, name="Answers in French", input="Réponds en français", output=None, expected=None,
            error="The model did not answer within 60s (HTTP 503 from deepseek.v3)", cause="infrastructure", assertions=[], line=5, **shown,
        ),
    ]  # fmt: skip


def talks() -> list[Record]:
    create = {
        "name": "book_trip",
        "args": {"to": "Lisbon", "nights": 3},
        "server": "trips",
        "result": {"trip": "L-204", "price": 640},
    }
    turns = [
        {"turn": 1, "input": "I need to go to Lisbon next week", "input_source": "initial", "status": "passed",
         "output": "For how many nights?", "awaiting_input": True, "awaiting_reason": "content_is_question",
         "assertions": [assertion("contains", True, "nights", "For how many nights?")], "duration_ms": 812},
        {"turn": 2, "input": "Three, and find something near the river", "input_source": "simulated", "status": "passed",
         "output": "Booked: three nights by the Tejo, 640 EUR.", "tool_calls": [create], "awaiting_input": False,
         "awaiting_reason": "completed", "note": "Goal achieved: the trip is booked", "duration_ms": 1630},
        {"turn": 3, "input": "Send me the invoice", "input_source": "simulated", "status": "failed", "output": "I cannot do that.",
         "awaiting_input": False, "assertions": [assertion("contains", False, "invoice", "I cannot do that.", 'no "invoice" in the answer')],
         "assertion_errors": ['no "invoice" in the answer'], "error": 'Turn 3: no "invoice" in the answer', "duration_ms": 540},
    ]  # fmt: skip
    checkpoints = [
        {"id": "asks-for-nights", "reached_at_turn": 1, "passed": True, "required": True, "description": "The agent asks how long"},
        {"id": "books", "reached_at_turn": 2, "passed": True, "required": True},
        {"id": "offers-insurance", "reached_at_turn": None, "passed": False, "required": False, "message": 'no "insurance" in any answer'},
        {"id": "sends-invoice", "reached_at_turn": None, "passed": False, "required": True, "message": 'no "invoice" in any answer'},
    ]  # fmt: skip
    scores = [
        {"name": "turn-1", "type": "rubrics", "score": 1.0, "verdict": "pass", "assertions": [
            {"text": "Asks for what is missing", "passed": True, "score": 1.0, "weight": 1, "reason": "It asks for the number of nights"}]},
        {"name": "turn-2", "type": "rubrics", "score": 0.6, "verdict": "fail", "assertions": [
            {"text": "Names the price", "passed": True, "score": 1.0, "weight": 2},
            {"text": "Confirms the dates", "passed": False, "score": 0.0, "weight": 1, "required": True, "reason": "No date is in the answer"}]},
    ]  # fmt: skip
    return [
        result(TALKS, "book-a-trip", "failed", 2982, name="Books a trip", mode="dynamic", simulator="simulators.user", input=turns[0]["input"],
               output="I cannot do that.", expected=None, response="I cannot do that.", messages_count=3, turns=turns, checkpoints=checkpoints,
               total_turns=3, error='Checkpoint "sends-invoice" was not reached', cause="assertion", connector="openai.gpt4",
               tags=["talk", "money"], line=12),
        result(TALKS, "polite-refusal", "passed", 1710, mode="conversation", test_id="polite-refusal", input="Book me a flight to the moon",
               output=[{"role": "user", "content": "Book me a flight to the moon"}, {"role": "assistant", "content": "I cannot fly there."}],
               expected=None, response="I cannot fly there.", messages_count=1, turns=turns[:2], total_turns=2, score=0.8, threshold=0.75,
               execution_status="ok", scores=scores, tags=["talk"],
               trials=[{"trial": 1, "score": 0.8, "status": "passed", "duration_ms": 800}, {"trial": 2, "score": None, "status": "failed", "duration_ms": 910, "error": "no answer"}]),
    ]  # fmt: skip


def stable(cases: int = 14, count: int = 5) -> Report:
    """Every case run several times; how many of the runs failed goes round."""
    results = []
    for case in range(cases):
        failed = (0, 0, 1, 0, 3, 0, 2)[case % 7]
        times = [200 + (case * 37) % 90 + (run * run * 13 * (case % 4)) for run in range(count)]
        attempts = [
            {"run": run + 1, "status": "failed" if run < failed else "passed", "duration_ms": ms, "output": {"label": "spam" if run < failed else "ham"}}
            | ({"error": 'no "ham" in the answer'} if run < failed else {})
            for run, ms in enumerate(times)
        ]  # fmt: skip
        rate = round(100 * (count - failed) / count, 1)
        mean = sum(times) / count
        runs = {
            "count": count, "passed": count - failed, "pass_rate": rate, "consistency": round(max(failed, count - failed) / count, 2),
            "avg_duration_ms": round(mean), "min_duration_ms": min(times), "max_duration_ms": max(times),
            "std_deviation_ms": round((sum((ms - mean) ** 2 for ms in times) / count) ** 0.5, 1),
            "classification": "Stable" if rate == 100 else "Mostly Stable" if rate >= 80 else "Unstable" if rate >= 50 else "Highly Unstable",
            "attempts": attempts,
        }  # fmt: skip
        more = {"error": 'no "ham" in the answer', "cause": "assertion"} if failed else {}
        status = "failed" if failed else "passed"
        results.append(
            result(
                CASES,
                f"S{case + 1:03}",
                status,
                sum(times),
                input="Is it spam?",
                output={"label": "ham"},
                runs=runs,
                **more,
            )
        )
    return report([suite(CASES, connector="deepseek.v3")], results)


def many(count: int) -> Report:
    """A large report with results of usual size."""
    answer = "The expense was created and waits for the approval of the finance team. " * 8
    results = []
    for number in range(count):
        more: Record = {
            "input": f"Create expense {number}",
            "output": {"id": number, "text": answer},
            "tags": [f"batch-{number % 7}"],
        }
        if number % 50 == 49:
            more |= {
                "status": "failed",
                "error": f"assertion failed: expense {number} is missing",
                "cause": "assertion",
            }
        more["assertions"] = [assertion("contains", number % 50 != 49, "created", answer)]
        results.append(result(CASES, f"C{number:06}", ms=40 + number * 7919 % 3000, **more))
    return report([suite(CASES, connector="deepseek.v3")], results)
