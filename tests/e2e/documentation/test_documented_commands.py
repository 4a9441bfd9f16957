"""Every command line in the README and in `docs/` runs, exactly as it is printed.

A line counts wherever it is: in a `bash` block, in an indented block, in code within a text or a table, in a step of a
workflow. (`test_pages.py` runs those of `console` blocks and compares what they print.) On a page they run from top to
bottom, in the application of the page. Each has to run, by bash where it is more than words, with an exit code of 0 or 1:
the tests of an example may fail, the command may not.

Lines that cannot run unchanged are in a table here, with the reason. An entry whose line is on no page fails, too.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from command import Application, Run
from table_tests import each
from test_pages import PAGES, ROOT, Reader, blocks_of, name_of

from runner.commands import COMMANDS
from runner.options.options import options_from, texts_in

SAMPLES = """echo '{"input": "Hi", "target": "Hello"}' > s.jsonl"""
PLACEHOLDERS = {
    "yao-test init [FOLDER] [-n ID] [--data TABLE] [--example NAME] [--vscode] [--ci github|gitlab|none]": "yao-test init new -n first --vscode --ci none",
    "yao-test [-i INPUT ...] [FLAGS]": "yao-test -i scripts.expense.setup -i scripts.expense.policy -q",
    "yao-test init --data faq.csv": r"printf 'question,answer\nOpen?,At nine\n' > faq.csv && yao-test init --data faq.csv --ci none",
    "yao-test convert FILE [-o FILE] [--from FORMAT] [--scorer SCORER]": f"{SAMPLES} && yao-test convert s.jsonl --from inspect --scorer exact",
    "yao-test convert FILE -o tests/cases.jsonl": f"{SAMPLES} && yao-test convert s.jsonl -o tests/cases.jsonl",
    "yao-test convert samples.jsonl": f"{SAMPLES} && yao-test convert s.jsonl",
    "yao-test convert promptfooconfig.yaml": "echo 'tests: [{vars: {input: Hi}}]' > promptfooconfig.yaml && yao-test convert promptfooconfig.yaml --from promptfoo",
    "yao-test types [FOLDER]": "yao-test types .",
    "yao-test completion bash|zsh|fish": "yao-test completion fish",
    "yao-test completion": "yao-test completion bash",
    "yao-test completion fish | source": "yao-test completion fish | cat",
    "yao-test config [-a DIR] [--profile NAME] [--json]": "yao-test config -a . --json",
    "yao-test schema [file|case|result|config] [-o FILE]": "yao-test schema case -o case.schema.json",
    "yao-test doctor [-a DIR] [-e FILE] [--json] [--strict] [--write-mocks FILE]": "yao-test doctor -a . --json",
    "yao-test show REPORT [-o FILE] [-r ID] [--store DIR] [-v] [-q]": "yao-test show report.jsonl -o shown.md -v",
    "yao-test extract REPORT [-d DIR] [--format md|json] [--status STATUS]": "yao-test extract report.jsonl -d parts --format json --status passed",
    "yao-test diff [A] [B ...] [--baseline NAME] [--fail-on regressed|unsure] [-o FILE]": "yao-test diff report.jsonl report.json --fail-on regressed -o verdict.md",
    "yao-test merge PART... -o FILE [--partial] [--as-runs]": "yao-test merge report.jsonl report.json -o runs.json --as-runs",
    "yao-test mutate [TESTS] [--since REF] [--threshold SCORE] [-o FILE] [FLAGS]": "yao-test mutate -i scripts.expense.notify --threshold 0.5 -o mutants.md",
    "yao-test regrade REPORT [-o FILE] [FLAGS]": "yao-test regrade ab.jsonl -o regraded.jsonl --threshold 0.5",
    "yao-test label REPORT -o FILE [--count N]": "yao-test label ab.jsonl -o labels.csv --count 5",
    "yao-test calibrate REPORT [LABELS ...] [-o FILE] [--min-kappa KAPPA]": "yao-test label ab.jsonl -o l.jsonl && sed s/null/true/ l.jsonl > mine.jsonl && yao-test calibrate ab.jsonl mine.jsonl -o trust.json",
    "yao-test trust [FOLDER]": "yao-test trust .",
    "yao-test show REPORT": "yao-test show report.jsonl",
    "yao-test extract REPORT": "yao-test extract report.jsonl",
    "yao-test diff A B": "yao-test diff report.jsonl report.json",
    "yao-test diff A B --fail-on regressed": "yao-test diff report.jsonl report.json --fail-on regressed",
    "yao-test diff --baseline main --fail-on regressed": "yao-test -i scripts.expense.setup -q > kept.txt && yao-test diff --baseline main --fail-on regressed",
    "yao-test diff A B C": "yao-test diff report.jsonl report.json report.jsonl",
    "yao-test merge nightly-*.jsonl --as-runs -o history.jsonl": "yao-test merge report.jsonl report.json --as-runs -o history.jsonl",
    "yao-test diff OLD NEW -o page.html": "yao-test diff report.jsonl report.json -o page.html",
    "yao-test status REPORT...": "yao-test status report.jsonl",
    "yao-test status REPORT... [FLAGS]": "yao-test status report.jsonl -i scripts.expense.setup",
    "yao-test merge PART... -o FILE": "yao-test merge report.jsonl report.json -o whole.html",
    "yao-test history [TEST] [--store DIR] [--branch NAME] [--last N] [--json]": "yao-test history --json",
    "yao-test history TEST": "yao-test history TestSystemReady",
    "yao-test store list|merge|prune": "yao-test store list",
    "yao-test store merge A B...": "yao-test store merge joined .yao-test",
    "yao-test diff run:3fa9 run:latest": "yao-test diff run:latest run:latest",
    "yao-test -i assistants --cluster local:4": "yao-test -i assistants/keyword --cluster local:1",  # each worker takes seconds
    "yao-test -i assistants --variant now --variant small=connector:scripted": "yao-test -i assistants/keyword --variant now --variant small=connector:scripted",
    "yao-test -i assistants --parallel 8 --retry-errors 3 --max-errors 2% -o nightly.jsonl": "yao-test -i assistants/keyword --parallel 8 --retry-errors 3 --max-errors 2% -o nightly.jsonl",
    "yao-test -i assistants --record-missing recordings": "yao-test -i assistants/keyword --record-missing recordings",
    "yao-test mutate": "yao-test mutate -i scripts.expense.notify",
    "yao-test mutate --mutators stryker": "yao-test mutate -i scripts.expense.notify --mutators stryker",
    "yao-test -i scripts.expense": "yao-test -i scripts.expense --timeout 3s",  # one of the tests on its page never ends
}
"""Lines with words to be filled in, or that take long → the same, filled in."""

NETWORK = {
    "OPENAI_API_KEY=sk-... yao-test -i assistants/hello/tests/greetings.jsonl -c openai.gpt4": "asks a real model",
    "yao-test -i assistants --otlp http://localhost:4318": "asks a collector",
    "yao-test -i assistants --otlp": "asks a collector",
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true yao-test -i assistants --otlp http://localhost:4318": "asks a collector",
    "yao-test -i assistants/expense/tests/conversations.yaml --run '^taxi-simulated$' --otlp": "test_otlp.py runs it",
    "yao-test -i assistants --trust-from origin/main": "reads a branch that was fetched",
    "yao-test -i assistants --cluster tls://10.0.0.1:8786 -o nightly.jsonl": "asks a cluster",
    "yao-test -i assistants --cluster tcp://yao-test-scheduler:8786 -o /reports/r.jsonl": "asks a cluster",
}
"""Lines of the command that need a network: they are read by the real reader of the command line."""

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = [PROJECT["optional-dependencies"][name] for name in ("dask", "docs", "fuzz", "mcp", "otlp", "pytest", "view")]
INSTALLS = (
    "python3 -m venv .venv && .venv/bin/pip install . && .venv/bin/yao-test -i scripts.expense.setup -v",
    "python3 -m venv .venv && .venv/bin/pip install -e '.[dev]' && .venv/bin/pytest",
    "python3 -m venv .venv",
    ".venv/bin/pip install .",
    ".venv/bin/yao-test --version",
    "pip wheel --no-deps --wheel-dir wheels .",
    "pip install wheels/yao_test-*.whl",
    "pip install git+<address of your copy of this repository>",
    "pip install -r requirements-test.txt",
    *(f"pip install {' '.join(map(repr, packages))}" for packages in EXTRAS),
    "pip install 'mcp>=1.24,<2' 'starlette>=0.40,<2' 'uvicorn>=0.30,<1'",
    "pip install 'bcrypt>=4'",
)
"""Lines that fetch packages, and so need a network: bash and pip read them, the rest of them runs."""

IN_A_CLONE = (
    "python bindings/build.py",
    "PYTHONPATH=tests/helpers python tests/e2e/documentation/test_pages.py",
    "PYTHONPATH=tests/helpers python tests/e2e/watch/test_watch_page.py",
    "YAO_TEST_FAULT_SEED=1 .venv/bin/pytest -n 0 -s tests/e2e/reliability/test_injected_faults.py",
    ".venv/bin/python tests/bench/soak.py",
)
"""Lines for those who work on this project, which take long or write into the clone: what they run is there."""

OF_PYTEST = ("pytest", "pytest assistants/", "pytest -m smoke")
"""Lines of pytest, which test_pytest_plugin.py runs with the plugin."""

SERVES = (
    "yao-test mcp",
    "yao-test mcp [-a DIR] [--store DIR] [--allow-models] [--max-cost USD] [--max-tokens N] [--http [PORT]]",
    "yao-test repl",
    "yao-test repl SCRIPT [FLAGS]",
    "yao-test repl scripts.expense.setup",
    "yao-test repl scripts.expense.tally",
    "yao-test view",
    "yao-test view [--store DIR] [--port PORT] [-a DIR]",
)
"""Lines that serve until they are stopped, which test_view_command.py, test_mcp_tools.py and test_repl.py run."""

PAGES_OF_OTHER_TESTS = {"ci.md": "test_ci_page.py runs its workflows, with the parts that its shell scripts decide on"}

SHIM = f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m runner "$@"\n'
LEAVES_NOTHING = re.compile(r"yao-test (?:(?:mutate )?-i [\w./]+(?: --timeout 3s)?|doctor|schema|--watch)$")
"""Lines that leave nothing which a later line needs, so that one run of them is enough."""
JQ = f"#!/bin/sh\nexec {sys.executable} -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1][1:]])' \"$1\"\n"
COMMAND = re.compile(r"(?:[A-Z_]+=\S+ )?(?:\.venv/bin/)?(?:yao-test(?! @)|pip|python3?|pytest)(?: |$)")
ONLY_WORDS = re.compile(r"""yao-test(?: [\w./:=,@+%-]+| "[^"$`\\]*"| '[^']*')*""")
RAN = (0, 1)


class Line(NamedTuple):
    """A command line on a page."""

    text: str
    line: int
    """Number of the line in the page."""


def lines_of(page: Path) -> list[Line]:
    """The command lines of a page, from top to bottom, without those of console blocks."""
    text = page.read_text("utf-8")
    found = [*_of_blocks(page), *_of_text(text)]
    return sorted(found, key=lambda line: line.line)


def _of_blocks(page: Path) -> Iterator[Line]:
    for block in blocks_of(page):
        if block.language == "bash":
            for number, line in enumerate(block.text.replace("\\\n", " ").splitlines(), block.line):
                yield Line(text=line.partition("  #")[0].strip(), line=number)
        elif block.language == "yaml" and block.text.startswith("jobs:") and page.name not in PAGES_OF_OTHER_TESTS:
            for job in yaml.safe_load(block.text)["jobs"].values():
                yield from (Line(text=step["run"], line=block.line) for step in job["steps"] if "run" in step)


def _of_text(text: str) -> Iterator[Line]:
    """Those in code within the text, and in indented blocks."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            inside = not inside
        elif not inside and line.startswith("    ") and COMMAND.match(line.strip()):
            yield Line(text=line.strip(), line=number)
        elif not inside:
            for span in re.findall(r"(?<!`)`([^`]+)`(?!`)", line):
                if COMMAND.match(span):
                    yield Line(text=span.replace("\\|", "|"), line=number)


def is_name(line: str) -> bool:
    """Whether a line only names `pip`, the command, or one of its commands that needs arguments."""
    words = line.split()
    return line == "pip" or (
        words[0] == "yao-test"
        and (len(words) == 1 or words[1:] in ([name] for name in ("show", "diff", "merge", "regrade", "calibrate")))
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what all pages have: an application with the assistants of this repository, some reports and two runs
    of its branch in its store, and the commands on the path."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "home").mkdir()
    app = Application(folder / "app", folder / "home")
    shutil.copytree(ROOT / "assistants", app.root / "assistants")
    shutil.copytree(ROOT / "tests/apps/pet_clinic", app.root / "tests/apps/pet_clinic")
    app.write({"/../home/bin/yao-test": SHIM, "/../home/bin/jq": JQ})  # beside them, each run would start a compiler
    for name in ("yao-test", "jq"):
        (app.home / "bin" / name).chmod(0o755)
    app.write({"/.git/HEAD": "ref: refs/heads/main\n", "/.git/objects/.keep": "", "/.yao-test/.keep": ""})
    for report in ("report.jsonl", "report.json"):
        app.run("-i", "scripts.expense.setup", "-o", report)
    app.run("-i", "assistants/expense/tests/filing.jsonl", "--variant", "a=", "--variant", "b=", "-o", "ab.jsonl")
    return folder


def application(page: Path, made: Path, folder: Path) -> Application:
    """A copy of `made`, with what the page makes."""
    shutil.copytree(made, folder, dirs_exist_ok=True)
    app = Application(folder / "app", folder / "home")
    reader = Reader(page, app)
    for block in reader.blocks:
        if block.path is not None:
            reader.write(block.path, block.text)
    return app


def run(app: Application, line: str) -> Run:
    """Runs a line; with bash, unless it is only words."""
    if ONLY_WORDS.fullmatch(line):
        return app.run(*shlex.split(line)[1:])
    path = f"{app.home / 'bin'}:{os.defpath}"
    command = ["bash", "-e", "-o", "pipefail", "-c", line]
    environment = {**app.environment, "PATH": path}
    done = subprocess.run(
        command, cwd=app.root, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    return Run(code=done.returncode, stdout=done.stdout, stderr=done.stderr)


@pytest.fixture(scope="module")
def alone() -> set[str]:
    """Lines that need no earlier one: that have run, and leave nothing; or have run first of all in an application as
    `made` has it."""
    return set()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_command_line_of_a_page_runs(page: Path, made: Path, alone: set[str], tmp_path: Path) -> None:
    app: Application | None = None
    has_files = any(block.path is not None for block in blocks_of(page))
    wrong = []
    for line in {line.text: line for line in lines_of(page)}.values():  # once, if it stands there twice
        if is_name(line.text) or line.text in (*NETWORK, *INSTALLS, *IN_A_CLONE, *OF_PYTEST, *SERVES):
            continue
        filled = PLACEHOLDERS.get(line.text, line.text)
        if filled in alone and (not has_files or LEAVES_NOTHING.match(filled)):
            continue
        is_first = app is None
        app = app or application(page, made, tmp_path)
        ran = run(app, filled)
        if ran.code not in RAN or "Traceback" in ran.stderr:
            wrong.append(f"{name_of(page)}:{line.line}: {line.text}\n  exit code {ran.code}: {ran.stderr}")
        elif (is_first and not has_files) or LEAVES_NOTHING.match(filled):
            alone.add(filled)
    assert not wrong, "\n".join(wrong)


def test_the_page_of_the_command_line_lists_every_command() -> None:
    listed = {line.text.split()[1] for line in lines_of(ROOT / "docs/cli.md") if line.text.startswith("yao-test ")}

    assert set(COMMANDS) <= listed


def test_names_of_commands_are_those_of_commands() -> None:
    named = {line.text.partition(" ")[2] for page in PAGES for line in lines_of(page) if is_name(line.text)}

    assert named - {""} <= set(COMMANDS)


@each("line", NETWORK)
def test_a_line_that_needs_a_network_is_read(line: str) -> None:
    words = [word for word in shlex.split(line) if "=" not in word or word.startswith("-")]
    values = texts_in(words[1:])

    assert words[0] == "yao-test"
    assert values is not None
    assert options_from(values).inputs


@each("line", [line for line in INSTALLS if "<" not in line])
def test_a_line_that_installs_is_read_by_bash_and_by_pip(line: str) -> None:
    assert subprocess.run(["bash", "-n", "-c", line], check=False).returncode == 0
    for part in line.split(" && "):
        words = shlex.split(part)
        if words[0].endswith("pip"):
            from pip._internal.commands import create_command

            options, rest = create_command(words[1]).parse_args(words[2:])
            assert rest or vars(options).get("requirements") or vars(options).get("editables"), part


@each("line", IN_A_CLONE)
def test_what_is_run_in_a_clone_is_there(line: str) -> None:
    (script,) = [word for word in line.split() if word.endswith(".py")]

    assert (ROOT / script).is_file()


def test_what_does_not_run_is_on_a_page() -> None:
    there = {line.text for page in PAGES for line in lines_of(page)}
    there |= (
        {"pip install -r requirements-test.txt"}
        if "requirements-test.txt" in (ROOT / "docs/ci.md").read_text()
        else set()
    )

    assert {*PLACEHOLDERS, *NETWORK, *INSTALLS, *IN_A_CLONE, *OF_PYTEST, *SERVES} - there == set()


def test_lines_are_found_wherever_they_stand(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "Run `yao-test -i a` or `a --b`.\n\n    yao-test show x.json\n\n| `yao-test -i b \\| jq .` | `-q` |\n\n"
        "```bash\nKEY=1 yao-test -i c   # why\nyao-test \\\n  -i d\n```\n\n```console\n$ yao-test -i e\n```\n\n"
        "```yaml\njobs: { a: { steps: [{ uses: x }, { run: yao-test -i f }] } }\n```\n"
    )

    assert [line.text for line in lines_of(page)] == [
        "yao-test -i a",
        "yao-test show x.json",
        "yao-test -i b | jq .",
        "KEY=1 yao-test -i c",
        "yao-test    -i d",
        "yao-test -i f",
    ]


def test_a_line_that_does_not_work_is_seen(made: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(json.dumps("Run `yao-test -i scripts.nobody.nothing`."))
    app = application(ROOT / "docs/concepts.md", made, tmp_path)

    assert run(app, lines_of(page)[0].text).code not in RAN
