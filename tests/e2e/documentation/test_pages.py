"""The pages in `docs/` and the README: what they show is run, and what they say of flags and codes is compared.

In an application made for a page, from the top of the page downward:

- a block whose first line is a comment with a path (`// assistants/a/src/b.ts`, `# assistants/a/prompts.yml`) is written
  there;
- a `typescript` block with test functions must pass, unless the console block after it shows how it does;
- a `console` block is a command behind `$` and its whole output; durations may differ, and a line `...` matches any
  lines. What goes to a file with `>` is written there.

The README and the pages of the command line show the assistants of this repository, the other pages what they wrote.

    PYTHONPATH=tests/helpers python tests/e2e/documentation/test_pages.py        writes the table of flags into docs/cli.md
"""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import NamedTuple

import pytest
from command import Application
from table_tests import each

from runner import exit_codes
from runner.commands import COMMANDS
from runner.commands.parser import command_of
from runner.options.flags import Flag
from runner.options.options import FLAGS
from scripttest.habits import table

ROOT = Path(__file__).parents[3]
README = ROOT / "README.md"
CLI = ROOT / "docs/cli.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]
SHOW_ASSISTANTS = (README, CLI, ROOT / "docs/configuration.md", ROOT / "docs/watch.md")
FLAG_TABLE = re.compile(r"(<!-- flags: .* -->\n).*?(<!-- /flags -->\n)", re.S)
ASKS = re.compile(r"(what|which|where|when|how|who|why|is|are|can|do|does|would)\b", re.I)
NO_NOUN = re.compile(r"(For|In|On|From|At|With|Stop|Record|Repeat|Create|Install|Use|Write|Choose|It|They|You)\b")
TEST_FUNCTION = re.compile(r"^(export )?(async )?(function|const) Test\w", re.M)
OF_PYTEST = {
    "-k",
    "-m",
    "-p",
    "-x",
    "--maxfail",
    "--continue-on-collection-errors",
    "--lf",
    "--yao-env-file",
    "--yao-models",
}
OF_OTHERS = {
    "pytest.md": OF_PYTEST,
    "cli.md": {"--testNamePattern"},
    "cluster.md": {"--no-nanny"},
    "from-yao.md": {"-s", "--scripts"},
    "from-vitest.md": {"--bail", "--outputFile", "--reporter", "--sequence"},
    "from-promptfoo.md": {"--filter-pattern", "--filter-failing"},
    "from-inspect.md": {"--max-connections", "--model"},
}
"""Page → flags of another tool that it names."""
OF_CLICK = {"--help", "-h", "--version"}
GLOSSARY = (
    "run suite test case attempt turn step checkpoint assertion status failure error connector assistant hook binding"
).split()


class Block(NamedTuple):
    """A fenced block of a page."""

    language: str
    text: str
    line: int
    """Number of its first line in the page."""

    @property
    def path(self) -> str | None:
        """Where its first line says it belongs."""
        match = re.match(r"(?://|#) (\S+/\S+\.(?:ts|js|json|yao|ya?ml|jsonl)|yao-test\.toml)\n", self.text)
        return match[1] if match else None

    @property
    def has_tests(self) -> bool:
        """Whether it declares test functions."""
        return self.language == "typescript" and TEST_FUNCTION.search(self.text) is not None


def blocks_of(page: Path) -> list[Block]:
    """The fenced blocks of a page."""
    text = page.read_text("utf-8")
    found = re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S)
    return [Block(language=match[1], text=match[2], line=text.count("\n", 0, match.start(2)) + 1) for match in found]


def module_of(path: str) -> str:
    """The id of the test module in a file: `scripts.a.b` for `assistants/a/src/b_test.ts`."""
    agent, _, script = path.removeprefix("assistants/").partition("/src/")
    return ".".join(["scripts", *agent.split("/"), *script.removesuffix("_test.ts").split("/")])


def flags_of_commands() -> set[str]:
    """The flags of the other commands."""
    named = [command_of(name) for name in COMMANDS]
    commands = [*named, *(inner for one in named for inner in getattr(one, "commands", {}).values())]
    return {spelling for command in commands for parameter in command.params for spelling in parameter.opts}


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def plain(output: str) -> list[str]:
    """The lines of an output with every duration written 0ms, and every figure of a benchmark 0,
    whatever width it gave its column."""
    output = re.sub(
        r"^ *Benchmark.* ((ns|calls)/op|Change).*$", lambda line: _without_figures(line[0]), output, flags=re.M
    )
    return re.sub(r"\((\d+ms|\d+\.\d\ds)", "(0ms", output).rstrip("\n").split("\n")


def _without_figures(line: str) -> str:
    line = re.sub(r"(?<![\w/])[+-]?[\d,.]+%?|~", "0", re.sub(r"-\d+(?=\s)", "", line))
    return " ".join(line.split())


def assert_shows(actual: list[str], shown: list[str], where: str) -> None:
    """Compares an output with what a page shows of it."""
    parts: list[list[str]] = [[]]
    for line in shown:
        if line == "...":
            parts.append([])
        else:
            parts[-1].append(line)
    first, *rest = parts
    beginning = actual[: len(first)] if rest else actual
    assert beginning == first, "\n".join([where, *unified_diff(first, beginning, "page", "command", lineterm="")])
    position = len(first)
    for number, part in enumerate(rest, 1):
        last = number == len(rest)
        end = len(actual) - len(part)
        places = range(max(position, end) if last else position, end + 1)
        place = next((place for place in places if actual[place : place + len(part)] == part), None)
        assert place is not None, "\n".join([where, "prints no such lines:", *part, "but:", *actual])
        position = place + len(part)


class Reader:
    """Follows a page from top to bottom."""

    def __init__(self, page: Path, app: Application) -> None:
        self.page = page
        self.app = app
        self.blocks = blocks_of(page)

    def follow(self) -> None:
        """Does what every block says."""
        for number, block in enumerate(self.blocks):
            path = block.path
            if path is None and block.has_tests:
                path = f"assistants/example/src/example{number}_test.ts"
            if path is not None:
                self.write(path, block.text)
            if path is not None and block.has_tests and not self.shown_later(number, module_of(path)):
                run = self.app.run("-i", module_of(path))
                assert run.code == 0, f"{name_of(self.page)}:{block.line}\n{run.stdout}{run.stderr}"
            if block.language == "console":
                self.commands(block)

    def write(self, path: str, text: str) -> None:
        """Writes a file of the page, and the package of its agent if there is none."""
        agent, source, _ = path.partition("/src/")
        if source and not (self.app.root / agent / "package.yao").exists():
            self.app.write({f"/{agent}/package.yao": "{}"})
        self.app.write({f"/{path}": text})

    def shown_later(self, number: int, module: str) -> bool:
        """Whether a console block before the next tests shows the module."""
        for block in self.blocks[number + 1 :]:
            if block.language == "console":
                return module in block.text
            if block.has_tests:
                return False
        return False

    def commands(self, block: Block) -> None:
        """Runs the commands of a console block and compares what they print."""
        for part in re.split(r"^\$ ", block.text, flags=re.M)[1:]:
            line, _, shown = part.partition("\n")
            name, *arguments = shlex.split(line)
            assert name == "yao-test", line
            target = arguments.pop() if arguments[-2:-1] == [">"] else None
            run = self.app.run(*(arguments[:-1] if target else arguments))
            if target is not None:
                self.app.write({f"/{target}": run.stdout})
                run = run._replace(stdout="")
            assert_shows(plain(run.stdout + run.stderr), plain(shown), f"{name_of(self.page)}:{block.line}: {line}")


def flag_row(flag: Flag) -> str:
    """A line of the list of flags."""
    value = {
        "text": f" {flag.metavar}",
        "repeated": f" {flag.metavar}",
        **dict.fromkeys(("optional", "maybe"), f"[={flag.metavar}]"),
    }.get(flag.kind, "")
    spellings = ", ".join(f"`{spelling}{value}`" for spelling in flag.spellings)
    return f"- {spellings}: {flag.help}".replace("<", "&lt;")


def flag_table() -> str:
    """The table of flags, as in the page."""
    return "\n".join(["", *map(flag_row, FLAGS), "", ""])


def with_flag_table(text: str) -> str:
    """The page with the table in its place."""
    return FLAG_TABLE.sub(lambda match: match[1] + flag_table() + match[2], text)


def flags_in(text: str) -> Iterator[str]:
    """The flags that a page gives to the command, or names by themselves in code."""
    spans = re.findall(r"`([^`\n]+)`", text)
    blocks = re.findall(r"^```(?:bash|console)\n(.*?)^```", text, re.M | re.S)
    for line in "\n".join(spans + blocks).splitlines():
        command = re.search(r"yao-test( .*)?$", line.partition("#")[0])
        if command or re.match(r"--?[a-zA-Z]", line):
            for word in (command[1] or "" if command else line).split():
                if match := re.match(r"--?[a-zA-Z][\w-]*", word):
                    yield match[0]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_examples_of_a_page_do_what_it_shows(page: Path, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    app = Application(tmp_path / "app", tmp_path / "home")
    (app.root / "assistants").mkdir(parents=True)
    if page in SHOW_ASSISTANTS:
        shutil.copytree(ROOT / "assistants", app.root / "assistants", dirs_exist_ok=True)
        shutil.copytree(ROOT / "tests/apps/pet_clinic", app.root / "tests/apps/pet_clinic")
    Reader(page, app).follow()


def test_the_pages_have_examples() -> None:
    counts = {
        name_of(page): sum(block.has_tests or block.language == "console" for block in blocks_of(page))
        for page in PAGES
    }

    assert {name: counts[name] for name in ("README.md", "docs/quickstart.md")} == {
        "README.md": 5,
        "docs/quickstart.md": 7,
    }
    assert counts["docs/script-tests.md"] > 7
    assert counts["docs/mocking.md"] > 3
    assert counts["docs/cli.md"] > 3


@each(
    ("actual", "shown", "same"),
    [
        ("a b c", "a b c", True),
        ("a b c", "a b", False),
        ("a b c", "a ...", True),
        ("a b c", "... c", True),
        ("a b c", "... b", False),
        ("a b c", "a ... c", True),
        ("a b c d", "a ... c ... d", True),
        ("a b c d", "a ... d ... c", False),
        ("a b c", "... x ...", False),
    ],
)
def test_dots_stand_for_any_lines(actual: str, shown: str, same: bool) -> None:
    if same:
        assert_shows(actual.split(), shown.split(), "here")
    else:
        with pytest.raises(AssertionError):
            assert_shows(actual.split(), shown.split(), "here")


def test_the_table_of_flags_is_that_of_the_command() -> None:
    text = CLI.read_text("utf-8")

    assert FLAG_TABLE.search(text)
    assert text == with_flag_table(text), "run: PYTHONPATH=tests/helpers python tests/e2e/documentation/test_pages.py"


@each("page", PAGES, ids=name_of)
def test_every_flag_that_a_page_shows_exists(page: Path) -> None:
    known = {spelling for flag in FLAGS for spelling in flag.spellings} | OF_CLICK | flags_of_commands()
    known |= OF_OTHERS.get(page.name, set())
    known |= set(table()["flag"]) if page == CLI else set()  # the page says what becomes of them

    assert sorted(set(flags_in(page.read_text("utf-8"))) - known) == []


def test_flags_are_found_where_pages_show_them() -> None:
    page = "`--run X` and `-u`, not `a --b`\n\n```bash\npip install -e . && yao-test -i x --team=y\n```\n"

    assert list(flags_in(page)) == ["--run", "-u", "-i", "--team"]


def test_the_table_of_exit_codes_is_that_of_the_command() -> None:
    rows = re.findall(r"^\| (\d+) \| (.+) \|$", CLI.read_text("utf-8"), re.M)
    source = Path(exit_codes.__file__).read_text("utf-8")

    assert rows == re.findall(r'^[A-Z]+ = (\d+)\n"""(.+)"""$', source, re.M)


def test_the_help_of_each_command_names_its_page(tmp_path: Path) -> None:
    pages = {name: str(command_of(name).epilog).removeprefix("More: ") for name in COMMANDS}
    assert [page for page in pages.values() if not (ROOT / page).is_file()] == []
    app = Application(tmp_path, tmp_path)
    for words, page in ("--help all", "cli"), ("diff --help", "comparing"), ("store --help", "history"):
        assert app.run(*words.split()).stdout.rstrip().endswith(f"docs/{page}.md")


def test_the_glossary_has_every_word() -> None:
    cells = re.findall(r"^\| ([^|]+) \|", (ROOT / "docs/concepts.md").read_text("utf-8"), re.M)
    words = [word for cell in cells for word in cell.split(", ")]

    assert sorted(set(GLOSSARY) - set(words)) == []
    assert len(words) == len(set(words))


def titles_of(page: Path) -> list[str]:
    """The headings of a page, without those that are code."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.M | re.S)
    return [title for title in re.findall(r"^#+ (.+)$", text, re.M) if not re.fullmatch(r"`[^`]+`", title)]


def is_noun_or_question(title: str) -> bool:
    """Whether a heading names or asks something: `What we do` does neither, `Stop it` tells."""
    if title.endswith("?"):
        return any(ASKS.match(part) for part in (title, title.rpartition(": ")[2]))
    return not ASKS.match(title) and not NO_NOUN.match(title)


@each("page", PAGES, ids=name_of)
def test_headings_are_nouns_or_questions(page: Path) -> None:
    assert [title for title in titles_of(page) if not is_noun_or_question(title)] == []


@each(
    ("title", "holds"),
    [
        ("Who is the user?", True),
        ("Comparing: is it worse?", True),
        ("Exit codes", True),
        ("What it costs", False),
        ("In CI", False),
        ("Repeat until certain", False),
        ("The tool's fault?", False),
    ],
)
def test_a_heading_that_neither_names_nor_asks_is_found(title: str, holds: bool) -> None:
    assert is_noun_or_question(title) is holds


@each("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.S)):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        other = (page.parent / name).resolve() if name else page
        titles = re.findall(r"^#+ (.+)$", other.read_text("utf-8"), re.M) if other.is_file() else []
        anchors = [re.sub(r"[^\w\- ]", "", title).strip().lower().replace(" ", "-") for title in titles]
        if not other.exists() or (anchor and anchor not in anchors):
            broken.append(target)
    assert broken == []


def test_the_first_two_commands_of_the_readme_set_up_and_run() -> None:
    first, second = [block for block in blocks_of(README) if block.language == "bash"][:2]

    assert first.text == (
        "python3 -m venv .venv && .venv/bin/pip install . && .venv/bin/yao-test -i scripts.expense.setup -v\n"
    )
    assert second.text == "python3 -m venv .venv && .venv/bin/pip install -e '.[dev]' && .venv/bin/pytest\n"
    assert blocks_of(README)[:2] == [first, second]


if __name__ == "__main__":
    sys.exit(0 if CLI.write_text(with_flag_table(CLI.read_text("utf-8")), "utf-8") else 1)
