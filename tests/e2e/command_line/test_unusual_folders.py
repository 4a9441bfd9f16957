"""Unusual folders and files: shared, read-only, names with spaces, other line ends, a byte order mark."""

from __future__ import annotations

import re

import pytest
from command import MakeApplication, unprivileged

PASSING = "export function TestPasses(t) { t.assert.True(true); }\n"
AT = "assistants/demo/src/"


def test_two_runs_in_one_application_do_not_meet(app: MakeApplication) -> None:
    code = "".join(
        f"export function Test{number}(t) {{ t.assert.Equal({number}, {number}); }}\n" for number in range(50)
    )
    here = app({"a_test.ts": code})
    with here.start("-i", "scripts.demo.a") as one, here.start("-i", "scripts.demo.a") as two:
        runs = [here.finish(one), here.finish(two)]
    assert [run.code for run in runs] == [0, 0]
    assert all("Summary: 50 passed, 0 failed, 0 skipped" in run.stdout for run in runs)


def test_a_run_changes_nothing_in_the_application(app: MakeApplication) -> None:
    here = app(
        {
            "a_test.ts": PASSING + 'export function TestFails(t) { t.fail("x"); }\n',
            "bad_test.ts": "const = 1;",
            "/data/.keep": "",
        }
    )
    before = here.listing()
    assert here.run("-i", "scripts.demo", "--parallel", "2").code == 1
    assert here.listing() == before


def test_a_read_only_application_can_be_tested(app: MakeApplication) -> None:
    cases = {"/assistants/demo/package.yao": "{}", "/assistants/demo/tests/a.jsonl": '{"id": "a", "input": "a"}\n'}
    here = app({"a_test.ts": PASSING, "a.ts": "export const x = 1;\n", **cases})
    folders = [here.root, *(path for path in here.root.rglob("*") if path.is_dir())]
    prefix = unprivileged()
    for folder in folders:
        folder.chmod(0o555)
    try:
        run = here.spawn("-i", "scripts.demo.a", prefix=prefix)
        refused = here.spawn("-i", "scripts.demo.a", "-o", "out.json", prefix=prefix)
        asked = [
            here.spawn("-i", "assistants/demo/tests/a.jsonl", *flag, prefix=prefix) for flag in ((), ("--no-writes",))
        ]
    finally:
        for folder in folders:
            folder.chmod(0o755)
    assert (run.code, run.stderr) == (0, "")
    assert (refused.code, refused.stderr) == (2, "Error: Cannot write a report to <app>/out.json: Permission denied\n")
    assert [run.code for run in asked] == [2, 0], asked
    assert "Permission denied\nHint: Choose another file with -o, or write none with --no-writes\n" in asked[0].stderr


def test_a_file_that_cannot_be_read_fails_its_module(app: MakeApplication) -> None:
    here = app({"a_test.ts": PASSING, "b_test.ts": PASSING})
    (here.source / "a_test.ts").chmod(0)
    run = here.spawn("-i", "scripts.demo", prefix=unprivileged())
    assert (run.code, run.stderr) == (1, "")
    assert "✓ scripts.demo.b  1 passed (0ms)" in run.stdout
    told = '  └─ Cannot read file "assistants/demo/src/a_test.ts": Permission denied'
    assert told in run.stdout.splitlines()


def test_file_names_with_blanks_and_other_letters(app: MakeApplication) -> None:
    code = 'import { add } from "./größe 測試";\nexport function TestÄ(t) { t.assert.Equal(add(1), 2); }\nexport function TestFails(t) {\n  add();\n}\n'
    helper = 'export function add(x) {\n  if (x === undefined) throw new Error("größe: 測試 😀");\n  return x + 1;\n}\n'
    here = app({"mein modul_test.ts": code, "größe 測試.ts": helper, "/assistants/zweiter agent ü/package.yao": "{}"})
    here.write({"/assistants/zweiter agent ü/src/x y_test.ts": PASSING})
    results = here.results("-i", "scripts.demo.mein modul", code=1)
    assert results["TestÄ"]["status"] == "passed"
    assert results["TestFails"]["error"] == "größe: 測試 😀"
    assert results["TestFails"]["stack_trace"].splitlines() == [
        f"at add ({AT}größe 測試.ts:2:34)",
        f"at TestFails ({AT}mein modul_test.ts:4:3)",
    ]
    assert here.run("-i", "scripts.zweiter agent ü.x y").code == 0


def test_a_test_of_an_agent_elsewhere_is_refused_and_runs_by_the_name_of_its_link(app: MakeApplication) -> None:
    files = {"/real/one/package.yao": "{}", "/real/one/src/a_test.ts": "export function TestA(t) {}\n"}
    here = app(files)
    (here.root / "assistants/linked").symlink_to("../real/one")
    for path in ("real/one/src/a_test.ts", "assistants/linked/src/a_test.ts"):
        run = here.run("-i", path)
        assert run.code == 2, run
        assert "the agent in <app>/real/one is not below <app>/assistants\nHint: If a link" in run.stderr
    assert list(here.results("-i", "scripts.linked.a")) == ["TestA"]


def test_a_line_break_in_the_name_of_a_file_is_spelled_in_its_place(app: MakeApplication) -> None:
    here = app({"two\nlines_test.ts": "export function TestA(t) {\n  t.fail('x');\n}\n"})
    assert "       at assistants/demo/src/two\\nlines_test.ts:2:5\n" in here.run("-i", "assistants").stdout


def test_linked_folders_within_the_application_are_tested_once(app: MakeApplication) -> None:
    here = app(
        {
            "a_test.ts": PASSING,
            "/real/one/package.yao": "{}",
            "/real/one/src/b_test.ts": PASSING,
            "/real/one/tests/cases.jsonl": '{"id": "c", "input": "x"}',
            "/real/more/c_test.ts": PASSING,
        }
    )
    links = {"linked": "../real/one", "copy": "demo", "loop": "..", "self": ".", "itself": "itself"}
    links |= {"demo/src/more": "../../../real/more", "demo/src/than": "more", "demo/up": "../../real"}
    for name, target in links.items():
        (here.root / "assistants" / name).symlink_to(target)
    modules = ["scripts.demo.a", "scripts.demo.more.c", "scripts.linked.b"]
    for inputs in ((), ("-i", "assistants"), ("-i", ".")):
        run = here.run(*inputs)
        assert run.code == 0, run
        assert re.findall("(?m)^✓ ([^ ]+)", run.stdout) == [*modules, "assistants/linked/tests/cases.jsonl"]
    for folder in ("assistants/linked", "real/one"):
        run = here.run("-i", folder)
        assert re.findall("(?m)^✓ ([^ ]+)", run.stdout) == ["scripts.linked.b", "real/one/tests/cases.jsonl"]


def test_a_linked_folder_out_of_the_application_is_not_tested_and_named(
    app: MakeApplication, tmp_path_factory: pytest.TempPathFactory
) -> None:
    here, elsewhere = app({"a_test.ts": PASSING}), tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "package.yao").write_text("{}")
    (elsewhere / "src").mkdir()
    (elsewhere / "src/b_test.ts").write_text(PASSING)
    (here.root / "assistants/outer").symlink_to(elsewhere)
    for inputs in ((), ("-i", "assistants")):
        run = here.run(*inputs)
        assert run.code == 0
        assert "Did not look for tests in assistants/outer, which is a link outside the app" in run.stdout + run.stderr
        assert "scripts.outer" not in run.stdout


def test_windows_line_ends_keep_positions_and_code_frames(app: MakeApplication) -> None:
    code = "export function TestA(t) {\r\n  const x = 1;\r\n  t.assert.Equal(x, 2);\r\n}\r\n"
    here = app({"a_test.ts": code})
    run = here.run("-i", "scripts.demo.a")
    assert code_frame(run.stdout) == [
        "       at assistants/demo/src/a_test.ts:3:12",
        "         1 | export function TestA(t) {",
        "         2 |   const x = 1;",
        "       > 3 |   t.assert.Equal(x, 2);",
        "           |            ^^^^^",
        "         4 | }",
        "         5 |",
    ]


def test_a_byte_order_mark_is_no_part_of_the_code(app: MakeApplication) -> None:
    code = "\ufeffexport function TestA(t) { t.assert.Equal(1, 2); }\n"
    here = app({"a_test.ts": code, "a.ts": "\ufefffunction A() { return 1; }\n"})
    run = here.run("-i", "scripts.demo.a")
    assert code_frame(run.stdout) == [
        "       at assistants/demo/src/a_test.ts:1:37",
        "       > 1 | export function TestA(t) { t.assert.Equal(1, 2); }",
        "           |                                     ^^^^^",
        "         2 |",
    ]


def code_frame(output: str) -> list[str]:
    """The lines from the first `at` to the end of its code frame."""
    lines = output.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("       at "))
    end = next(
        number for number, line in enumerate(lines) if number > start and not re.match(r"       [ >] *\d* \|", line)
    )
    return lines[start:end]


@pytest.mark.parametrize("suffix", ["ts", "js"])
def test_the_line_of_an_interpreter_is_no_part_of_the_code(app: MakeApplication, suffix: str) -> None:
    line = "#!/usr/bin/env node\n"
    files = {
        f"a_test.{suffix}": f"{line}function TestA(t) {{ t.assert.Equal(Own() + Process('scripts.lib.Other'), 0); }}\n",
        f"a.{suffix}": f"{line}function Own() {{ return 'own '; }}\n",
        f"/scripts/lib.{suffix}": f"{line}function Other() {{ return 'other'; }}\n",
    }
    record = app(files).results("-i", "scripts.demo.a", code=1)["TestA"]
    assert record["assertion"]["actual"] == "own other"
    assert record["location"] == f"{AT}a_test.{suffix}:2:30"
