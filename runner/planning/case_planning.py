"""Plans the cases of a run: reads them, or has generators make them, and checks that everything that they name exists.
This is the part of planning that may need agents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain

from runner.options.options import absolute
from runner.planning.case_source import CaseSource, Sources
from runner.planning.inputs import CaseInput, GeneratorInput
from runner.security.terminal import own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.agents.service import AgentService
    from runner.cases.reader import MadeCases
    from runner.planning.picks import Picks
    from runner.planning.request import RunRequest


class CasePlanning:
    """Plans the cases of one run. Agents are started only when they are needed."""

    def __init__(self, request: RunRequest, agents: Callable[[], AgentService]) -> None:
        self._request = request
        self._options = request.options
        self._agents = agents

    def sources(self, inputs: list[CaseInput | GeneratorInput], picks: Picks | None) -> Sources:
        """The cases of some inputs."""
        if not inputs:
            return Sources(sources=[], warnings=[])
        from runner.planning.sources import open_sources

        request, environment = self._request, self._request.environment
        found = open_sources(
            inputs,
            request.options,
            request.application,
            environment.directory,
            self._generate,
            self.check_references,
            picks,
            request.settings,
        )
        return found.replace(sources=[source.cleaned(environment.secrets.text) for source in found.sources])

    def check_references(self, sources: list[CaseSource], generators: list[GeneratorInput]) -> None:
        """Raises ConfigurationError when the cases that will run, or flags, name something that does not exist, or when
        the connector of `--connector` or `--judge-connector` cannot be used."""
        options, application = self._options, self._request.application
        if options.judge_connector and not options.dry_run:
            self._check_connector(options.judge_connector)
        if not sources and not generators:
            return
        from runner.agents.assistant import Assistants
        from runner.planning.resolution import check_references, named_by

        if generators and options.shard is not None:
            from runner.planning.shards import parts_of

            sources = parts_of(sources, options.shard, application.root, self._request.context["chat_id"])
        folders = {source.assistant.id: source.assistant.folder for source in sources}
        for generator in generators:
            agent = Assistants(application).find(generator.agent)
            folders[agent.id] = agent.folder
        named = named_by(sources, generators, options, folders)
        for first in named:
            service = self._agents()
            service.run(check_references(chain([first], named), service.runtime, application))
        own = [self._request.settings.of(source.assistant.id, options).connector for source in sources]
        for connector in dict.fromkeys((options.connector, *own)):
            if connector and not options.dry_run:
                self._check_connector(connector)
        for variant in options.variants if not options.dry_run else ():
            if variant.connector:
                self._check_connector(variant.connector, dict(variant.env))

    def check_own_connectors(self, sources: list[CaseSource]) -> None:
        """Raises ConfigurationError when no case can ask a model, because the connectors of all agents are unusable."""
        options, settings = self._options, self._request.settings
        given = options.connector or any(settings.of(one.assistant.id, options).connector for one in sources)
        if not sources or given or options.dry_run or options.replay is not None or options.variants:
            return
        from runner.agents.assistant import Assistants
        from runner.planning.own_connectors import check_own_connectors

        check_own_connectors(sources, Assistants(self._request.application), self._check_connector)

    def _check_connector(self, id: str, variables: Mapping[str, str] | None = None) -> None:
        """Raises ConfigurationError when a connector cannot be used; `variables` are added to the environment
        variables."""
        connectors = self._agents().runtime.connectors
        if variables:
            connectors = connectors.with_variables(variables)
        options = self._options
        has_keys = options.replay is None and options.cluster is None  # workers have their own
        find = connectors.get if has_keys else connectors.model
        find(connectors.resolve(id))

    def _generate(self, input: GeneratorInput) -> MadeCases:
        """Has generators make cases; at a terminal, a line says that they are at work."""
        from runner.planning.generators import Generators, generate

        options, environment = self._options, self._request.environment
        stdout, directory = environment.stdout, environment.directory
        folder = absolute(options.outputs[0], directory).parent if options.dry_run and options.outputs else directory
        shows = environment.terminal and not (options.quiet or options.json)
        if shows:
            stdout.write(f"Generating cases with {input.named} ...")
            stdout.flush()
        try:
            service = self._agents()
            generators = Generators(
                application=self._request.application,
                runtime=service.runtime,
                helpers=service.helpers,
                context=self._request.context,
                connector=options.connector or "",
                timeout=options.case_timeout,
                seed=options.seed,
            )
            return service.run(generate(input, generators, folder, options.lenient))
        finally:
            if shows:
                stdout.write(own("\r\x1b[K"))
