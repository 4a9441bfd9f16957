"""Tables at the width of a terminal: no line is too long, no word is broken, and below 80 columns rows become blocks."""

from __future__ import annotations

import json

import pytest
from agent_files import lines
from command import Application, MakeApplication, make_application, on_terminal

SUITE = "assistants/clerk/tests/shop-floor.jsonl"
IDS = ("returns-without-receipt", "asks-in-two-languages", "gift-card-expired-a-long-time-ago")


def report(status: str) -> str:
    suite = {"id": SUITE, "kind": "agent_test", "label": SUITE, "file": "", "agent": "clerk", "connector": "gpt"}
    start = {"type": "start", "timestamp": "2026-11-20T10:00:00Z", "version": "1.0.0", "suites": [suite]}
    results = [
        {"type": "result", "suite": SUITE, "id": id, "position": at, "status": status, "duration_ms": 100, "input": "x"}
        for at, id in enumerate(IDS)
    ]
    return lines(start, *results, {"type": "summary", "duration_ms": 1000, "status": "passed"})


@pytest.mark.parametrize("width", [60, 80, 100, 140])
@pytest.mark.parametrize("flags", [(), ("-v",)], ids=["plain", "-v"])
def test_a_comparison_fits(app: MakeApplication, width: int, flags: tuple[str, ...]) -> None:
    here = app({"/a.jsonl": report("passed"), "/b.jsonl": report("failed")})
    code, shown = on_terminal(here, "diff", "a.jsonl", "b.jsonl", *flags, NO_COLOR="1", COLUMNS=str(width))

    assert code == 0
    told = [line for line in shown.splitlines() if not line.endswith(" \\")]  # an argument of a command is not split
    assert max(map(len, told)) <= width
    assert all(shown.count(id) >= 2 for id in IDS), "each name is whole"
    if width == 60 and flags:
        assert "  Measure: Case pass rate\n" in shown.replace("\r", "")


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_history_and_the_store_fit(app: MakeApplication, width: int) -> None:
    case = {"id": IDS[2], "input": "Hi", "assert": {"type": "contains", "value": "H"}}
    here = app(
        {
            "/.yao-test/.keep": "",
            "/assistants/clerk/package.yao": '{"connector": "scripted"}',
            "/assistants/clerk/prompts.yml": "- role: system\n  content: x\n",
            "/assistants/clerk/replies.yml": "- reply: Hi\n",
            f"/{SUITE}": json.dumps(case),
        }
    )
    for _ in range(2):
        assert here.run("-i", SUITE, "-q").code == 0
    for words in (("history",), ("history", IDS[2]), ("store", "list"), ("-i", SUITE, "--runs", "2", "-v")):
        code, shown = on_terminal(here, *words, NO_COLOR="1", COLUMNS=str(width))
        assert code == 0, shown
        assert max(map(len, shown.splitlines())) <= width, words
        assert words == ("store", "list") or IDS[2] in shown


DESK = "assistants/clerk/src/rates_of_delivery_and_of_returns.ts"
TABLES = {
    "variants": ("-i", SUITE, "--variant", "the-brief-one=prompts:brief.yml", "--variant", "the-usual=prompts:brief.yml"),
    "rates of suites": ("-i", "assistants", "--runs", "2"),
    "coverage": ("-i", "scripts.clerk.rates", "--coverage"),
    "mutants": ("mutate", "scripts.clerk.rates", "--fresh"),
    "weak cases": ("mutate", SUITE, "-v"),
    "doctor": ("doctor",),
    "what would run": ("-i", "assistants", "--dry-run"),
    "configuration": ("config",),
    "help": ("--help",),
    "all flags": ("--help", "all"),
    "flags of mutate": ("mutate", "--help"),
    "refusal": ("-i", "assistants/clerk/tests/shop-flor.jsonl"),
    "benchmarks": ("--bench", ".", "--bench-time", "1ms"),
}  # fmt: skip


@pytest.fixture(scope="module")
def clerk(tmp_path_factory: pytest.TempPathFactory) -> Application:
    cases = [{"id": id, "input": "Hi", "tags": [id], "assert": {"type": "contains", "value": "H"}} for id in IDS]
    test = f'import {{ Rate }} from "./{DESK.rsplit("/", 1)[1][:-3]}";\nexport function TestRate(t) {{ Rate("nl"); }}\n'
    return make_application(
        tmp_path_factory.mktemp("clerk"),
        {
            "/assistants/clerk/package.yao": '{"connector": "scripted"}',
            "/assistants/clerk/prompts.yml": "- role: system\n  content: x\n",
            "/brief.yml": "- role: system\n  content: y\n",
            "/assistants/clerk/replies.yml": "- reply: Hi\n",
            "/yao-test.toml": 'user = "somebody-with-a-long-name@a-long-domain.example"\n',
            f"/{SUITE}": lines(*cases),
            "/assistants/clerk/tests/another-file-of-cases.jsonl": lines(*cases),
            f"/{DESK}": "export function Rate(c) {\n  if (c === 'nl') { return 5; }\n  return 7;\n}\n"
            "export function Zone(c) {\n  return c ? 'a' : 'b';\n}\n",
            "/assistants/clerk/src/rates_test.ts": test
            + "export function BenchmarkNothing(b) { while (b.loop()) {} }\n",
        },
    )


@pytest.mark.parametrize("width", [60, 80, 100, 140])
@pytest.mark.parametrize("words", TABLES.values(), ids=TABLES)
def test_every_other_table_fits(clerk: Application, words: tuple[str, ...], width: int) -> None:
    """No line is too long, and each word is one that a terminal of any width shows."""
    _, shown = on_terminal(clerk, *words, NO_COLOR="1", COLUMNS=str(width), PATH="/usr/bin:/bin")
    # but those of benchmarks, which other programs read
    told = [line for line in shown.splitlines() if not line.endswith(" \\") and "ns/op" not in line]
    assert max(map(len, told)) <= width
    names = [id for id in IDS if id in shown.replace("\n", "") or id in shown.replace("\n    ", "")]
    assert all(id in shown for id in names), "each name is whole"
    assert "last-\n" not in shown and "yao-\n" not in shown
