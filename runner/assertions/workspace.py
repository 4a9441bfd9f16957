"""`file_exists`, `file_contains`, `workspace`: what is in the workspace of the case when the agent has answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runner.assertions.base import Kind, NotEvaluated, Verdict
from runner.assertions.differences import form_only
from runner.assertions.verdicts import decide

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.assertions.base import Evidence, Judges
    from runner.assertions.model import Assertion

SHOWN = 20
"""Files that a message names."""


async def file_exists(assertion: Assertion, evidence: Evidence, judges: Judges) -> Verdict:
    """There is a file at the path, or a folder with files in it."""
    path, files = _path(assertion), _files(evidence)
    held = path in files or any(name.startswith(f"{path}/") for name in files)
    found = _listed(files)
    return decide(assertion, held, path, found, "to have", subject="the workspace", wanted=path, found=found)


async def file_contains(assertion: Assertion, evidence: Evidence, judges: Judges) -> Verdict:
    """The file at the path has the text in it."""
    path, files = _path(assertion), _files(evidence)
    if path not in files:
        message = f"Expected the workspace to have {path}, found {_listed(files)}"
        return Verdict(passed=False, expected=assertion.value, actual=None, message=message)
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


async def workspace(assertion: Assertion, evidence: Evidence, judges: Judges) -> Verdict:
    """The tree of files agrees with its snapshot; there being none, it is stored."""
    name = f"{evidence.case} {assertion.name or 'workspace'}"
    tree = {path: _content(data) for path, data in _files(evidence).items()}
    difference = judges.match_snapshot(name, tree)
    held = difference is None
    message = ""
    if held is assertion.negate:
        verb, found = ("not to agree", "no difference") if held else ("to agree", difference)
        message = f'Expected the workspace {verb} with the snapshot "{name}", found {found}'
    return Verdict(passed=held, expected=name, actual=tree, message=message)


def problem(assertion: Assertion) -> str | None:
    """What is wrong with an assertion of these types."""
    if assertion.type == "workspace":
        return '"workspace" needs a "name" that is not empty' if assertion.name == "" else None
    if not assertion.path:
        return f'"{assertion.type}" needs "path": a file of the workspace'
    if assertion.type == "file_contains" and (not isinstance(assertion.value, str) or not assertion.value):
        return '"file_contains" needs a text as "value"'
    return None


def _path(assertion: Assertion) -> str:
    return "/".join(part for part in (assertion.path or "").split("/") if part not in ("", "."))


def _files(evidence: Evidence) -> Mapping[str, bytes]:
    if evidence.files is None:
        raise NotEvaluated("the workspace of a saved run is gone")
    return {name: data for name, data in evidence.files().items() if not name.startswith(".yao/")}


def _listed(files: Mapping[str, bytes]) -> str:
    names = list(files)
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{', '.join(names[:SHOWN])}{more}" if names else "no files"


def _content(data: bytes) -> Any:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return {"bytes": len(data)}


ASSERTIONS = {
    "file_exists": Kind(check=file_exists, problem=problem, fields=("path",), needs=("path",)),
    "file_contains": Kind(check=file_contains, problem=problem, fields=("path", "value"), needs=("path",)),
    "workspace": Kind(check=workspace, problem=problem, fields=("name",)),
}
"""Types of assertions that are checked here."""
