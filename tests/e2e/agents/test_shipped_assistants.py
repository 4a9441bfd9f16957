"""The assistants that this repository ships: their tests pass, and would not if a handler were wrong."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from command import Application

from runner.application.documents import read_json

ROOT = Path(__file__).parents[3]
ASSISTANTS = ROOT / "assistants"
PACKAGES = sorted(ASSISTANTS.rglob("package.yao"))
SERVERS = sorted(ASSISTANTS.rglob("mcps/*.mcp.yao"))


def name_of(path: Path) -> str:
    return path.relative_to(ASSISTANTS).as_posix()


@pytest.fixture
def copy(tmp_path: Path) -> Application:
    """An application with copies of the assistants, for tests that change them."""
    home = tmp_path / "home"
    home.mkdir()
    shutil.copytree(ASSISTANTS, tmp_path / "app/assistants")
    return Application(tmp_path / "app", home)


def failing(report: dict[str, Any]) -> set[str]:
    """Names of the tests of a report that failed."""
    return {record["name"] for record in report["results"] if record["status"] == "failed"}


def test_all_tests_of_all_assistants_pass(copy: Application) -> None:
    before = copy.listing()
    report = copy.report("-i", "assistants", code=0)

    passed = {part.get("script", part.get("input")): part["summary"]["passed"] for part in report["reports"]}
    assert passed == {
        "scripts.expense.env": 0,  # hooks of cases only
        "scripts.expense.index": 8,
        "scripts.expense.notify": 6,
        "scripts.expense.policy": 10,
        "scripts.expense.setup": 11,
        "scripts.expense.tools": 13,
        "assistants/expense/tests/conversations.yaml": 4,
        "assistants/expense/tests/decisions.jsonl": 5,
        "assistants/expense/tests/filing.jsonl": 10,
        "assistants/expense/tests/receipts.yaml": 3,
        "assistants/keyword/tests/inputs.jsonl": 8,
    }
    usage = report["summary"].pop("usage")
    assert usage["input_tokens"] > usage["output_tokens"] > 0
    assert len(report["summary"].pop("parts")) >= 5
    assert report["summary"] | {"duration_ms": 0} == {
        "total": 80,
        "passed": 78,
        "failed": 0,
        "skipped": 2,
        "pass_rate": 1.0,
        "pass_rate_interval": [0.8865, 1.0],
        "mean_score": 1.0,
        "duration_ms": 0,
    }
    assert copy.listing() == before, "a run leaves nothing behind"


BREAKS = {
    "a limit is raised": ("policy", "limit: 60,", "limit: 80,", {"TestDescribe", "TestLimitDoesNotBlock"}),
    "a day too long": ("policy", "age > policy.days", "age > policy.days + 1", {"TestCheckNamesTheRule"}),
    "receipts are not asked for": ("policy", "&& !claim.receipt", "&& false", {"TestCheckNamesTheRule"}),
    "nobody signs at 100": ("policy", "total >= from", "total > from", {"TestSignatures"}),
    "limits block": ("policy", "blocking: false }", "blocking: true }", {"TestLimitDoesNotBlock"}),
    "amounts are not rounded": ("policy", "Math.round(amount * rate * 100) / 100", "amount * rate", {"TestConvert"}),
    "a user is not needed": (
        "setup",
        'if (!ctx.User?.ID) return ["user"];',
        "",
        {"TestSystemReadyWithInvalidContext"},
    ),
    "readiness is turned round": (
        "setup",
        "return missing.length === 0",
        "return missing.length > 0",
        {"TestSystemReady", "TestSystemReadyBeforeSetup"},
    ),
    "all teams are one": ("setup", "team:${ctx.Team?.ID}", "team:test-team", {"TestSetupIsDoneForOneTeam"}),
    "what the team has is lost": ("setup", "...LoadSettings(ctx), ", "", {"TestSetupKeepsWhatTheTeamHas"}),
    "approvers of any role": (
        "setup",
        "if (unknown.length) return",
        "if (false) return",
        {"TestSetupRejectsUnknownRoles"},
    ),
    "the currency is overwritten": (
        "setup",
        'if (!ctx.memory.user.Has("currency"))',
        "if (true)",
        {"TestSetupRespectsTheCurrencyOfTheUser"},
    ),
    "the policy does not block": (
        "tools",
        "if (blocking.length) throw",
        "if (false) throw",
        {"TestCreateWritesNothingAgainstThePolicy"},
    ),
    "rates are asked for each time": (
        "tools",
        "policy.currency,\n    () => {",
        "String(Math.random()),\n    () => {",
        {"TestRatesAreAskedForOnceADay"},
    ),
    "one may sign for oneself": ("tools", "expense.user_id === ctx.User.ID", "false", {"TestApproveRefuses"}),
    "decided twice": ("tools", 'expense.status !== "submitted"', "false", {"TestApproveRefuses"}),
    "the first signature decides": (
        "tools",
        'next ? "submitted" : "approved"',
        '"approved"',
        {"TestApprovalGoesThroughTheChain"},
    ),
    "everybody sees the team": (
        "tools",
        "ctx.authorized.constraints?.team_only\n",
        "true\n",
        {"TestListShowsOwnExpenses"},
    ),
    "the reader's errors are ignored": (
        "tools",
        "if (answer.error) throw",
        "if (false) throw",
        {"TestReadReceiptThatCannotBeRead"},
    ),
    "one attempt only": (
        "notify",
        "attempt <= retry.attempts",
        "attempt <= 1",
        {"TestDeliveryIsTriedAgain", "TestNobodyCanBeReached"},
    ),
    "no pause": ("notify", "await sleep(pause)", "await null", {"TestDeliveryIsTriedAgain"}),
    "nobody told is fine": (
        "notify",
        "if (people.length && !told.length) throw",
        "if (false) throw",
        {"TestNobodyCanBeReached"},
    ),
    "refusals are tried again": ("notify", "status >= 400 && status < 500", "false", {"TestARefusalIsNotTriedAgain"}),
    "no setup, no matter": ("index", "!SystemReady(ctx)", "false", {"TestCreateWithoutSetup"}),
    "the end of the conversation is lost": (
        "index",
        "slice(-HISTORY)",
        "slice(0, HISTORY)",
        {"TestCreateCutsLongConversations"},
    ),
    "a rude answer": ("index", "That did not work: ", "No: ", {"TestErrorsArePolite"}),
    "another summary": ("index", "in total.", "altogether.", {"TestNextLists"}),
}
"""What is broken → the module, the text in it, what is put in its place, and tests that have to fail."""


@pytest.mark.parametrize(("module", "text", "replacement", "tests"), BREAKS.values(), ids=BREAKS)
def test_a_broken_handler_is_noticed(
    copy: Application, module: str, text: str, replacement: str, tests: set[str]
) -> None:
    script = copy.root / f"assistants/expense/src/{module}.ts"
    working = script.read_text("utf-8")
    assert working.count(text) == 1, f"{text} is not once in {script.name}"
    script.write_text(working.replace(text, replacement), "utf-8")

    report = copy.report("-i", f"scripts.expense.{module}", code=1)

    assert tests <= failing(report), [record.get("error") for record in report["results"]]


@pytest.mark.parametrize("package", PACKAGES, ids=name_of)
def test_an_assistant_has_a_name_and_prompts(package: Path) -> None:
    fields = read_json(package, "package")

    assert fields["name"] and fields["description"]
    assert (package.parent / "prompts.yml").read_text("utf-8").startswith("- role: system\n")


@pytest.mark.parametrize("server", SERVERS, ids=name_of)
def test_every_tool_of_a_server_has_a_function_and_a_schema(copy: Application, server: Path) -> None:
    agent = server.parents[1]
    tools = read_json(server, "server")["tools"]
    id = f"agents.{'.'.join(agent.relative_to(ASSISTANTS).parts)}"
    probe = f"function TestProbe(t) {{ t.log(JSON.stringify({json.dumps(list(tools.values()))}.map((name) => {{\n"
    probe += "  try { Process(name, {}, {}); } catch (error) { return error.message; }\n}))); }\n"
    copy.write({f"/assistants/{agent.relative_to(ASSISTANTS)}/src/probe_test.ts": probe})

    (record,) = copy.report("-i", f"scripts{id.removeprefix('agents')}.probe", code=0)["results"]

    answers = dict(zip(tools, json.loads(record["logs"][0]), strict=True))
    missing = re.compile("not exist|not available|no function")
    assert [tool for tool, answer in answers.items() if missing.search(answer or "")] == []
    schemas = server.parent / "mapping" / server.name.removesuffix(".mcp.yao") / "schemes"
    assert {path.name for path in schemas.iterdir()} == {f"{tool}.in.yao" for tool in tools}
    for path in schemas.iterdir():
        schema = read_json(path, "schema")
        assert schema["type"] == "object" and set(schema.get("required", [])) <= set(schema["properties"]), path.name
