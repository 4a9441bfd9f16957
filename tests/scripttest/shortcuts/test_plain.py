"""With and without the shortcuts, the results are the same, whatever the modules do."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
from command import Application, make_application

from scripttest.realm.engine import FEW_REALMS, ScriptParts
from scripttest.shortcuts import PLAIN
from scripttest.shortcuts.slicing import everything, scan, slice_module

REPOSITORY = Path(__file__).parents[3]
NAMES = {"Process": "process", "console": "console", "Promise": "promise"}
CODE = "function TestA(t) {\n}\nfunction TestB(t) {\n}\n"
FOUND = {"TestA": "function TestA(t) {\n}", "TestB": "function TestB(t) {\n}"}

BODIES = (
    "t.assert.Equal(sum({a}, {b}), {c});",
    "t.assert.Equal(sum({a}, {b}), {c} + 1);",
    "const found: any = await Promise.resolve({{ n: {a} }}); t.assert.Equal(found.n, {a});",
    "await null; throw new TypeError('thrown {a}');",
    "(undefined as any).call({a});",
    "count += {a}; t.assert.Equal(count, {a}, 'each test has a realm of its own');",
    "console.log('line', {a}); t.log('and {b}'); t.assert.True(true);",
    "Array.prototype.at = () => 7 as any; t.assert.Equal([{a}].at(0), 7);",
    "t.assert.Equal([{a}].at(0), {a});",
    "t.assert.Panic(() => helper.throws({a}));",
    "t.run('sub {a}', (t: testing.T) => t.assert.Equal({a}, {b}));",
    "globals.left = {a}; t.assert.Nil(globals.kept);",
    "setTimeout(() => t.assert.Equal({a}, {b}), 5);",
    "t.cleanup(() => console.log('cleaned {a}')); t.skip('not now');",
)


def generated(seed: int) -> str:
    """A test module of some twenty tests, enough for bytecode."""
    chance = random.Random(seed)
    globals_of = "const globals: any = globalThis;" if seed % 2 else "const globals: any = {};"
    hook = "export function BeforeEach() { console.log('before'); }\n" if seed % 3 == 0 else ""
    lines = [f"{globals_of}\nlet count = 0;\n{hook}function sum(a: number, b: number) {{ return a + b; }}"]
    lines.append("const helper = { throws(n: number) { throw new RangeError('helper ' + n); } };")
    for number in range(FEW_REALMS + 8):
        a, b = chance.randrange(9), chance.randrange(9)
        body = chance.choice(BODIES).format(a=a, b=b, c=a + b)
        kind = "async function" if "await " in body else "function"
        lines.append(f"export {kind} Test{number:02}(t: testing.T) {{\n  {body}\n}}")
    return "\n".join(lines)


def without_times(value: Any) -> Any:
    """A report without what differs from run to run."""
    if isinstance(value, dict):
        return {
            key: without_times(one)
            for key, one in value.items()
            if not key.endswith(("_at", "_ms", "duration", "run_id"))
        }
    return [without_times(one) for one in value] if isinstance(value, list) else value


def reports(application: Application, inputs: str) -> list[Any]:
    """What a run says with shortcuts and without."""
    found = []
    for more in ({}, {PLAIN: "1"}):
        path = application.home / f"report{len(found)}.json"
        environment = {**application.environment, **more}
        run = application.fork("-i", inputs, "--parallel", "1", "-o", str(path), env=environment)
        assert "Traceback" not in run.stdout + run.stderr
        found.append([run.code, without_times(json.loads(path.read_text()))])
    return found


def test_generated_modules_give_the_same_results(tmp_path: Path) -> None:
    files = {f"made{seed}_test.ts": generated(seed) for seed in range(4)}
    application = make_application(tmp_path, files)
    quick, plain = reports(application, "scripts.demo.*")
    statuses = {result["status"] for part in quick[1]["reports"] for result in part["results"]}
    assert statuses == {"passed", "failed", "skipped"}
    assert quick == plain


def test_the_modules_of_this_repository_give_the_same_results(tmp_path: Path) -> None:
    application = make_application(tmp_path, {})
    shutil.copytree(REPOSITORY / "assistants", application.root / "assistants", dirs_exist_ok=True)
    quick, plain = reports(application, "scripts.expense.*")
    assert len(quick[1]["reports"]) > 3
    assert quick == plain


def test_no_shortcut_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = REPOSITORY / "bindings/js"
    taken = (scan(CODE, NAMES), slice_module(CODE, 0, {}, FOUND).base, nth_bytecode(parts))
    monkeypatch.setenv(PLAIN, "1")
    plain = (scan(CODE, NAMES), slice_module(CODE, 0, {}, FOUND).base, nth_bytecode(parts))
    assert plain == (everything(NAMES, guarded=True), "", None)
    assert all(one != other for one, other in zip(taken, plain, strict=True))


@pytest.mark.parametrize("off", ["scan", "slicing", "bytecode"])
def test_one_shortcut_is_not_taken(monkeypatch: pytest.MonkeyPatch, off: str) -> None:
    monkeypatch.setenv(PLAIN, off)
    plain = {
        "scan": scan(CODE, NAMES) == everything(NAMES, guarded=True),
        "slicing": slice_module(CODE, 0, {}, FOUND).base == "",
        "bytecode": nth_bytecode(REPOSITORY / "bindings/js") is None,
    }
    assert plain == {name: name == off for name in plain}


def nth_bytecode(parts: Path) -> object:
    """What the realm gets that is the first to have bytecode."""
    found = ScriptParts(str(parts))
    return [found.bytecode() for _ in range(FEW_REALMS)][-1]
