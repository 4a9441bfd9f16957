"""What `yao-test mutate` prints of case files: the changes that cases miss, the rules that no case holds, the score."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from runner.mutation.documents import percent
from runner.mutation.prompt_rules import WORDS, PromptRules
from runner.mutation.verdicts import Status, score_of
from runner.mutation.weak_cases import CaseVerdict, WeakCases
from runner.reporters.console.style import Style, count
from runner.reporters.console.table import table
from runner.shapes.codec import json_of

LONGEST = 100
"""Characters of an answer that are shown."""


def cases_text(found: WeakCases, style: Style, verbose: bool, room: int | None) -> str:
    """The cases, file by file, those that notice least first; `verbose` shows each missed answer. `room` is the width
    of the terminal."""

    def paint(_: int, title: str, cell: str) -> str:
        return style.paint(cell, "red") if title == "Noticed" and cell.startswith("0 of") else cell

    text = ""
    for file in found.files:
        if not (file.cases or file.left_out):
            continue  # --run and --tag have left out all
        text += style.paint(file.file, "bold")
        text += f"  {percent(file.total.share)}  {file.total.noticed} of {file.total.counted} noticed\n\n"
        rows = [_row(case, verbose) for case in file.cases]
        by_reason: dict[str, list[str]] = {}
        for id, why in file.left_out.items():
            by_reason.setdefault(why.splitlines()[0], []).append(id)
        for why, ids in by_reason.items():
            rows.append((ids[0] if len(ids) == 1 else f"{len(ids)} cases", "", f"left out: {why}"))
        text += table([("Case", "Noticed", ""), *rows], room, paint=paint)
        text += "\n"
    missed = Counter(kind for file in found.files for case in file.cases for kind in case.kinds(Status.SURVIVED))
    kinds = ", ".join(f"{kind} ({number})" for kind, number in missed.most_common())
    text += f"Missed changes (number of cases): {kinds}\n" if kinds else ""
    where = f"Answers of {found.origin}" if found.origin else "New answers of scripted or recorded models"
    weak = sum(case.checks_nothing for file in found.files for case in file.cases)
    said = f". {count(weak, 'case')} would pass with any answer" if weak else ""
    text += f"{where}. Score {percent(found.total.share)}{said}\n"
    return text + (f"Stopped: {found.stopped}\n" if found.stopped is not None else "")


def _row(case: CaseVerdict, verbose: bool) -> tuple[str, str, str]:
    lines = ["checks nothing relevant: it passes with every changed answer"] if case.checks_nothing else []
    if not lines and (missed := case.kinds(Status.SURVIVED)):
        lines.append(f"still passes with: {', '.join(missed)}")
    if unknown := case.kinds(Status.UNDECIDED):
        why = next(one.reason for one in case.changes if one.status is Status.UNDECIDED)
        lines.append(f"undecided: {', '.join(unknown)} ({why.splitlines()[0] if why else 'no verdict'})")
    if verbose:
        lines += [f"  {one.label}: {_shown(one.answer)}" for one in case.changes if one.status is Status.SURVIVED]
        lines += [f"{check.assertion} notices {', '.join(check.notices) or 'nothing'}" for check in case.assertions]
    return case.id, f"{case.total.noticed} of {case.total.counted}", "\n".join(lines)


def _shown(answer: object) -> str:
    text = json.dumps(answer, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def cases_record(found: WeakCases, code: int) -> dict[str, Any]:
    """`{"format", "exit_code", "score", "from", "files"}`; a file is `{"file", "score", "noticed", "counted", "cases",
    "left_out"}`, a case `{"id", "line", "checks_nothing", "notices", "misses", "undecided", "changes", "assertions"}`,
    with the kinds of changes, each change, and what each assertion notices."""
    return {
        "format": 1,
        "exit_code": code,
        "score": found.total.share,
        "from": found.origin or None,
        "stopped": found.stopped,
        "files": [json_of(file) for file in found.files],
        "warnings": list(found.warnings),
    }


def rules_text(found: PromptRules, style: Style) -> str:
    """The rules of prompts, those first that no case holds."""
    text = "".join(f"  {case} fails even with all rules: {why.splitlines()[0]}\n" for case, why in found.failed.items())
    for one in sorted(found.verdicts, key=lambda verdict: list(WORDS).index(verdict.status)):
        said = {
            Status.KILLED: f"held by {', '.join(one.held_by)}",
            Status.SURVIVED: style.paint("no case depends on it", "red"),
            Status.UNDECIDED: f"cannot tell: {one.reason or 'the runs differ'}",
        }[one.status]
        text += f"  {one.agent}: {one.rule}\n    {said}\n"
    if found.stopped is not None:
        text += f"Stopped: {found.stopped}\n"
    free = sum(one.status is Status.SURVIVED for one in found.verdicts)
    said = f"{count(len(found.verdicts), 'rule')}, {free} without a case that depends on it"
    return f"{text}\n{said}. Score {percent(score_of(one.status for one in found.verdicts).share)}\n"


def rules_record(found: PromptRules, code: int) -> dict[str, Any]:
    """`{"format", "exit_code", "score", "rules": [{"agent", "rule", "verdict", "held_by", "reason"}], "failed",
    "stopped", "warnings"}`."""
    return {
        "format": 1,
        "exit_code": code,
        "score": score_of(one.status for one in found.verdicts).share,
        "rules": [json_of(one) for one in found.verdicts],
        "failed": dict(found.failed),
        "stopped": found.stopped,
        "warnings": list(found.warnings),
    }
