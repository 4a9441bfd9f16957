"""The page that the real command writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command import Application, MakeApplication
from playwright.sync_api import expect

from runner.errors import ConfigurationError

FILES = {
    "setup.ts": "export function Setup(x) {\n  return { id: x };\n}\n",
    "setup_test.ts": """import { Setup } from "./setup";
export function TestPasses(t) { t.assert.Equal(Setup(1), { id: 1 }); }
export function TestFails(t) {
  t.log("setting up");
  t.assert.Equal(Setup(1).id, 2, "Result ID should match");
}
""",
    "/assistants/demo/package.yao": json.dumps({"name": "Demo", "connector": "scripted"}),
    "/assistants/demo/prompts.yml": "- role: system\n  content: Answer\n",
    "/assistants/demo/replies.yml": "- when: { input: basel }\n  reply: For which date?\n- reply: A room is booked.\n",
    "/assistants/demo/tests/rooms.jsonl": "\n".join(
        [
            '{"id": "one", "input": "basel", "assert": {"type": "contains", "value": "date"}, "tags": ["smoke"]}',
            '{"id": "two", "input": "14 May", "assert": {"type": "equals", "value": "A room is free."}}',
            '{"id": "talk", "turns": [{"input": "basel"}, {"input": "14 May", "assertions": {"type": "contains", "value": "booked"}}]}',
        ]
    ),
}


@pytest.fixture
def application(app: MakeApplication) -> Application:
    return app(FILES)


def test_the_command_writes_a_page_of_scripts_and_cases(application: Application, open_report: Any) -> None:
    run = application.run(
        "-i", "scripts.demo.setup", "-i", "assistants/demo/tests/rooms.jsonl", "-o", "out/report.html", "-o", "report.jsonl"
    )  # fmt: skip
    assert run.code == 1, run
    page = open_report(application.root / "out/report.html")

    assert page.get_by_role("heading", level=2).first.inner_text() == "2 of 5 tests failed"
    assert page.locator(".row-id").all_inner_texts() == ["TestFails", "two", "TestPasses", "one", "talk"]
    page.locator(".row-head").nth(0).click()
    detail = page.get_by_role("region", name="Result TestFails")
    expect(detail.locator(".frame .here .text")).to_contain_text(
        't.assert.Equal(Setup(1).id, 2, "Result ID should match");'
    )
    assert detail.get_by_role("group", name="Logs").inner_text() == "setting up"
    page.locator(".row-head").nth(1).click()
    changed = page.get_by_role("region", name="Result two").locator(".diff .removed.line, .diff .added.line")
    expect(changed).to_have_text(['−"A room is free."', '+"A room is booked."'])
    page.locator(".row-head").nth(4).click()
    expect(page.locator(".bubble .said")).to_have_text(["basel", "For which date?", "14 May", "A room is booked."])

    shown = application.run("show", "report.jsonl", "-o", "again.html")
    assert shown.code == 0, shown
    again = open_report(application.root / "again.html")
    assert again.locator(".row-id").all_inner_texts() == ["TestFails", "two", "TestPasses", "one", "talk"]


def test_the_command_of_a_result_runs_it(application: Application, open_report: Any) -> None:
    import shlex

    application.run("-i", "assistants/demo/tests/rooms.jsonl", "-o", "report.html")
    page = open_report(application.root / "report.html")
    page.locator(".row-head").first.click()

    words = shlex.split(page.get_by_role("region", name="Result two").locator(".command").inner_text())
    run = application.run(*words[1:], "-o", "one.jsonl")
    assert words[0] == "yao-test"
    assert run.code == 1, run
    lines = [json.loads(line) for line in (application.root / "one.jsonl").read_text("utf-8").splitlines()]
    assert [line["id"] for line in lines if line["type"] == "result"] == ["two"]


def test_a_checkout_that_was_not_built_is_told_how(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from runner.reporters import html as html_report
    from runner.reporters import maker_for_file

    monkeypatch.setattr(html_report, "APP", tmp_path)
    html_report.web_app.cache_clear()
    with pytest.raises(ConfigurationError) as caught:
        maker_for_file(tmp_path / "report.html")()
    html_report.web_app.cache_clear()

    assert str(caught.value) == f"Cannot write an HTML report: {tmp_path / 'app.js'} is missing"
    assert caught.value.hint == "In a checkout, run: python bindings/build.py"
