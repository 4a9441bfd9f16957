"""The application on disk: its root, its agents and their test modules.

An agent is a folder below `assistants/` with a `package.yao`. Its id is the path below `assistants/`, with dots. The id
of a test module is `scripts.<agent>.<path below src>`. If no id matches exactly, upper and lower case are treated as
equal. A dot in the name of a folder is written `_`, as in Yao. So several test files can have one id: twins, of which
none runs. `runner/security/files.py` says which folders hold no tests and no agents."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from runner.errors import ConfigurationError, did_you_mean
from runner.security.files import SUFFIXES, is_closed, is_test, walk
from scripttest.values import Value


class AgentFolder(Value):
    """Where an agent is, whatever is in its files."""

    id: str
    """Such as `workers.system.keyword`."""
    folder: Path
    """Absolute path of the folder with `package.yao`."""


class TestModule(Value):
    """A test file and what belongs to it."""

    id: str
    """Such as `scripts.expense.setup`."""
    agent: str
    """Agent id, such as `expense`."""
    test: Path
    """Absolute path of `<module>_test.ts`."""
    script: Path | None
    """Absolute path of `<module>.ts`, if there is one."""
    label: str
    """The test file below `assistants/`, such as `expense/src/setup_test.ts`."""


def find_root(*starts: Path) -> Path:
    """The application that a folder or file is part of: the first of them that is part of one. Raises
    ConfigurationError."""
    for start in starts:
        for folder in (start, *start.parents):
            if (folder / "app.yao").is_file() or (folder / "assistants").is_dir():
                return folder
    tried = " or ".join(map(str, dict.fromkeys(starts)))
    raise ConfigurationError(
        f"Cannot find the application: no folder from {tried} upward contains app.yao or assistants/",
        "Pass it with --app",
    )


def repository_of(folder: Path) -> Path:
    """The repository of a folder: the nearest one, upward from it, that has `.git`; otherwise the folder."""
    for start in (folder, folder.resolve()):
        for parent in (start, *start.parents):
            if (parent / ".git").exists():
                return parent
    return folder


class Application:
    """What can be looked up in one application."""

    def __init__(self, root: Path, kept: Path | None = None) -> None:
        """`kept`: the folder in which later runs find what its YAML files say; None: there is none."""
        self.root = root
        self.assistants = root / "assistants"
        self.kept = kept

    def agents(self) -> Iterator[AgentFolder]:
        """All agents, folder by folder."""
        for folder in walk(self.assistants, root=self.root):
            if "package.yao" in folder.files:
                yield AgentFolder(id=_dotted(folder.path[len(str(self.assistants)) + 1 :]), folder=Path(folder.path))

    def files_of_scripts(self) -> list[str]:
        """The paths of all files below `assistants/` and `scripts/`, but for packages."""
        folders = walk(
            self.root / "assistants",
            self.root / "scripts",
            root=self.root,
            enters=lambda _, name: name != "node_modules" and not name.startswith("."),
            follows=False,
        )
        return [f"{one.path}/{name}" for one in folders for name in one.files]

    def modules(self) -> Iterator[TestModule]:
        """All test modules of all agents, sorted by id."""
        for agent in self.agents():
            yield from self.modules_of(agent)

    def modules_of(self, agent: AgentFolder) -> Iterator[TestModule]:
        """The test modules of one agent, sorted."""
        for folder in walk(agent.folder / "src", root=self.root):
            names = frozenset(folder.files)
            for name in folder.files:
                if is_test(name):
                    yield self._module(agent, folder.path, name, names)

    def twins_of(self, module: TestModule) -> list[TestModule]:
        """All test files with the id of a module, itself among them, sorted."""
        found = {str(one.test): one for one in (module, *self._exactly(module.id.split(".")[1:]))}
        return [found[path] for path in sorted(found)]

    def module_at(self, test: Path) -> TestModule:
        """The module of a test file. Raises ConfigurationError when it is not in an agent's `src/`."""
        for folder in test.parents:
            if (folder / "package.yao").is_file() and test.is_relative_to(folder / "src"):
                if not folder.is_relative_to(self.assistants):
                    raise ConfigurationError(
                        f"Cannot run {test}: the agent in {folder} is not below {self.assistants}",
                        "If a link there leads to it, use the module's id: scripts.<agent>.<module>",
                    )
                closed = next((part for part in test.relative_to(self.assistants).parts[:-1] if is_closed(part)), None)
                if closed is not None:
                    raise ConfigurationError(
                        f"Cannot run {test}: folders named {closed} contain no tests",
                        "Move it to another folder in src/",
                    )
                return self._module(self._in_assistants(folder), str(test.parent), test.name)
        raise ConfigurationError(
            f"Cannot run {test}: it is not below the src/ folder of an agent (a folder with package.yao)"
        )

    def resolve(self, id: str, every: Callable[[], Iterable[TestModule]] | None = None) -> list[TestModule]:
        """The modules that `scripts.<agent>.<module>`, `scripts.<agent>` or a glob names; `every` returns all modules,
        if they were looked for. Raises ConfigurationError."""
        if not self.assistants.is_dir():
            raise ConfigurationError(
                f"Cannot resolve {id}: there is no folder {self.assistants}", "Pass the application with --app"
            )
        if any(letter in id for letter in "*?["):
            from fnmatch import fnmatchcase

            found = [module for module in (every or self.modules)() if fnmatchcase(module.id, id)]
            if not found:
                raise ConfigurationError(f"No test module matches {id}")
            return found
        parts = [part for part in id.split(".")[1:] if part]
        if not parts:
            raise ConfigurationError(
                f'Cannot resolve "{id}": the agent is missing', "Write it as scripts.<agent>.<module>"
            )
        agent, module = self._agent(parts, id)
        if not module:
            found = list(self.modules_of(agent))
            if not found:
                where = agent.folder / "src"
                raise ConfigurationError(f"Agent {agent.id} has no tests: there is no *_test.ts below {where}")
            return found
        return self._exactly(parts) or [self._named(agent, module, id)]

    def agent(self, id: str) -> AgentFolder:
        """An agent by id; `assistants.` before it is fine. Raises ConfigurationError."""
        agent, rest = self._agent([part for part in id.split(".") if part] or [""], id)
        if rest:
            known = [known.id for known in self.agents()]
            hint = did_you_mean(id, known) or f"There are {', '.join(known[:20])}"
            raise ConfigurationError(f'Cannot find agent "{id}": {agent.id} has no agent {".".join(rest)}', hint)
        return agent

    def agent_of_id(self, id: str) -> AgentFolder | None:
        """The agent with exactly this id, or None."""
        folder = self._folder([part for part in id.split(".") if part])
        return self._in_assistants(folder) if folder is not None and folder != self.assistants else None

    def agent_of_script(self, id: str) -> AgentFolder:
        """The agent that a `scripts.<agent>.<module>` belongs to. Raises ConfigurationError."""
        agent, _ = self._agent(id.split(".")[1:], id)
        return agent

    def agent_of(self, place: Path) -> AgentFolder | None:
        """The agent that a file or folder belongs to, or None."""
        for folder in (place, *place.parents):
            if (folder / "package.yao").is_file():
                if folder.is_relative_to(self.assistants):
                    if any(map(is_closed, folder.relative_to(self.assistants).parts)):
                        continue
                    return self._in_assistants(folder)
                linked = next((agent for agent in self.agents() if agent.folder.resolve() == folder.resolve()), None)
                return linked or AgentFolder(id=folder.name, folder=folder)
        return None

    def script(self, id: str) -> Path | None:
        """The file of an app script (`scripts.a.b`, below `scripts/`) or of an agent's (`scripts.<agent>.<module>`,
        `agents.<agent>.<module>`), or None."""
        group, *parts = id.split(".")
        if group in ("scripts", "services"):
            found = _walk(self.root / group, parts)
            if found is not None:
                return found
        for length in range(len(parts) - 1, 0, -1):
            folder = self._folder(parts[:length])
            if folder is not None:
                return _walk(folder / "src", parts[length:])
        return None

    def _exactly(self, parts: list[str]) -> list[TestModule]:
        """The test files with the id `scripts.<parts>`: all agents and folders are looked at that may be meant."""
        found = []
        for length in range(1, len(parts)):
            for folder in _spelled(self.assistants, parts[:length]):
                if not os.path.isfile(f"{folder}/package.yao"):
                    continue
                for parent in _spelled(folder / "src", parts[length:-1]):
                    names = _names(parent)
                    for name in names:
                        if is_test(name) and _dotted(os.path.splitext(name)[0]) == f"{parts[-1]}_test":
                            found.append(self._module(self._in_assistants(folder), str(parent), name, names))
        return found

    def _in_assistants(self, folder: Path) -> AgentFolder:
        """The agent in a folder below `assistants/`."""
        return AgentFolder(id=_dotted(folder.relative_to(self.assistants).as_posix()), folder=folder)

    def _agent(self, parts: list[str], id: str) -> tuple[AgentFolder, list[str]]:
        """An agent, and the remaining parts of a name. The agent with the longest id wins."""
        for skip in (0, 1) if parts[0] == "assistants" else (0,):
            for length in range(len(parts), skip, -1):
                folder = self._folder(parts[skip:length])
                if folder is not None:
                    return self._in_assistants(folder), parts[length:]
        known = [agent.id for agent in self.agents()]
        tried = self.assistants.joinpath(*parts[:-1] or parts) / "package.yao"
        within = [agent for agent in known if agent.startswith(f"{'.'.join(parts)}.")]
        if within:
            raise ConfigurationError(
                f"Cannot resolve {id}: {'.'.join(parts)} is a folder of agents, not an agent: {', '.join(within[:20])}",
                f'To run all their tests: -i "{id}.*"' if id.startswith("scripts.") else None,
            )
        listed = f"; there are {', '.join(known[:20])}" if known else "; the application has no agents"
        hint = did_you_mean(".".join(parts[:-1] or parts), known) or did_you_mean(parts[0], known)
        raise ConfigurationError(
            f"Cannot resolve {id}: no agent {'.'.join(parts[:-1] or parts)} (no {tried}){listed}", hint
        )

    def _folder(self, parts: list[str]) -> Path | None:
        parts = "/".join(parts).strip("/").split("/")  # never an absolute path, whatever a script calls an agent
        if any(map(is_closed, parts)):
            return None
        folder = self.assistants.joinpath(*parts)
        if (folder / "package.yao").is_file():
            return folder
        loose = _descend(self.assistants, parts)
        if loose is None or any(map(is_closed, loose.relative_to(self.assistants).parts)):
            return None
        return loose if (loose / "package.yao").is_file() else None

    def _named(self, agent: AgentFolder, module: list[str], id: str) -> TestModule:
        known = list(self.modules_of(agent))
        prefix = f"scripts.{agent.id}."
        for candidate in known:
            if candidate.id.lower() == f"{prefix}{'.'.join(module)}".lower():
                return candidate
        wanted = agent.folder.joinpath("src", *module[:-1], f"{module[-1]}_test.ts")
        hint = did_you_mean(".".join(module), [candidate.id.removeprefix(prefix) for candidate in known], prefix)
        if hint is None and known:
            hint = f"Its test modules are {', '.join(candidate.id for candidate in known[:20])}"
        raise ConfigurationError(f"Cannot resolve {id}: agent {agent.id} has no test file {wanted}", hint)

    def _module(self, agent: AgentFolder, folder: str, name: str, names: Collection[str] | None = None) -> TestModule:
        """The module of a test file in a folder that has other files with these names."""
        # Texts, not paths: an application may have hundreds of these before anything can start.
        file = f"{folder}/{name}"
        base = os.path.splitext(file)[0].removesuffix("_test")
        stem, beside = os.path.basename(base), _names(folder) if names is None else names
        script = next((Path(base + suffix) for suffix in SUFFIXES if stem + suffix in beside), None)
        id = f"scripts.{agent.id}.{_dotted(base[len(str(agent.folder)) + len('/src/') :])}"
        label = file[len(str(self.assistants)) + 1 :]
        return TestModule(id=id, agent=agent.id, test=Path(file), script=script, label=label)


def _dotted(path: str) -> str:
    return path.replace(".", "_").replace("/", ".")


def twins_among(modules: Iterable[TestModule]) -> dict[str, list[Path]]:
    """The test files that have one id, by id, sorted. Two names of one file are no twins."""
    by_id: dict[str, list[Path]] = {}
    for module in modules:
        by_id.setdefault(module.id, []).append(module.test)
    several = {id: sorted({str(path): path for path in paths}.values()) for id, paths in by_id.items() if paths[1:]}
    return {id: paths for id, paths in several.items() if len({os.path.realpath(path) for path in paths}) > 1}


def twins_problem(twins: Mapping[str, list[Path]], root: Path) -> str:
    """What is wrong with several test files of one id, as a text for people."""
    return "; ".join(
        f"{' and '.join(os.path.relpath(path, root) for path in paths)} both have the id {id}"
        for id, paths in twins.items()
    )


def tested_by(test: Path) -> Path | None:
    """The script beside a test file that it tests; None if there is none, or it is no test file."""
    if not is_test(test.name):
        return None
    base = str(test.with_name(test.stem.removesuffix("_test")))
    return next((Path(base + suffix) for suffix in SUFFIXES if os.path.isfile(base + suffix)), None)


def _names(folder: str | Path) -> list[str]:
    """The names in a folder, sorted; none when there is no such folder."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _spelled(folder: Path, parts: list[str]) -> list[Path]:
    """The folders below another that dotted parts may mean: a dot of a name is written `_`."""
    found = [folder]
    for part in parts:
        found = [
            one / name
            for one in found
            for name in _names(one)
            if (name == part or ("." in name and name.replace(".", "_") == part)) and not is_closed(name)
        ]
    return found


def _descend(folder: Path, parts: list[str]) -> Path | None:
    """A folder below another whose names match, dots written `_`; if none does exactly, without case."""
    for part in parts:
        fits = [name for name in _names(folder) if name.replace(".", "_").lower() == part.lower()]
        if not fits:
            return None
        folder = folder / (part if part in fits else fits[0])
    return folder


def _walk(folder: Path, parts: list[str]) -> Path | None:
    """The script file below a folder that dotted parts name."""
    if not parts:
        return None
    parent = _descend(folder, parts[:-1])
    if parent is None:
        return None
    for suffix in SUFFIXES:
        if (parent / (parts[-1] + suffix)).is_file():
            return parent / (parts[-1] + suffix)
    try:
        found = _scripts_in(str(parent), os.stat(parent).st_mtime_ns).get(parts[-1].lower())
    except OSError:
        return None
    return parent / found if found else None


@lru_cache(maxsize=64)
def _scripts_in(folder: str, changed: int) -> dict[str, str]:
    """The script files of a folder, by the part of an id that names them, as the folder is since it was `changed`."""
    names = ((name, *os.path.splitext(name)) for name in reversed(_names(folder)))
    return {stem.replace(".", "_").lower(): name for name, stem, suffix in names if suffix in SUFFIXES}
