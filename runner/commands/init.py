"""Commands that make the first files. `yao-test init [FOLDER]`: an agent with tests, or a fuller application, in an
empty folder or in an application; with `--data TABLE`, a case file with assertions, and a scripted model that answers
as the table says. `yao-test convert FILE`: cases of other tools as a case file."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from runner.application.application import find_root, repository_of
from runner.cases.csv_rows import open_table
from runner.cases.reader import cases_from_values
from runner.cells import table_text
from runner.commands import tables
from runner.commands.inputs import write_file, writing
from runner.commands.types import CONFIG, TSCONFIG, content_of, lacks, type_files
from runner.conversion.formats import converted
from runner.conversion.sources import JUDGE, SAME_MEANING, parsed, value_of
from runner.environment import Environment
from runner.errors import ConfigurationError, listed, shown_path
from runner.options.options import absolute
from runner.planning.last_failed import STORE
from runner.reporters.console.style import count
from runner.security.files import TABLES, check_target
from runner.security.terminal import in_line
from scripttest.values import Value

CI_SYSTEMS = ("github", "gitlab", "none")
CI_FILES = {"github": ".github/workflows/yao-test.yml", "gitlab": ".gitlab-ci.yml"}
"""CI system → its file, from the root of the repository."""
REQUIREMENTS = "requirements-test.txt"
"""The package that the CI job installs."""
APPLICATIONS = Path(__file__).resolve().parents[1] / "shipped/applications"
"""What `init` makes, as it is written."""
GUIDE = "AGENTS.md"
"""What coding agents read first."""
HELLO = "hello"
APART = APPLICATIONS.parent / "init"
"""Files that do not belong to an application: of CI systems, where `INSIDE` and `BELOW` are its folder, and tasks of VS
Code, whose problem matcher finds the places of failures."""
IGNORED = ("output-*.jsonl", ".yao-test/")
"""Lines of `.gitignore`: reports of case files, and what the tool keeps between runs."""


class NewFile(Value):
    """A file that is written if there is none."""

    path: str
    """From the root of the application, with slashes."""
    text: str
    goes_with: tuple[str, ...] = ()
    """Files that have to be as `init` writes them; this one would not fit to others."""


def init(environment: Environment, given: tables.Init) -> int:
    """Writes the files, prints what was done to each, and returns the exit code."""
    if given.example is not None and (given.name is not None or given.data is not None):
        flag = "-n" if given.data is None else "--data"
        raise ConfigurationError(
            f"{flag} and --example cannot be used together", "An example comes with its own agents"
        )
    if given.name is not None and not re.fullmatch(r"\w[\w-]*(\.\w[\w-]*)*", given.name):
        raise ConfigurationError(
            f'Invalid agent id "{given.name}": use letters, digits, _ and -, with dots between folders',
            "For example: hello or workers.hello",
        )
    root = _root(environment.directory, given.folder)
    system = given.ci or _asked(environment)
    maker = _Maker(root, environment)
    if given.data is not None:
        files = data_files(absolute(given.data, environment.directory), given.data, given.name).items()
        made = [NewFile(path=path, text=text) for path, text in files]
    else:
        made = list(agent_files(given.name or HELLO) if given.example is None else application_files(given.example))
    for file in made:
        maker.make(file)
    for path, text in type_files(root).items():
        maker.make(NewFile(path=path, text=text))
    maker.make(NewFile(path=CONFIG, text=TSCONFIG.read_text("utf-8")))
    maker.make(NewFile(path=GUIDE, text=(APPLICATIONS.parent / GUIDE).read_text("utf-8")))
    if given.vscode:
        maker.make(NewFile(path=".vscode/tasks.json", text=(APART / "tasks.json").read_text("utf-8")))
    repository = repository_of(root)
    if system in CI_FILES:
        inside = root.relative_to(repository).as_posix() if root != repository else ""
        _Maker(repository, environment).make(NewFile(path=CI_FILES[system], text=ci_text(system, inside)))
    _ignore(root, repository, environment)
    if not os.path.lexists(root / STORE):
        with writing(root / STORE):
            (root / STORE).mkdir()
        environment.stdout.write(
            f"Created {_shown(root / STORE, environment)}/, where runs are stored for history and view\n"
        )
    _say_what_is_left(root, system, environment)
    if given.name is None and given.folder is not None and (around := _application_around(root)) is not None:
        environment.stdout.write(
            f"{given.folder} is a separate application inside {around.name}; "
            f"to add an agent to {around.name} instead: yao-test init -n {root.name}\n"
        )
    where = "" if root == environment.directory else f" in {_shown(root, environment)}"
    environment.stdout.write(f"Run the tests{where}: yao-test\n")
    return 0


class _Maker:
    def __init__(self, root: Path, environment: Environment) -> None:
        self._root = root
        self._environment = environment
        self._foreign: set[str] = set()
        """Paths of files that are not as `init` writes them."""

    def make(self, file: NewFile) -> None:
        """Writes a file, unless it exists, or a file that it depends on has another content than `init` writes. Raises
        ConfigurationError."""
        path = self._root / file.path
        others = [other for other in file.goes_with if other in self._foreign]
        if os.path.lexists(path):
            if content_of(path) != file.text:
                self._foreign.add(file.path)
            self._say("Kept", path)
        elif others:
            self._foreign.add(file.path)
            self._say("Not written", path, f", because there is another {others[0].rpartition('/')[2]}")
        else:
            with writing(path):
                check_target(path)
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("x", encoding="utf-8") as stream:
                    stream.write(file.text)
            self._say("Wrote", path)

    def _say(self, what: str, path: Path, more: str = "") -> None:
        self._environment.stdout.write(f"{what} {_shown(path, self._environment)}{more}\n")


def _root(directory: Path, folder: str | None) -> Path:
    """The folder that is named, which is created; else the application here; else the working directory."""
    if folder is not None:
        root = Path(directory, folder).resolve()
        with writing(root):
            root.mkdir(parents=True, exist_ok=True)
        return root
    try:
        return find_root(directory)
    except ConfigurationError:
        return directory


def _application_around(root: Path) -> Path | None:
    try:
        return find_root(root.parent)
    except ConfigurationError:
        return None


def _asked(environment: Environment) -> str:
    if not environment.terminal or not sys.stdin.isatty():
        return "github"
    try:
        answer: str = click.prompt("CI file for", type=click.Choice(CI_SYSTEMS), default="github")
    except click.Abort as error:
        raise KeyboardInterrupt from error
    return answer


def _ignore(root: Path, repository: Path, environment: Environment) -> None:
    """Adds to `.gitignore` what is to be ignored and is not yet, there or in that of the repository."""
    path = root / ".gitignore"
    texts = (content_of(folder / ".gitignore") or "" for folder in {root, repository})
    ignored = {line.strip().strip("/") for text in texts for line in text.splitlines()}
    lines = [line for line in IGNORED if line.strip("/") not in ignored]
    if not lines:
        return
    is_new = not os.path.lexists(path)
    with writing(path):
        check_target(path)
        with path.open("ab+") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 1))
            ends = file.read() in (b"", b"\n")
            file.write(("" if ends else "\n").encode() + "".join(f"{line}\n" for line in lines).encode())
    shown = _shown(path, environment)
    environment.stdout.write(f"Wrote {shown}\n" if is_new else f"Added to {shown}: {', '.join(lines)}\n")


def _say_what_is_left(root: Path, system: str, environment: Environment) -> None:
    write = environment.stdout.write
    for line in lacks(root, type_files(root), _shown(root / CONFIG, environment)):
        write(f"{line}\n")
    if system in CI_FILES and not (root / REQUIREMENTS).exists():
        requirements = _shown(root / REQUIREMENTS, environment)
        write(f"Add a wheel or Git URL of yao-test to {requirements} so that CI can install it\n")


def _shown(path: Path, environment: Environment) -> str:
    return os.path.relpath(path, environment.directory)


def agent_files(agent: str) -> Iterator[NewFile]:
    """The files of the first agent, by the id that it is to have."""
    name = agent.rpartition(".")[2].replace("_", " ").replace("-", " ").capitalize()
    for file in application_files(HELLO):
        text = file.text.replace(f"agents.{HELLO}.", f"agents.{agent}.").replace('"name": "Hello"', f'"name": "{name}"')
        paths = [
            one.replace(f"assistants/{HELLO}", f"assistants/{agent.replace('.', '/')}")
            for one in (file.path, *file.goes_with)
        ]
        yield NewFile(path=paths[0], text=text, goes_with=tuple(paths[1:]))


def application_files(name: str) -> Iterator[NewFile]:
    """The files of an application to begin with. Tests go with all other files, these with `package.yao`."""
    top = APPLICATIONS / name
    paths = sorted(path.relative_to(top).as_posix() for path in top.rglob("*") if path.is_file())
    tests = [path for path in paths if "/tests/" in path or "_test." in path]
    packages = [path for path in paths if path.endswith("/package.yao")]
    others = [path for path in paths if path not in (*tests, *packages)]
    for path in [*packages, *others, *tests]:
        package = max((one for one in packages if path.startswith(one.removesuffix("package.yao"))), key=len)
        needed = sorted(others, key=lambda other: other.rpartition(".")[0] != path.partition("_test.")[0])
        with_it = (*[package] * (path != package), *(needed if path in tests else ()))
        yield NewFile(path=path, text=(top / path).read_text("utf-8"), goes_with=with_it)


def ci_text(system: str, folder: str) -> str:
    """The file for a CI system. `folder`: path of the application in the repository, with slashes; empty: its root."""
    from shlex import quote

    inside = {
        "github": f"    defaults:\n      run:\n        working-directory: {json.dumps(folder)}\n",
        "gitlab": f"    - {json.dumps(f'cd {quote(folder)}')}\n",
    }
    text = (APART / f"{system}.yml").read_text("utf-8")
    return text.replace("INSIDE\n", inside[system] if folder else "").replace("BELOW", f"{folder}/" if folder else "")


FORMS = (".jsonl", ".json", ".yaml", ".yml")
MOST_PLACES = 5
"""How many cases are named for one thing that has no counterpart."""


def convert(environment: Environment, given: tables.Convert) -> int:
    """Writes the cases, and what has no counterpart to standard error; returns the exit code."""
    path = absolute(given.file, environment.directory)
    target = absolute(given.output, environment.directory) if given.output else None
    if target is not None and (target.suffix.lower() not in FORMS or target == path):
        why = "that is the file to convert" if target == path else f"the name of a case file ends in {', '.join(FORMS)}"
        raise ConfigurationError(f"Cannot write {given.output}: {why}", "Choose another file with -o")
    kind, found = converted(path, given.file, given.format, given.scorer)
    if not found.cases:
        raise ConfigurationError(f"Cannot convert {given.file}: it contains no cases")
    made = cases_from_values(found.cases, given.file, target.parent if target else path.parent, lenient=True)
    kept = {case.id for case in made.cases}
    cases = [case for case in found.cases if case["id"] in kept]
    if target is None:
        environment.stdout.write("".join(f"{_json(case)}\n" for case in cases))
    else:
        write_file(target, _text(cases, target.suffix.lower()))
        environment.stdout.write(
            f"Wrote {count(len(cases), 'case')} from {kind} to {shown_path(target, environment.directory)}\n"
        )
    lines = [f"{what} ({listed(ids, MOST_PLACES)})" if ids else what for what, ids in found.lacking.items()]
    if lines:
        environment.stderr.write("No counterpart:\n" + "".join(f"  {in_line(line)}\n" for line in lines))
    for warning in made.warnings:
        environment.stderr.write(f"Warning: {in_line(warning)}\n")
    return 0


def _json(case: object) -> str:
    return json.dumps(case, ensure_ascii=False)


def _text(cases: list[dict[str, object]], suffix: str) -> str:
    """A case file; each line of YAML is a list element with a value in JSON."""
    if suffix == ".json":
        return json.dumps(cases, ensure_ascii=False, indent=2) + "\n"
    start = "" if suffix == ".jsonl" else "- "
    return "".join(f"{start}{_json(case)}\n" for case in cases)


INPUTS = "input question prompt query message user_message utterance user text request frage eingabe".split()
"""Names of the column with what is said to the agent, the best first; without any, it is the first column."""
ANSWERS = (
    "expected expected_output expected_answer answer ideal target reference ground_truth output response result"
    " antwort erwartet"
).split()
"""Names of the column with the right answer."""
SHORT = 80
"""Characters of an answer that has to be in the text as it is; a longer one has to be meant."""
_ASSERTED = ("expected", "assert.equals", "assert.contains", "assert.icontains", "assert.starts_with")
_TEMPLATE = re.compile(r"\{\{|\{%")
_VARIABLE = re.compile(r"\{\{\s*(\w+)\s*\}\}")
PROMPTS = """- role: system
  content: You answer questions.
"""
Row = Mapping[str, str]


def agent_name(table: str) -> str:
    """The id of an agent that is called after a table."""
    return re.sub(r"\W+", "-", Path(table).stem).strip("-_") or "table"


def data_files(path: Path, shown: str, agent: str | None) -> dict[str, str]:
    """The files of an agent, by their paths from the root of the application. Raises ConfigurationError for a table
    without rows, and for what is no table. `shown`: the name of the table in messages. `agent`: its id; None: it is
    called after the table."""
    id = agent or agent_name(shown)
    folder = f"assistants/{id.replace('.', '/')}"
    package = {"name": id, "description": "Answers questions", "connector": "scripted"}
    own = {"package.yao": f"{json.dumps(package, indent=2, ensure_ascii=False)}\n", "prompts.yml": PROMPTS}
    return {f"{folder}/{name}": text for name, text in (own | _from_table(path, shown)).items()}


def _from_table(path: Path, shown: str) -> dict[str, str]:
    """The case file and the replies."""
    if path.suffix.lower() not in TABLES:
        raise ConfigurationError(f"Cannot read {shown}: it is not a table", "Save it as .csv or .tsv")
    rows = value_of(path, shown)
    if not rows:
        raise ConfigurationError(f"Cannot make cases of {shown}: it has no rows after its header")
    names = {name.lower(): name for name in rows[0]}
    is_ready = "input" in names and any(name.startswith("assert") or name == "expected" for name in names)
    file = f"tests/{agent_name(shown)}{path.suffix.lower()}"
    if is_ready:
        said = names["input"]
        answers = [next((row[name] for name in _ASSERTED if row.get(name)), "") for row in rows]
        with open_table(path) as table:
            return {file: table.read().replace("\r\n", "\n"), "replies.yml": _replies(rows, said, answers)}
    said = next((names[name] for name in INPUTS if name in names), next(iter(rows[0])))
    answer = next((names[name] for name in ANSWERS if name in names and names[name] != said), None)
    answers = [row.get(answer, "") if answer else "" for row in rows]
    between = "\t" if path.suffix.lower() == ".tsv" else ","
    return {file: _cases(rows, said, answer, between), "replies.yml": _replies(rows, said, answers)}


def _cases(rows: list[Row], said: str, answer: str | None, between: str) -> str:
    """The table as a case file: the answers become assertions, and what else it has stays, as variables."""
    made = [dict(_case(row, said, answer)) for row in rows]
    first = [name for name in ("id", "input") if any(name in row for row in made)]
    fields = dict.fromkeys([*first, *(name for row in made for name in row)])
    return table_text(fields, made, between)


def _case(row: Row, said: str, answer: str | None) -> Iterator[tuple[str, str]]:
    yield "input", row.get(said, "")
    for name, cell in row.items():
        if name.lower() == "id":
            yield "id", cell
        elif name not in (said, answer):
            yield name, cell
    wanted = row.get(answer, "") if answer else ""
    if not wanted:
        return
    if wanted[0] in "[{" and (value := parsed(wanted)) is not None:
        yield "assert", json.dumps({"type": "equals", "value": value}, ensure_ascii=False)
    elif len(wanted) <= SHORT and "\n" not in wanted:
        yield "assert.icontains", wanted
    else:
        yield f"assert.agent:{JUDGE}", SAME_MEANING.format(wanted)


def _filled(text: str, row: Row) -> str:
    return _VARIABLE.sub(lambda found: row.get(found[1], ""), text)


def _replies(rows: list[Row], said: str, answers: list[str]) -> str:
    rules = ["# The scripted model replies with the answers from the table."]
    known = set()
    for row, answer in zip(rows, answers, strict=True):
        text, answer = _filled(row.get(said, ""), row), _filled(answer, row)
        if text and answer and text not in known and not _TEMPLATE.search(text + answer):
            known.add(text)
            words = json.dumps(text, ensure_ascii=False), json.dumps(answer, ensure_ascii=False)
            rules.append(f"- when: {{ input: {{ equals: {words[0]} }} }}\n  reply: {words[1]}")
    return "\n".join([*rules, "- reply: The table has no answer for that.\n"])
