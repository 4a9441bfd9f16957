"""`yao-test mutate --cluster`: each place of the workers plants and tries a part of the mutants, as `--shard` does."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runner.application.application import Application
from runner.cluster import worker_side
from runner.cluster.cluster import Cluster
from runner.cluster.messages import PathTranslation, Setup, packed, unpacked
from runner.environment import from_process
from runner.errors import RunnerError
from runner.execution.run import Run
from runner.execution.services import RunServices
from runner.execution.stopping import Signals, Stop
from runner.mutation.session import MutationOptions, Outcome, Progress, Told, run_mutants
from runner.mutation.trials import text_of, texts_before
from runner.mutation.verdicts import Kept, Status
from runner.options.values import Shard
from runner.planning.plan import RunRequest
from runner.planning.planner import make_plan, with_contexts
from runner.security.files import CODE
from scripttest import belongings_of, hide_environment

PROGRESS = 0.25
"""Seconds between two reports of a worker on its progress."""


def run_on_cluster(request: RunRequest, options: MutationOptions, told: Told, kept: Kept | None) -> Outcome:
    """As `run_mutants`, on the workers of `--cluster`; blocks. Raises RunnerError."""
    address = request.options.cluster
    assert address is not None
    stop = Stop()
    request = with_contexts(request)
    if options.since is not None:  # workers have no repository
        options = options.replace(before=_changed(options.since, request))
    latest: dict[int, Progress] = {}

    def heard(message: Mapping[str, Any]) -> None:
        done, left, seconds = message["said"].split()
        latest[message["part"]] = Progress(done=int(done), left=int(left), seconds=float(seconds))
        parts = latest.values()
        sums = sum(one.done for one in parts), sum(one.left for one in parts)
        told(Progress(done=sums[0], left=sums[1], seconds=max(one.seconds for one in parts)))

    def part(number: int, of: int) -> bytes:
        whole = options.shard or Shard(number=1, of=1)
        shard = Shard(number=whole.number + (number - 1) * whole.of, of=of * whole.of)
        return packed((options.replace(shard=shard), kept))

    with (
        Signals(stop),
        Cluster(address, request.environment, request.application) as there,
        RunServices(request) as services,
    ):
        run = Run(make_plan(request, agents=services.agents, fingerprints=services.fingerprints), services, stop)
        there.open(run)
        stop.heeded = True
        answers = there.run_each(worker_side.mutate, part, lambda: stop.reason is not None, heard)
    if answers is None:
        return Outcome(stopped=stop.reason, code=stop.code)
    return _joined([unpacked(answer) for answer in answers], kept.rows if kept is not None else {})


def _changed(revision: str, request: RunRequest) -> dict[str, str | None]:
    """Path from the root → what a script was at the merge base that has changed since, None for a new one; blocks."""
    application = request.application
    before = texts_before(revision, application.root, request.environment.variables)
    found = {}
    for path in application.files_of_scripts():
        name, text = os.path.relpath(path, application.root), None
        if os.path.splitext(name)[1] in CODE and (text := before(name)) != text_of(Path(path)):
            found[name] = text
    return found


def _joined(parts: list[Outcome | tuple[str, str | None]], kept: Mapping[str, list[str]]) -> Outcome:
    found: list[Outcome] = []
    for part in parts:
        if not isinstance(part, Outcome):
            raise RunnerError(*part)
        found.append(part)
    first = found[0]
    rows = dict(first.kept or {})
    for one in found[1:]:
        rows |= {name: row for name, row in (one.kept or {}).items() if row != kept.get(name)}
    return first.replace(
        verdicts=tuple(
            verdict
            for number, one in enumerate(found)
            for verdict in one.verdicts
            if number == 0 or verdict.status is not Status.IGNORED  # which all parts have
        ),
        warnings=tuple(dict.fromkeys(warning for one in found for warning in one.warnings)),
        stopped=next((one.stopped for one in found if one.stopped is not None), None),
        kept=first.kept and rows,
    )


def main() -> None:
    """Tries a part on a worker: the folder of the application, its setup and the part are on the standard input, the
    outcome goes to the standard output, or the message and the hint of an error. Lines on the standard error tell how
    many mutants are done and left, and seconds."""
    environment = from_process()
    hide_environment()
    outgoing = os.dup(1)
    os.dup2(2, 1)
    folder, common, part = unpacked(sys.stdin.buffer.read())
    given: Setup = unpacked(common)
    setup = PathTranslation(given.root, folder).value(given)
    if setup.listed is not None:
        belongings_of(os.path.realpath(folder)).know(setup.listed)
    os.chdir(folder)
    request = RunRequest(
        options=setup.options.replace(cluster=None, parallel=setup.options.parallel or 1),
        settings=setup.settings,
        environment=environment.replace(directory=setup.directory, named=setup.named),
        application=Application(Path(folder)),
    )
    due = 0.0

    def tell(progress: Progress) -> None:
        nonlocal due
        if progress.done and progress.seconds >= due:
            due = progress.seconds + PROGRESS
            os.write(2, f"{progress.done} {progress.left} {progress.seconds:.3f}\n".encode())

    answer: Outcome | tuple[str, str | None]
    try:
        options, kept = unpacked(part)
        answer = run_mutants(request, options, tell, kept)
    except RunnerError as error:
        answer = error.message, error.hint
    with os.fdopen(outgoing, "wb") as stream:
        stream.write(packed(answer))
