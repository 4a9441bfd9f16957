"""Assertions on snapshots, and on the workspace of the case when the agent has answered; outputs as texts for
snapshots, and what differs between two."""

from __future__ import annotations

import json
import operator
import re
from typing import TYPE_CHECKING, Any

from runner.assertions.base import CheckResult, NotEvaluated, assertion_kind
from runner.assertions.json_values import problem_with_path
from runner.assertions.results import decide
from runner.assertions.values import form_only, json_in, line_difference
from runner.errors import listed
from runner.look_alikes import visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.assertions.base import Evidence, Judges
    from runner.assertions.model import Assertion

SHOWN = 20
"""Files that a message names."""


async def snapshot(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """The output agrees with the snapshot of the case, or with the one of the name given; there being none, it is
    stored. What `mask` names is not compared."""
    name = f"{evidence.case} {assertion.name}" if assertion.name else evidence.case
    value = evidence.output
    if assertion.mask:
        inside = json_in(evidence, yaml=False)
        value, unmatched = masked(value if inside is None else inside, assertion.mask)
        for path in unmatched:
            judges.warn(f'The mask {path} of the snapshot "{name}" matches nothing', "mask")
    return _compared(assertion, judges, name, value, "the output")


async def file_exists(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """There is a file at the path, or a folder with files in it."""
    path, files = _path(assertion), _files(evidence)
    held = path in files or any(name.startswith(f"{path}/") for name in files)
    found = _listed(files)
    return decide(assertion, held, path, found, "to have", subject="the workspace", wanted=path, found=found)


async def file_contains(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """The file at the path has the text in it."""
    path, files = _path(assertion), _files(evidence)
    if path not in files:
        message = f"Expected the workspace to have {path}, found {_listed(files)}"
        return CheckResult(passed=False, expected=assertion.value, actual=None, message=message)
    text = files[path].decode("utf-8", errors="replace")
    value = assertion.value
    return decide(
        assertion,
        value in text,
        value,
        text,
        "to contain",
        subject=path,
        form=lambda: form_only(value, text, lambda wanted, found: wanted in found),
    )


async def workspace(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """The tree of files agrees with its snapshot; there being none, it is stored."""
    name = f"{evidence.case} {assertion.name or 'workspace'}"
    tree = {path: _content(data) for path, data in _files(evidence).items()}
    return _compared(assertion, judges, name, tree, "the workspace")


def problem_with_snapshot(assertion: Assertion) -> str | None:
    """What is wrong with a `snapshot` or a `workspace`."""
    if assertion.name == "":
        return f'"{assertion.type}" needs a "name" that is not empty'
    return next(filter(None, (problem_with_path("snapshot", path) for path in assertion.mask or ())), None)


def problem_with_file(assertion: Assertion) -> str | None:
    """What is wrong with a `file_exists` or a `file_contains`."""
    if not assertion.path:
        return f'"{assertion.type}" needs "path": a file of the workspace'
    if assertion.type == "file_contains" and (not isinstance(assertion.value, str) or not assertion.value):
        return '"file_contains" needs a string as "value"'
    return None


def masked(value: Any, paths: list[str]) -> tuple[Any, list[str]]:
    """A copy of a value with `[masked]` at the places that JSONPaths match, and those paths that match nothing. Raises
    NotEvaluated."""
    from copy import deepcopy

    from bindings import patterns as library

    whole: list[Any] = [deepcopy(value)]
    unmatched: list[str] = []
    for path in paths:
        try:
            places = library.places(value, path)
        except library.JsonPathError as error:
            raise NotEvaluated(str(error)) from error
        unmatched += [] if places else [path]
        for place in places:
            inside: Any = whole
            keys: list[Any] = [0, *place]
            *outer, last = keys
            for key in outer:
                inside = inside[key] if isinstance(inside, dict | list) else None
            if isinstance(inside, dict | list):  # not within something that is masked
                inside[last] = "[masked]"
    return whole[0], unmatched


def printed(value: Any, indent: str = "") -> str:
    """A JSON value over several lines, keys in order; texts of several lines are lines between `\"\"\"`."""
    inner = indent + "  "
    if isinstance(value, dict) and value:
        items = [f"{json.dumps(key, ensure_ascii=False)}: {printed(value[key], inner)}" for key in sorted(value)]
        return _between("{", items, "}", indent)
    if isinstance(value, list) and value:
        return _between("[", [printed(item, inner) for item in value], "]", indent)
    if isinstance(value, str) and "\n" in value:
        lines = (_line(line) for line in value.split("\n"))
        return "\n".join(['"""', *(f"{indent}{line}" if line else "" for line in lines), f'{indent}"""'])
    return visible(json.dumps(value, ensure_ascii=False))


def difference(expected: str, actual: str) -> str:
    """The lines of two printed values that differ, as those of other assertions, and what else can be said of them."""
    lines = line_difference(expected, actual)
    form = form_only(_text_in(expected), _text_in(actual), operator.eq)
    return f"- expected + actual\n{lines}" + (f"\n{form}" if form else "")


def _compared(assertion: Assertion, judges: Judges, name: str, value: Any, subject: str) -> CheckResult:
    wrong = judges.match_snapshot(name, value)
    held = wrong is None
    message = ""
    if held is assertion.negate:
        said = "not to match" if held else "to match"
        why = ", found no difference" if wrong is None else f": {wrong}".replace(": \n", ":\n", 1)
        message = f'Expected {subject} {said} the snapshot "{name}"{why}'
    return CheckResult(passed=held, expected=name, actual=value, message=message)


def _path(assertion: Assertion) -> str:
    return "/".join(part for part in (assertion.path or "").split("/") if part not in ("", "."))


def _files(evidence: Evidence) -> Mapping[str, bytes]:
    if evidence.files is None:
        raise NotEvaluated("a saved run has no workspace")
    return {name: data for name, data in evidence.files().items() if not name.startswith(".yao/")}


def _listed(files: Mapping[str, bytes]) -> str:
    return listed(list(files), SHOWN) or "no files"


def _content(data: bytes) -> Any:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return {"bytes": len(data)}


def _text_in(printed: str) -> str:
    """The text of one line that is printed as JSON; all else as it is printed."""
    return str(json.loads(printed)) if re.fullmatch(r'"(?:[^"\\]|\\.)*"', printed) else printed


def _between(start: str, items: list[str], end: str, indent: str) -> str:
    return "\n".join([start, *(f"{indent}  {item}," for item in items), f"{indent}{end}"])


def _line(line: str) -> str:
    text = json.dumps(line, ensure_ascii=False)[1:-1].replace('\\"', '"').replace('"""', '\\"""')
    return visible(f"{text[:-1]}\\u0020" if text.endswith(" ") else text)


ASSERTIONS = {
    "snapshot": assertion_kind(snapshot, problem_with_snapshot, "name mask"),
    "file_exists": assertion_kind(file_exists, problem_with_file, "path"),
    "file_contains": assertion_kind(file_contains, problem_with_file, "path value"),
    "workspace": assertion_kind(workspace, problem_with_snapshot, "name"),
}
