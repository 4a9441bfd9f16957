"""With `yao-test types`, the TypeScript compiler and editors know the module beside a test that imports nothing."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from command import Application, make_application

ROOT = Path(__file__).parents[3]
SEED = ROOT / "tests/apps/seed_004"
DESIGN = ROOT.parent / "shared/seeds/004_4cbeb602588a8fab.txt"
DOCUMENT = DESIGN if DESIGN.is_file() else SEED / "examples.md"
COMPILER = ROOT / "bindings/node_modules/typescript"
PROJECTS = "types/yao-test/.tests"

needs_compiler = pytest.mark.skipif(
    not (COMPILER.exists() and shutil.which("node")), reason="the TypeScript compiler is not installed"
)


def design_tests() -> str:
    """The test file of the design document, checked."""
    (block,) = re.findall(r"^```typescript\n(// setup_test\.ts\n.*?)^```$", DOCUMENT.read_text("utf-8"), re.M | re.S)
    return block.replace("// @ts-nocheck\n", "") + (
        "function TestFeatureA(t, ctx) {\n  const originalValue = GlobalConfig.value;\n"
        "  const result = Setup(ctx);\n  t.assert.Error(result.error);\n}\n"
    )


TRAVEL = """\
import { toCents } from "@scripts/shared/money";
export { rate } from "./rates";

export interface Trip<T> { to: T }
export async function Setup(trip: Trip<string>): Promise<number> { return toCents(trip.to.length); }
function local(amount: number) { return amount; }
const limit = 5;
export { limit as Limit };
export default class Planner { days = 3 }
export enum Class { First }
export const twice = (amount: number) => amount * 2;
"""
TRAVEL_TEST = """\
const trip: Trip<string> = { to: "Oslo" };

async function TestSetup(t: testing.T, ctx: agent.Context) {
  const cents: number = await Setup(trip);
  t.assert.Equal(cents, twice(200), local(1) + limit);
  t.assert.Equal(new Planner().days, rate("first") + Class.First);
  const wrong: string = twice(1);
  Setup({ to: 5 });
  rate(1);
}

function createMockData() { return trip; }
"""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Application:
    """Two agents with a `Setup` each, of which one fails with errors of types."""
    app = make_application(tmp_path_factory.mktemp("types"), {})
    shutil.rmtree(app.root)
    shutil.copytree(SEED, app.root)
    app.write(
        {
            "/assistants/expense/src/setup_test.ts": design_tests(),
            "/assistants/travel/package.yao": "{}",
            "/assistants/travel/src/setup.ts": TRAVEL.replace("\n", "\r\n"),
            "/assistants/travel/src/rates.ts": 'export function rate(name: "first"): number { return name.length; }\n',
            "/assistants/travel/src/setup_test.ts": TRAVEL_TEST,
            "/assistants/travel/src/plain.js": "function Plain() { return 1; }\n",
            "/assistants/travel/src/plain_test.js": "function TestPlain(t) { t.assert.Equal(Plain(), 1); }\n",
        }
    )
    run = app.run("types")
    assert (run.code, run.stderr) == (0, "")
    return app


def test_the_tests_still_run(app: Application) -> None:
    assert (
        "Summary: 3 passed"
        in app.run("-i", "scripts.travel.plain", "-i", "scripts.expense.tools", "--run", "Plain|Create").stdout
    )


@needs_compiler
def test_the_compiler_checks_plain_tests_each_with_its_own_module(app: Application) -> None:
    command = ["node", str(COMPILER / "bin/tsc"), "--build"]
    output = subprocess.run(command, cwd=app.root, capture_output=True, text=True, check=False).stdout

    assert re.findall(r"^.*?: error.*$", output, re.M) == [
        "assistants/travel/src/setup_test.ts(7,9): error TS2322: Type 'number' is not assignable to type 'string'.",
        "assistants/travel/src/setup_test.ts(8,11): error TS2322: Type 'number' is not assignable to type 'string'.",
        "assistants/travel/src/setup_test.ts(9,8): error TS2345: Argument of type '1' is not assignable to parameter of type "
        "'\"first\"'.",
    ], output


@needs_compiler
def test_an_editor_finds_the_project_of_a_test_and_of_its_module(app: Application) -> None:
    files = ["expense/src/setup_test.ts", "travel/src/setup_test.ts", "travel/src/setup.ts"]
    answers = ask_editor([str(app.root / "assistants" / file) for file in files])

    assert [Path(answer["configFileName"]).relative_to(app.root).as_posix() for answer in answers] == [
        f"{PROJECTS}/expense.setup.json",
        f"{PROJECTS}/travel.setup.json",
        "tsconfig.json",
    ]


def ask_editor(files: list[str]) -> list[dict[str, Any]]:
    """Opens files in the TypeScript server of editors. Returns what it says about the project of each."""
    requests = [("open", {"file": file}) for file in files]
    requests += [("projectInfo", {"file": file, "needFileNameList": False}) for file in files]
    answers: list[dict[str, Any]] = []
    command = ["node", str(COMPILER / "lib/tsserver.js"), "--disableAutomaticTypingAcquisition"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for number, (name, arguments) in enumerate(requests):
            message = {"seq": number, "type": "request", "command": name, "arguments": arguments}
            server.stdin.write(json.dumps(message) + "\n")
        server.stdin.flush()
        for line in server.stdout:
            message = json.loads(line) if line.startswith("{") else {}
            answers += [message["body"]] if message.get("command") == "projectInfo" else []
            if len(answers) == len(files):
                break
        server.kill()
    return answers


def test_a_second_time_writes_nothing(tmp_path: Path) -> None:
    app = make_application(tmp_path, {"a.ts": "function A() {}", "a_test.ts": "function TestA(t) { A(); }"})
    app.run("types")
    before = app.listing()

    assert (app.run("types").code, app.listing()) == (0, before)
    app.write({"a_test.ts": 'import { A } from "./a";\nfunction TestA(t) { A(); }'})
    app.run("types")
    assert sorted(path.name for path in (app.root / PROJECTS).iterdir()) == ["apart.json", "tsconfig.json"]


def test_what_others_wrote_stays_and_what_is_to_be_added_is_said(tmp_path: Path) -> None:
    own = '{"include": ["types/yao-test", "assistants"]}'
    app = make_application(
        tmp_path,
        {
            "a.ts": "function A() {}",
            "a_test.ts": "function TestA(t) { A(); }",
            "/tsconfig.json": own,
            f"/{PROJECTS}/other.json": "mine",
        },
    )
    run = app.run("types")

    assert (app.root / "tsconfig.json").read_text() == own
    assert (app.root / PROJECTS / "other.json").read_text() == "mine"
    assert run.stdout.splitlines()[1:] == [
        f'Add "./{PROJECTS}/apart.json" to "extends" in <app>/tsconfig.json, and {{ "path": "./{PROJECTS}" }} to '
        '"references", so that editors know functions that tests use without importing them. If you have an "exclude" '
        "of your own, add what that file excludes",
    ]
