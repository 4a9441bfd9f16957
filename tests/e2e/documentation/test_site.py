"""The documentation as a site: it builds without a broken link, and its search finds the page that answers a question.

The search is that of the site: the index that mkdocs writes, and lunr, by which the page in the browser searches it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from lunr import lunr
from table_tests import each
from test_pages import ROOT

DOCS = ROOT / "docs"
LONGEST = 3000
"""Words of a page that is no reference."""
REFERENCES = set(
    "assertions case-assertions changelog cli json script-api script-api-context script-api-yao security".split()
)
QUESTIONS = {
    "run one test module": "script-tests cli quickstart",
    "what do I commit and ignore": "what-to-commit",
    "snapshot has a time in it": "snapshots",
    "fields of package.yao temperature": "agents",
    "answer is [find_tickets] without text": "agents why-did-it-fail",
    "model of the default judge": "case-assertions calibrating why-did-it-fail",
    "where do I put the OpenAI key": "connectors",
    "mock HTTP in a case": "mocking cases",
    "two prompts side by side": "variants",
    "cases in a spreadsheet": "data",
    "print from a handler console.log": "debugging script-tests",
    "missing call": "why-did-it-fail mocking concepts",
    "CI fail branch worse than main": "comparing ci history",
    "confidence interval of a pass rate": "stability comparing reports concepts",
    "keep my runs": "history",
    "test an async function": "script-tests",
    "stop the clock in a test": "mocking snapshots",
    "database rows for a test fixture": "models concepts cases",
    "simulated user goal": "conversations concepts",
    "run without a network recordings": "recording ci README",
    "resume an interrupted run": "long-runs",
    "budget max-cost": "long-runs ci",
    "tool was called with arguments": "case-assertions",
    "what do exit codes mean": "cli",
    "junit report": "reports",
    "github actions annotations": "reports ci",
    "pass rate of several runs": "stability comparing reports",
    "vitest expect toEqual": "from-vitest",
    "promptfoo llm-rubric": "from-promptfoo",
    "inspect scorer": "from-inspect",
    "coverage threshold": "coverage",
    "editor completion types": "editor cli",
    "secret hidden in reports": "security recording",
    "MCP server stdio": "mcp security",
    "pull request of a stranger": "ci security",
    "scripted model reply rules": "scripted",
    "run tests on a cluster of machines": "cluster",
    "OpenTelemetry collector": "traces",
    "stop loop of tool calls": "agents mcp",
    "exclude code from coverage": "coverage",
    "retry flaky model host": "long-runs connectors",
    "default timeout of a test": "cli script-tests",
    "judge votes several times": "case-assertions calibrating",
    "run tests in PyCharm": "pytest",
    "Docker image": "ci",
    "proxy certificate": "connectors",
    "import alias tsconfig": "script-tests configuration",
    "expected tool order": "case-assertions",
    "approve connectors of a pull request": "ci security cli",
    "skip a case": "cases",
    "todo test": "script-tests script-api",
    "attach an image to a case": "cases",
    "fuzz test seed corpus": "fuzzing",
    "benchmark slower than before": "benchmarks",
    "keep database of a failed test": "debugging models",
    "case sensitive names on Linux": "script-tests cli models from-yao",
    "survived mutant": "mutating",
    "watch mode keys": "watch",
}
"""What somebody types → the pages that answer it."""
FIRST_DAY = {
    "beforeEach in a test": ("script-tests from-vitest", "BeforeEach"),
    "vi.mock a module": ("from-vitest", "t.mock.process"),
    "run tests again when a file is saved": ("watch", "--watch"),
    "update snapshots": ("snapshots", "--update-snapshots"),
    "set the user and team of a test": ("script-tests cli", "-u"),
    "answer is JSON with a schema": ("case-assertions", "json_schema"),
    "convert promptfooconfig": ("data from-promptfoo", "promptfooconfig.yaml"),
    "repeat each test three times": ("stability", "--runs"),
    "cache answers of the model": ("recording", "--record"),
    "see runs in a browser": ("view", "yao-test view"),
    "yao agent test command": ("from-yao", "yao agent test"),
    "process is not available here": ("why-did-it-fail mocking", "not available"),
    "tools of an agent in package.yao": ("agents mcp", "mcp"),
    "agree with human labels kappa": ("calibrating", "calibrate"),
    "limit the cost of a nightly run": ("long-runs ci", "--max-cost"),
    "flaky tests over time": ("history", "yao-test history"),
    "how many runs are enough": ("stability comparing", "73"),
    "generate cases with a model": ("generators", "agents:"),
    "are my assertions too weak": ("mutating", "survives"),
    "passes here and fails in CI": ("why-did-it-fail", "TZ"),
    "install the command": ("quickstart README", "pip install"),
    "test a tool function of an agent": ("mcp script-tests agents", "tool"),
}
"""What a stranger types → the pages that answer it, and a word of the answer in the first screen of one of them."""


SCREEN = 40
"""Lines of a page that are seen first, of at most 100 columns each."""
FIRST_SCREEN = {
    "agents": "temperature [find_tickets]",
    "benchmarks": "--bench Benchmark",
    "calibrating": "calibrate labels",
    "case-assertions": "--judge-connector negate contains",
    "cases": ".jsonl mocks --run assert",
    "ci": "--baseline --fail-on recorded",
    "cli": "exit doctor init",
    "cluster": "--cluster tls://",
    "comparing": "diff --fail-on --baseline",
    "configuration": "yao-test.toml [profile.ci]",
    "connectors": "$ENV .env -c",
    "conversations": "simulator checkpoints turns",
    "coverage": "--coverage-threshold",
    "data": ".csv convert",
    "debugging": "console.log --last-failed",
    "fuzzing": "--fuzz f.add",
    "history": ".yao-test history",
    "long-runs": "--resume --max-errors",
    "mcp": "stdio http",
    "mocking": "t.mock.http mocks",
    "models": "t.db.seed SQLite",
    "mutating": "mutate survives",
    "recording": "--record --replay",
    "reports": "JUnit .html",
    "script-tests": "--run -i",
    "scripted": "replies.yml when",
    "snapshots": "mask t.mock.now",
    "stability": "--runs interval",
    "traces": "--otlp pip",
    "variants": "--variant prompts:",
    "watch": "--watch Enter",
    "what-to-commit": "__snapshots__ .yao-test",
    "why-did-it-fail": "missing timeout",
}
"""Page → words of the answers that somebody looks for there first."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    config = str(DOCS / "site/mkdocs.yml")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", config, "-d", str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert built.returncode == 0, built.stderr
    return folder


def test_the_site_has_every_page_and_their_texts_for_models(site: Path) -> None:
    pages = sorted(path.name for path in DOCS.glob("*.md"))
    listed = re.findall(r"\]\(([\w-]+\.md)\)", (site / "llms.txt").read_text("utf-8"))
    whole = (site / "llms-full.txt").read_text("utf-8")

    assert sorted(listed) == pages
    assert [name for name in pages if (DOCS / name).read_text("utf-8") not in whole] == []
    assert [name for name in pages if name != "README.md" and not (site / name[:-3] / "index.html").is_file()] == []


def test_the_search_finds_the_answers_of_questions(site: Path) -> None:
    found = json.loads((site / "search/search_index.json").read_text("utf-8"))["docs"]
    index = lunr(ref="location", fields=("title", "text"), documents=found)
    missed = {}
    for question, answers in (QUESTIONS | {asked: pages for asked, (pages, _) in FIRST_DAY.items()}).items():
        words = re.sub(r"[-\[\]:+~^*]", " ", question)
        first = [result["ref"].partition("/")[0].partition("#")[0] or "README" for result in index.search(words)]
        pages = list(dict.fromkeys(first))[:3]
        if not set(pages) & set(answers.split()):
            missed[question] = pages
    assert missed == {}


def test_versions_of_the_site_stand_side_by_side(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-C", str(clone)]
    shutil.copytree(DOCS / "site", clone / "docs/site")
    for page in DOCS.glob("*.md"):  # `site` builds their texts
        (clone / "docs" / page.name).write_text(f"# {page.stem}\n\nA page.\n")
    for words in (["init", "-q"], ["add", "docs"], ["commit", "-qm", "pages"]):
        subprocess.run([*git, *words], check=True)
    commits = {f"GIT_{who}_{what}": "a" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    commands = Path(sys.executable).parent
    environment = {**os.environ, **commits, "PATH": f"{commands}:{os.environ['PATH']}"}
    for version in ("1.0", "1.1"):
        words = ["-q", "deploy", "-F", "docs/site/mkdocs.yml", "--update-aliases", version, "latest"]
        subprocess.run([commands / "mike", *words], cwd=clone, env=environment, check=True, timeout=120)
    kept = subprocess.run([*git, "show", "gh-pages:versions.json"], capture_output=True, text=True, check=True).stdout

    assert [(one["version"], one["aliases"]) for one in json.loads(kept)] == [("1.1", ["latest"]), ("1.0", [])]


def first_screen(name: str) -> str:
    """What is seen of a page before anybody scrolls."""
    screen: list[str] = []
    for line in (DOCS / f"{name}.md").read_text("utf-8").splitlines():
        screen += [line] * (1 + len(re.sub(r"\]\([^)]*\)", "]", line)) // 101)
    return "\n".join(dict.fromkeys(screen[:SCREEN]))


@each("name", FIRST_SCREEN)
def test_a_page_answers_in_its_first_screen(name: str) -> None:
    assert [word for word in FIRST_SCREEN[name].split() if word not in first_screen(name)] == []


def test_questions_of_the_first_day_are_answered_in_the_first_screen() -> None:
    assert [
        q for q, (pages, word) in FIRST_DAY.items() if not any(word in first_screen(p) for p in pages.split())
    ] == []


@each("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.stem)
def test_a_page_that_is_no_reference_is_short(page: Path) -> None:
    assert page.stem in REFERENCES or len(page.read_text("utf-8").split()) <= LONGEST
