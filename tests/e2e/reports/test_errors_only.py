"""A run in which everything broke, and one in which something did: no format shows it as passed, or as failed."""

from __future__ import annotations

import json
import re

import pytest
from agent_files import agent
from command import Application, MakeApplication, on_terminal

NOWHERE = {"type": "openai", "options": {"host": "http://127.0.0.1:9", "model": "m", "key": "k", "retries": 0}}
"""A model host that nobody can reach."""
CASES = [{"id": "first", "input": "a"}, {"id": "second", "input": "b", "assert": {"type": "contains", "value": "b"}}]
FORMATS = ("jsonl", "json", "md", "html", "txt", "xml", "ctrf.json")
GREEN = re.compile(r"✅|✓|17753a|\x1b\[32m")
"""Green signs and colours."""


@pytest.fixture
def broken(app: MakeApplication) -> Application:
    """An application whose agent has no model."""
    return app(
        {
            **agent(package={"connector": "nowhere"}, replies=None, cases=CASES),
            "/connectors/nowhere.conn.yao": json.dumps(NOWHERE),
            "/.env": "NO_PROXY=127.0.0.1\n",
        }
    )


@pytest.fixture
def reports(broken: Application) -> Application:
    """That application after a run, with a report in each format."""
    outputs = [word for kind in FORMATS for word in ("-o", f"r.{kind}")]
    run = broken.run("-i", "assistants/demo/tests/cases.jsonl", *outputs)
    assert (run.code, run.stderr) == (1, "")
    return broken


def text_of_page(text: str) -> str:
    """What a page says without its script and its style, which are the same for every run."""
    return re.sub(r"<(style|script)>.*?</\1>|<script type.*?</script>", "", text, flags=re.S)


def test_the_console_shows_no_green(broken: Application) -> None:
    code, shown = on_terminal(broken, "-i", "assistants/demo/tests/cases.jsonl", "-v")

    assert (code, "Errors:  \x1b[31m2\x1b[0m" in shown) == (1, True)
    assert GREEN.findall(shown) == []


def test_the_page_has_neither_a_green_sign_nor_a_title_that_says_failed(reports: Application) -> None:
    page = text_of_page((reports.root / "r.html").read_text())

    assert GREEN.findall(page) == []
    assert "<title>2 errors – assistants/demo/tests/cases.jsonl</title>" in page
    assert "<p>0 passed, 0 failed, 0 skipped, 2 errors; 2 missing calls</p>" in page


def test_markdown_tells_errors_from_failures(reports: Application) -> None:
    text = (reports.root / "r.md").read_text()

    assert re.findall(r"^### .*\(", text, re.M) == ["### ❗ first - Error (", "### ❗ second - Error ("]
    assert re.search(r"^\| Errors +\| 2 ", text, re.M)
    assert re.search(r"^\| Missing calls +\| 2 ", text, re.M)
    assert re.search(r"^\| Pass Rate +\| none", text, re.M)
    assert ("✅" in text, "❌" in text) == (False, False)


def test_the_summary_says_errors(reports: Application) -> None:
    lines = (reports.root / "r.txt").read_text().splitlines()

    assert lines[0].startswith("0 passed, 0 failed, 0 skipped, 2 errors in ")
    assert [line.split(":")[0] for line in lines[1:]] == [
        "ERROR assistants/demo/tests/cases.jsonl first",
        "ERROR assistants/demo/tests/cases.jsonl second",
        "2 missing calls",
    ]


@pytest.mark.parametrize("kind", ["jsonl", "json"])
@pytest.mark.parametrize("target", ["md", "html", "txt"])
def test_a_saved_run_shows_none_either(reports: Application, kind: str, target: str) -> None:
    assert reports.run("show", f"r.{kind}", "-o", f"again.{target}").code == 0

    assert GREEN.findall(text_of_page((reports.root / f"again.{target}").read_text())) == []


def test_merge_counts_errors_and_says_them(reports: Application) -> None:
    run = reports.run("merge", "r.jsonl", "r.json", "-o", "m.json", "-o", "m.html", "-o", "m.md")

    assert run.stdout.splitlines()[-2:] == ["0 passed, 0 failed, 0 skipped, 2 errors in 2 parts", "2 missing calls"]
    summary = json.loads((reports.root / "m.json").read_text())["summary"]
    assert (summary["total"], summary["errors"], summary["failed"]) == (2, 2, 0)
    for name in ("m.html", "m.md"):
        assert GREEN.findall(text_of_page((reports.root / name).read_text())) == []


def test_github_gets_errors(broken: Application) -> None:
    summary = broken.home / "summary.md"
    environment = {**broken.environment, "GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary)}
    run = broken.run("-i", "assistants/demo/tests/cases.jsonl", env=environment)

    assert [line.split(" ")[0] for line in run.stdout.splitlines() if line.startswith("::error")] == ["::error"] * 2
    assert GREEN.findall(summary.read_text()) == []
    assert "### ❗ first - Error" in summary.read_text()


def test_machines_get_them_as_errors(reports: Application) -> None:
    found = json.loads((reports.root / "r.ctrf.json").read_text())["results"]
    assert (found["summary"]["passed"], [test["status"] for test in found["tests"]]) == (0, ["failed", "failed"])
    xml = (reports.root / "r.xml").read_text()
    assert ('tests="2" failures="0" errors="2"' in xml, xml.count("<error "), "<failure" in xml) == (True, 2, False)


def test_of_several_suites_the_broken_one_has_a_sign_of_its_own(broken: Application) -> None:
    broken.write(
        {
            "fine_test.ts": "export function TestFine(t) { t.assert.True(true); }",
            "bad_test.ts": "export function TestBad(t) { t.assert.True(false); }",
        }
    )
    run = broken.run("-i", "scripts.demo", "-i", "assistants/demo/tests/cases.jsonl", "-o", "r.md", "-o", "r.html")

    text = (broken.root / "r.md").read_text()
    assert re.findall(r"^\| (\S+) +\| (\S+)\.\w+ ", text[text.index("## Suites") :], re.M) == [
        ("❌", "demo/src/bad_test"),
        ("❗", "assistants/demo/tests/cases"),
        ("✅", "demo/src/fine_test"),
    ]
    assert "<title>1 failed, 2 errors – 3 suites</title>" in (broken.root / "r.html").read_text()
    assert run.code == 1


def test_a_run_that_passed_is_green(app: MakeApplication) -> None:
    here = app({"fine_test.ts": "export function TestFine(t) { t.assert.True(true); }"})
    assert here.run("-i", "scripts.demo.fine", "-o", "r.html", "-o", "r.md").code == 0

    page = text_of_page((here.root / "r.html").read_text())
    assert ("17753a" in page, "<title>passed – " in page) == (True, True)
    assert "### ✅ TestFine - Passed" in (here.root / "r.md").read_text()
