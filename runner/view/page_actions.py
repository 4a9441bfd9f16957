"""What pages may ask for other than a single run, and what they may start: comparisons, a test over time, pictures,
labels, and running again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from runner.compare.comparison import compare
from runner.compare.variants import side_by_side
from runner.errors import ConfigurationError
from runner.judging.judgements import Judgement, JudgementKey, Label, judgements_in, text_of_labels
from runner.parts import described
from runner.record.lines import result_of
from runner.record.outcomes import error_text
from runner.record.result_texts import as_text, message_text
from runner.reporters.change_lines import comparison_record, variants_record
from runner.security.files import application_of, read_named
from runner.store.history import Since, TestHistory, histories, history_of
from runner.store.store import Store
from runner.store.stored import StoredLabel, StoredResult, StoredRun, key_of
from runner.version import VERSION
from runner.view.reruns import Reruns, as_typed, commands_of
from runner.view.runs import StoredRuns
from scripttest.typing_names import Record

_ASKED = ("run", "turn", "criterion")
"""Identifies a question about one result."""
LONGEST = 2000
"""Characters of a reason."""


Questions = dict[tuple[int, int, str], Judgement]
"""What a person may be asked about a test, by attempt, as the store counts them, turn and criterion: the verdicts of
judges, and the answer as a whole, of which no judge says anything, with an empty criterion."""


class Labelling:
    """The labels of one person. Its methods block, and raise ConfigurationError for what cannot be done."""

    def __init__(self, runs: StoredRuns, person: str, now: Callable[[], str]) -> None:
        """`now` returns the time, UTC, RFC 3339."""
        self._runs = runs
        self._person = person
        self._now = now

    def questions(self, id: str, place: int) -> Record:
        """`{questions: [{run, turn, criterion, input, output, judged?: {passed, judge}, label?: {passed, why, person}},
        ...]}` about the result at a place of a run."""
        suite, test = self._test(id, place)
        with self._runs.reading() as store:
            labels = [
                label
                for label in store.labels(id)
                if (label.suite, label.test, label.person) == (suite, test, self._person)
            ]
            known = {_place(label): label for label in labels}
            records = []
            for place_in_test, one in _questions(store, id, suite, test).items():
                where = {name: getattr(one.key, name) for name in _ASKED}
                record: Record = {**where, "input": one.input, "output": one.output}
                if one.key.criterion:
                    record["judged"] = {"passed": one.passed, "judge": one.judge}
                if label := known.get(place_in_test):
                    record["label"] = _record(label)
                records.append(record)
        return {"questions": records}

    def put(self, id: str, said: Mapping[str, Any]) -> Record:
        """Keeps what a person says, `{at, run, turn, criterion, passed, why}`, or takes it away where `passed` is null:
        `{count, label?}`, with the number of labels that the run has now."""
        suite, test = self._test(id, said.get("at"))
        with self._runs.reading() as store:
            label = self._label(said, _questions(store, id, suite, test), id, suite, test)
            store.put_label(label)
            count = {"count": store.run(id).labels}
        return count if label.passed is None else {**count, "label": _record(label)}

    def exported(self, id: str) -> str:
        """The labels of a run as JSONL."""
        text = ""
        with self._runs.reading() as store:
            labels = store.labels(id)
            tests = {(label.suite, label.test) for label in labels}
            questions = {test: _questions(store, id, *test) for test in tests}
        for label in labels:
            if one := questions[label.suite, label.test].get(_place(label)):
                said = Label(key=one.key, passed=label.passed, score=label.score, why=label.why)
                text += text_of_labels([one], {one.key: said}, as_table=False)
        return text

    def _test(self, id: str, place: Any) -> tuple[str, str]:
        """The names of the suite, as the store has it, and of the test at a place of a run."""
        if not isinstance(place, int) or isinstance(place, bool):
            raise ConfigurationError("Cannot find the result: its suite or position is missing")
        result = self._runs.result(id, place)
        return key_of(self._runs.suite(id, result)), result.name

    def _label(self, said: Mapping[str, Any], questions: Questions, run: str, suite: str, test: str) -> StoredLabel:
        asked = [said.get(name) for name in _ASKED]
        found = (place for place, one in questions.items() if [getattr(one.key, name) for name in _ASKED] == asked)
        place, passed, why = next(found, None), said.get("passed"), said.get("why")
        if place is None or not (passed is None or isinstance(passed, bool)) or not isinstance(why, str):
            raise ConfigurationError("Cannot save the label: it does not match a question about this result")
        if len(why) > LONGEST:
            raise ConfigurationError(f"Cannot save the label: its reason has more than {LONGEST} characters")
        attempt, turn, criterion = place
        return StoredLabel(
            run=run,
            suite=suite,
            test=test,
            attempt=attempt,
            turn=turn,
            criterion=criterion,
            passed=passed,
            why=why,
            person=self._person,
            made_at=self._now(),
        )


def _questions(store: Store, run: str, suite: str, test: str) -> Questions:
    """What can be asked about a test of a run, about each of its runs where it has several: whether the answer is good,
    and whether each criterion of a judge holds. Nothing about script tests."""
    found = store.of_test(run, suite, test)
    questions: Questions = {}
    for one in [one for one in found if one.attempt] or found:
        line = store.line(one.seq)
        attempt = line["run"] if isinstance(line.get("run"), int) else 0
        asked = [*_whole_answer(line, attempt or 1), *judgements_in([result_of(line)])]
        questions |= {(attempt, judgement.key.turn, judgement.key.criterion): judgement for judgement in asked}
    return questions


def _place(label: StoredLabel) -> tuple[int, int, str]:
    return label.attempt, label.turn, label.criterion


def _whole_answer(line: Mapping[str, Any], run: int) -> list[Judgement]:
    output = line.get("output")
    if "input" not in line or output is None:
        return []
    key = JudgementKey(suite=str(line["suite"]), id=str(line["id"]), run=run, turn=0, criterion="")
    said = message_text(line["input"])
    return [Judgement(key=key, passed=True, score=None, input=said, output=as_text(output), judge="")]


def _record(label: StoredLabel) -> Record:
    return {"passed": label.passed, "why": label.why, "person": label.person}


LETTERS = "ABCDEFGHIJ"
"""What compared runs are called, which are no more than that."""
SCHEME = "file://"
LARGEST = 20_000_000
"""Bytes of a picture that is shown."""
SIGNS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
"""The first bytes of pictures that a browser can show and that cannot contain scripts, as SVG can."""
HISTORY = 200
"""Runs of a test that are shown."""
EXCERPT = 300
"""Most characters of an answer."""
NEWEST = 50
"""Runs that the list of tests looks at."""
SHOWN = 12
"""Verdicts of a test in that list."""
FIGURES = "verdict cause passed judged duration_ms score tokens cost cost_estimated run".split()


class PageActions:
    """Answers from any thread. Its methods block, and raise ConfigurationError for what cannot be done."""

    def __init__(self, runs: StoredRuns, again: Reruns, person: str, now: Callable[[], str]) -> None:
        """Reads nothing yet.

        Args:
            runs: the runs of the store.
            again: runs command lines.
            person: the person who looks at the pages.
            now: returns the time, UTC, RFC 3339."""
        self.runs = runs
        self.again = again
        self.labels = Labelling(runs, person, now)

    def compare(self, ids: Sequence[str]) -> Record:
        """`{heads, comparison, variants, version}` in the format of the HTML report: the first run, of those in the
        order in which they began, compared with each other one. `comparison` is null for more than two runs."""
        reports = [self.runs.report(id) for id in ids]
        if not 2 <= len(reports) <= len(LETTERS):
            raise ConfigurationError(f"Cannot compare {len(reports)} runs: 2 to {len(LETTERS)} can be compared")
        names = [f"Run {letter}" for letter in LETTERS[: len(ids)]]
        first, *others = reports
        compared = side_by_side(names, reports)
        variants = variants_record(compared)
        variants["rows"].sort(key=lambda row: not (row["differs"] or row["answers_differ"]))
        found = None
        if len(others) == 1:
            found = comparison_record(compare(first, others[0]), others[0], first, [(names[1], compared.verdicts[0])])
            variants |= {"overview": [], "said": []}
        else:
            (_, *head), *rows = variants["overview"]
            variants["overview"] = [["Run", *head], *rows]
        heads = [self.runs.head(self.runs.run(id)) for id in ids]
        return {"heads": heads, "comparison": found, "variants": variants, "version": VERSION}

    def over_time(self, suite: str, test: str) -> Record:
        """How a test went in each run of the store, newest first: `{suite, test, said: [sentence, ...], rate?: [low,
        value, high], occurrences: [{run, name, started_at, branch, revision, asked, verdict, cause, passed, judged,
        duration_ms, score, tokens, cost, cost_estimated, answer?, error?}, ...], version}`; `name` is what the run
        calls the suite, `asked` the connector, with its model where that changed."""
        record: Record = {"suite": suite, "test": test, "said": [], "version": VERSION, "occurrences": []}
        with self.runs.reading() as store:
            runs = store.runs(limit=HISTORY)
            history = history_of(store, suite, test, runs)
            if history is None:
                return record
            known = {run.id: run for run in runs}
            asked = zip(history.results, history.asked, strict=True)
            occurrences = [_occurrence(store, known[one.run], one, name) for one, name in reversed([*asked])]
        if history.judged:
            record["rate"] = [history.interval.low, history.passed / history.judged, history.interval.high]
        return {**record, "said": _sentences(history), "occurrences": occurrences}

    def tests(self) -> Record:
        """`{tests: [{suite, test, trends, verdicts, asked, passed, judged, duration_ms, last}, ...], version}` of the
        newest runs, the worst first; `verdicts` and `asked` have the newest one last."""

        def made(store: Store) -> Record:
            tests = list(map(_test, histories(store, store.runs(limit=NEWEST))))
            return {"tests": tests, "version": VERSION}

        return self.runs.shared("tests", made)

    def picture(self, id: str, place: int, source: str) -> tuple[bytes, str] | None:
        """The content of an attachment, and its media type, which is found from the content; `source` is the attachment
        as the result names it. None if the result has no such attachment, or it is not a picture of this application,
        or has changed."""
        application = self.runs.application
        run, result = self.runs.run(id), self.runs.result(id, place)
        if application is None or self.runs.elsewhere(run):
            return None
        case = result.case
        attachments = [*case.attachments, *(one for turn in case.turns for one in turn.attachments)] if case else []
        sent = next((one for one in attachments if one.get("source") == source), None)
        file = self.runs.root / self.runs.suite(id, result).file
        if sent is None or not source.startswith(SCHEME) or application_of(file) != application:
            return None
        try:
            content = read_named(file.parent / source.removeprefix(SCHEME), file.parent)
        except (OSError, ValueError):
            return None
        if len(content) != sent.get("size", len(content)) or len(content) > LARGEST:
            return None
        if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
            return content, "image/webp"
        return next(((content, kind) for sign, kind in SIGNS if content.startswith(sign)), None)

    def plan(self, id: str, keys: Sequence[str]) -> Record:
        """`{commands}`: what `start` would start, as a person would type it."""
        return {"commands": [as_typed(words) for words in self._commands(id, keys)]}

    def start(self, id: str, keys: Sequence[str]) -> Record:
        """Runs the results of these rows again, or all of a run: `Reruns.record`."""
        commands = self._commands(id, keys)
        assert self.runs.application is not None
        return self.again.start(id, commands, self.runs.application)

    def _commands(self, id: str, keys: Sequence[str]) -> list[list[str]]:
        run = self.runs.run(id)
        if why := self.runs.elsewhere(run):
            raise ConfigurationError(f"Cannot rerun it from here: {why}")
        assert self.runs.application is not None
        chosen = self.runs.chosen(id, keys)
        return commands_of(run, self.runs.report(id), chosen, self.runs.application, self.runs.root, self.runs.folder)


def _sentences(history: TestHistory) -> list[str]:
    said = [", ".join(history.trends).capitalize()]
    if history.since is not None and history.rate_before is not None:
        runs = "run" if history.judged == 1 else "runs"
        rate = f"{history.passed} of {history.judged} {runs} passed, {history.rate_before:.0%} before"
        said.append(f"{_since(history.since)}: {rate}")
    elif history.failing_since is not None:
        said.append(f"{_since(history.failing_since)}: it fails")
    for what, level in (("takes", history.duration), ("costs", history.price)):
        if level is not None:
            said.append(f"{_since(level.since)}: it {what} {level.ratio:.2g} times as much")
    return said


def _since(since: Since) -> str:
    commit = f" (commit {since.run.commit[:8]})" if since.run.commit else ""
    parts = f" (changed: {described(since.parts)})" if since.parts else ""
    return f"Since the run of {since.run.started_at[:16].replace('T', ' ')} UTC{commit}{parts}"


def _test(history: TestHistory) -> Record:
    return {
        "suite": history.suite,
        "test": history.test,
        "trends": list(history.trends),
        "verdicts": list(history.verdicts[-SHOWN:]),
        "asked": [*reversed(dict.fromkeys(filter(None, reversed(history.asked))))],
        "passed": history.all_passed,
        "judged": history.all_judged,
        "duration_ms": history.average_ms,
        "last": history.newest.started_at,
    }


def _occurrence(store: Store, run: StoredRun, one: StoredResult, asked: str) -> Record:
    names = {key_of(suite): suite.id for suite in run.start.suites}
    about = {
        "name": names.get(one.suite, one.suite),
        "started_at": run.started_at,
        "branch": run.branch,
        "revision": run.commit,
        "asked": asked,
    }
    last = max(store.of_test(one.run, one.suite, one.test), key=lambda other: other.attempt)  # of several runs
    result = result_of(store.line(last.seq))
    decisive = result.outcome.decisive
    said = {
        "answer": result.case.answer if result.case is not None else None,
        "error": error_text(decisive) if decisive is not None else None,
    }
    texts = {name: _excerpt(as_text(value)) for name, value in said.items() if value is not None}
    return {**{name: getattr(one, name) for name in FIGURES}, **about, **texts}


def _excerpt(text: str) -> str:
    return text if len(text) <= EXCERPT else f"{text[:EXCERPT]}…"
