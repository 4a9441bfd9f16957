"""What the product prints reads as a native reader of the field would write it: wordings that are not to come back, in any
text of the Python packages, in the scripts' half, on the pages of reports, and in the documentation."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("runner", "bindings", "scripttest")
GONE = {
    # wording → in its place
    r"more runs of both": "more runs on each side",
    r"To see whether": "To find out whether",
    r"To see \S+ points": "Detecting a 5-point difference would take",
    r"Since the older run": "Changed since the baseline",
    r"\bthe flags,? (?:the|changed)|\bthe flags changed": "changed: flags",
    r"are the same each time": "deterministic",
    r"^Tells whether": "Compares",
    r"would have shown": "detect",
    r"own noise": "judge noise",
    r"beyond the noise of its runs": "real regressions from noise",
    r"A test is slower when it takes": "Report a test as slower when",
    r"Whether runs of one case may differ": "Whether repeated runs can give different results",
    r"^What writes the first": "Reporter for the first",
    r"when they can be told apart": "one is clearly better",
    r"stops running when that is decided": "as soon as the outcome is certain",
    r"^How (?:often|many|much) (?!assertion)": "a noun: Number of, Detail of",
    r"^By how much": "Allowed slowdown",
    r"[Tt]ake the answers of models": "Replay recorded model responses",
    r"no model is asked": "no model is called",
    r"Start no further": "Stop starting tests once",
    r"may break\b": "Tolerate this many errors",
    r"Refuse rows": "Reject rows",
    r"although SQLite accepts": "even if SQLite accepts",
    r"run again what depends": "re-run affected tests",
    r"have failed or broken|broke or did not decide": "failures or errors",
    r"there is no such command": 'Unknown command "..."',
    r"name it after -i": "pass a path",
    r"has an -i before it": "Quote messages that contain spaces",
    r"No case was run": "No cases were run",
    r"the module cannot be loaded|Could not resolve \"": 'Cannot find module "..."',
    r"did not run: the run broke": "was not run: the run was aborted",
    r"Git address": "Git URL",
    r"and runs nothing|and run nothing": "without running it",
    r"in no file any more": "no longer exist",
    r"labels of people": "human labels",
    r"Labels that the file already has": "Existing labels",
    r"It shows the runs of|Ctrl-C ends it": "Press Ctrl-C to stop",
    r"run again, since": "re-run because",
    r"^It takes ": "Allowed fields: ",
    r"^Such as ": "For example: ",
    r"\bfrom \d up\b": "of at least 1",
    r"\blists? of texts\b|\b(?:must be|is not|needs) a text\b": "a string",
    r"surrogate pair": "a lone surrogate",
    r"\bholds? no (?:tests|agents)\b|must hold an object": "contain",
    r"US dollars for a million": "US dollars per million tokens",
    r"is given twice": "is set twice",
    r"^Name (?:it with|another) ": "Pass it with --app, Choose another file",
    r"the answer of \S+ exceeds": "the response from ... is larger than",
    r"answered without a message|answered what is not|broke its answer off": "returned an empty message",
    r"that nothing can settle any more": "that can never settle",
    r"yao-test broke|the run broke|console broke": "crashed, was aborted",
    r"^Run it again|  Run it again": "Rerun",
    r"is the same with it|no test looks at it": "both give the same value, no test checks it",
    r"on which no case depends": "without a case that depends on it",
    r"walls around scripts": "sandbox walls",
    r"(?<!here )\b(?:is|are|was) no (?!longer\b)[a-z]": "is not a",
    r"(?:may|must|cannot|to|archive) hold\b|does not hold|holds (?:no|more)": "contain, have, pass, is met",
    r"\banew\b|\b(?:goes|go) on\b": "starts a new one, continues",
    r"replies\S* says so|of \{\} says so|tells this story": "sets this error, recorded this story",
    r"\b[Aa]sks? (?:no )?real model|\bmodel be asked": "call real models",
    r"\bof several (?:turns|words)": "multi-turn, that contain spaces",
    r"\b[Ff]iles? of cases": "case files",
    r"so many runs|the clock ended|went more than": "a number of runs, ran out of time",
    r", with which [a-z]+ (?:is|are)": "which: which parses scripts",
    r"^Of (?:\{\}|\d)": "begin with the number: 2 of 24 labels",
    r"at place \{|such repetition|nothing but\b": "at position, repeated calls, only",
    r"\bto fit\b|to agree with the|Not as stored": "to match",
    r"has no .* of its own$|that exists is another": "cannot be set in, there is another",
    r"There is no (?:flag|command) |no such choice|lists the flags": "Unknown flag, Choose a or b, See ... --help",
    r"in which (?:they|it) differ|not looked at|with its own answer": "say what is to be done",
    r"\d tests? broke|too many broke|\} broke\b|^Something broke": "ended with an error",
    r"\btests beside\b|beside (?:it|each|this|the)\b": "next to, of the same module",
    r"^It is called|for who has": "Did you mean",
    r"\b[Nn]o run (?:is|of \S+ is) kept|\bkept run\b": "stored",
    r"what (?:the )?(?:schema|assertions|table) says?": "that matches the schema",
    r"what a call|sets nothing|^Nothing passed": "the cost of calling, has no settings, was never reached",
    r"\b(?:is|must be|needs?|holds?|takes) a text\b|, a text$|^a text$": "a string",
    r'(?:^|")(?:Pass rate|Time|Mean time|Total time|Took|Same output|Attempts?)(?:$|")': "Case or Run pass rate, Duration, Consistency, Run",
}  # fmt: skip
ENDS = re.compile(r"[A-Za-z]{2}[,.;:]?(?P<end> |(?=[\"']))[\"']$")
BEGINS = re.compile(r"\s*[rf]?[\"'](?P<start> ?)[A-Za-z]{2}")
IN_DOCUMENTATION = {
    r"Runs that are kept": "Run history",
    r"As often as needed": "Repetition until the result is certain",
    r"## Packages and rooms": "Packages and layers",
    r"in the time that it takes to look up": "(nothing)",
    r"This is the type of an assertion without one": "The default type",
    r"So is a script test that comes to one": "are skipped at that point",
}


def texts_in(path: Path) -> Iterator[tuple[int, str]]:
    """The strings of a Python module, with their lines; what is put into them is `{}`. Docstrings are left out, other
    than those of commands, which are their help."""
    nodes = [*ast.walk(ast.parse(path.read_text()))]
    is_help = path.parts[-2:] == ("commands", "tables.py")
    left_out = {id(node.value) for node in nodes if isinstance(node, ast.Expr) and not is_help}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            pieces = (piece.value if isinstance(piece, ast.Constant) else "{}" for piece in node.values)
            left_out.update(map(id, node.values))
            yield node.lineno, "".join(map(str, pieces))
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in left_out:
            yield node.lineno, node.value


def joints_of(path: Path) -> Iterator[str]:
    """Where a string that is continued on the next line loses the blank between two words, or has two."""
    lines = path.read_text().splitlines()
    for number, (above, below) in enumerate(pairwise(lines), 1):
        before = ENDS.search(above) if above.endswith(('"', "'")) else None
        following = BEGINS.match(below) if before else None
        if before and following and (before["end"] == " ") == (following["start"] == " "):
            yield f"{path.name}:{number}: {above[-40:]} {below.strip()[:40]}"


def suspected(texts: Iterable[str]) -> dict[str, str]:
    """Those of `GONE` that may be in one of the texts: to search them one by one takes ten times as long."""
    whole = "\n".join(texts)
    return {was: now for was, now in GONE.items() if re.search(was, whole, re.MULTILINE)}


def found_in(place: str, text: str, gone: dict[str, str]) -> list[str]:
    return [f"{place}: {was!r}, write {now!r}: {text[:80]!r}" for was, now in gone.items() if re.search(was, text)]


@pytest.mark.parametrize("package", PACKAGES)
def test_parts_of_a_text_on_several_lines_are_joined_by_one_blank(package: str) -> None:
    assert [joint for path in sorted((ROOT / package).rglob("*.py")) for joint in joints_of(path)] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_wordings_that_read_twice_stay_away(package: str) -> None:
    texts = [(path, *one) for path in sorted((ROOT / package).rglob("*.py")) for one in texts_in(path)]
    gone = suspected(text for _, _, text in texts)
    found = [said for path, line, text in texts for said in found_in(f"{path.relative_to(ROOT)}:{line}", text, gone)]
    assert found == []


@pytest.mark.parametrize("sources", ["bindings/src", "runner/reporters/html/src", "runner/view"])
def test_neither_do_scripts_and_pages_say_them(sources: str) -> None:
    texts = [
        (path, line, text)
        for path in sorted((ROOT / sources).rglob("*.ts*"))
        for line, text in enumerate(path.read_text().splitlines(), 1)
        if not text.lstrip().startswith(("//", "*", "/*"))
    ]
    gone = suspected(text for _, _, text in texts)
    found = [said for path, line, text in texts for said in found_in(f"{path.relative_to(ROOT)}:{line}", text, gone)]
    assert found == []


def test_headings_and_sentences_of_the_documentation_stay_plain() -> None:
    pages = [ROOT / "README.md", *(page for page in (ROOT / "docs").glob("*.md") if page.name != "changelog.md")]
    assert [said for page in pages for said in found_in(page.name, page.read_text(), IN_DOCUMENTATION)] == []


def test_a_wording_is_found_wherever_it_stands(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text('"""Since the older run, a docstring."""\nX = f"{1}: Since the older run, {2}" "."\n')
    ((line, text),) = texts_in(module)
    assert suspected(["other", text]) == {"Since the older run": "Changed since the baseline"}
    assert line == 2 and found_in("m", text, GONE) == [
        f"m: 'Since the older run', write 'Changed since the baseline': {text!r}"
    ]


def test_lost_and_doubled_blanks_are_found(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text('X = (\n    "one word,"\n    f"another "\n    " word "\n    "and more"\n)\n')
    assert list(joints_of(module)) == [
        'module.py:2:     "one word," f"another "',
        'module.py:3:     f"another " " word "',
    ]
