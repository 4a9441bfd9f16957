"""Coverage on the page: figures by file, and the lines of each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from html_reports import report, result, suite
from playwright.sync_api import expect

from runner.record.coverage import CoverageReport

SOURCE = "export function Fee(amount: number) {\n  if (amount < 0) {\n    return '<b>';\n  }\n  return 1;\n}\n"


def place(line: int, column: int = 2) -> dict[str, Any]:
    return {"start": {"line": line, "column": column}, "end": {"line": line, "column": 20}}


def covered(root: Path | None) -> Any:
    path = "assistants/fees/src/fees.ts"
    file = {
        "path": path,
        "statementMap": {"0": place(2), "1": place(3, 4), "2": place(5)},
        "fnMap": {"0": {"name": "Fee", "decl": place(1, 0), "loc": place(1, 37), "line": 1}},
        "branchMap": {
            "0": {"loc": place(2), "type": "if", "locations": [place(2), {"start": {}, "end": {}}], "line": 2}
        },
        "s": {"0": 3, "1": 0, "2": 3},
        "f": {"0": 3},
        "b": {"0": [0, 3]},
    }
    made = report([suite("scripts.fees.fees")], [result("scripts.fees.fees", "TestFee")])
    if root is not None:
        (root / path).parent.mkdir(parents=True)
        (root / path).write_text(SOURCE)
        made = made.replace(root=str(root))
    return made.replace(end=made.end.replace(coverage=CoverageReport(files={path: file})))


def test_figures_and_lines_are_shown(open_report: Any, tmp_path: Path) -> None:
    page = open_report(covered(tmp_path))
    section = page.get_by_role("region", name="Coverage", exact=True)
    rows = [[cell.strip() for cell in text.split("\t")] for text in section.locator("tbody tr").all_inner_texts()]
    assert rows == [
        ["All files", "66.66 %", "50 %", "100 %", "66.66 %", ""],
        ["assistants/fees/src/fees.ts", "66.66 %", "50 %", "100 %", "66.66 %", "3"],
    ]
    section.get_by_text("assistants/fees/src/fees.ts").last.click()
    shown = section.locator("pre .line")
    expect(shown).to_have_count(6)
    assert [text.split() for text in section.locator(".ran").all_inner_texts()] == [
        ["2", "3×", "if", "(amount", "<", "0)", "{"],
        ["5", "3×", "return", "1;"],
    ]
    assert [text.split() for text in section.locator(".missed").all_inner_texts()] == [
        ["3", "never", "return", "'<b>';"]
    ]


def test_without_the_source_there_are_figures(open_report: Any) -> None:
    section = open_report(covered(None)).get_by_role("region", name="Coverage", exact=True)
    expect(section.locator("tbody tr")).to_have_count(2)
    expect(section.locator("details")).to_have_count(0)


def test_a_run_without_coverage_has_no_such_section(open_report: Any) -> None:
    page = open_report(report([suite("a.jsonl")], [result("a.jsonl", "a")]))
    expect(page.get_by_role("region", name="Coverage", exact=True)).to_have_count(0)
