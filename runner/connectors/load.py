"""The connectors of an application: files below `connectors/`, roles in `agent/agent.yml`, and `scripted`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.application.documents import read_yaml
from runner.connectors.base import Connector
from runner.connectors.definition import Definition, read_definition, read_type
from runner.errors import BrokenError, ConfigurationError, MissingError, did_you_mean
from runner.security.files import files_below

if TYPE_CHECKING:
    from runner.connectors.http import Endpoint
    from runner.connectors.limits import GlobalLimit
    from runner.connectors.usage import Timing

TYPES = {
    "anthropic": "runner.connectors.anthropic:AnthropicConnector",
    "openai": "runner.connectors.openai:OpenAIConnector",
    "scripted": "runner.connectors.scripted:ScriptedConnector",
    "yao": "runner.connectors.yao:YaoConnector",
}
"""Type in a connector file → `module:Class`."""
EMBEDS = "openai"
"""The type of connectors that have embeddings."""
SCRIPTED = "scripted"
"""The id that needs no file."""
RUNNER = "runner"
"""The id of the connector that replaces the runners of sandbox agents. No agent names it."""
_STAND_INS = {SCRIPTED: TYPES[SCRIPTED], RUNNER: "runner.agents.sandbox:ScriptedRunner"}
BOUNDS = tuple(
    "embedding key price proxy retries timeout max_concurrency requests_per_minute tokens_per_minute".split()
)
"""Options of a connector that change no answer."""
_SUFFIXES = (".conn.yao", ".conn.jsonc", ".conn.json")
_OTHER_TYPES = {
    **dict.fromkeys(("mysql", "postgres", "sqlite3", "hdb", "mongo"), "a database"),
    "redis": "a key-value store",
    **dict.fromkeys(("weaviate", "qdrant"), "a vector database"),
    "fastembed": "for embeddings",
    "moapi": "a proxy for other APIs",
}


class Connectors:
    """Finds connectors by id and makes each once. For one event loop."""

    def __init__(
        self,
        root: Path,
        variables: Mapping[str, str],
        timing: Timing | None = None,
        prices: Mapping[str, Any] | None = None,
        limit: Any = None,
        kept: Path | None = None,
    ) -> None:
        """Reads nothing yet.

        Args:
            variables: environment variables, including those of the application's `.env`.
            timing: clocks, for tests.
            prices: prices of connectors whose files have none, in the form of their `price`.
            limit: that of all connectors; None: these have their own.
            kept: see `Application`."""
        self.root = self._root = root
        """The application's root."""
        self._variables = variables
        self._timing = timing
        self._prices = prices or {}
        self._made: dict[str, Connector] = {}
        self._named: dict[str, str] = {}
        """Id that came from an environment variable → that variable's name."""
        self._described = cache(self._description)
        self._type = cache(self._type_of)
        self._settings = cache(self._settings_of)
        self._client: Any = None
        self._limit: Any = limit
        self._kept = kept

    def with_variables(self, variables: Mapping[str, str]) -> Connectors:
        """The connectors of the same application with other environment variables, which share its bounds."""
        return Connectors(
            self._root, {**self._variables, **variables}, self._timing, self._prices, self._shared_limit(), self._kept
        )

    def resolve(self, reference: str | None) -> str:
        """The id that a reference means: an id, `$ENV.NAME`, `use::<role>`, or nothing for the role `default`.

        Raises ConfigurationError; that there is a connector of this id is seen by `get`."""
        current = (reference or "").strip() or "use::default"
        seen: list[str] = []
        while current.startswith(("$ENV.", "use::")):
            if current in seen:
                way = " -> ".join([*seen, current])
                raise ConfigurationError(f"Cannot resolve connector {current}: it refers to itself, {way}")
            seen.append(current)
            kind, _, name = current.partition("." if current.startswith("$") else "::")
            current = self._of_variable(name) if kind == "$ENV" else self._of_role(name.strip() or "default")
        return current

    def has_role(self, role: str) -> bool:
        """Whether `agent/agent.yml` names a connector for a role. Raises ConfigurationError when it is broken."""
        value = _block(self._roles, "system").get(role)
        return isinstance(value, str) and bool(value.strip())

    @property
    def uses(self) -> dict[str, Any]:
        """`uses` of `agent/agent.yml`: for agents that do not say it themselves. Raises ConfigurationError."""
        return _block(self._roles, "uses")

    def get(self, id: str) -> Connector:
        """The connector of that id. Raises ConfigurationError when there is none, and BrokenError when it cannot be
        used, because its key is missing for instance."""
        if id not in self._made:
            path = self.find(id)
            try:
                self._made[id] = self._stand_in(id, id) if path is None else self._make(id, path)
            except ConfigurationError as error:
                broken = BrokenError(error.message, error.hint)
                broken.missing = True
                raise broken from error
        return self._made[id]

    def find(self, id: str) -> Path | None:
        """The file of a connector; None for one without a file. Raises ConfigurationError if there is no such
        connector."""
        path = self._files.get(id)
        if path is not None or id in _STAND_INS:
            return path
        known = self.ids()
        if id in self._named:  # whoever named the variable need not know its value
            raise MissingError(
                f"Cannot find connector $ENV.{self._named[id]}: its value is not the id of a connector below "
                f"{self._root}/connectors",
                f"There are: {', '.join(known)}",
            )
        hint = did_you_mean(id, known) or f"There are: {', '.join(known)}"
        raise MissingError(f'Cannot find connector "{id}": no such file below {self._root}/connectors', hint)

    def model(self, id: str) -> str:
        """The name of the model that a connector asks, for which no key is needed; empty when its file does not say it,
        or names a variable that is not set. Raises ConfigurationError."""
        definition = self._described(id)
        if definition and definition.type not in TYPES:
            raise self._unusable(definition)
        return str(definition.options.get("model", "")) if definition else ""

    def embedding(self, id: str) -> str:
        """The connector for embeddings that the file of a connector names; empty when it names none. Raises
        ConfigurationError."""
        definition = self._described(id)
        return str(definition.options.get("embedding", "")) if definition else ""

    def check_embeds(self, id: str) -> None:
        """Raises ConfigurationError for a connector that has no embeddings, and is not a scripted one either."""
        kind = None if self.find(id) is None else self._type(id)
        if kind not in (None, SCRIPTED, EMBEDS):
            raise ConfigurationError(
                f'Cannot use connector "{id}" for embeddings: connectors of type {kind} have none',
                f"Name one of type {EMBEDS} with /v1/embeddings and an embedding model",
            )

    def vendor(self, id: str) -> str:
        """The vendor of a connector's model, such as `openai` or `scripted`. Raises ConfigurationError."""
        from runner.connectors.http import vendor_of

        known = self._described(id)
        return vendor_of(known.type, str(known.options.get("host", ""))) if known else id

    def endpoint(self, id: str) -> Endpoint | None:
        """Where the model of a connector is reached; None if it was not asked, or is nowhere outside."""
        return self._made[id].endpoint if id in self._made else None

    def settings(self, id: str) -> Mapping[str, Any]:
        """The settings in a connector's file that affect answers, without its key and its limits. Raises
        ConfigurationError."""
        return self._settings(id)

    def is_scripted(self, id: str) -> bool:
        """Whether a connector asks no model."""
        return self._type(id) in _STAND_INS

    def ids(self) -> list[str]:
        """Ids of all models, sorted; `scripted` among them."""
        kinds = {id: read_type(path) for id, path in self._files.items()}
        return sorted({SCRIPTED, *(id for id, kind in kinds.items() if kind in TYPES)})

    def bound(self, number: int) -> None:
        """Limits how many requests run at the same time, over all connectors."""
        self._shared_limit().bound(number)

    def share(self, limit: GlobalLimit) -> None:
        """Sets limits that are shared with other processes. To be called before a connector is made."""
        self._limit = limit

    def forget_outages(self) -> None:
        """Lets the next calls try hosts again that were down."""
        for connector in self._made.values():
            connector.forget_outage()

    async def close(self) -> None:
        """Forgets every connector that was made, and closes connections."""
        if self._client is not None:
            await self._client.close()
        self._made = {}
        self._client = None

    def _make(self, id: str, path: Path) -> Connector:
        definition = read_definition(id, path, self._root, self._variables)
        if definition.type not in TYPES:
            raise self._unusable(definition)
        if definition.type == SCRIPTED:
            return self._stand_in(id, SCRIPTED)
        kind = _class_of(definition.type)
        if not definition.options.get(kind.needs):
            subject = f'Cannot use connector "{definition.id}" from {definition.where}'
            raise ConfigurationError(f"{subject}: options.{kind.needs} is missing", kind.example)
        if id in self._prices and "price" not in definition.options:
            definition = definition.replace(options={**definition.options, "price": self._prices[id]})
        from runner.connectors.usage import Timing

        connector: Connector = kind(definition, self._http(), self._timing or Timing(), self._shared_limit())
        return connector

    def _description(self, id: str) -> Definition | None:
        """A connector without what its file takes from variables that are not set; None for one without a file. Raises
        ConfigurationError."""
        path = self.find(id)
        return None if path is None else read_definition(id, path, self._root, self._variables, replayed=True)

    def _type_of(self, id: str) -> str | None:
        """The type of the file; of one without a file, its id."""
        path = self._files.get(id)
        return id if path is None else read_type(path)

    def _settings_of(self, id: str) -> Mapping[str, Any]:
        definition = self._described(id)
        options = definition.options if definition else {}
        return {key: value for key, value in options.items() if key not in BOUNDS}

    def _stand_in(self, id: str, kind: str) -> Connector:
        connector: Connector = _class_of(kind)(self._root, self._kept)
        connector.id = id
        return connector

    def _unusable(self, definition: Definition) -> ConfigurationError:
        subject = f'Cannot use connector "{definition.id}" from {definition.where}'
        models = f"Model connectors: {', '.join(self.ids())}"
        if definition.type in _OTHER_TYPES:
            kind = f"{definition.type} is {_OTHER_TYPES[definition.type]}"
            return ConfigurationError(f"{subject}: it is not a model: {kind}", models)
        hint = did_you_mean(definition.type, TYPES) or f"Types are {', '.join(TYPES)}"
        return ConfigurationError(f'{subject}: unknown type "{definition.type}"', hint)

    def _of_variable(self, name: str) -> str:
        value = self._variables.get(name, "").strip()
        if not value:
            raise MissingError(
                f"Cannot resolve connector $ENV.{name}: the environment variable {name} is not set",
                f"Set {name} in the environment or in .env to the id of a connector, or name one with -c",
            )
        self._named[value] = name
        return value

    def _of_role(self, role: str) -> str:
        content = self._roles
        system, uses = _block(content, "system"), _block(content, "uses")
        used = uses.get(role)  # mostly an agent's id
        is_id = isinstance(used, str) and used in self._files
        candidates = [system.get(role), used if is_id else None, system.get("default")]
        found = next((value for value in candidates if isinstance(value, str) and value.strip()), None)
        if found is None:
            raise MissingError(
                f'Cannot resolve the connector of role "{role}": agent/agent.yml names none under system.{role}',
                f"Add it, set connector in package.yao, or name one with -c: {', '.join(self.ids())}",
            )
        return found.strip()

    @cached_property
    def _roles(self) -> dict[str, Any]:
        path = self._root / "agent" / "agent.yml"
        content = read_yaml(path, "agent settings") if path.is_file() else None
        return content if isinstance(content, dict) else {}

    @cached_property
    def _files(self) -> dict[str, Path]:
        folder, found = self._root / "connectors", dict[str, Path]()
        for path in files_below(folder, root=self._root):
            suffix = next((suffix for suffix in _SUFFIXES if path.endswith(suffix)), None)
            if suffix and os.path.isfile(path):
                found[path[len(str(folder)) + 1 :].replace("/", ".").removesuffix(suffix)] = Path(path)
        return found

    def _http(self) -> Any:
        if self._client is None:
            from runner.connectors.http import Proxies
            from runner.connectors.http_client import HttpClient

            self._client = HttpClient(Proxies.from_variables(self._variables))
        return self._client

    def _shared_limit(self) -> Any:
        if self._limit is None:
            from runner.connectors.limits import GlobalLimit

            self._limit = GlobalLimit()
        return self._limit


def _block(content: dict[str, Any], name: str) -> dict[str, Any]:
    block = content.get(name)
    return block if isinstance(block, dict) else {}


def _class_of(type: str) -> Any:
    from importlib import import_module

    module, _, name = {**TYPES, **_STAND_INS}[type].partition(":")
    return getattr(import_module(module), name)
