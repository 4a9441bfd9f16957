"""`yao-test convert FILE`: cases of other tools as a case file. What `yao-test init --data TABLE` makes of a table: a
case file with assertions, and a scripted model that answers as the table says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from runner.cases.csv_rows import open_table
from runner.cases.reader import cases_from_values
from runner.cells import table_text
from runner.commands import tables
from runner.commands.inputs import write_file
from runner.conversion.formats import converted
from runner.conversion.sources import JUDGE, SAME_MEANING, parsed, value_of
from runner.environment import Environment
from runner.errors import ConfigurationError, listed, shown_path
from runner.options.options import absolute
from runner.reporters.console.style import count
from runner.security.files import TABLES
from runner.security.terminal import in_line

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
    kind, found = converted(path, given.file, given.format, given.scorer, given.simulator)
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
