"""In a runner process: the plan of one piece, with the options of the run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.options.options import FLAGS, RunOptions
from runner.planning.case_source import CaseSource, PlacedCase
from runner.planning.plan import RunPlan, RunRequest, suite_of
from runner.planning.planner import selection_of
from runner.planning.resume import ResumeState, Retained, Saved
from scripttest import Status
from scripttest.values import fields_of

if TYPE_CHECKING:
    from runner.application.application import Application
    from runner.cluster.pieces import CasesPart, ModulePart, Piece, Setup


def options_of(options: RunOptions, recordings: Path | None) -> RunOptions:
    """The options of a run for its pieces. What they record goes to a folder of this machine; None: nothing is
    recorded."""
    kept = {flag.field: getattr(options, flag.field) for flag in FLAGS if flag.of_test and flag.field != "variants"}
    record = None if recordings is None else str(recordings)
    of_run = {name: getattr(options, name) for name in ("run", "parallel", "otlp")}
    return RunOptions(inputs=("everything",), **kept, **of_run, quiet=True, no_color=True, record=record)


def plan_of(piece: Piece, setup: Setup, request: RunRequest) -> RunPlan:
    """The plan of a piece."""
    modules = tuple(part.module for part in piece.modules)
    sources = tuple(_source(part, piece, request.application) for part in piece.cases)
    saved = Saved(path=request.application.root, start={}, results=[], is_whole=True, subject="")
    records = {part.module.id: _records(part) for part in piece.modules if part.done}
    retained = Retained(saved=saved, results=records, ended={}, gaps=(), warnings=())
    return RunPlan(
        **fields_of(request),
        suites=(*map(suite_of, modules), *(source.suite for source in sources)),
        modules=modules,
        sources=sources,
        selection=selection_of(request.options),
        picked={part.module.id: part.picked for part in piece.modules if part.picked is not None},
        order=setup.order,
        resumable=setup.resumable,
        resume=ResumeState(sources=list(sources), retained=retained),
        is_part=True,
    )


def placed_in(part: CasesPart, piece: Piece) -> list[PlacedCase]:
    """All cases that the piece has of the input in some variant: the variants of an input have the same cases, and
    those that one of them has no use for have ended there."""
    inputs = [other for other in piece.cases if other.suite.without_variant == part.suite.without_variant]
    return list({placed.position: placed for other in inputs for placed in other.cases}.values())


def _records(part: ModulePart) -> list[dict[str, Any]]:
    return [{"id": done.name, "position": done.position, "run": done.run, "status": done.status} for done in part.done]


def _source(part: CasesPart, piece: Piece, application: Application) -> CaseSource:
    from runner.agents.assistant import Assistants, stand_in
    from runner.cases.reader import LocatedCase

    assistants = Assistants(application)
    agent = part.suite.agent
    assistant = stand_in(assistants.find(agent)) if part.broken else assistants.get(agent)
    own = {placed.case.id for placed in part.cases}
    cases = [LocatedCase(line=placed.line, case=placed.case) for placed in placed_in(part, piece)]
    others = [located.case.id for located in cases if located.case.id not in own]
    ended = {**dict.fromkeys(others, Status.PASSED), **part.ended}
    return CaseSource(
        suite=part.suite,
        assistant=assistant,
        folder=part.folder,
        selected=len(own) + len(ended),
        total=len(own) + len(ended),
        cases=lambda: cases,
        ids=lambda: [located.case.id for located in cases],
        waited=part.waited,
        broken=part.broken,
        done=part.done,
        variant=part.variant,
        ended=ended,
        runs=part.runs,
    )
