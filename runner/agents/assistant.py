"""An assistant as its folder describes it: `package.yao`, `prompts.yml`, `prompts/`, `locales/`, `src/index.ts`; and in
its variants of one run: with other prompts, another connector, other environment variables."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.application.application import AgentFolder, Application
from runner.application.documents import read_json, read_yaml
from runner.application.sandbox import Sandbox, read_sandbox
from runner.errors import BrokenError, ConfigurationError, MissingError, did_you_mean
from runner.security.files import SUFFIXES, read_text
from runner.shapes.declared import fields_of
from runner.shapes.fields import ModelParameters, is_parameter
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.options.values import Variant


SHIPPED = Path(__file__).resolve().parents[1] / "shipped"
"""An application with the agents that come with this package."""

_ASSET = (
    r"^(?P<lead>[ \t]*(?:-[ \t]+)?)(?P<key>\w+):[ \t]*"
    r"[\"']?@assets/(?P<file>[\w./-]+\.(?:md|ya?ml|json|txt))[\"']?[ \t]*$"
)
_KEY = r"\{\{\s*([\w.-]+)\s*\}\}"
"""What stands for a translated text: `{{ key.path }}`, which is looked up in `locales/<locale>.yml`."""
_DEFAULT_TURNS = 5
_KINDS: dict[str, type] = {
    **dict.fromkeys(("name", "description", "connector"), str),
    **dict.fromkeys(("options", "mcp", "uses", "search", "kb", "db"), dict),
}
"""Key of package.yao → what its value must be."""


class Assistant(Value):
    """An agent as its files describe it."""

    id: str
    folder: Path
    name: str
    description: str = ""
    type: str = "assistant"
    connector: str = ""
    """Reference of a connector; empty: the application's default."""
    parameters: Mapping[str, Any] = {}
    """`options` of package.yao: temperature, max_tokens ..."""
    servers: tuple[Any, ...] = ()
    """`mcp.servers` of package.yao, as written."""
    loops: bool = True
    """`mcp.options.tool_loop`."""
    turns: int = _DEFAULT_TURNS
    """`mcp.options.max_turn`: model calls of one tool loop."""
    global_prompts: bool = True
    prompts: tuple[dict[str, Any], ...] = ()
    """The default prompts; none without `prompts.yml`."""
    script: Path | None = None
    """`src/index.ts`, or with another ending of scripts: the hooks."""
    uses: Mapping[str, Any] = {}
    """`uses` of package.yao: what answers searches, and what looks at images."""
    search: Mapping[str, Any] = {}
    """`search` of package.yao."""
    collections: tuple[str, ...] = ()
    """`kb.collections` of package.yao."""
    notices: tuple[str, ...] = ()
    """What is odd in its package.yao, and has no effect."""
    tables: tuple[str, ...] = ()
    """`db.models` of package.yao."""
    sandbox: Sandbox | None = None
    """The sandbox of an agent whose answers come from a runner."""
    has_old_sandbox: bool = False
    """Whether `package.yao` has the key `sandbox` of old, which means nothing any more."""

    @property
    def sandbox_notice(self) -> str:
        """A note for people about its sandbox; empty when it has none."""
        if self.sandbox is not None:
            return f"{self.id}: runner.yml stands in for its runner {self.sandbox.runner}, which Yao runs on a node"
        if self.has_old_sandbox:
            return f'{self.id}: "sandbox" of package.yao is not version "2.0": it is ignored, as in Yao'
        return ""


class Assistants:
    """Finds agents: those of an application, then those that come with this package."""

    def __init__(self, application: Application) -> None:
        self.application = application
        self._shipped = Application(SHIPPED)
        self._known: dict[str, Assistant] = {}
        self._presets: dict[tuple[Path, str], tuple[dict[str, Any], ...] | None] = {}
        self._localized: dict[tuple[Path, str], Assistant] = {}

    def get(self, id: str) -> Assistant:
        """An agent by id; `assistants.` before it is fine. Raises ConfigurationError when there is none,
        and BrokenError when its files cannot be used."""
        if id not in self._known:
            agent = self.find(id)
            try:
                self._known[id] = _read(agent, self.application.kept)
            except ConfigurationError as error:
                raise BrokenError(error.message, error.hint) from error
        return self._known[id]

    def knows(self, id: str) -> bool:
        """Whether there is an agent of that id."""
        try:
            self.find(id)
        except ConfigurationError:
            return False
        return True

    def find(self, id: str) -> AgentFolder:
        """An agent by id, whatever is in its files. Raises ConfigurationError."""
        try:
            return self.application.agent(id)
        except ConfigurationError as error:
            if self._shipped.agent_of_id(id.removeprefix("assistants.")) is not None:
                return self._shipped.agent(id)
            known = sorted({agent.id for agent in (*self.application.agents(), *self._shipped.agents())})
            hint = did_you_mean(id.removeprefix("assistants."), known) or f"There are {', '.join(known[:20])}"
            wanted = self.application.assistants.joinpath(*id.strip("./").split("."), "package.yao")
            raise MissingError(f'Cannot find agent "{id}": there is no {wanted}', hint) from error

    def preset(self, assistant: Assistant, name: str) -> tuple[dict[str, Any], ...] | None:
        """The prompts of a preset, `prompts/task.yml` for `task`; None when there is none. Raises
        ConfigurationError."""
        key = (assistant.folder, name)
        if key not in self._presets:
            self._presets[key] = _preset(assistant.folder, name, self.application.kept)
        return self._presets[key]

    def localized(self, assistant: Assistant, locale: str) -> Assistant:
        """An assistant whose name and description are in the language of a locale. Raises ConfigurationError."""
        if "{{" not in assistant.name + assistant.description:
            return assistant
        key = (assistant.folder, locale)
        if key not in self._localized:
            places = (assistant.folder, self.application.root / "agent")
            tables = _read_tables([place / "locales" for place in places], locale)
            self._localized[key] = assistant.replace(
                name=_translate(assistant.name, tables), description=_translate(assistant.description, tables)
            )
        return self._localized[key]

    @cached_property
    def global_prompts(self) -> tuple[dict[str, Any], ...]:
        """The prompts of `agent/prompts.yml`, which come before an assistant's own. Raises ConfigurationError."""
        path = self.application.root / "agent/prompts.yml"
        return _prompts(path, self.application.kept) if path.is_file() else ()


def stand_in(agent: AgentFolder) -> Assistant:
    """The substitute for an agent whose files cannot be used."""
    return Assistant(id=agent.id, folder=agent.folder, name=agent.id)


def _read(agent: AgentFolder, kept: Path | None) -> Assistant:
    id, folder = agent.id, agent.folder
    path = folder / "package.yao"
    package = read_json(path, "package")
    where = f"Cannot use {path}"
    if not isinstance(package, dict):
        raise ConfigurationError(f"{where}: it must contain an object")
    for key, kind in _KINDS.items():
        value = package.get(key)
        if value is not None and not isinstance(value, kind):
            raise ConfigurationError(f'{where}: "{key}" must be {"a string" if kind is str else "an object"}')
    if odd_use := next(
        (key for key, value in (package.get("uses") or {}).items() if not isinstance(value, str | None)), ""
    ):
        raise ConfigurationError(
            f'{where}: "uses.{odd_use}" must be a string', 'For example: the id of an agent, or "disabled"'
        )
    inline = next((key for key in ("script", "scripts", "source") if package.get(key)), None)
    if inline is not None:
        raise ConfigurationError(
            f'{where}: "{inline}" contains code, and code in package.yao does not run here',
            "Move hooks to src/index.ts and other scripts to src/, then delete it from package.yao",
        )
    mcp = package.get("mcp") or {}
    options = mcp.get("options") or {}
    if not isinstance(options, dict):
        raise ConfigurationError(f'{where}: "mcp.options" must be an object')
    servers = mcp.get("servers") or []
    if not isinstance(servers, list):
        raise ConfigurationError(f'{where}: "mcp.servers" must be a list')
    turns = _DEFAULT_TURNS if options.get("max_turn") is None else options["max_turn"]
    if not isinstance(turns, int) or isinstance(turns, bool) or turns < 1:
        raise ConfigurationError(f'{where}: "mcp.options.max_turn" must be a whole number of at least 1')
    parameters = package.get("options") or {}
    odd = {key: why for key, value in parameters.items() if (why := _odd(key, value))}
    prompts = folder / "prompts.yml"
    script = next((file for suffix in SUFFIXES if (file := folder / "src" / f"index{suffix}").is_file()), None)
    return Assistant(
        id=id,
        folder=folder,
        name=package.get("name") or id,
        description=package.get("description") or "",
        type=str(package.get("type") or "assistant"),
        connector=package.get("connector") or "",
        parameters={key: value for key, value in parameters.items() if key not in odd},
        notices=tuple(f"{id}: options.{key} of package.yao {why}, as in Yao" for key, why in odd.items()),
        servers=tuple(servers),
        loops=bool(options.get("tool_loop", True)),
        turns=turns,
        global_prompts=not package.get("disable_global_prompts"),
        prompts=own_prompts(prompts, kept) if prompts.is_file() else (),
        script=script,
        uses=package.get("uses") or {},
        search=package.get("search") or {},
        collections=_names(package, "kb", "collections", where),
        tables=_names(package, "db", "models", where),
        sandbox=(sandbox := read_sandbox(folder, package)),
        has_old_sandbox=sandbox is None and bool(package.get("sandbox")),
    )


def _odd(key: str, value: Any) -> str:
    """Why an option has no effect; empty if it has one."""
    if key not in fields_of(ModelParameters):
        return "is not a model option and has no effect"
    return "" if is_parameter(key, value) else f"has the wrong type, {json.dumps(value)[:60]}, and no effect"


def _names(package: dict[str, Any], key: str, within: str, where: str) -> tuple[str, ...]:
    names = (package.get(key) or {}).get(within) or []
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ConfigurationError(f'{where}: "{key}.{within}" must be a list of strings')
    return tuple(names)


def _preset(folder: Path, name: str, kept: Path | None) -> tuple[dict[str, Any], ...] | None:
    parts = name.split(".")
    for path in (folder.joinpath("prompts", *parts), folder.joinpath("prompts", *parts, "prompts")):
        for suffix in (".yml", ".yaml"):
            file = path.with_name(path.name + suffix)
            if file.is_file() and file.resolve().is_relative_to(folder.resolve()):
                return _prompts(file, kept)
    return None


def own_prompts(path: Path, kept: Path | None = None) -> tuple[dict[str, Any], ...]:
    """The prompts of a file. Raises ConfigurationError, also when there is nothing in it."""
    found = _prompts(path, kept)
    if not any(prompt["content"].strip() for prompt in found):
        hint = "Describe there what the agent does, or delete the file: an agent without prompts calls no model"
        raise ConfigurationError(f"Cannot use prompts {path}: the file is empty", hint)
    return found


def _prompts(path: Path, kept: Path | None) -> tuple[dict[str, Any], ...]:
    folder = path.parent
    while not (folder / "package.yao").is_file() and folder.name != "agent" and folder != folder.parent:
        folder = folder.parent
    value = read_yaml(path, "prompts", lambda text: _with_assets(text, folder / "assets"), kept)
    if value is None:
        return ()
    if not isinstance(value, list):
        raise ConfigurationError(f"Cannot use prompts {path}: it must be a list of {{role, content}}")
    for number, item in enumerate(value, 1):
        texts = isinstance(item, dict) and isinstance(item.get("content"), str)
        if not texts or not isinstance(item.get("role"), str | None):
            raise ConfigurationError(
                f"Cannot use prompts {path}: entry {number} needs a role and a content, both strings"
            )
    return tuple({**item, "role": item.get("role") or "system"} for item in value)


def _with_assets(text: str, assets: Path) -> str:
    """`key: @assets/<file>` becomes the text of that file, as a YAML block; a missing file becomes nothing."""

    def asset(match: re.Match[str]) -> str:
        path = (assets / match["file"]).resolve()
        try:
            found = read_text(path) if path.is_relative_to(assets.resolve()) else ""
        except (OSError, UnicodeDecodeError):
            found = ""
        indent = " " * (len(match["lead"]) + 2)
        return f"{match['lead']}{match['key']}: |\n" + "".join(f"{indent}{line}\n" for line in found.splitlines())

    return re.sub(_ASSET, asset, text, flags=re.MULTILINE) if "@assets/" in text else text


def _translate(text: str, tables: Iterable[Mapping[str, Any]]) -> str:
    """A text with its keys replaced, by the first table that has them; others stay."""
    known = list(tables)

    def value(match: re.Match[str]) -> str:
        return next((found for table in known if (found := _at(table, match[1])) is not None), match[0])

    return re.sub(_KEY, value, text)


def _read_tables(folders: Iterable[Path], locale: str) -> list[Mapping[str, Any]]:
    """The tables for a locale, best first: those of `de-at`, of `de`, of other regions such as `de-ch`, each in the
    order of the folders. Raises ConfigurationError."""
    code = locale.lower()
    language = code.partition("-")[0]
    paths = [path for folder in folders for path in sorted(folder.glob("*.y*ml"))]
    paths = [path for path in paths if path.stem.lower().partition("-")[0] == language]
    paths.sort(key=lambda path: (path.stem.lower() != code, path.stem.lower() != language))
    return [table for path in paths if isinstance(table := read_yaml(path, "locale"), dict)]


def _at(table: Any, path: str) -> str | None:
    for key in path.split("."):
        table = table.get(key) if isinstance(table, dict) else None
    return table if isinstance(table, str) else None


class AgentVariant(Value):
    """What one variant changes in the tested agent. Other agents get its environment variables only."""

    name: str
    agent: str
    """Id of the tested agent."""
    connector: str
    prompts: tuple[Mapping[str, Any], ...] | None
    """Replaces its own; None: it uses its own."""
    env: Mapping[str, str]
    digest: str
    """The digest of its prompts and variables, for a run that is resumed."""
    undescribed: str = ""
    """The tool, as its model knows it, whose description is left out."""

    def of(self, assistant: Assistant) -> Assistant:
        """An agent as it is in this variant."""
        if self.prompts is None or assistant.id != self.agent:
            return assistant
        return assistant.replace(prompts=self.prompts)


def agent_variant(variant: Variant, assistant: Assistant, directory: Path) -> AgentVariant:
    """A variant of an agent, its prompts read. Raises ConfigurationError."""
    from hashlib import blake2b

    prompts = own_prompts(_prompts_of(variant, assistant, directory)) if variant.prompts else None
    content = json.dumps([prompts, variant.env], sort_keys=True, default=str)
    return AgentVariant(
        name=variant.name,
        agent=assistant.id,
        connector=variant.connector,
        prompts=prompts,
        env=dict(variant.env),
        digest=blake2b(content.encode("utf-8", "replace"), digest_size=8).hexdigest(),
    )


def _prompts_of(variant: Variant, assistant: Assistant, directory: Path) -> Path:
    """The prompts of a variant: from the working directory, else from the agent's folder."""
    places = [directory / variant.prompts, assistant.folder / variant.prompts]
    for place in places:
        if place.is_file():
            return place
    raise ConfigurationError(
        f"Cannot find the prompts of variant {variant.name}: there is no {places[0]}, and no {places[1]}",
        "Give a path relative to the working directory or to the agent's folder",
    )
