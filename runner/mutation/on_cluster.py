"""`yao-test mutate --cluster`: each place of the workers plants and tries a part of the mutants, as `--shard` does."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from runner.application.application import Application
from runner.cluster import worker_side
from runner.cluster.cluster import Cluster
from runner.cluster.messages import PathTranslation, Setup, packed, unpacked
from runner.environment import from_process
from runner.errors import ConfigurationError, RunnerError
from runner.execution.run import Run
from runner.execution.services import RunServices
from runner.execution.stopping import Signals, Stop
from runner.mutation.session import MutationOptions, Outcome, run_mutants
from runner.mutation.verdicts import Status
from runner.options.values import Shard
from runner.planning.plan import RunRequest
from runner.planning.planner import make_plan, with_contexts
from scripttest import belongings_of, hide_environment


def run_on_cluster(request: RunRequest, options: MutationOptions) -> Outcome:
    """As `run_mutants`, on the workers of `--cluster`; blocks. Verdicts are not kept. Raises RunnerError."""
    address = request.options.cluster
    assert address is not None
    if options.since is not None and not address.is_local:
        raise ConfigurationError(
            "--since and --cluster ADDRESS cannot be used together", "Workers have no repository; name --mutate FILES"
        )
    stop = Stop()
    request = with_contexts(request)

    def part(number: int, of: int) -> bytes:
        whole = options.shard or Shard(number=1, of=1)
        shard = Shard(number=whole.number + (number - 1) * whole.of, of=of * whole.of)
        return packed(options.replace(shard=shard, keeps=False))

    with (
        Signals(stop),
        Cluster(address, request.environment, request.application) as there,
        RunServices(request) as services,
    ):
        run = Run(make_plan(request, agents=services.agents, fingerprints=services.fingerprints), services, stop)
        there.open(run)
        stop.heeded = True
        answers = there.run_each(worker_side.mutate, part, lambda: stop.reason is not None)
    if answers is None:
        return Outcome(stopped=stop.reason, code=stop.code)
    return _joined([unpacked(answer) for answer in answers])


def _joined(parts: list[Outcome | tuple[str, str | None]]) -> Outcome:
    found: list[Outcome] = []
    for part in parts:
        if not isinstance(part, Outcome):
            raise RunnerError(*part)
        found.append(part)
    first = found[0]
    return first.replace(
        verdicts=tuple(
            verdict
            for number, one in enumerate(found)
            for verdict in one.verdicts
            if number == 0 or verdict.status is not Status.IGNORED  # which all parts have
        ),
        warnings=tuple(dict.fromkeys(warning for one in found for warning in one.warnings)),
        stopped=next((one.stopped for one in found if one.stopped is not None), None),
    )


def main() -> None:
    """Tries a part on a worker: the folder of the application, its setup and the part are on the standard input, the
    outcome goes to the standard output, or the message and the hint of an error."""
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
    answer: Outcome | tuple[str, str | None]
    try:
        answer = run_mutants(request, unpacked(part))
    except RunnerError as error:
        answer = error.message, error.hint
    with os.fdopen(outgoing, "wb") as stream:
        stream.write(packed(answer))
