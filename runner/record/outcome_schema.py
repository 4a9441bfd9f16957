"""The JSON Schema of what `--json` and `--json=lines` print."""

from __future__ import annotations

from bindings import AnsweredBy
from runner.record.case_result import CaseResult, TurnUsage
from runner.record.model import AGENT_TEST, SCRIPT_TEST, TestResult
from runner.record.stability import Attempt, RunStatistics
from runner.shapes.json_schema import Definitions, Schema
from runner.version import FORMAT
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


_RESULT: Schema = {"$ref": "#/$defs/result"}
_FAILURE: Schema = {"$ref": "#/$defs/failure"}
_HEAD: Schema = {
    "format": {"const": FORMAT},
    "version": {**TEXT, "description": "Version of yao-test."},
    "status": {"enum": ["passed", "failed", "error", "interrupted", "configuration_error", "listed"]},
    "exit_code": COUNT,
}
_TEST: Schema = {"suite": TEXT, "test": TEXT}
_SUMMARY: Schema = {
    **dict.fromkeys(("total", "passed", "failed", "skipped", "errors", "warnings", "todo", "not_run"), COUNT),
    "only": listed(TEXT, "The first tests that called t.only; the other tests of their modules did not run."),
    "duration_ms": COUNT,
    "usage": record("input_tokens output_tokens", {"input_tokens": COUNT, "output_tokens": COUNT}),
    "stopped": {**TEXT, "description": "Why the run stopped early."},
}
_ERROR: Schema = {"message": TEXT, "hint": {**TEXT, "description": "What to do about it."}}
_OF_END: Schema = {
    "reports": listed(TEXT, "Files written for -o."),
    "searches": listed(TEXT, "With --fuzz: the result of each search."),
    "benchmarks": listed(
        record("name rounds values", {"package": TEXT, "name": TEXT, "rounds": COUNT, "values": {"type": "object"}}),
        "With --bench: the measurements of each run of a benchmark, by unit.",
    ),
}


def outcome_schema() -> Schema:
    """The schema of every document and of every line that a run prints, and of a result in a document."""
    counts = "total passed failed skipped duration_ms"
    document = record(
        "format version status exit_code errors warnings notes failures",
        {
            **_HEAD,
            "summary": {**record(counts, _SUMMARY), "description": "Summary of a run."},
            "errors": listed(record("message", _ERROR), "Errors outside of tests, or why nothing could run."),
            "warnings": listed(TEXT, "Warnings of the run."),
            "notes": listed(TEXT, "Notes on the selection and the order of tests."),
            "results": listed(_RESULT, "Results of all tests, with long details cut."),
            "failures": listed(_FAILURE, "Tests that failed or ended with an error."),
            "test_warnings": listed(
                record("suite test message", {**_TEST, "message": TEXT, **PLACE}), "Warnings of single tests."
            ),
            "slowest": listed(record("suite test duration_ms", {**_TEST, "duration_ms": COUNT}), "With --durations."),
            "tests": listed(record("suite test", _TEST), "With --dry-run: what would run."),
            "help": {**TEXT, "description": "With --help or --version: the text."},
            **_OF_END,
        },
    )
    lines = {
        "start": record(
            "format timestamp version agent_id total_cases", {"format": {"const": FORMAT}, "version": TEXT}
        ),
        "result": {
            "allOf": [_RESULT, {"if": _has(status={"const": "failed"}), "then": _FAILURE}],
            "required": ["id"],
        },
        "error": record("message", {**_ERROR, **_HEAD}),
        "hint": record("message", _ERROR),
        "warning": record("message", _ERROR),
        "summary": record(f"format version status exit_code {counts}", {**_HEAD, **_SUMMARY, **_OF_END}),
    }
    of_type = [{"if": _has(type={"const": name}), "then": {"$ref": f"#/$defs/line_{name}"}} for name in lines]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:yao-test:result:{FORMAT}",
        "version": FORMAT,
        "title": "Output of a yao-test command: the document of --json, a line of --json=lines, or a result",
        "if": {"required": ["format"], "not": {"required": ["type"]}},
        "then": {"$ref": "#/$defs/document"},
        "else": {"if": {"required": ["type"]}, "then": {"$ref": "#/$defs/line"}, "else": _RESULT},
        "$defs": {
            "document": document,
            "line": {"properties": {"type": {"enum": [*lines]}}, "allOf": of_type},
            **{f"line_{name}": schema for name, schema in lines.items()},
            **result_schemas(),
        },
    }


def _has(**members: Schema) -> Schema:
    return {"properties": members, "required": [*members]}


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
