"""What people say of answers, and of the verdicts of judges on them: what can be asked about a result, and the labels
of a run in the form that `yao-test calibrate` reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from runner.errors import ConfigurationError
from runner.results.judgements import Judgement, JudgementKey, judgements_in
from runner.results.labels import Label, text_of_labels
from runner.results.value_texts import as_text, text_of
from runner.store.kept import KeptLabel
from scripttest.typing_names import Record
from scripttest.values import Value

_ASKED = ("run", "turn", "criterion")
"""Identifies a question about one result."""
LONGEST = 2000
"""Characters of a reason."""


class Question(Value):
    """Something that a person may be asked."""

    judgement: Judgement
    """The verdict of a judge on a criterion; its criterion is empty for the answer as a whole."""
    attempt: int
    """As the store counts them."""

    @property
    def is_judged(self) -> bool:
        """Whether there is a verdict of a judge."""
        return self.judgement.key.criterion != ""


def questions_on(lines: Iterable[Mapping[str, Any]]) -> list[Question]:
    """What can be asked about the runs of a test, given as lines of a report: whether the answer is good, and whether
    each criterion of a judge holds. Nothing about script tests."""
    found: list[Question] = []
    for line in lines:
        attempt = line["run"] if isinstance(line.get("run"), int) else 0
        whole = _whole(line, attempt or 1)
        judged = judgements_in([line])
        found += [Question(judgement=one, attempt=attempt) for one in ([whole] if whole else []) + judged]
    return found


def records_of(questions: Sequence[Question], labels: Sequence[KeptLabel]) -> list[Record]:
    """`[{run, turn, criterion, input, output, judged?: {passed, judge}, label?: {passed, why, person}}, ...]`"""
    known = {(label.attempt, label.turn, label.criterion): label for label in labels}
    records = []
    for question in questions:
        one = question.judgement
        where = {name: getattr(one.key, name) for name in _ASKED}
        record: Record = {**where, "input": one.input, "output": one.output}
        if question.is_judged:
            record["judged"] = {"passed": one.passed, "judge": one.judge}
        if label := known.get((question.attempt, one.key.turn, one.key.criterion)):
            record["label"] = label_record(label)
        records.append(record)
    return records


def label_record(label: KeptLabel) -> Record:
    """`{passed, why, person}`"""
    return {"passed": label.passed, "why": label.why, "person": label.person}


def label_of(
    said: Mapping[str, Any], questions: Sequence[Question], *, run: str, suite: str, test: str, person: str, now: str
) -> KeptLabel:
    """The label in a request. Raises ConfigurationError if it does not answer one of the questions.

    Args:
        said: `{run, turn, criterion, passed: true, false or null, why}`.
        questions: the questions about the result.
        run: id of the run.
        suite: name of the suite in the store.
        test: name of the test.
        person: who gives the label.
        now: UTC, RFC 3339.
    """
    asked = [said.get(name) for name in _ASKED]
    found = next((one for one in questions if [getattr(one.judgement.key, name) for name in _ASKED] == asked), None)
    passed, why = said.get("passed"), said.get("why")
    if found is None or not (passed is None or isinstance(passed, bool)) or not isinstance(why, str):
        raise ConfigurationError("Cannot keep the label: it does not answer a question about this result")
    if len(why) > LONGEST:
        raise ConfigurationError(f"Cannot keep the label: its reason has more than {LONGEST} characters")
    return KeptLabel(
        run=run,
        suite=suite,
        test=test,
        attempt=found.attempt,
        turn=found.judgement.key.turn,
        criterion=found.judgement.key.criterion,
        passed=passed,
        why=why,
        person=person,
        made_at=now,
    )


def exported(labels: Sequence[KeptLabel], lines: Mapping[tuple[str, str], Sequence[Mapping[str, Any]]]) -> str:
    """Labels as JSONL; `lines` are those of the labelled tests, by suite, as the store names it, and test."""
    text = ""
    for label in labels:
        questions = questions_on(lines[label.suite, label.test])
        for one in questions:
            key = one.judgement.key
            if (one.attempt, key.turn, key.criterion) == (label.attempt, label.turn, label.criterion):
                said = Label(key=key, passed=label.passed, score=label.score, why=label.why)
                text += text_of_labels([one.judgement], {key: said}, as_table=False)
    return text


def _whole(line: Mapping[str, Any], run: int) -> Judgement | None:
    """The answer of a case as something to be judged."""
    output = line.get("output")
    if "input" not in line or output is None:
        return None
    key = JudgementKey(suite=str(line["suite"]), id=str(line["id"]), run=run, turn=0, criterion="")
    said = text_of(line["input"])
    return Judgement(key=key, passed=True, score=None, input=said, output=as_text(output), judge="")
