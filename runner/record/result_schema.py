"""The JSON Schema of a result in `--json`, from the declarations of `runner.record.model` and `case_result`."""

from __future__ import annotations

from bindings import AnsweredBy
from runner.record.case_result import CaseResult, TurnUsage
from runner.record.model import AGENT_TEST, SCRIPT_TEST, TestResult
from runner.record.stability import Attempt, RunStatistics
from runner.shapes.json_schema import Definitions, Schema
from scripttest import Cause, Failure, Location, Outcome, Status

TEXT: Schema = {"type": "string"}
COUNT: Schema = {"type": "integer", "minimum": 0}
PLACE: Schema = {
    "file": {**TEXT, "description": "Path from the working directory; absolute if it is outside of it."},
    "line": {"type": "integer", "minimum": 1},
    "column": {"type": "integer", "minimum": 1},
}
_STATUS: Schema = {"enum": [status.value for status in Status]}
_CAUSE: Schema = {"enum": [cause.value for cause in Cause]}
_OF_FAILURE = (
    *("cause", "message", "type", "reason", "expected", "actual", "expected_text", "actual_text", "diff", "phase"),
    *("code_frame", "details"),
)
_OF_RESULT: Schema = {
    "suite": {**TEXT, "description": "The input: a test module, or a case file."},
    "test": {**TEXT, "description": "Name of the function, or id of the case."},
    "status": _STATUS,
    "duration_ms": COUNT,
}
_VALUES: Schema = {"type": "object", "description": "Name → value: JSON, or a text as a debugger shows it."}


def listed(items: Schema, about: str) -> Schema:
    """The schema of a list."""
    return {"type": "array", "items": items, "description": about}


def record(required: str, properties: Schema) -> Schema:
    """The schema of an object, with the members that are there in any case."""
    return {"type": "object", "required": required.split(), "properties": properties}


_STORY = listed(
    record(
        "kind text",
        {
            "file": TEXT,
            "line": COUNT,
            "depth": {"type": "integer"},
            "kind": TEXT,
            "name": TEXT,
            **dict.fromkeys(("turn", "turns"), COUNT),
            **dict.fromkeys(("read", "assigned", "changed"), _VALUES),
            "text": TEXT,
        },
    ),
    "The lines that ran before a script test failed, oldest first, with their values at that time.",
)


def result_schemas() -> dict[str, Schema]:
    """`result`, `failure` and the classes in them, by name, as `$defs` of a schema."""
    classes = Definitions()
    frame = {"function": TEXT, **PLACE, **classes.properties(Location, "length")}
    problem = record("cause message", classes.properties(Failure, *_OF_FAILURE))
    problem["properties"]["frames"] = listed(record("file", frame), "The innermost one first.")
    warning = record("message", {"kind": TEXT, "message": TEXT, "location": TEXT})
    call = {"call": TEXT, "answered": {"enum": [by.value for by in AnsweredBy]}, "count": COUNT, "message": TEXT}
    attempts = listed(classes.of(Attempt), "Each run.")
    runs = {**classes.properties(RunStatistics), "repeat": {"type": "object"}, "attempts": attempts}
    of_test = {
        **_OF_RESULT,
        "cause": _CAUSE,
        "error": {**TEXT, "description": "The first failure, in one line."},
        "assertion_count": {**COUNT, "description": "The number of checks of a script test."},
        "steps": listed({"anyOf": [record("name status", {"name": TEXT, "status": _STATUS}), TEXT]}, "The subtests."),
        "warnings": listed({"anyOf": [warning, TEXT]}, "Probable mistakes that do not fail the test."),
        "logs": listed(TEXT, "Console output."),
        "story": _STORY,
        "outside": listed({"anyOf": [record("call answered", call), TEXT]}, "Calls from its scripts to the outside."),
        "runs": {**record("", runs), "description": "Statistics of a test that ran several times."},
        **classes.properties(Outcome, "skip_reason", "todo", "only", "not_judged"),
        **classes.properties(TestResult, "earlier_errors", "variant", "cut_short", "judgements"),
    }
    usage = {"usage": classes.of(TurnUsage), "total_turns": COUNT}
    step = record("test problems", {"test": TEXT, "problems": {"type": "array", "items": problem}})
    failure = {
        **_OF_RESULT,
        "kind": {"enum": [SCRIPT_TEST, AGENT_TEST]},
        "broken": {"type": "boolean", "description": "Whether the test ended with an error, without a verdict."},
        "cause": _CAUSE,
        "message": {**TEXT, "description": "All failures, one line each."},
        **PLACE,
        "problems": listed(problem, "All failures, each with its place and values."),
        "story": _STORY,
        "subtests": listed(step, "Failed subtests."),
        "run_again": {**TEXT, "description": "The command that runs this test alone, from the same folder."},
    }
    return {
        "result": record("suite test status duration_ms", classes.properties(CaseResult) | usage | of_test),
        "failure": record("suite test kind broken cause message duration_ms problems run_again", failure),
        **classes.found,
    }
