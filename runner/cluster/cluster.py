"""`--cluster ADDRESS`: the cluster of one run, from its start to its end, as a `Remote` of `runner.execution.run`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.application.context import all_variables
from runner.cluster.local_cluster import LocalCluster
from runner.errors import ConfigurationError
from scripttest import belongings_of

if TYPE_CHECKING:
    from runner.application.application import Application
    from runner.cluster.connection import Connection
    from runner.cluster.messages import Job, Setup
    from runner.cluster.preflight import Content, Preflight, WorkerCheck
    from runner.environment import Environment
    from runner.execution.repetition import Repetition
    from runner.execution.run import Run
    from runner.options.options import RunOptions
    from runner.options.values import ClusterAddress
    from runner.planning.plan import RunPlan


class Cluster:
    """Runs the tests of one run on a Dask cluster. To be used as a context manager."""

    def __init__(self, address: ClusterAddress, environment: Environment, application: Application) -> None:
        """Does not start or connect to anything yet."""
        self._address = address
        self._environment = environment
        self._application = application
        self._run = os.urandom(8).hex()
        self._variables: Mapping[str, str] = {}
        self._local: LocalCluster | None = None
        self._connection: Connection | None = None
        self._preflight: Preflight | None = None
        self._found: WorkerCheck | None = None
        self._job: Job | None = None

    def __enter__(self) -> Cluster:
        self._variables = all_variables(self._application.root, self._environment).every
        if self._address.is_local:  # which takes as long as to load the libraries and to make the plan
            self._local = LocalCluster(
                workers=self._address.workers or self._environment.cpus, variables=self._variables, run=self._run
            )
        return self

    def __exit__(self, *_: object) -> None:
        if self._connection is not None:
            from runner.cluster import worker_side

            self._connection.let_know(worker_side.finish, self._run)
            self._connection.close()
        if self._local is not None:
            self._local.close()

    @property
    def missing_walls(self) -> Mapping[str, str]:
        """See `Remote`."""
        assert self._found is not None
        return self._found.missing_walls

    def open(self, run: Run) -> None:
        """See `Remote`."""
        plan = run.plan
        if plan.options.env_files and not self._address.is_local:
            hint = "Variables are not sent: set them where the workers run. -e works with --cluster local"
            raise ConfigurationError("-e and --cluster ADDRESS cannot be used together", hint)
        from runner.cluster.connection import Connection
        from runner.cluster.messages import Job, packed
        from runner.cluster.preflight import (
            Preflight,
            archive_of,
            check_definitions,
            check_paths,
            content_of,
            named_in,
            refusal,
        )

        from runner.cluster import worker_side  # isort: skip - `connection` says what is missing

        environment, root = self._environment, self._application.root
        check_paths(root, _paths_of(plan, environment.directory))
        content: Content | None = None
        reports = _reports_of(plan.options, environment.directory, root)
        if self._local is not None:
            check_definitions(root, environment.secrets.text)
            connection = self._connection = Connection(self._address, self._local)
        else:
            connection = self._connection = Connection(self._address)
            connection.let_know(worker_side.prepare, self._run)  # takes as long as to read the application
            content = content_of(root, reports, environment.secrets.text)
        application = content.digest if content is not None else str(root)
        named = named_in(root, content.names) if content is not None else {}
        listed = belongings_of(os.path.realpath(root)).listed(content.names) if content is not None else None
        setup = packed(self._setup(plan, listed))
        connection.let_know(worker_side.set_up, self._run, application, setup)
        workers = connection.workers()
        if not workers:
            raise ConfigurationError(
                f"Cannot run on the cluster at {self._address}: it has no worker",
                "Start workers, for example with: dask worker ADDRESS --nthreads 1",
            )
        named = {name: file for name, file in named.items() if self._variables.get(name)}
        needs_walls = plan.options.sandbox is not None
        preflight = Preflight(
            connection=connection,
            application=application,
            archive=cache(partial(archive_of, root, reports, content)),
            variables=named,
            needs_walls=needs_walls,
        )
        found = self._found = preflight.look(workers)
        if found.problems:
            raise refusal(found.problems)
        if found.missing_walls and plan.options.verbose:
            lines = "".join(f"\n  {wall}: {why}" for wall, why in found.missing_walls.items())
            environment.stderr.write(f"Note: workers lack sandbox walls{lines}\n")
        self._preflight = preflight
        topic = f"yao-test-{self._run}"
        self._job = Job(run=self._run, application=application, setup=setup, topic=topic)

    def run(self, run: Run, repetition: Repetition) -> int:
        """See `Remote`."""
        from runner.cluster.dispatch import Dispatch

        assert self._connection and self._preflight and self._found and self._job
        return Dispatch(run, repetition, self._connection, self._preflight, self._found, self._job).run()

    def run_each(
        self,
        function: Callable[..., Any],
        make: Callable[[int, int], Any],
        is_over: Callable[[], bool],
        heard: Callable[[Any], None],
    ) -> list[Any] | None:
        """What a function of `worker_side` makes of each part of some work: it gets `(application, setup, topic,
        number, part)`, see `Job`, where `make` has made the part, by its number, from 1, of so many; `heard` gets what
        it sends under the topic. Else as `Connection.run_each`."""
        assert self._connection and self._found and self._job
        for warning in self._found.warnings:
            self._environment.stderr.write(f"Warning: {warning}\n")
        usable, job = self._found.usable, self._job
        parts = sum(worker.threads for worker in usable.values())
        items = [(job.application, job.setup, job.topic, number, make(number, parts)) for number in range(1, parts + 1)]
        self._connection.listen(job.topic)
        return self._connection.run_each(function, items, is_over, heard, workers=list(usable))

    def _setup(self, plan: RunPlan, listed: tuple[str, ...] | None) -> Setup:
        from runner.cluster.messages import Setup

        options = plan.options
        return Setup(
            root=str(self._application.root),
            directory=self._environment.directory,
            options=options.replace(forbid_only=plan.forbids_only),
            settings=plan.settings,
            context=plan.context,
            contexts=plan.contexts,
            picked=plan.picked,
            order=plan.order,
            resumable=plan.resumable,
            key=plan.origin["key"] if plan.origin is not None else "",
            content_in_spans=self._environment.content_in_spans,
            named=self._environment.named,
            has_modules=bool(plan.modules),
            listed=listed,
        )


def _reports_of(options: RunOptions, directory: Path, root: Path) -> set[str]:
    """The paths of what a run writes, from the root."""
    from runner.options.options import report_path

    named = (*options.outputs, *([options.resume] if options.resume is not None else ()))
    return {os.path.relpath(report_path(name, directory), root.resolve()) for name in named}


def _paths_of(plan: RunPlan, directory: Path) -> dict[str, Path]:
    """What names it → a path that workers need."""
    options = plan.options
    found = {suite.label: Path(suite.file) for suite in plan.suites if suite.file}
    flags = {"--ctx": options.ctx, "--replay": options.replay, "--record-missing": options.record_missing}
    found |= {f"{flag} {text}": (directory / text).resolve() for flag, text in flags.items() if text is not None}
    return found
