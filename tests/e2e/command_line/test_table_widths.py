"""Tables at the width of a terminal: no line is too long, no word is broken, and below 80 columns rows become blocks."""

from __future__ import annotations

import json
import re

import pytest
from agent_files import lines
from command import Application, MakeApplication, make_application, on_terminal
from table_tests import each

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


CODE = "assistants/clerk/src/rates_of_delivery_and_of_returns.ts"
OTHER = "assistants/clerk/tests/another-file-of-cases.jsonl"
TALK = "assistants/clerk/tests/a-conversation-about-returns.yaml"
BRIEF, USUAL = "--variant=the-brief-one=prompts:brief.yml", "--variant=the-usual-one=prompts:usual.yml"
TITLES = "Benchmark|Case|Criterion|File|Handler|Measure|Part|Report|Run|Test|Variant"
TABLES = {
    "variants": ("-i", SUITE, BRIEF, USUAL, "--variant=the-other=env:A=b"),
    "variants in full": ("-i", SUITE, "-i", OTHER, USUAL, BRIEF, "--runs", "2", "-v"),
    "several reports": ("diff", "a.jsonl", "b.jsonl", "a.jsonl", "-v"),
    "a report": ("show", "b.jsonl"),
    "a report in full": ("show", "b.jsonl", "-v"),
    "what would be resumed": ("status", "b.jsonl"),
    "graded again": ("regrade", "b.jsonl"),
    "merged": ("merge", "a.jsonl", "b.jsonl", "--as-runs", "-o", "merged.json"),
    "judges": ("calibrate", "judged.jsonl", "labels.jsonl"),
    "history": ("history", "-v"),
    "history of a test": ("history", IDS[2]),
    "store": ("store", "list"),
    "rates and stability": ("-i", "assistants", "--runs", "2", "-v", "--durations", "5"),
    "coverage": ("-i", "scripts.clerk.rates", "--coverage"),
    "conversation": ("-i", TALK, "-v"),
    "mutants": ("mutate", "scripts.clerk.rates", "--fresh"),
    "weak cases": ("mutate", SUITE, "-v"),
    "rules of prompts": ("mutate", "-i", SUITE, "--prompts", "--yes"),
    "doctor": ("doctor",),
    "approvals": ("trust",),
    "what would run": ("-i", "assistants", "--dry-run"),
    "configuration": ("config",),
    "help": ("--help",),
    "all flags": ("--help", "all"),
    "flags of mutate": ("mutate", "--help"),
    "refusal": ("-i", "assistants/clerk/tests/shop-flor.jsonl"),
    "benchmarks": ("--bench", ".", "--bench-time", "1ms", "--baseline", "old.txt"),
    "searches": ("--fuzz", ".", "--fuzz-time", "30ms", "-i", "scripts.clerk.rates"),
}  # fmt: skip


@pytest.fixture(scope="module")
def clerk(tmp_path_factory: pytest.TempPathFactory) -> Application:
    cases = [{"id": id, "input": "Hi", "tags": [id], "assert": {"type": "contains", "value": "H"}} for id in IDS]
    wrong = [*cases[:2], {**cases[2], "assert": {"type": "contains", "value": "a receipt for each of the returns"}}]
    talk = {"id": IDS[1], "turns": [{"input": "Hi"}, {"input": "Hello", "assert": {"type": "contains", "value": "H"}}]}
    module = CODE.rsplit("/", 1)[1][:-3]
    judged = [
        {"type": "agent", "passed": at % 3 > 0, "expected": word, "judge": "judge", "value": word}
        for at, word in enumerate(["says politely what the customer can do", "keeps-to-the-rules-of-returns"] * 12)
    ]
    answers = [
        {"type": "result", "suite": SUITE, "position": at, "id": f"c{at}", "duration_ms": 1, "status": "passed"}
        | {"input": "x", "output": "x" * at, "assertions": [one]}
        for at, one in enumerate(judged)
    ]
    labels = [
        {"suite": SUITE, "id": f"c{at}", "run": 1, "turn": 0, "criterion": one["value"], "passed": at % 4 > 0}
        for at, one in enumerate(judged)
    ]
    first, *_, last = report("passed").splitlines()
    made = make_application(
        tmp_path_factory.mktemp("clerk"),
        {
            "/.yao-test/.keep": "",
            "/a.jsonl": report("passed"),
            "/b.jsonl": report("failed"),
            "/judged.jsonl": f"{first}\n{lines(*answers)}{last}\n",
            "/labels.jsonl": lines(*labels),
            "/old.txt": "BenchmarkNothing 1000 1.5 ns/op\nBenchmarkOfBefore 1000 1.5 ns/op\n" * 6,
            "/assistants/clerk/package.yao": '{"connector": "scripted", "mcp": {"servers": ["an-unknown-server"]}}',
            "/assistants/clerk/prompts.yml": "- role: system\n  content: |\n    - Ask for the receipt.\n",
            "/brief.yml": "- role: system\n  content: Be brief.\n",
            "/usual.yml": "- role: system\n  content: Be yourself.\n",
            "/assistants/clerk/replies.yml": "- when: { system: { contains: brief } }\n  reply: No.\n- reply: Hi\n",
            "/yao-test.toml": 'user = "somebody-with-a-long-name@a-long-domain.example"\nlocale = "nl"\n',
            f"/{SUITE}": lines(*cases),
            f"/{OTHER}": lines(*wrong),
            f"/{TALK}": json.dumps([talk]),
            f"/{CODE}": "export function Rate(c) {\n  if (c === 'nl') { return 5; }\n  return 7;\n}\n"
            "export function Zone(c) {\n  return c ? 'a' : 'b';\n}\n",
            "/assistants/clerk/src/rates_test.ts": f'import {{ Rate }} from "./{module}";\n'
            "export function TestRate(t) { Rate('nl'); Process('flows.rates.of.delivery'); }\n"
            "export function FuzzRate(f) { f.add('nl'); f.fuzz((t, text) => { Rate(text); }); }\n"
            "export function BenchmarkNothing(b) { while (b.loop()) {} }\n",
        },
    )
    for _ in range(2):
        made.run("-i", SUITE, "-i", OTHER, "-q")
    return made


@each("words", TABLES.values(), ids=TABLES)
def test_every_other_table_fits(clerk: Application, words: tuple[str, ...]) -> None:
    """No line is too long, and each word is one that a terminal of any width shows."""

    def shown(width: int) -> str:
        _, text = on_terminal(clerk, *words, NO_COLOR="1", COLUMNS=str(width), PATH="/usr/bin:/bin")
        return re.sub(r"\d[\d.]*(ms|s)?", "0", re.sub(r"\d+ of \d+ done[^\n═─✗✓►]*", "", text))

    whole = shown(1000)
    known = {*whole.split(), *(f"{word}:" for word in whole.split())}
    for width in (60, 80, 140):
        told = shown(width)
        for title, rows in tables(whole).items():
            if max(map(len, rows)) > width:
                one = tables(told).get(title, [])
                assert f"\n  {title}: " in told if width < 80 or not one else indents(one) <= indents(rows), (
                    width,
                    one,
                )
        rows = [line for line in told.splitlines() if "\t" not in line]  # benchmarks, which other programs read
        assert [line for line in rows if len(line) > width and not line.endswith(" \\")] == [], width
        assert [word for line in rows for word in line.split() if is_broken(word, known)] == [], width


def tables(text: str) -> dict[str, list[str]]:
    """First title of a table → its rows."""
    found = re.finditer(rf"^  ({TITLES})  .*\n((?:  .*\n)+)", text, re.M)
    return {table[1]: table[2].splitlines() for table in found}


def indents(rows: list[str]) -> set[int]:
    """How many blanks are before a row, but for sentences that continue in their column."""
    return {blanks for row in rows if (blanks := len(row) - len(row.lstrip())) < 12}


def is_broken(word: str, known: set[str]) -> bool:
    """Whether a text between blanks is a piece of a word, but not of a long path or list that is parted between names."""
    if word in known or "…" in word or set(word) <= set("═─\\"):
        return False
    longer = [one for one in known if word in one and len(one) > len(word)]
    return bool(longer) and not (
        word.endswith(("/", ",")) or any(one.endswith((f"/{word}", f",{word}")) for one in longer)
    )
