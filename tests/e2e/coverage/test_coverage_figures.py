"""`--coverage`: which code of handlers ran, in script tests and in cases."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import time
from base64 import b64decode
from contextlib import suppress
from pathlib import Path

import pytest
from agent_files import case_file
from command import PATIENCE, MakeApplication, Record
from covered_app import FILES, SHAPES, SHAPES_PATH, Covered
from lxml import etree


@pytest.fixture(scope="module")
def covered(shared_app: MakeApplication) -> Covered:
    return Covered(shared_app(FILES))


def counts(file: Record) -> dict[str, int]:
    """The text of each statement, to the end of its first line → how often it ran."""
    lines = SHAPES.split("\n")
    return {
        lines[where["start"]["line"] - 1][where["start"]["column"] :]: file["s"][key]
        for key, where in file["statementMap"].items()
    }


def test_results_are_the_same(covered: Covered) -> None:
    """Names of functions, stacks and what is logged."""
    plain = covered.app.run("-i", "assistants", "-v", "-o", f"{covered.app.home}/plain.json")
    assert (plain.code, covered.run.code) == (1, 1)
    before, counted = (
        re.sub(r"\(\d[\d.]*m?s|Wrote.*|^Coverage.*", "", text, flags=re.M)
        for text in (plain.stdout, covered.run.stdout.partition("Coverage\n")[0])
    )
    assert '[1,"é0","two",7,1]' in counted
    assert f"at {SHAPES_PATH}:17:" in counted
    assert counted.rstrip() == before.rstrip()


def test_all_handlers_are_counted_and_nothing_else(covered: Covered) -> None:
    """Also those that nothing has loaded; no tests, and no file without code."""
    folder = "assistants/demo/src"
    assert list(covered.files) == [f"{folder}/index.ts", SHAPES_PATH, f"{folder}/unused.ts", "scripts/tool.ts"]
    unused = covered.files[f"{folder}/unused.ts"]
    assert set(unused["s"].values()) == set(unused["f"].values()) == {0}
    assert list(unused["b"].values()) == [[0, 0]]
    assert covered.files["scripts/tool.ts"]["f"] == {"0": 1}


def test_hooks_of_cases_are_counted(covered: Covered) -> None:
    hooks = covered.files["assistants/demo/src/index.ts"]
    assert hooks["f"] == {"0": 2, "1": 2}
    assert {branch["type"]: hooks["b"][key] for key, branch in hooks["branchMap"].items()} == {
        "cond-expr": [0, 2],
        "if": [0, 2],
    }
    assert [where["name"] for where in hooks["fnMap"].values()] == ["Create", "Next"]


def test_statements_count_as_istanbul_counts_them(covered: Covered) -> None:
    found = counts(covered.files[SHAPES_PATH])
    starts = {text[:24]: count for text, count in found.items()}
    assert starts["(x: number, { y = 2 }: a"] == 2
    assert starts["x > 1 || y ? x : `é${x}`"] == 2
    assert starts['return "two"; default: r'] == 1
    assert starts['return "many"; } }'] == 0
    assert starts['throw new Error("é"); el'] == 0
    assert starts["if (n) return 1; } catch"] == 1
    assert starts["continue outer; else awa"] == 3
    assert starts["return a || 3; } }"] == 0  # of a function in a namespace
    assert not any(text.startswith(("Red", "Blue", "private", "size", "Inner")) for text in found)


def test_branches_and_functions_count_as_istanbul_counts_them(covered: Covered) -> None:
    file = covered.files[SHAPES_PATH]
    branches = sorted(
        (branch["loc"]["start"]["line"], branch["type"], tuple(file["b"][key]))
        for key, branch in file["branchMap"].items()
    )
    assert branches == [
        (3, "binary-expr", (2, 0)),
        (4, "binary-expr", (0, 0)),
        (5, "binary-expr", (2, 2)),
        (5, "cond-expr", (1, 1)),
        (5, "default-arg", (1,)),
        (5, "default-arg", (1,)),
        (8, "default-arg", (2,)),
        (9, "switch", (0, 1, 0)),
        (12, "if", (3, 3)),
        (13, "if", (0, 1)),
        (13, "if", (1, 0)),
    ]
    names = [function["name"] for function in file["fnMap"].values()]
    assert names == ["hidden", "pick", "handler", "constructor", "kind", "walk", "named", "boom"]


def test_lcov(covered: Covered) -> None:
    records = covered.text("lcov.info").split("end_of_record\n")
    shapes = records[1].splitlines()
    assert shapes[:2] == ["TN:", f"SF:{SHAPES_PATH}"]
    assert {line for line in shapes if line.startswith(("FNDA", "FNF", "FNH"))} >= {
        "FNDA:2,pick",
        "FNDA:1,boom",
        "FNF:8",
    }
    hits = [line for line in shapes if line.startswith("DA:")]
    assert f"LF:{len(hits)}" in shapes
    assert f"LH:{sum(not line.endswith(',0') for line in hits)}" in shapes


def test_cobertura(covered: Covered) -> None:
    document = etree.fromstring(covered.text("cobertura.xml").encode())
    assert [node.get("filename") for node in document.iter("class")] == list(covered.files)
    lines = {node.get("number"): node for node in document.findall(".//class[@name='unused.ts']/lines/line")}
    assert dict(lines["2"].attrib) == {
        "number": "2",
        "hits": "0",
        "branch": "true",
        "condition-coverage": "0% (0/2)",
    }
    assert 0 < float(document.get("line-rate")) < 1


def test_the_table(covered: Covered) -> None:
    table = covered.run.stdout.partition("Coverage\n")[2].splitlines()
    rows = {line.split()[0]: line.split()[1:] for line in table if "%" not in line and ".ts" in line}
    assert rows["assistants/demo/src/unused.ts"] == ["0.00", "0.00", "0.00", "0.00", "2-3"]
    assert rows["scripts/tool.ts"] == ["100.00"] * 4
    assert max(map(len, covered.run.stdout.splitlines())) <= 120


def test_runs_add_up(covered: Covered) -> None:
    app = covered.app
    app.run("-i", case_file(), "--coverage", "--runs", "3", "-o", f"{app.home}/runs-coverage-final.json")
    hooks = json.loads(covered.text("runs-coverage-final.json"))["assistants/demo/src/index.ts"]
    assert hooks["f"] == {"0": 6, "1": 6}


def counting_worker(command: int) -> int:
    """The worker of a command that has counted something; waits for it."""
    while True:
        for entry in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                words = entry.read_bytes().split(b"\0")
                parent = int(entry.with_name("stat").read_text().rpartition(")")[2].split()[1])
                if parent == command and any(b"realm.counting" in word for word in words):
                    folder = next(word for word in words if b"yao-test-coverage-" in word).decode()
                    if any(Path(folder, entry.parent.name).read_bytes()[:4096]):
                        return int(entry.parent.name)
        time.sleep(0.01)


def test_what_a_killed_worker_counted_is_kept(app: MakeApplication) -> None:
    here = app(
        {
            "spin.ts": "export function spin() {\n  let n = 0;\n  for (;;) n++;\n}\n",
            "spin_test.ts": "import { spin } from './spin';\nexport function TestSpin(t) { spin(); }\n",
        }
    )
    output = f"{here.home}/coverage-final.json"
    command = here.start("-i", "scripts.demo", "--coverage", "-o", output)
    os.kill(counting_worker(command.pid), signal.SIGKILL)
    command.communicate(timeout=PATIENCE)
    (file,) = json.loads(Path(output).read_text()).values()
    assert command.returncode in (1, 3)
    assert file["f"] == {"0": 1}
    assert max(file["s"].values()) > 1


def test_a_file_that_does_not_compile_is_named(app: MakeApplication) -> None:
    here = app({"bad.ts": "export const = 1;\n", "good_test.ts": "export function TestGood(t) {}\n"})
    run = here.run("-i", "scripts.demo", "--coverage")
    said = "bad.ts counts as uncovered, because it cannot be read: Unexpected token at 1:14\n"
    assert f"Warning: assistants/demo/src/{said}" in run.stdout


def test_without_the_flag_nothing_of_it_is_loaded(covered: Covered) -> None:
    import subprocess
    import sys

    code = (
        "import sys, os; sys.argv = ['yao-test', '-i', 'assistants']; import runner.commands.main as c\n"
        "def leave(code):\n"
        "    names = [name for name in sys.modules if 'cover' in name or 'quickjs' in name]\n"
        "    print('LOADED', names); sys.stdout.flush(); os.kill(os.getpid(), 9)\n"
        "leave(c.main())"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=covered.app.root, capture_output=True, text=True, check=False
    )
    assert result.stdout.splitlines()[-1] == "LOADED []", result.stdout + result.stderr


def test_results_are_made_of_the_same_in_each_run_that_counts(app: MakeApplication) -> None:
    """Numbers of counters come in the order in which files are loaded."""
    here = app(FILES)
    for inputs in (("-i", case_file(), "-i", "scripts.demo"), ("-i", "scripts.demo", "-i", case_file())):
        here.run(*inputs, "--coverage", "-o", f"{here.home}/{inputs[1].rpartition('.')[2]}.jsonl")
    first, second = (
        {
            record["id"]: record["fingerprint"]
            for record in map(json.loads, Path(f"{here.home}/{name}.jsonl").read_text().splitlines())
            if record["type"] == "result"
        }
        for name in ("jsonl", "demo")
    )
    assert first == second
    assert len(first) > 2


NAMED = """\
export const arrow = () => 1, cast = (() => 2) as () => number, klass = class { static made = this.name };
export const __proto__ = function () {}, { inner = () => 3 } = {} as any;
let later; [later = () => 4] = [];
const of = (callback = () => 5) => callback.name;
const key = "computed";
class Fields {
  field = () => 6; "a b" = () => 7; [key] = () => 8; #own = () => 9; static [key] = class {}; own = this.#own.name;
}
const made: any = new Fields();
export const names = [
  arrow, cast, klass, __proto__, inner, later, made.field, made["a b"], made.computed, (Fields as any).computed,
].map((one) => one.name).concat(klass.made, of(), made.own, Object.keys(made).join());
"""


def test_names_are_kept(app: MakeApplication) -> None:
    """Also of functions and classes that are counted as values: fields, defaults, computed keys."""
    names = [*"arrow cast klass __proto__ inner later field".split(), "a b", "computed", "computed"]
    names += ["klass", "callback", "#own", "field,a b,computed,own"]
    test = (
        f"import {{ names }} from './named';\nfunction TestNames(t) {{ t.assert.Equal(names, {json.dumps(names)}); }}\n"
    )
    made = app({"named.ts": NAMED, "named_test.ts": test})
    run = made.run("-i", "scripts.demo.named", "--coverage", "--coverage-threshold", "statements=67")
    assert run.code == 0, run


HINTED = """\
/* istanbul ignore next */
export function left(a: number) {
  if (a) return 1;
  return () => 2;
}
/* istanbul ignore next -- a type has no code */
interface Kind { size: number }
export function kept(a?: number, s = "/* istanbul ignore file */") {
  // istanbul ignore else
  if (s) a = 1;
  /* istanbul ignore if */
  if (a === 7) { a = 2; left(3); } else a = 3;
  const b = a || /* istanbul ignore next */ left(2);
  switch (b) {
    /* istanbul ignore next: never */
    case 9: return 5;
    default: break;
  }
  return a ? b : /* istanbul ignore next */ left(1);
}
export class Box {
  /* istanbul ignore next */
  async left() { return 1; }
  kept() { return 2; }
}
/* istanbul ignore next */
export const off = (a: number) => a || 2;
export const named = /* istanbul ignore next */ (a: number) => a || 2;
"""


def test_comments_of_istanbul_leave_code_out(app: MakeApplication) -> None:
    made = app(
        {
            "hinted.ts": HINTED,
            "whole.ts": "/* istanbul ignore file */\nexport const a = () => 1;\n",
            "hinted_test.ts": "import { kept, named, Box } from './hinted';\n"
            "function TestHinted(t) { t.assert.Equal([kept(), named.name], [3, 'named']); new Box().kept(); }\n",
        }
    )
    run = made.run("-i", "scripts.demo.hinted", "--coverage", "-o", "coverage-final.json")
    assert run.code == 0, run
    (file,) = json.loads((made.root / "coverage-final.json").read_text()).values()
    lines = HINTED.splitlines()
    assert [one["name"] for one in file["fnMap"].values()] == ["kept", "kept"]
    counted = [lines[one["start"]["line"] - 1].strip() for one in file["statementMap"].values()]
    assert counted == [
        "if (s) a = 1;",
        "if (s) a = 1;",
        "if (a === 7) { a = 2; left(3); } else a = 3;",
        "if (a === 7) { a = 2; left(3); } else a = 3;",
        "const b = a || /* istanbul ignore next */ left(2);",
        "switch (b) {",
        "default: break;",
        "return a ? b : /* istanbul ignore next */ left(1);",
        "kept() { return 2; }",
        "export const named = /* istanbul ignore next */ (a: number) => a || 2;",
    ]
    branches = [(one["type"], len(one["locations"])) for one in file["branchMap"].values()]
    assert branches == [("default-arg", 1), ("if", 1), ("if", 1), ("binary-expr", 1), ("switch", 1), ("cond-expr", 1)]
    assert all([*file["s"].values(), *file["f"].values(), *(count for arms in file["b"].values() for count in arms)])


def test_a_plan_counts_nothing(covered: Covered) -> None:
    run = covered.app.run("-i", "scripts.demo.shapes", "--coverage", "--coverage-threshold", "lines=100", "--dry-run")
    assert (run.code, "TestBoom" in run.stdout, "% Stmts" in run.stdout) == (0, True, False)


def test_the_page_shows_the_lines_of_an_application_below_its_repository(app: MakeApplication) -> None:
    made = app({"a.ts": "export const a = () => 1;\n", "a_test.ts": "import './a'; function TestA(t) {}\n"})
    inner = made.root / "apps/one"
    inner.mkdir(parents=True)
    (made.root / ".git").mkdir()
    (made.root / "assistants").rename(inner / "assistants")
    (inner / "app.yao").write_text("{}")
    made.run("-a", str(inner), "-i", "scripts.demo.a", "--coverage", "-o", "page.html", "-o", "lcov.info")
    packed = re.search(r'id="index">([^<]+)<', (made.root / "page.html").read_text())
    assert packed is not None
    index = json.loads(gzip.decompress(b64decode(packed[1])))
    assert [file["lines"] for file in index["coverage"]["files"]] == [["export const a = () => 1;"]]
    assert "SF:assistants/demo/src/a.ts" in (made.root / "lcov.info").read_text()


def test_what_a_killed_run_left_is_removed_by_the_next(app: MakeApplication, tmp_path: Path) -> None:
    here = app(
        {
            "spin.ts": "export function spin() {\n  for (;;);\n}\n",
            "spin_test.ts": "import { spin } from './spin';\nexport function TestSpin(t) { spin(); }\n",
            "a_test.ts": "function TestA(t) {}\n",
        }
    )
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    here.temporary = temporary
    command = here.start("-i", "scripts.demo.spin", "--coverage")
    counting_worker(command.pid)
    assert here.fork("-i", "scripts.demo.a", "--coverage").code == 0
    assert len([*temporary.glob("yao-test-coverage-*")]) == 1, "one that is in use stays"
    command.kill()
    command.communicate(timeout=PATIENCE)
    assert len([*temporary.glob("yao-test-coverage-*")]) == 1
    assert here.fork("-i", "scripts.demo.a", "--coverage").code == 0
    assert [*temporary.glob("yao-test-coverage-*")] == []
