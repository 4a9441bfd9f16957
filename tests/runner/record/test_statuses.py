"""Status and cause are enumerations; their words are in what writes and reads reports only."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from runner.errors import ConfigurationError
from runner.record.case_result import ScoreVerdict
from runner.record.events import RunStatus
from runner.record.outcomes import Verdict
from runner.record.report import events_of
from runner.record.saved import load
from scripttest import Cause, Status

ROOT = Path(__file__).parents[3]
CODECS = {"scripttest/workers/answers.py"}
"""What checks the words that a worker sends."""
WORDS = {word.value for kind in (Status, Cause, Verdict, RunStatus, ScoreVerdict) for word in kind}
QUOTED = re.compile(f"""["']({"|".join(map(re.escape, WORDS))})["']""")
NAMES = ("status", "cause", "verdict")


def comparisons(path: Path) -> list[str]:
    """Comparisons of a status, a cause or a verdict with the text of a word."""
    found = []
    source = path.read_text("utf-8")
    for node in ast.walk(ast.parse(source)) if QUOTED.search(source) else ():
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            texts = {part.value for side in sides for part in ast.walk(side) if isinstance(part, ast.Constant)}
            names = {
                part.attr if isinstance(part, ast.Attribute) else part.id
                for side in sides
                for part in ast.walk(side)
                if isinstance(part, ast.Attribute | ast.Name)
            } | texts
            if texts & WORDS and any(name in names for name in NAMES):
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}")
    return found


def test_nobody_compares_with_the_text_of_a_status_or_a_cause() -> None:
    paths = [path for package in ("runner", "scripttest") for path in (ROOT / package).rglob("*.py")]
    found = [one for path in paths if path.relative_to(ROOT).as_posix() not in CODECS for one in comparisons(path)]
    assert found == []


@pytest.mark.parametrize(
    "code",
    ('x.status == "failed"', 'record["cause"] != "timeout"', 'status in ("passed", "skipped")', '"fail" == s.verdict'),
)
def test_such_a_comparison_is_found(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    (tmp_path / "module.py").write_text(code)
    assert len(comparisons(tmp_path / "module.py")) == 1


def saved(folder: Path, **result: object) -> Path:
    """A report of one test that failed."""
    suite = {"id": "scripts.shop.cart", "kind": "script_test", "label": "cart_test.ts", "file": "", "agent": "shop"}
    start = {"type": "start", "timestamp": "", "version": "1", "suites": [suite], "environment": {}}
    record = {"type": "result", "suite": suite["id"], "id": "TestSum", "status": "failed", "duration_ms": 1, **result}
    path = folder / "run.jsonl"
    path.write_text("\n".join(map(json.dumps, (start, record, {"type": "summary", "status": "failed"}))))
    return path


@pytest.mark.parametrize("cause", ["assertion", "timeout", "a word of another version", None])
def test_a_cause_that_another_version_wrote_is_an_error(cause: str | None, tmp_path: Path) -> None:
    report = load(saved(tmp_path, failures=[{"cause": cause, "message": "no"}], error="no"))
    (result,) = [event.result for event in events_of(report) if hasattr(event, "result")]
    wanted = Cause(cause) if cause in ("assertion", "timeout") else Cause.ERROR
    assert result.outcome.status is Status.FAILED
    assert [failure.cause for failure in result.outcome.failures] == [wanted]


@pytest.mark.parametrize(
    "parts",
    (
        {"steps": [{"name": "TestSum/a", "status": "odd"}]},
        {"steps": [{"name": "TestSum/a", "status": "failed", "steps": [{"name": "TestSum/a/b"}]}]},
        {"turns": [{"turn": 1, "status": 7}]},
        {"trials": [{"trial": 1, "status": ["passed"]}]},
    ),
)
def test_a_part_without_a_status_is_said(parts: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(
        ConfigurationError,
        match=rf'run\.jsonl:2: the "{next(iter(parts))}" of a result cannot be .* at {next(iter(parts))}',
    ):
        load(saved(tmp_path, **parts))


def test_how_a_run_ended_is_counted_where_a_report_says_it_in_other_words(tmp_path: Path) -> None:
    path = saved(tmp_path)
    path.write_text(
        path.read_text().replace('{"type": "summary", "status": "failed"', '{"type": "summary", "status": "x"')
    )
    assert load(path).summary["status"] is RunStatus.FAILED
