"""Texts about one result that several kinds of report share, and the lines of what a failed check compared."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from types import SimpleNamespace

from runner.record.outcomes import error_text
from runner.record.summary import unjudged
from runner.security.files import open_text
from scripttest import Cause, Status
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from runner.assertions.base import AssertionResult, ToolUse
    from runner.record.case_result import TrialsNoise
    from runner.record.fold import Counts
    from runner.record.model import Suite, TestResult
    from scripttest import Failure, Outcome, ResultWarning
    from scripttest.typing_names import Record


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


def errors_of(result: TestResult) -> list[str]:
    """Every error of a result and its subtests, each once, in order: a timeout comes after what failed before it. Of a
    case: the one that decides, and its assertions."""
    return list(dict.fromkeys(error for error, _ in _failures_of(result)))[:ERRORS]


def _failures_of(result: TestResult) -> Iterator[tuple[str, Failure]]:
    """The same, each with its failure, and as often as it happened."""
    outcome = result.outcome
    own = [outcome.decisive] if result.case is not None and outcome.decisive else list(outcome.failures)
    checks = [failure for failure in outcome.failures if failure.type] if result.case is not None else []
    ordered = [*checks, *own] if outcome.cause == Cause.TIMEOUT else [*own, *checks]
    parts = [("", ordered), *((f"{step.name}: ", step.failures) for step in _failed_steps(outcome))]
    for name, failures in parts:
        for failure in failures:
            if error := error_text(failure):
                yield name + error, failure


def warnings_of(result: TestResult) -> list[tuple[str, FilePlace]]:
    """The warnings of a result, each with its place; an empty one when it has none."""
    return [(one.message, _place(one) or FilePlace(file="")) for one in result.outcome.warnings]


def placed_failure(result: TestResult) -> Failure | None:
    """The failure of which a result names the place: the one that decides, or of a subtest what failed in it; of a case
    the first that has a place, else the first that has details."""
    outcome = result.outcome
    if result.case is not None:
        placed = sorted(outcome.failures, key=lambda failure: not failure.frames)
        return next((failure for failure in placed if failure.frames or failure.details), None)
    found = outcome.decisive
    if found is not None and found.phase == "subtest":
        inner = (step.decisive for step in _failed_steps(outcome))
        found = next((one for one in inner if one and one.phase != "subtest" and one.frames), found)
    return found if found is not None and found.frames else None


def place_of(suite: Suite, result: TestResult) -> FilePlace:
    """Where a result failed: in a script, else the place of its case."""
    for failure in (placed_failure(result), *(step.decisive for step in _failed_steps(result.outcome))):
        if failure is not None and (place := _place(failure)):
            return place
    return FilePlace(file=suite.file, line=case_line(result))


def case_line(result: TestResult) -> int | None:
    """The line of a case in its file; None when there is none."""
    return (result.case.line or None) if result.case is not None else None


def case_place(suite: Suite, result: TestResult, folder: Path) -> str | None:
    """Where a case of a file begins, as `tests/orders.yaml:3:3`, a path from the folder; None for any other result."""
    line = case_line(result)
    if line is None or suite.is_message or suite.is_generated:
        return None
    return f"{suite.input}:{line}:{_column(folder / suite.input, line)}"


@lru_cache(maxsize=1000)
def _column(file: Path, line: int) -> int:
    """Where the text of a line begins, behind blanks and the dash of a list, from 1."""
    try:
        with open_text(file, "replace") as lines:
            text = next(islice(lines, line - 1, None), "")
    except OSError:
        return 1
    return len(text) - len(text.lstrip(" \t-")) + 1


def line_of(suite: Suite, result: TestResult) -> int | None:
    """The line in the file of its suite where a result failed, else where its case is; None when that is not known."""
    if result.status != Status.FAILED:
        return case_line(result)
    place = place_of(suite, result)
    return place.line if place.file == suite.file else None


def checked_failure(result: TestResult) -> Failure | None:
    """The first failure of an assertion of a script test."""
    failures = result.outcome.failures if result.case is None else ()
    return next((failure for failure in failures if failure.type), None)


def told_of(result: TestResult) -> list[tuple[str, list[str]]]:
    """Every error of a result with what it compared: a diff or values, as texts of several lines."""
    told = dict.fromkeys(
        (error, "\n".join(compared(failure)) if failure.type else "") for error, failure in _failures_of(result)
    )
    return [(error, [lines] if lines else [*_graded(result, error)]) for error, lines in [*told][:ERRORS]]


def _graded(result: TestResult, error: str) -> Iterator[str]:
    """What the assertions of turns compared that an error is about: that of a score is about several."""
    for turn in result.case.turns if result.case is not None else ():
        for check in turn.assertions:
            if not check.passed and check.message and check.message in error and (lines := compared(check)):
                yield "\n".join([f"turn {turn.turn}, {check.type}:", *lines])


def told_lines(result: TestResult) -> list[str]:
    """The same as lines of plain text."""
    return [line for error, texts in told_of(result) for line in (error, *texts)]


def name_of(result: TestResult, *, alone: bool = False) -> str:
    """The id of a result, and of several runs which it was; `alone`: with its variant."""
    name = f"{result.name} [{result.variant}]" if alone and result.variant else result.name
    return f"{name} (run {result.run})" if result.run else name


def remarks_of(result: TestResult) -> list[str]:
    """Remarks on a result: criteria that were not judged, how sure the mean of trials is, that it checks nothing."""
    said, case = [unjudged(result.outcome.not_judged)] if result.outcome.not_judged else [], result.case
    if case is not None and case.trials_noise:
        said.append(trials_text(case.trials_noise))
    return [*said, "It checks nothing"] if case is not None and case.checks_nothing else said


def trials_text(noise: TrialsNoise) -> str:
    """How sure the mean of trials is, as two standard errors, and whose noise one trial has."""
    said = f"The mean score of the trials is accurate to ± {2 * noise.error:.2f}"
    if not noise.judge:
        return said
    share = 100 * noise.judge / (noise.judge + noise.agent)
    return f"{said}; the judge causes {share:.0f} % of the noise of one trial, the agent {100 - share:.0f} %"


def counts_text(counts: Counts) -> str:
    """What a run counts: `3 passed, 1 failed, 0 skipped, 2 errors, 1 warning`."""
    more = (("error", counts.errors), ("warning", counts.warnings))
    said = [f"{number} {name}{'' if number == 1 else 's'}" for name, number in more if number]
    return ", ".join([f"{counts.passed} passed, {counts.failed} failed, {counts.skipped} skipped", *said])


def agents_of(suites: Iterable[Suite]) -> str:
    """The ids of the tested agents."""
    return ", ".join(dict.fromkeys(suite.agent for suite in suites if suite.agent))


def connectors_of(suites: Iterable[Suite], results: Iterable[TestResult]) -> str:
    """The ids of the connectors that were used."""
    found = {suite.connector for suite in suites} | {one.case.connector for one in results if one.case is not None}
    return ", ".join(sorted(found - {""}))


def _place(part: Failure | ResultWarning) -> FilePlace | None:
    at = part.location
    return FilePlace(file=at.file, line=at.line, column=at.column) if at is not None else None


def _failed_steps(outcome: Outcome) -> Iterator[Outcome]:
    for step in outcome.steps:
        if step.status == Status.FAILED:
            yield step
            yield from _failed_steps(step)


TEXT_LIMIT = 300
"""At most this many characters of a text are shown in one line."""

_NAME = r"[A-Za-z_$][\w$]*"


def assertion_text(result: AssertionResult) -> str:
    """An assertion as a short text: `contains "x"`, `$.status = "open"`."""
    from runner.assertions import EQUATIONS

    value, is_text = result.expected, isinstance(result.expected, str)
    text = f'"{one_line(value)}"' if is_text else one_line(_literal(value))
    expected = "" if value is None else f" {text}"
    score = "" if result.score is None else f" (score {result.score:g})"
    if result.type in EQUATIONS:
        return f"{result.path or '$'} ={expected or ' null'}{score}"
    return result.type + (f" {result.path}" if result.path else "") + expected + score


def message_text(said: Any) -> str:
    """A message, or its content, as text; files as `[image]`. An answer is shown by `as_text`."""
    if isinstance(said, dict) and "content" in said:
        return message_text(said["content"])
    if isinstance(said, list) and said and all(isinstance(part, dict) and "type" in part for part in said):
        return " ".join(str(part.get("text") or f"[{part['type']}]") for part in said)
    return "" if said is None else as_text(said)


def as_text(value: Any, indent: int | None = None, in_order: bool = False) -> str:
    """A text as it is, any other value as JSON; with `indent` blanks for each level, over several lines."""
    return value if isinstance(value, str) else json.dumps(value, indent=indent, ensure_ascii=False, sort_keys=in_order)


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


HEAD = "- expected + actual"
"""The line above a diff."""
SHOWN = 1000
"""Characters of a value that is named."""
AROUND = 400
"""Characters of a value of one line in a diff: of a longer one those around the difference."""
SIDES = ("expected", "actual")
EQUATIONS = {"equals", "json_path", "Equal", "JSONPath", "True", "False", "Nil"}
"""Types of checks whose two values should be equal."""
SNAPSHOTS = ("Snapshot", "inline")
"""Types of checks of scripts whose values are printed ones."""
_PLAIN = re.compile(r"-?[\w.+]+")
"""A number, a boolean and the like, as printed."""


def compared(check: Failure | AssertionResult) -> list[str]:
    """`HEAD` and a diff; both sides where values need not be equal, or are numbers; empty: the message says all."""
    if diff := difference_of(check):
        return [HEAD, *diff.split("\n")]
    message = check.message or ""
    ours = message.startswith("Expected ")
    return [f"{side}: {text}" for side, text in _values_of(check) if not (ours and _has(message, text))]


def difference_of(check: Failure | AssertionResult) -> str:
    """Lines with `- ` (expected), `+ ` (actual) or two blanks; empty where values need not be equal, or are missing."""
    if own := getattr(check, "diff", None):
        return str(own)
    given = _given(check)
    if check.type in SNAPSHOTS and len(given) == len(SIDES) and check.expected != check.actual:
        from runner.look_alikes import lines_apart

        return "- {}\n+ {}".format(*lines_apart(str(check.expected), str(check.actual), AROUND))
    if check.type not in EQUATIONS or len(given) < len(SIDES) or check.expected == check.actual:
        return ""
    from runner.assertions.values import difference, line_difference

    if (lines := difference(check.expected, check.actual)) is not None:
        return lines
    expected, actual = check.expected, check.actual
    if isinstance(expected, str) and isinstance(actual, str) and ("\n" in expected or "\n" in actual):
        return line_difference(expected, actual)
    if isinstance(expected, list) and check.type == "json_path":  # one of several
        return ""
    pair = [getattr(check, f"{side}_text", None) for side in SIDES]
    if None in pair or check.type in ("equals", "json_path"):
        from runner.look_alikes import printed

        pair = list(printed(expected, actual, AROUND))
    if all(map(_PLAIN.fullmatch, map(str, pair))):  # as the layout of seed 004 has numbers
        return ""
    return "\n".join(f"{sign} {line}" for sign, text in zip("-+", pair, strict=True) for line in str(text).split("\n"))


def difference_in(check: Record) -> str:
    """The same of a check in a report: `{type, expected?, actual?, expected_text?, actual_text?, diff?}`."""
    known: Any = SimpleNamespace(**{"expected": None, "actual": None, **check})
    return difference_of(known)


def _values_of(check: Failure | AssertionResult) -> list[tuple[str, str]]:
    """The values that a check has, as `(side, text)`. Of a script's check two may be the same, as of `Less(2, 2)`."""
    from runner.look_alikes import sides

    if len(given := _given(check)) == len(SIDES):
        if check.expected != check.actual:
            return list(zip(SIDES, sides(check.expected, check.actual, SHOWN), strict=True))
        texts = [str(getattr(check, f"{side}_text", "")) for side in SIDES]
        return list(zip(SIDES, texts, strict=True)) if any(texts) else []
    return [(side, sides(getattr(check, side), None, SHOWN)[0]) for side in given]


def _given(check: Failure | AssertionResult) -> list[str]:
    texts = hasattr(check, "expected_text")
    return [side for side in SIDES if getattr(check, f"{side}_text" if texts else side) is not None]


def _has(message: str, text: str) -> bool:
    forms = (text, json.dumps(text, ensure_ascii=False)[1:-1])
    return any(re.search(rf"(?<!\w){re.escape(form)}(?!\w)", message) for form in forms if form)
