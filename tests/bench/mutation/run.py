"""Mutants of one set of handlers, here and with StrykerJS: processor time, wall time and verdicts of one run each.

    python tests/bench/mutation/run.py [--only mocha,vitest] [--keep FOLDER]

The application beside this file has fourteen handlers of different kinds (rules, dates, texts, graphs, parsers, classes, money,
schedules, versions, templates, requests, asynchronous work) with tests of mixed quality. `twin/` has the same tests for mocha and
vitest: `t.assert` on Node's assertions. It is installed into a temporary folder, with npm. Both tools run two tests at a time, a
mutant only with the tests that reach it, and the same mutants. A comparator of `sort` that no longer orders gives another order in
another engine.

The goal is a twentieth of the processor time with vitest and an eighth of that with mocha.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

HERE = Path(__file__).parent
YAO_TEST = Path(sys.executable).parent / "yao-test"
SPEC = """import {{ it }} from "vitest";
import {{ register }} from "../shim";
import * as tests from "../src/{name}_test";

register(tests, it);
"""


def measured(command: list[str], folder: Path, variables: Mapping[str, str] = {}) -> tuple[float, float]:
    """Runs a command to its end, which has to be a good one; its processor and wall time in seconds."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, cwd=folder, env={**os.environ, **variables}, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(
            f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used, time.monotonic() - began


def make_twin(folder: Path) -> None:
    """Copies the handlers and their tests, writes the files that mocha and vitest read, and installs both."""
    shutil.copytree(HERE / "twin", folder, dirs_exist_ok=True)
    shutil.copytree(HERE / "assistants/bench/src", folder / "src", dirs_exist_ok=True)
    (folder / "spec").mkdir(exist_ok=True)
    names = sorted(path.name.removesuffix("_test.ts") for path in (folder / "src").glob("*_test.ts"))
    for name in names:
        (folder / "spec" / f"{name}.spec.ts").write_text(SPEC.format(name=name))
    imports = "".join(f'import * as {name} from "./src/{name}_test";\n' for name in names)
    calls = "".join(f'describe("{name}", () => register({name}, it));\n' for name in names)
    (folder / "spec.mocha.ts").write_text(f'import {{ register }} from "./shim";\n{imports}\n{calls}')
    subprocess.run(["npm", "install", "--no-audit", "--no-fund"], cwd=folder, check=True, capture_output=True)


def main() -> None:
    """Runs all and prints the figures and the differences."""
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--only", default="mocha,vitest", help="runners of StrykerJS, with commas between them")
    arguments.add_argument("--keep", help="folder for the twin, which is used again")
    given = arguments.parse_args()
    folder = Path(given.keep or tempfile.mkdtemp(prefix="yao-test-mutants-"))
    make_twin(folder)
    ours = folder / "yao-test.json"
    figures = {}
    command = [str(YAO_TEST), "mutate", "--fresh", "--parallel", "2", "--mutators", "stryker", "-q", "-o", str(ours)]
    figures["yao-test"] = measured(command, HERE)
    for runner in given.only.split(","):
        command = ["npx", "stryker", "run", "stryker.config.mjs"]
        figures[runner] = measured(command, folder, {"RUNNER": runner})
    own = figures["yao-test"][0]
    for name, (used, wall) in figures.items():
        print(f"{name:10} {used:7.1f} s of processor time, {wall:7.1f} s, {used / own:5.1f} times as much")
    for runner in given.only.split(","):
        print(f"\nyao-test and {runner}:", flush=True)
        subprocess.run(
            [sys.executable, str(HERE / "verdicts.py"), str(ours), str(folder / f"{runner}.json")], check=True
        )


if __name__ == "__main__":
    main()
