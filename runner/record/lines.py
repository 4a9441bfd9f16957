"""The line of a result in reports: what `runner.record.model` and `case_result` declare, and what the design documents
print beside it (seed 004), in their order; and how the outcomes of tests are written and read (`runner.shapes.codec`).

| a result | its members |
| --- | --- |
| of a script test | `{type, suite, position, id, script, status, duration_ms, error?, cause?, assertion?, location?, ...}` |
| of a case | `{type, suite, position, id, name?, status, input, output, expected, duration_ms, error, response, ...}` |
| of a case in turns | with `mode`, `turns`, `total_turns`, and what its mode has: `checkpoints`, `final_assertions` |
| of a case whose turns have scores | with `test_id`, `score`, `execution_status`, `scores`, `trials`; its `output` has all messages |
| of a test that ran several times | with `runs`, `{count, passed, ..., repeat?, attempts}`; or with `attempts` alone, where none could be judged |
"""  # noqa: E501

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from runner.record.model import Suite, TestResult
from runner.record.outcomes import CHECK, error_text, log_members, place, stack_trace
from runner.record.stability import Attempt, Repeat, RunStatistics
from runner.record.writing import is_utf8, json_line, json_pieces, plain, relative
from runner.shapes.codec import json_of, kept, members_of, misfit_in, value_of
from scripttest import Cause, Failure, Location, Outcome, ResultWarning, StackFrame, Status
from scripttest.typing_names import Record
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.record.case_result import CaseResult

_HEAD = "type suite position id name script status input output expected duration_ms error response messages_count"
_TAIL = (
    "assertion location stack_trace errors failures assertion_count skip_reason todo only not_judged steps warnings"
    " pass earlier_errors logs log_levels"
)
_CASE_TAIL = (
    "not_judged checks_nothing cause assertion_errors location stack_trace failures assertion_count skip_reason"
    " cut_short warnings pass earlier_errors tools connector model_calls usage sent attachments line tags metadata"
    " logs log_levels trace"
)
_OF_ANSWERS = "finish_reason assertions score threshold scores"
_OF_TURNS = (
    "finish_reason mode simulator turns checkpoints final_assertions total_turns test_id score execution_status scores"
    " final_output threshold trials trials_noise"
)
_SCRIPT_ORDER, _CASE_ORDER, _TURNS_ORDER = (
    f"{_HEAD} {keys}".split() for keys in (f"cause {_TAIL}", f"{_OF_ANSWERS} {_CASE_TAIL}", f"{_OF_TURNS} {_CASE_TAIL}")
)
"""The keys of lines, in their order."""
IN_SEED = {"count": "runs", "attempts": "run_details"}
"""Keys of `runs` that have another name in a result of seed 004."""
LONG = 1_000_000
"""Characters of an answer, or of a line, from which on it is long."""
_CAUSES = {cause.value: cause for cause in Cause}
BROKEN_RUNS = "broken_runs"
"""The name of `errors` there, in a result that has `errors` of its own."""


def line_of(result: TestResult, suite: Suite) -> Record:
    """The line of a result, which is made once, and must not be changed. One that was read has its own."""
    kept_in = result.__dict__
    if "_line" not in kept_in and "_made" not in kept_in:
        kept_in["_made"] = _clean_text(_line(result, suite))[0]
    return result.line


def line_text(result: TestResult, suite: Suite) -> str:
    """The line as JSON."""
    kept_in = result.__dict__
    text: str = kept_in.get("_text", "")
    if not text:
        line, text = _clean_text(kept_in.get("_line") or kept_in.get("_made") or _line(result, suite))
        if "_line" not in kept_in:
            kept_in["_made"] = line
        if len(text) < LONG:
            kept_in["_text"] = text
    return text


def stored_text(result: TestResult, suite: Suite, with_fingerprint: bool = True) -> str:
    """The same with what only `.jsonl` reports and stores have: what grading it again needs, and its fingerprint."""
    text, further = line_text(result, suite), _further(result, with_fingerprint)
    return f"{text[:-1]}, {_clean_text(further)[1][1:]}" if further else text


def is_long(result: TestResult) -> bool:
    """Whether its answers are so long that its line should be written in pieces: it has them several times."""
    case = result.case
    return case is not None and len(case.response) + sum(len(turn.response) for turn in case.turns) >= LONG


def stored_pieces(result: TestResult, suite: Suite) -> Iterator[str]:
    """The same as `stored_text`, in pieces that are made as they are written: none has the whole line."""
    line = {**(result.__dict__.get("_line") or _line(result, suite)), **_further(result)}
    try:
        is_clean = not any(piece == '"data"' or _is_unclean(piece) or not is_utf8(piece) for piece in json_pieces(line))
    except ValueError:
        is_clean = False
    return json_pieces(line if is_clean else plain(without_content(line)))


def _further(result: TestResult, with_fingerprint: bool = True) -> Record:
    if result.is_read:
        return {}
    found = {} if result.regradable is None else {"regrade": json_of(result.regradable)}
    return found | ({"fingerprint": result.fingerprint} if with_fingerprint and result.fingerprint else {})


def result_of(line: Record, **known: Any) -> TestResult:
    """The result of a line that `problem_of_line` finds nothing wrong with; fields that are `known` are not read."""
    result = kept(TestResult, line)
    result.__dict__.update(known)
    return result


def with_members(result: TestResult, **members: Any) -> TestResult:
    """A result that was read, with other members of its line; None leaves one out."""
    kept = {key: value for key, value in result.line.items() if key not in members or members[key] is not None}
    return result_of(kept | {key: value for key, value in members.items() if value is not None})


def as_read(result: TestResult, suite: Suite, name: str | None = None) -> TestResult:
    """A result as if it was read from a report, which calls the suite `name`; None: as this run calls it."""
    if result.is_read:
        return result
    return result_of(line_of(result, suite) | {"suite": name or suite.name} | _clean_text(_further(result))[0])


def _line(result: TestResult, suite: Suite) -> Record:
    outcome, case = result.outcome, result.case
    line: Record = {"type": "result", "suite": suite.name, "position": result.position, "id": outcome.name}
    if case is None:
        found = line | {"script": result.suite} | json_of(outcome) | log_members(result.logs)
        order = _SCRIPT_ORDER
    else:
        found = line | _members_of_case(result, case)
        order = _TURNS_ORDER if case.in_turns else _CASE_ORDER
    if result.earlier_errors:
        found |= {"pass": len(result.earlier_errors) + 1, "earlier_errors": list(result.earlier_errors)}
    line = {key: found[key] for key in order if key in found}
    if suite.variant:
        line["variant"] = suite.variant
    if result.judgements:
        line["judgements"] = list(map(json_of, result.judgements))
    if result.story:
        line["story"] = [dict(one) for one in result.story]
    if result.outside:
        line["outside"] = list(map(json_of, result.outside))
    if result.run:
        line["run"] = result.run
        if result.policy is not None:
            line["repeat"] = result.policy
    elif result.stability is not None:
        line["runs"] = runs_of(result.stability, result.attempts, result.repeat)
    elif result.attempts:
        line["attempts"] = list(map(json_of, result.attempts))
    return relative(line, suite.root)


def _members_of_case(result: TestResult, case: CaseResult) -> Record:
    outcome = result.outcome
    found = {"error": None, **json_of(outcome), **json_of(case)}
    if result.logs:
        found |= log_members(result.logs)
    if outcome.status != Status.PASSED:
        found.pop("checks_nothing", None)
    if not outcome.skip_reason:
        found.pop("skip_reason", None)
    elif result.cut_short:
        found["cut_short"] = True
    if checks := [error_text(failure) for failure in outcome.failures if failure.type]:
        found["assertion_errors"] = checks
    if framed := next((failure for failure in outcome.failures if failure.frames), None):
        found |= {"location": place(framed), "stack_trace": stack_trace(framed)}
    if case.scores_turns:
        is_broken = any(failure.cause != Cause.ASSERTION for failure in outcome.failures)
        status = "error" if is_broken else "skipped" if outcome.status == Status.SKIPPED else "ok"
        found |= {"test_id": outcome.name, "execution_status": status}
    return found


def runs_of(stability: RunStatistics, attempts: Sequence[Attempt] = (), repeat: Repeat | None = None) -> Record:
    """`runs` of a result, or the figures of it: what its runs have in common, the state of its policy, and each run."""
    state = {} if repeat is None else {"repeat": json_of(repeat)}
    return {**json_of(stability), **state, **({"attempts": list(map(json_of, attempts))} if attempts else {})}


def as_in_seed(line: Record) -> Record:
    """A result as seed 004 prints it: the keys of `runs` together with its own."""
    runs = line.get("runs")
    if not isinstance(runs, dict):
        return line
    rest: Record = {key: value for key, value in line.items() if key != "runs"}
    names = {**IN_SEED, "errors": BROKEN_RUNS} if "errors" in rest else IN_SEED
    return rest | {names.get(str(key), str(key)): value for key, value in runs.items()}


def from_seed(line: Record) -> Record:
    """What `as_in_seed` was made from."""
    if "run_details" not in line:
        return line
    keys = (*(member.key for member in members_of(RunStatistics)), "repeat", "attempts")
    names: dict[str, str] = {IN_SEED.get(key, key): key for key in keys}
    if isinstance(line.get("errors"), list):  # the texts of its own failures
        names = {BROKEN_RUNS if key == "errors" else name: key for name, key in names.items()}
    rest = {key: value for key, value in line.items() if key not in names}
    return {**rest, "runs": {key: line[name] for name, key in names.items() if name in line}}


def _clean_text(line: Record) -> tuple[Record, str]:
    """A line as it may be written, without the content of attachments and halves of surrogate pairs, and as JSON."""
    text = json_line(line)
    if '"data": "' in text or _is_unclean(text):
        line = plain(without_content(line))
        text = json_line(line)
    return line, text


def _is_unclean(text: str) -> bool:
    """Whether JSON may have content of attachments, or halves of surrogate pairs as they are written."""
    return ";base64," in text or "input_audio" in text or ("\\" in text and r"\\ud" in text)


SHORTEST = 32
"""Base64 with at least this many characters is replaced; shorter base64 is shown."""
BINARY = ("audio", "input_audio", "base64")
"""Types of parts whose `data` is base64."""
_BASE64 = rf"[\w+/=\r\n-]{{{SHORTEST},}}"


def without_content(value: Any, within: str = "") -> Any:
    """A JSON value in which `data:image/png;base64,… (12 KB)` replaces the content of a `data:` URL, also within a
    text, and `… (12 KB)` for the data of a part that holds it as `data`, such as `input_audio`. `within` is the key
    that has the value."""
    if isinstance(value, str):
        return re.sub(f"(?<=;base64,){_BASE64}", _size, value) if ";base64," in value else value
    if isinstance(value, dict):
        cleaned = {key: without_content(item, key) for key, item in value.items()}
        data = cleaned.get("data")
        if isinstance(data, str) and (within == "input_audio" or value.get("type") in BINARY):
            cleaned["data"] = re.sub(f"^{_BASE64}\\Z", _size, data)
        return cleaned
    return list(map(without_content, value)) if isinstance(value, list | tuple) else value


def sizes(attachments: Iterable[Record]) -> list[str]:
    """A description of attachments, such as `pic.png (image/png, 3008 bytes)`."""
    lines = []
    for one in attachments:
        facts = [str(one.get("media_type") or one.get("type"))]
        facts += [f"{one['size']} bytes"] if "size" in one else []
        name = one.get("name") or one.get("source") or one.get("type")
        lines.append(f"{name} ({', '.join(facts)})")
    return lines


def _size(encoded: re.Match[str]) -> str:
    data = encoded[0]
    count = len(data) * 3 // 4 - data[-2:].count("=")
    for unit, size in (("MB", 1_000_000), ("KB", 1000)):
        if count >= size:
            return f"… ({count / size:.3g} {unit})"
    return f"… ({count} bytes)"


def outcome_in(line: Record) -> Outcome:
    """How a test, or a subtest, ended."""
    return value_of(Outcome, line)


def outcome_misfit(line: Record) -> str | None:
    """The path of the first member of it that no outcome has, as `misfit_in` finds it."""
    return misfit_in(Outcome, line)


def below(root: str, outcome: Outcome) -> Outcome:
    """An outcome that was read, with the files of its places named from a folder."""

    def placed(one: Any) -> Any:
        files = [
            (frame, os.path.join(root, frame.location.file) if frame.location.file else "") for frame in one.frames
        ]
        return one.replace(
            frames=tuple(frame.replace(location=frame.location.replace(file=file)) for frame, file in files)
        )

    return outcome.replace(
        failures=tuple(map(placed, outcome.failures)),
        warnings=tuple(map(placed, outcome.warnings)),
        steps=tuple(below(root, step) for step in outcome.steps),
    )


def _failures_in(line: Record) -> tuple[Failure, ...]:
    """The failures of a result or subtest. Other tools write only the error, its cause and place, and values."""
    if line.get("failures") is not None:
        return tuple(value_of(Failure, item) for item in line["failures"])
    if not (line.get("error") or line.get("cause")):
        return ()
    error = str(line.get("error") or "it failed")
    is_check = error.startswith(CHECK)
    check = given if is_check and isinstance(given := line.get("assertion"), dict) else {}
    return (
        Failure(
            cause=_CAUSES.get(str(line.get("cause")), Cause.ASSERTION if is_check else Cause.ERROR),
            message=error.removeprefix(CHECK),
            type=str(check.get("type") or Cause.ASSERTION) if is_check else None,
            expected=check.get("expected"),
            actual=check.get("actual"),
            frames=_frame_at(line),
        ),
    )


def _frame_at(line: Record) -> tuple[StackFrame, ...]:
    """The frame for the place `file:line:column` of an object; empty where it has none."""
    found = re.fullmatch(r"(.+):(\d+):(\d+)", str(line.get("location") or ""))
    if not found:
        return ()
    location = Location(file=found[1], line=int(found[2]), column=int(found[3]))
    return (StackFrame(function="", location=location),)


def _of_decisive(make: Callable[[Failure], Any]) -> Callable[[Outcome], Any]:
    return lambda outcome: make(found) if outcome.failures and (found := outcome.decisive) else ...


def _assertion(outcome: Outcome) -> Any:
    checked = next((failure for failure in outcome.failures if failure.type), None)
    said = ("type", "expected", "actual", "message")
    return ... if checked is None else {name: getattr(checked, name) for name in said}


def _says_more(warning: ResultWarning) -> bool:
    """Whether its frames say more than a place."""
    frames = warning.frames
    return len(frames) > 1 or any(frame.function or frame.location.length for frame in frames)


def _declare(cls: type[Value], **said: Any) -> None:
    """How objects of a class are written and read, which `runner.shapes.codec` says."""
    for name, value in said.items():
        setattr(cls, f"__{name}__", value)


_declare(Location, strict=True)
_declare(StackFrame, strict=True, members="function location", inline="location")
_declare(
    Failure,
    strict=True,
    members="cause message code_frame details type reason expected actual expected_text actual_text diff phase frames",
    readers={"cause": lambda line: _CAUSES.get(str(line.get("cause")), Cause.ERROR)},
)
_declare(
    ResultWarning,
    strict=True,
    members="kind message location frames code_frame details",
    writers={
        "location": lambda warning: place(warning) or ...,
        "frames": lambda warning: list(map(json_of, warning.frames)) if _says_more(warning) else ...,
    },
    readers={
        "kind": lambda line: str(line.get("kind") or ""),
        "frames": lambda line: tuple(value_of(StackFrame, one) for one in line.get("frames") or ()) or _frame_at(line),
    },
    checked="frames",
)
_declare(
    Outcome,
    members="status milliseconds error cause assertion location stack_trace errors failures assertions skip_reason todo"
    " only not_judged steps warnings",
    keys={"assertions": "assertion_count"},
    types={"milliseconds": "Milliseconds"},
    beside="name mocked inlined",
    writers={
        "error": _of_decisive(error_text),
        "cause": _of_decisive(lambda failure: failure.cause),
        "assertion": _assertion,
        "location": _of_decisive(lambda failure: place(failure) or ...),
        "stack_trace": _of_decisive(lambda failure: stack_trace(failure) if failure.frames else ...),
        "errors": lambda outcome: list(map(error_text, outcome.failures)) if len(outcome.failures) > 1 else ...,
        "steps": lambda outcome: [{"name": step.name, **json_of(step)} for step in outcome.steps] or ...,
    },
    readers={
        "name": lambda line: str(line.get("id", line.get("name", ""))),
        "failures": lambda line: _failures_in(line) if line["status"] == Status.FAILED else (),
    },
    checked="failures",
)
