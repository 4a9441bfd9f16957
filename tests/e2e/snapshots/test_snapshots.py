"""Snapshots: files that read well, counted, missing ones in CI, obsolete ones."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from agent_files import agent
from command import Application, MakeApplication

TWO = """
export function TestA(t: any) {
  t.snapshot({ b: 1, a: "one" });
  t.snapshot("first\\n  second \\n\\nlast", "text");
}
export function TestB(t: any) {
  t.snapshot([1, 2]);
}
"""
STORED = """\
# Snapshots of card_test.ts, stored by yao-test.

[TestA 1]
  {a: "one", b: 1}

[TestA text]
  \"\"\"
  first
    second\\u0020

  last
  \"\"\"

[TestB 1]
  [1, 2]
"""
FILE = "__snapshots__/card_test.ts.snap"


def stored(app: Application, name: str = FILE) -> str:
    return (app.source / name).read_text("utf-8")


def summary(app: Application, *arguments: str, code: int | None = 0, ci: str = "") -> list[str]:
    """The summary of a run about snapshots."""
    run = app.run(*arguments, "--no-color", env=app.environment | ({"CI": ci} if ci else {}))
    assert code is None or run.code == code, run
    return [
        line.strip()
        for line in run.stdout.split("\n")
        if ("snapshot" in line or "obsolete" in line) and " | " not in line
    ]


CARD = ("-i", "scripts.demo.card")


def test_a_file_reads_well_and_does_not_change(app: MakeApplication) -> None:
    here = app({"card_test.ts": TWO})
    assert summary(here, *CARD) == ["3 snapshots written"]
    assert stored(here) == STORED
    assert summary(here, *CARD) == []
    assert summary(here, *CARD, "--update-snapshots") == []
    assert stored(here) == STORED


def test_a_large_value_is_compared_as_a_whole(app: MakeApplication) -> None:
    script = "export function TestA(t: any) {{ t.snapshot(Array.from({{ length: 4000 }}, (_, i) => (i === 3900 ? {} : i))); }}"
    here = app({"card_test.ts": script.format(1)})
    summary(here, *CARD)
    here.write({"card_test.ts": script.format(2)})
    run = here.run(*CARD)
    assert run.code == 1 and "-   1," in run.stdout and "+   2," in run.stdout


def test_a_value_that_is_too_large_fails(app: MakeApplication) -> None:
    here = app({"card_test.ts": "export function TestA(t: any) { t.snapshot('x'.repeat(3000000)); }"})
    (record,) = here.results(*CARD, code=1).values()
    assert "Too large for a snapshot" in record["error"]


def test_names_stand_in_natural_order_and_hold_anything(app: MakeApplication) -> None:
    names = ["a]", "[b", 'q"\\', "Ж", "\ud800"]
    calls = "".join(f"t.snapshot({i}, {json.dumps(name)});" for i, name in enumerate(names))
    numbered = "for (let i = 0; i < 11; i++) t.snapshot(i);"
    here = app({"card_test.ts": f"export function TestA(t: any) {{ {calls} {numbered} }}"})
    assert summary(here, *CARD) == ["16 snapshots written"]
    assert summary(here, *CARD) == []
    heads = [line for line in stored(here).split("\n") if line.startswith("[")]
    assert heads[:4] == ["[TestA 1]", "[TestA 2]", "[TestA 3]", "[TestA 4]"] and heads.index("[TestA 10]") == 9


@pytest.mark.parametrize(
    "value",
    [
        '"[x]"',
        r'"[x]\n[y]\n# z\n\n"',
        r'"\n\n"',
        r'"a\r\nb"',
        r'"\"\"\"\n\"\"\""',
        '{ a: "x\\ny", b: ["\\n"] }',
        "undefined",
        r'"\u2028\n\ud800"',
        r'[Symbol("a\r\nb"), Symbol("\ud800"), new Error("\ud800"), new RegExp("\ud800")]',
        r'{ "a\r\nb"() {}, "\ud800"() {}, of: new ({ "\ud800": class {} }["\ud800"])() }',
    ],
)
def test_any_value_is_read_as_it_was_stored(app: MakeApplication, value: str) -> None:
    here = app({"card_test.ts": f"export function TestA(t: any) {{ t.snapshot({value}); t.snapshot(1, 'next'); }}"})
    assert summary(here, *CARD) == ["2 snapshots written"]
    assert summary(here, *CARD) == []
    path = here.source / FILE
    path.write_text(stored(here).replace("\n", "\r\n"), "utf-8")
    assert summary(here, *CARD) == []


def test_a_name_that_looks_like_that_of_a_repeated_one_is_another(app: MakeApplication) -> None:
    calls = ["1, 'x'", "2, 'x'", "3, 'x 2'", "4, 'y 2'", "5, 'y'", "6, 'y'", "7", "8, '1'", "9, '2'", "10"]
    body = " ".join(f"t.snapshot({call});" for call in calls)
    here = app({"card_test.ts": f"export function TestA(t: any) {{ {body} }}"})
    for _ in range(2):
        assert here.run("-i", "scripts.demo.card").code == 0
    names = {number: name for name, number in re.findall(r"\[TestA (.+)\]\n  (\d+)", stored(here))}
    by_number = [names[str(number)] for number in range(1, 11)]
    assert by_number == ["x", "x 2", "x 2 2", "y 2", "y", "y 3", "1", "1 2", "2", "3"]


def test_a_difference_shows_the_lines(app: MakeApplication) -> None:
    here = app({"card_test.ts": TWO})
    summary(here, *CARD)
    here.write({"card_test.ts": TWO.replace("last", "least")})
    run = here.run(*CARD, "--no-color")
    assert run.code == 1 and "- last" in run.stdout and "+ least" in run.stdout
    assert stored(here) == STORED
    assert summary(here, *CARD, "--update-snapshots") == ["1 snapshot updated"]
    assert stored(here) == STORED.replace("last", "least")


@pytest.mark.parametrize("ci", ["true", "1", "yes"])
def test_in_ci_a_missing_snapshot_fails_and_is_not_stored(app: MakeApplication, ci: str) -> None:
    here = app({"card_test.ts": TWO})
    run = here.run(*CARD, env=here.environment | {"CI": ci})
    assert run.code == 1 and "There is no snapshot yet" in run.stdout
    assert not (here.source / "__snapshots__").exists()
    assert summary(here, *CARD, "--update-snapshots", ci=ci) == ["3 snapshots written"]
    assert summary(here, *CARD, ci=ci) == []


def test_outside_ci_a_missing_one_is_stored(app: MakeApplication) -> None:
    assert summary(app({"card_test.ts": TWO}), *CARD, ci="false") == ["3 snapshots written"]


# --- obsolete ones ---


def obsolete(*names: str) -> list[str]:
    count = f"{len(names)} obsolete snapshot{'' if len(names) == 1 else 's'}"
    return [count, *(f"obsolete: {name}" for name in names), "--update-snapshots removes them"]


LESS = TWO.replace("last", "last").replace('  t.snapshot("first\\n  second \\n\\nlast", "text");\n', "")
assert LESS != TWO
GONE = {
    "not asked for": (LESS, ["TestA text"]),
    "test removed": (TWO.replace("TestB", "helper"), ["TestB 1"]),
    "test renamed": (TWO.replace("TestB", "TestC"), ["TestB 1"]),
    "skipped": (LESS.replace("(t: any) {", "(t: any) { t.skip();"), []),
    "failed": (LESS.replace("t.snapshot({", "t.fail(); t.snapshot({"), []),
    "skipped later": (LESS.replace('a: "one" });', 'a: "one" }); t.skip();'), []),
    "in a skipped subtest": (
        LESS.replace('a: "one" });', 'a: "one" }); t.run("s", (t: any) => t.skip());'),
        ["TestA text"],
    ),
    "module that cannot be loaded": ("export function TestA( {", []),
    "module that throws": (f"throw new Error('x');\n{LESS}", []),
}


@pytest.mark.parametrize("what", GONE)
def test_what_is_obsolete(app: MakeApplication, what: str) -> None:
    script, names = GONE[what]
    here = app({"card_test.ts": TWO})
    summary(here, *CARD)
    here.write({"card_test.ts": script})
    told = [line for line in summary(here, *CARD, code=None) if "written" not in line]
    names = [f"{FILE} › {name}" for name in names]
    written = "1 snapshot written, " if what == "test renamed" else ""
    if written:
        assert summary(app({"card_test.ts": script}), *CARD)[-2:] == obsolete(*names)[1:]
    else:
        assert told == (obsolete(*names) if names else [])
    assert "TestA text" in stored(here)


PARTS = [("--run", "TestA"), ("--shard", "1/1"), ("--dry-run",), ("--run", "TestA", "--update-snapshots")]


@pytest.mark.parametrize("flags", PARTS)
def test_a_part_of_a_run_finds_nothing_obsolete(app: MakeApplication, flags: tuple[str, ...]) -> None:
    here = app({"card_test.ts": TWO})
    summary(here, *CARD)
    here.write({"card_test.ts": LESS})
    assert summary(here, *CARD, *flags) == []
    assert stored(here) == STORED


def test_a_run_that_was_stopped_finds_nothing_obsolete(app: MakeApplication) -> None:
    here = app({"card_test.ts": TWO})
    summary(here, *CARD)
    here.write({"card_test.ts": LESS + "export function TestC(t: any) { t.fail(); }\nexport function TestD() {}"})
    assert summary(here, *CARD, "--fail-fast", "--parallel", "1", code=1) == []


def test_several_runs_agree_on_what_is_obsolete(app: MakeApplication) -> None:
    here = app({"card_test.ts": TWO})
    assert summary(here, *CARD, "--runs", "3") == ["3 snapshots written"]
    here.write({"card_test.ts": LESS})
    assert summary(here, *CARD, "--runs", "3") == obsolete(f"{FILE} › TestA text")


def test_a_value_that_changes_between_runs_is_not_updated(app: MakeApplication) -> None:
    here = app({"card_test.ts": "export function TestA(t: any, ctx: any) { t.snapshot(ctx.metadata.run); }"})
    assert here.run(*CARD, "--runs", "2", "--update-snapshots").code == 1


def test_update_removes_what_is_obsolete(app: MakeApplication) -> None:
    here = app({"card_test.ts": TWO})
    summary(here, *CARD)
    (here.source / FILE).chmod(0o600)
    here.write({"card_test.ts": LESS})
    assert summary(here, *CARD, "--update-snapshots") == ["1 obsolete snapshot removed"]
    assert "TestA text" not in stored(here) and "TestA 1" in stored(here)
    assert (here.source / FILE).stat().st_mode & 0o777 == 0o600
    here.write({"card_test.ts": "export function TestA() {}"})
    assert summary(here, *CARD, "--update-snapshots") == ["2 obsolete snapshots removed"]
    assert not (here.source / "__snapshots__").exists()


def test_the_file_of_a_test_file_that_is_gone_is_obsolete(app: MakeApplication) -> None:
    here = app({"card_test.ts": TWO, "other_test.ts": "export function TestO(t: any) { t.snapshot(1); }"})
    summary(here, "-i", "scripts.demo")
    (here.source / "other_test.ts").unlink()
    name = "__snapshots__/other_test.ts.snap › TestO 1"
    assert summary(here, *CARD) == obsolete(name)
    assert summary(here, *CARD, "--update-snapshots") == ["1 obsolete snapshot removed"]
    assert not (here.source / "__snapshots__/other_test.ts.snap").exists()


def cases(app: MakeApplication, *ids: str) -> Application:
    replies = '- reply: "Hello.\\nBye."\n'
    records = [
        {"id": id, "input": "x", "assert": [{"type": "snapshot"}, {"type": "snapshot", "name": "second"}]} for id in ids
    ]
    return app(agent(replies=replies, cases=records))


def case_file(here: Application) -> Path:
    (path,) = (here.root / "assistants").rglob("*.jsonl")
    return path


def test_cases_have_snapshots_of_the_same_kind(app: MakeApplication) -> None:
    here = cases(app, "one", "one more")
    file = case_file(here)
    flags = ("-i", str(file.relative_to(here.root)), "-o", str(here.home / "out.json"))
    assert summary(here, *flags) == ["4 snapshots written"]
    path = file.parent / "__snapshots__" / f"{file.name}.snap"
    assert '\n[one]\n  """\n  Hello.\n  Bye.\n  """\n' in path.read_text()
    lines = file.read_text().splitlines(keepends=True)
    file.write_text(lines[1])
    names = [f"__snapshots__/{path.name} › {name}" for name in ("one", "one second")]
    assert summary(here, *flags) == obsolete(*names)
    assert summary(here, *flags, "--update-snapshots") == ["2 obsolete snapshots removed"]
    path.write_text(path.read_text().replace("Bye", "Good-bye"))
    run = here.run(*flags, "--no-color")
    assert run.code == 1 and "- Good-bye." in run.stdout and "+ Bye." in run.stdout


# --- files that cannot be used ---

BROKEN = {
    "no snapshots": ("hello\n", 1),
    "conflict": (STORED.replace("[TestB 1]", "<<<<<<< HEAD\n[TestB 1]"), 14),
    "twice": (STORED + "\n[TestA 1]\n  2\n", 17),
    "bad name": ("[a\\x]\n  1\n", 1),
    "not indented": ("[TestA 1]\n{a: 1}\n", 2),
}


@pytest.mark.parametrize("flags", [(), ("--update-snapshots",)])
@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_file_is_an_error_and_stays(app: MakeApplication, what: str, flags: tuple[str, ...]) -> None:
    text, line = BROKEN[what]
    here = app({"card_test.ts": TWO, FILE: text})
    results = here.results(*CARD, *flags)
    assert {record["status"] for record in results.values()} == {"failed"}
    assert f"{FILE}:{line}: " in results["TestA"]["error"]
    assert stored(here) == text


def test_a_broken_file_that_nobody_asks_for_is_said(app: MakeApplication) -> None:
    here = app({"card_test.ts": "export function TestA() {}", FILE: "hello\n"})
    run = here.run(*CARD, "--no-color")
    assert run.code != 0 and f"{FILE}:1: " in run.stdout
    assert stored(here) == "hello\n"


def test_runs_at_the_same_time_keep_what_the_others_store(app: MakeApplication) -> None:
    tests = "\n".join(f"export function Test{i}(t: any) {{ t.snapshot({i}); }}" for i in range(8))
    here = app({"card_test.ts": tests})
    runs = [here.start(*CARD, "--run", f"Test{i}$") for i in range(8)]
    for run in runs:
        assert here.finish(run).code == 0
    assert stored(here).count("[Test") == 8


def test_modules_in_parallel_store_their_own(app: MakeApplication) -> None:
    here = app({f"m{i}_test.ts": f"export function TestM(t: any) {{ t.snapshot({i}); }}" for i in range(12)})
    assert summary(here, "-i", "scripts.demo", "--parallel", "3") == ["12 snapshots written"]
    for i in range(12):
        assert stored(here, f"__snapshots__/m{i}_test.ts.snap").endswith(f"[TestM 1]\n  {i}\n")


@pytest.mark.parametrize("format", ["json", "jsonl", "xml", "md", "html", "txt", "ctrf.json"])
def test_every_format_counts_them(app: MakeApplication, format: str) -> None:
    here = app({"card_test.ts": TWO})
    out = here.home / f"out.{format}"
    here.run(*CARD, "-o", str(out))
    wanted = '"written": 3' if "json" in format else "3 snapshots written"
    assert wanted in out.read_text("utf-8")
    here.write({"card_test.ts": LESS})
    here.run(*CARD, "-o", str(out))
    wanted = "TestA text" if "json" in format else "1 obsolete snapshot"
    assert wanted in out.read_text("utf-8")


def test_annotations_and_shown_reports_count_them(app: MakeApplication) -> None:
    here = app({"card_test.ts": TWO})
    out = here.home / "out.json"
    run = here.run(*CARD, "-o", str(out), env=here.environment | {"GITHUB_ACTIONS": "true"})
    assert "::notice title=yao-test::3 snapshots written" in run.stdout
    assert "3 snapshots written" in here.run("show", str(out)).stdout


def test_merged_reports_count_them_together(app: MakeApplication) -> None:
    tests = {f"m{i}_test.ts": f"export function TestM(t: any) {{ t.snapshot({i}); }}" for i in range(4)}
    here = app(tests)
    outs = [str(here.home / f"part{n}.jsonl") for n in (1, 2)]
    for n, out in enumerate(outs, 1):
        here.run("-i", "scripts.demo", "--shard", f"{n}/2", "-o", out)
    here.run("merge", *outs, "-o", str(here.home / "all.md"))
    assert "4 snapshots written" in (here.home / "all.md").read_text()


def test_a_name_of_two_lines_is_told_in_one(app: MakeApplication) -> None:
    here = app({"card_test.ts": 'export function TestA(t) { t.snapshot(1, "a\\nb"); t.snapshot(2, "c"); }'})
    summary(here, *CARD)
    here.write({"card_test.ts": 'export function TestA(t) { t.snapshot(2, "c"); }'})
    assert summary(here, *CARD) == obsolete(f"{FILE} › TestA a\\nb")
