"""The variants of a run as the page carries them: a matrix of cases by variants, with their answers side by side."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from runner.errors import ConfigurationError
from runner.reporters.console.overview_lines import overview
from runner.reporters.console.variant_lines import as_matrix
from runner.reporters.console.verdict_lines import sentences
from runner.results.report import Report
from runner.results.sides import Sides
from runner.results.variants import VariantsCompared, marked, matrix, verdicts_on
from scripttest.typing_names import Record

ROWS = 2000
"""Cases of the matrix."""


def variants_in(report: Report) -> Record | None:
    """What the page says of the variants of a run, of which the results are those of the page; None when they cannot be
    compared."""
    return variants_of_records(report.replace(results=[json.loads(entry["text"]) for entry in report.results]))


def variants_of_records(report: Report) -> Record | None:
    """The same of a run whose results are records."""
    try:
        return variants_record(verdicts_on(report))
    except ConfigurationError:
        return None


def variants_record(compared: VariantsCompared) -> Record:
    """`{overview: [[text, ...], ...], said: [[sentence, ...], ...], head: [text, ...], rows: [{cells: [text, ...],
    differs, answers: [[[text, differs], ...], ...], answers_differ}, ...], left_out}`; `said` has a list for each
    variant but the first, `answers` the pieces of each answer, those marked that the first answer does not have."""
    names, verdicts, found = compared.names, compared.verdicts, matrix(compared.parts)
    head, *rows = as_matrix(found[:ROWS], names)
    return {
        "overview": overview(verdicts, names, "Variant"),
        "said": [
            [
                f"{name}: {sentence}" if not at else sentence
                for at, sentence in enumerate(sentences(one, Sides(a=names[0], b=name)))
            ]
            for one, name in zip(verdicts, names[1:], strict=True)
        ],
        "head": head,
        "rows": [
            {
                "cells": cells,
                "differs": row.differs,
                "answers": _answers(row.answers),
                "answers_differ": len(set(row.answers)) > 1,
            }
            for cells, row in zip(rows, found, strict=False)
        ],
        "left_out": max(0, len(found) - ROWS),
    }


def _answers(answers: Sequence[str]) -> list[list[list[Any]]]:
    """`[text, differs]` of the pieces of each answer."""
    both = [marked(answers[0], other) for other in answers[1:]]
    shown = [both[0].first, *(one.other for one in both)]
    return [[[piece.text, piece.differs] for piece in pieces] for pieces in shown]
