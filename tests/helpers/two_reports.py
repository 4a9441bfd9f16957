"""Two saved reports, made from marks such as `p` and `f`, and what `yao-test diff` prints for them."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count

from agent_files import lines
from command import Application, MakeApplication, Record, Run

SUITE = {"id": "c.jsonl", "kind": "agent_test", "label": "c.jsonl", "file": "", "agent": "demo", "connector": "gpt"}
SCRIPTS = {**SUITE, "id": "scripts.a.b", "kind": "script_test", "connector": ""}
MARKS = {"p": "passed", "f": "failed", "s": "skipped", "e": "failed"}
Results = dict[str, list[Record]]


def runs(marks: str, **more: object) -> list[Record]:
    """The lines of a case: one for each mark, `p`assed, `f`ailed, `s`kipped or `e`rror."""
    found = []
    for number, mark in enumerate(marks, 1):
        line: Record = {"status": MARKS[mark], "duration_ms": 100, "input": "x", "connector": "gpt", **more}
        line |= {"error": "no"} if mark in "fe" else {}
        line |= {"cause": "infrastructure"} if mark == "e" else {}
        found.append(line | ({"run": number} if len(marks) > 1 else {}))
    return found


def scored(*scores: object, **more: object) -> list[Record]:
    """The lines of a case with scores."""
    made = runs("p" * len(scores), mode="conversation", **more)
    return [{**line, "score": score} for line, score in zip(made, scores, strict=True)]


def cases(number: int, marks: str, prefix: str = "c", **more: object) -> Results:
    return {f"{prefix}{at}": runs(marks, **more) for at in range(number)}


def polite(marks: str) -> list[Record]:
    return [
        {**line, "checkpoints": [{"id": "polite", "passed": mark == "p", "required": False, "reached_at_turn": 1}]}
        for line, mark in zip(runs("p" * len(marks)), marks, strict=True)
    ]


def written(results: Results, suite: Record = SUITE, **start: object) -> str:
    first = {"type": "start", "timestamp": "2026-11-20T10:00:00Z", "version": "1.0.0", "suites": [suite], **start}
    placed = [
        {"type": "result", "suite": suite["id"], "id": id, "position": at, **line}
        for at, (id, made) in enumerate(results.items())
        for line in made
    ]
    return lines(first, *placed, {"type": "summary", "duration_ms": 1000, "status": "passed"})


class Pair:
    """Two reports, and what is said of them."""

    def __init__(self, here: Application, folder: str) -> None:
        self._here, self._folder = here, folder
        self.root = here.root / folder

    def run(self, *arguments: str) -> Run:
        return self._here.run(*arguments, directory=self._folder)

    def diff(self, *flags: str) -> Run:
        return self.run("diff", "a.jsonl", "b.jsonl", *flags)

    def verdict(self, *flags: str) -> Record:
        """The verdict of the JSON document."""
        run = self.diff("-o", "d.json", *flags)
        assert run.code == 0, run.stderr
        found: Record = json.loads((self.root / "d.json").read_text())["verdict"]
        return found

    def said(self, *flags: str) -> list[str]:
        """The sentences: the verdict, and the lines below it, with the statistics."""
        *said, sides = self.diff("-v", *flags).stdout.partition("\n\n")[0].splitlines()
        assert sides == "  A: a.jsonl, B: b.jsonl"
        return said


Pairs = Callable[[Results | str, Results | str], Pair]
"""Makes a pair of A and B: results, or texts of reports."""


def pairs_in(app: MakeApplication) -> Pairs:
    """Pairs in an application, each in a folder of its own."""
    number = count()

    def make(a: Results | str, b: Results | str) -> Pair:
        texts = [side if isinstance(side, str) else written(side) for side in (a, b)]
        folder = f"pair{next(number)}"
        return Pair(app({f"/{folder}/a.jsonl": texts[0], f"/{folder}/b.jsonl": texts[1]}), folder)

    return make


STEADY = cases(30, "ppppp")
FLAKY = {**cases(26, "p"), **cases(4, "f", "f")}
