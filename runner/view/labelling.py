"""What people say of answers, and of the verdicts of judges on them: what can be asked about a result, and the labels
of a run in the form that `yao-test calibrate` reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from runner.errors import ConfigurationError
from runner.judging.judgements import Judgement, JudgementKey, judgements_in
from runner.judging.labels import Label, text_of_labels
from runner.record.lines import result_of
from runner.record.result_texts import as_text, message_text
from runner.store.rows import key_of
from runner.store.store import Store
from runner.store.stored import StoredLabel
from runner.view.runs import StoredRuns
from scripttest.typing_names import Record
from scripttest.values import Value

_ASKED = ("run", "turn", "criterion")
"""Identifies a question about one result."""
LONGEST = 2000
"""Characters of a reason."""


class Question(Value):
    """Something that a person may be asked."""

    judgement: Judgement
    """The verdict of a judge on a criterion; its criterion is empty for the answer as a whole, of which no judge says
    anything."""
    attempt: int
    """As the store counts them."""

    @property
    def place(self) -> tuple[int, int, str]:
        """Where its label belongs, within a test."""
        return self.attempt, self.judgement.key.turn, self.judgement.key.criterion


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
            known = {(label.attempt, label.turn, label.criterion): label for label in labels}
            records = []
            for question in _questions(store, id, suite, test):
                one = question.judgement
                where = {name: getattr(one.key, name) for name in _ASKED}
                record: Record = {**where, "input": one.input, "output": one.output}
                if one.key.criterion:
                    record["judged"] = {"passed": one.passed, "judge": one.judge}
                if label := known.get(question.place):
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
            for one in questions[label.suite, label.test]:
                if one.place == (label.attempt, label.turn, label.criterion):
                    key = one.judgement.key
                    said = Label(key=key, passed=label.passed, score=label.score, why=label.why)
                    text += text_of_labels([one.judgement], {key: said}, as_table=False)
        return text

    def _test(self, id: str, place: Any) -> tuple[str, str]:
        """The names of the suite, as the store has it, and of the test at a place of a run."""
        if not isinstance(place, int) or isinstance(place, bool):
            raise ConfigurationError("Cannot find the result: its suite or position is missing")
        result = self._runs.result(id, place)
        return key_of(self._runs.suite(id, result)), result.name

    def _label(
        self, said: Mapping[str, Any], questions: list[Question], run: str, suite: str, test: str
    ) -> StoredLabel:
        asked = [said.get(name) for name in _ASKED]
        found = next((one for one in questions if [getattr(one.judgement.key, name) for name in _ASKED] == asked), None)
        passed, why = said.get("passed"), said.get("why")
        if found is None or not (passed is None or isinstance(passed, bool)) or not isinstance(why, str):
            raise ConfigurationError("Cannot save the label: it does not match a question about this result")
        if len(why) > LONGEST:
            raise ConfigurationError(f"Cannot save the label: its reason has more than {LONGEST} characters")
        attempt, turn, criterion = found.place
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


def _questions(store: Store, run: str, suite: str, test: str) -> list[Question]:
    """What can be asked about a test of a run, about each of its runs where it has several: whether the answer is good,
    and whether each criterion of a judge holds. Nothing about script tests."""
    found = store.of_test(run, suite, test)
    questions: list[Question] = []
    for one in [one for one in found if one.attempt] or found:
        line = store.line(one.seq)
        attempt = line["run"] if isinstance(line.get("run"), int) else 0
        asked = [*_whole_answer(line, attempt or 1), *judgements_in([result_of(line)])]
        questions += [Question(judgement=judgement, attempt=attempt) for judgement in asked]
    return questions


def _whole_answer(line: Mapping[str, Any], run: int) -> list[Judgement]:
    output = line.get("output")
    if "input" not in line or output is None:
        return []
    key = JudgementKey(suite=str(line["suite"]), id=str(line["id"]), run=run, turn=0, criterion="")
    said = message_text(line["input"])
    return [Judgement(key=key, passed=True, score=None, input=said, output=as_text(output), judge="")]


def _record(label: StoredLabel) -> Record:
    return {"passed": label.passed, "why": label.why, "person": label.person}
