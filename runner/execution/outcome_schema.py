"""The JSON Schema of the documents of `--json`."""

from __future__ import annotations

from typing import Any

from scripttest import Cause

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_PLACE: Schema = {
    "file": {**_TEXT, "description": "From the working directory; absolute where it is not below that."},
    "line": {"type": "integer", "minimum": 1},
    "column": {"type": "integer", "minimum": 1},
}
_MILLISECONDS: Schema = {"type": "number", "minimum": 0}


def _list(items: Schema, description: str) -> Schema:
    return {"type": "array", "items": items, "description": description}


def _record(required: str, properties: Schema) -> Schema:
    return {"type": "object", "required": required.split(), "properties": properties}


def outcome_schema() -> Schema:
    """The schema of every document that a run prints with `--json`."""
    problem = _record(
        "cause message",
        {
            "cause": {"enum": [cause.value for cause in Cause]},
            "message": _TEXT,
            "type": {**_TEXT, "description": "Of the assertion."},
            "expected": {},
            "actual": {},
            "diff": {**_TEXT, "description": "Differences from the expected to the actual value, one on each line."},
            "code_frame": {**_TEXT, "description": "The lines of the source around the place."},
            "frames": _list(
                _record("function file line column", {"function": _TEXT, **_PLACE}), "The innermost one first."
            ),
        },
    )
    failure = _record(
        "suite test kind broken cause message duration_ms problems run_again",
        {
            "suite": {**_TEXT, "description": "The input: a test module, or a case file."},
            "test": {**_TEXT, "description": "Name of the function, or id of the case."},
            "kind": {"enum": ["script_test", "agent_test"]},
            "broken": {"type": "boolean", "description": "Something broke that the test needs; it has no verdict."},
            "cause": {"enum": [cause.value for cause in Cause]},
            "message": {**_TEXT, "description": "All that failed, a line for each."},
            **_PLACE,
            "duration_ms": _MILLISECONDS,
            "problems": _list(problem, "What failed, each with its place and values."),
            "subtests": _list(
                _record("test problems", {"test": _TEXT, "problems": {"type": "array", "items": problem}}),
                "The subtests that failed.",
            ),
            "input": {"description": "What was sent, of a case."},
            "output": {"description": "What the agent answered, of a case."},
            "logs": _list(_TEXT, "What the test wrote to the console."),
            "run_again": {**_TEXT, "description": "The command that runs this test alone, from the same folder."},
        },
    )
    result = _record(
        "suite test status duration_ms",
        {
            "suite": _TEXT,
            "test": _TEXT,
            "status": {"enum": ["passed", "failed", "skipped"]},
            "duration_ms": _MILLISECONDS,
            "skip_reason": _TEXT,
            "todo": {"const": True, "description": "It is skipped because t.todo marks it as unfinished."},
            "only": {"const": True, "description": "It called t.only, so that tests beside it did not run."},
            "output": {"description": "What the agent answered, of a case."},
            "tools": {"type": "array", "description": "The tools that it called, with arguments and results."},
            "assertions": {"type": "array", "description": "What was checked, and whether it held."},
            "turns": {"type": "array", "description": "Of a case of several turns."},
            "trace": {"type": "object", "description": "The calls of models and tools, with times and tokens."},
            "logs": _list(_TEXT, "What it wrote to the console."),
        },
    )
    test = _record("suite test", {"suite": _TEXT, "test": _TEXT})
    error = _record("message", {"message": _TEXT, "hint": {**_TEXT, "description": "What to do about it."}})
    summary = _record(
        "total passed failed skipped duration_ms",
        {
            **dict.fromkeys(("total", "passed", "failed", "skipped", "errors", "warnings", "todo", "not_run"), _COUNT),
            "only": _list(_TEXT, "The first tests that called t.only, so that those beside them did not run."),
            "duration_ms": _MILLISECONDS,
            "usage": _record("input_tokens output_tokens", {"input_tokens": _COUNT, "output_tokens": _COUNT}),
            "stopped": {**_TEXT, "description": "Why the run ended before its time."},
        },
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What came of a command of yao-test",
        **_record(
            "format version status exit_code errors warnings notes failures",
            {
                "format": {"const": 1},
                "version": {**_TEXT, "description": "Of yao-test."},
                "status": {"enum": ["passed", "failed", "error", "interrupted", "configuration_error", "listed"]},
                "exit_code": _COUNT,
                "summary": {**summary, "description": "Of a run."},
                "errors": _list(error, "What broke outside of tests, or why nothing could run."),
                "warnings": _list(_TEXT, "Of the run."),
                "notes": _list(_TEXT, "On the choice and the order of the tests."),
                "results": _list(result, "Of every test, long details cut."),
                "failures": _list(failure, "Tests that failed or broke."),
                "test_warnings": _list(
                    _record("suite test message", {"suite": _TEXT, "test": _TEXT, "message": _TEXT, **_PLACE}),
                    "Warnings of single tests.",
                ),
                "reports": _list(_TEXT, "Files that -o names and that were written."),
                "slowest": _list(
                    _record("suite test duration_ms", {"suite": _TEXT, "test": _TEXT, "duration_ms": _MILLISECONDS}),
                    "With --durations.",
                ),
                "tests": _list(test, "With --dry-run: what would run."),
                "left_out": {
                    "type": "object",
                    "additionalProperties": _COUNT,
                    "description": "With --dry-run: how many tests and whole modules each flag leaves out.",
                },
            },
        ),
    }
