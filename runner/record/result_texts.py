"""Texts about one result that several kinds of report share."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from runner.record.case_result import shown_answer
from runner.record.summary import unjudged
from scripttest import Cause, Status
from scripttest.typing_names import Record
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.assertions.base import AssertionResult, ToolUse


ERRORS = 50
"""At most this many errors of one result are listed."""


class FilePlace(Value):
    """A place in a file."""

    file: str
    """Path from the repository, or the label of the suite; empty when there is none."""
    line: int | None = None
    """From 1."""
    column: int | None = None
    """From 1."""


def errors_of(record: Record) -> list[str]:
    """Every error of a result and its subtests, each once, in order: a timeout comes after what failed before it."""
    own: list[Any] = record.get("errors") or [record.get("error")]
    checks: list[Any] = record.get("assertion_errors") or []
    found = [*checks, *own] if record.get("cause") == Cause.TIMEOUT else [*own, *checks]
    for step in _failed_steps(record):
        found += [f"{step.get('name')}: {error}" for error in step.get("errors") or [step.get("error")] if error]
    return list(dict.fromkeys(str(error) for error in found if error))[:ERRORS]


def warnings_of(record: Record) -> list[tuple[str, FilePlace]]:
    """The warnings of a result, each with its place; an empty one when it has none."""
    return [(str(item["message"]), _place(item) or FilePlace(file="")) for item in record.get("warnings") or ()]


def place_of(suite: Record, record: Record) -> FilePlace:
    """Where a result failed: in a script, else the place of its case."""
    for part in (record, *_failed_steps(record)):
        if place := _place(part):
            return place
    return FilePlace(file=str(suite["file"] or suite["label"]), line=record.get("line") or None)


def line_of(suite: Record, record: Record) -> int | None:
    """The line in the file of its suite where a result failed, else where its case is; None when that is not known."""
    if record["status"] != Status.FAILED:
        return record.get("line") or None
    place = place_of(suite, record)
    return place.line if place.file == (suite["file"] or suite["label"]) else None


def values_of(assertion: Record, limit: int = 0) -> list[tuple[str, str]]:
    """The values that an assertion compared, as `(side, text)`; two never read the same. `limit` bounds each text."""
    from runner.look_alikes import sides

    given = [side for side in ("expected", "actual") if side in assertion]
    if len(given) == 2 and assertion["expected"] != assertion["actual"]:
        return list(zip(given, sides(assertion["expected"], assertion["actual"], limit), strict=True))
    return [(side, sides(assertion[side], None, limit)[0]) for side in given]


def told_of(record: Record, limit: int = 0) -> list[str]:
    """Every error of a result, each followed by the values that it compared, `expected: ...` and `actual: ...`."""
    errors = errors_of(record)
    compared: dict[int, list[str]] = {}
    for part in (record, *_failed_steps(record)):
        for failure in part.get("failures") or ():
            values = {side: failure.get(side) for side in ("expected", "actual") if f"{side}_text" in failure}
            said = (at for at, error in enumerate(errors) if at not in compared and failure["message"] in error)
            if values and (at := next(said, None)) is not None:
                compared[at] = [f"{side}: {text}" for side, text in values_of(values, limit)]
    for at, error in enumerate(errors):
        if at not in compared:
            compared[at] = [line for message, lines in _graded(record, limit) if message in error for line in lines]
    return [line for at, error in enumerate(errors) for line in (error, *compared.get(at, ()))]


def _graded(record: Record, limit: int) -> Iterator[tuple[str, list[str]]]:
    """The assertions of turns that failed, each as its message and the values that it compared: the error of a score
    is about several."""
    for turn in record.get("turns") or ():
        for check in turn.get("assertions") or ():
            if check.get("passed") is False and check.get("message"):
                where = f"turn {turn['turn']}, {check['type']}"
                yield check["message"], [f"{where}, {side}: {text}" for side, text in values_of(check, limit)]


def name_of(record: Record, *, alone: bool = False) -> str:
    """The id of a result, and which run it was if there were several; `alone`, with its variant, where no suite is
    named beside it."""
    variant = record.get("variant") if alone else None
    name = f"{record['id']} [{variant}]" if variant else str(record["id"])
    return f"{name} (run {record['run']})" if record.get("run") else name


def remarks_of(record: Record) -> list[str]:
    """Remarks on a result besides its status: that criteria were not judged, how certain the mean of its trials is, or
    that it checks nothing."""
    said = [unjudged(record["not_judged"])] if record.get("not_judged") else []
    said += [trials_text(record["trials_noise"])] if record.get("trials_noise") else []
    return [*said, "It checks nothing"] if record.get("checks_nothing") else said


def trials_text(noise: Record) -> str:
    """`The mean score of the trials is sure to ± 0.08; of the noise of one trial 64 % is the judge's, 36 % the
    agent's`, two standard errors."""
    said = f"The mean score of the trials is sure to ± {2 * noise['error']:.2f}"
    if not noise["judge"]:
        return said
    share = 100 * noise["judge"] / (noise["judge"] + noise["agent"])
    return f"{said}; of the noise of one trial {share:.0f} % is the judge's, {100 - share:.0f} % the agent's"


def counts_text(summary: Record) -> str:
    """What a summary counts: `3 passed, 1 failed, 0 skipped, 2 errors, 1 warning`."""
    text = f"{summary['passed']} passed, {summary['failed']} failed, {summary['skipped']} skipped"
    for name in ("errors", "warnings"):
        if number := summary.get(name):
            text += f", {number} {name.removesuffix('s') if number == 1 else name}"
    return text


def agents_of(suites: list[Record]) -> str:
    """The ids of the tested agents."""
    return ", ".join(dict.fromkeys(suite["agent"] for suite in suites if suite["agent"]))


def connectors_of(suites: list[Record], results: list[Record]) -> str:
    """The ids of the connectors that were used."""
    found = {suite["connector"] for suite in suites} | {record.get("connector") or "" for record in results}
    return ", ".join(sorted(map(str, found - {""})))


def differences_of(record: Record) -> list[str]:
    """How JSON answers of a case differ from what was expected, one text for each assertion that failed."""
    from runner.assertions.values import COMPARED, difference

    parts = [record, *(record.get("turns") or [])]
    items = [
        *(item for part in parts for item in part.get("assertions") or []),
        *(record.get("final_assertions") or []),
    ]
    failed = [item for item in items if not item.get("passed") and item.get("type") in COMPARED]
    found = (difference(item.get("expected"), item.get("actual")) for item in failed)
    return [text for text in found if text is not None]


def tokens_of(usage: Record) -> int:
    """The sum of all tokens."""
    return int(usage.get("input_tokens") or 0) + int(usage.get("output_tokens") or 0)


def _place(part: Record) -> FilePlace | None:
    location = part.get("location")
    if not location:
        return None
    file, line, column = ([*str(location).rsplit(":", 2), "", ""])[:3]
    return FilePlace(file=file, line=int(line), column=int(column)) if line.isdecimal() and column.isdecimal() else None


def _failed_steps(record: Record) -> Iterator[Record]:
    """Subtests that failed, outermost first."""
    for step in record.get("steps") or []:
        if step.get("status") == Status.FAILED:
            yield step
            yield from _failed_steps(step)


TEXT_LIMIT = 300
"""At most this many characters of a text are shown in one line."""

_NAME = r"[A-Za-z_$][\w$]*"


def written(result: AssertionResult) -> str:
    """An assertion as a short text: `contains "x"`, `$.status = "open"`."""
    from runner.assertions import EQUATIONS

    value = result.expected
    expected = (
        "" if value is None else f' "{one_line(value)}"' if isinstance(value, str) else f" {one_line(_literal(value))}"
    )
    score = "" if result.score is None else f" (score {result.score:g})"
    if result.type in EQUATIONS:
        return f"{result.path or '$'} ={expected or ' null'}{score}"
    return result.type + (f" {result.path}" if result.path else "") + expected + score


def text_of(said: Any) -> str:
    """A message, or its content, as text; files as `[image]`. An answer is shown by `as_text`."""
    if isinstance(said, dict) and "content" in said:
        return text_of(said["content"])
    if isinstance(said, list) and said and all(isinstance(part, dict) and "type" in part for part in said):
        return " ".join(str(part.get("text") or f"[{part['type']}]") for part in said)
    if said is None:
        return ""
    return as_text(said)


def as_text(value: Any, indent: int | None = None) -> str:
    """A text as it is, any other value as JSON; with `indent` blanks for each level, over several lines."""
    return value if isinstance(value, str) else json.dumps(value, indent=indent, ensure_ascii=False)


def answer_of(record: Record) -> Any:
    """The answer in the record of a result or of a turn; of a conversation the last one."""
    output = record.get("final_output") if "test_id" in record else record.get("output")
    return shown_answer(output, record.get("response") or "")


def as_value(output: Any) -> Any:
    """An output. A text that is JSON is parsed, so that objects and lists are compared as values."""
    if not isinstance(output, str) or not output.lstrip().startswith(("{", "[")):
        return output
    try:
        return json.loads(output)
    except (ValueError, RecursionError):
        return output


def called(tool: ToolUse) -> str:
    """A call of a tool: `create_expense({amount: 3500})`, and its error if it failed."""
    text = f"{tool.name}({cut(_literal(tool.arguments), TEXT_LIMIT)})"
    return text if tool.error is None else f"{text} → error: {one_line(tool.error)}"


def _literal(value: Any) -> str:
    """A JSON value as one writes it in JavaScript: `{amount: 3500, type: "travel"}`."""
    if isinstance(value, dict):
        items = (
            f"{key if re.fullmatch(_NAME, key) else json.dumps(key, ensure_ascii=False)}: {_literal(item)}"
            for key, item in value.items()
        )
        return f"{{{', '.join(items)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    return json.dumps(value, ensure_ascii=False)


def one_line(text: str) -> str:
    """A text without line breaks, shortened if it is long."""
    return cut(" ".join(text.split()), TEXT_LIMIT)


def cut(text: str, limit: int) -> str:
    """The beginning of a text, with its length."""
    return text if len(text) <= limit else f"{text[:limit]}... ({len(text)} characters)"
