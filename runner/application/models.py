"""The models of an application: `models/**/*.mod.{yao,json,jsonc}`, those of its agents, and those that are part of
Yao; and the fixtures of its tests.

The id of a model is its path below `models/`: folders are joined with dots, and dots in names are written `_`. Ids of
models of agents begin with `agents.<agent id>.`, and their tables with `agents_<agent id>_`."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

from bindings import Fixture, Model, ModelFileError, ModelFiles, ProcessError, built_in_models, read_definition
from runner.application.application import Application
from runner.application.documents import place_in_json, read_json
from runner.errors import ConfigurationError
from runner.security.files import check_named, files_below, no_packages, read_text
from scripttest import RefusedFileError
from scripttest.typing_names import Json

_SUFFIXES = (".mod.yao", ".mod.jsonc", ".mod.json")
_OLD_PREFIX = "agents_mcpload_"
"""The prefix of tables of agents' models in older versions of Yao, which did not write the agent's id there."""
_PREFIX = "yao_"
"""The prefix of tables of built-in models, unless `app.yao` sets another."""


class ApplicationData:
    """Reads models and fixtures. Implements `bindings.models.databases.Files`."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._root = application.root

    def models(self) -> ModelFiles:
        """All models. Files of the application that cannot be read are all named; so are those of agents, whose other
        models can be used all the same."""
        found: dict[str, Model] = {model.id: model for model in built_in_models(self._table_prefix())}
        broken: list[str] = []
        refused: dict[str, str] = {}
        for id, path in _files(self._root / "models", "", self._root):
            try:
                found[id] = self._read(id, path, "")
            except ConfigurationError as error:
                broken.append(self._said(error))
        for agent in self._application.agents():
            prefix = f"agents_{agent.id.replace('.', '_')}_"
            for id, path in _files(agent.folder / "models", f"agents.{agent.id}.", self._root):
                try:
                    found[id] = self._read(id, path, prefix)
                except ConfigurationError as error:
                    refused[id] = self._said(error)
        return ModelFiles(models=tuple(found.values()), broken=tuple(broken), refused=refused)

    def document(self, file: str, source: str | None) -> tuple[str, Json, str]:
        """Name, value and text of a model's file below the application; `source` is its text where that is given.

        Raises ModelFileError."""
        name = "/" + file.lstrip("/")
        path = self._root / name[1:]
        try:
            if source is None:
                if ".." in path.parts:
                    raise ConfigurationError(f"Cannot read model {file}: it is outside the application")
                if path.exists():
                    check_named(path, self._root)
                return name, _document(path), read_text(path)
            return name, json.loads(source), source
        except ConfigurationError as error:
            place, _, problem = error.message.removeprefix("Cannot read model ").partition(": ")
            raise ModelFileError(place.removeprefix(f"{self._root}/"), problem, error.hint or "") from error
        except RefusedFileError as error:
            raise ModelFileError(file, str(error.strerror)) from error
        except (ValueError, RecursionError) as error:
            raise ModelFileError(file, f"its source is not JSON: {error}") from error

    def fixture(self, name: str, folder: Path) -> Fixture:
        """What is in `fixtures/<name>.jsonl` in a folder or the nearest one above it, up to the application. Raises
        ProcessError."""
        path = self._fixture(name, folder)
        shown = os.path.relpath(path, self._root)
        try:
            lines = read_text(path).split("\n")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise ProcessError(f"Cannot read the fixture {shown}: {reason}", 400) from error
        found = []
        for number, line in enumerate(lines, 1):
            if not line.strip() or line.lstrip().startswith("//"):
                continue
            try:
                found.append((f"{shown}:{number}", json.loads(line)))
            except (ValueError, RecursionError) as error:
                raise ProcessError(f"{shown}:{number}: this line is not JSON: {error}", 400) from error
        return Fixture(file=shown, lines=tuple(found))

    def _fixture(self, name: str, folder: Path) -> Path:
        if not re.fullmatch(r"[\w-][\w.-]*(/[\w-][\w.-]*)*", name):
            raise ProcessError(f'The fixture "{name}" is not a valid file name in fixtures/', 400)
        folder = folder.resolve()
        above = [place for place in (folder, *folder.parents) if place.is_relative_to(self._root)] or [self._root]
        for place in above:
            path = place / "fixtures" / f"{name}.jsonl"
            if path.is_file():
                return path
        first = os.path.relpath(above[0] / "fixtures" / f"{name}.jsonl", self._root)
        known = sorted({path.stem for place in above for path in (place / "fixtures").glob("*.jsonl")})
        listed = f"There are {', '.join(known[:20])}" if known else "The application has no fixtures yet"
        raise ProcessError(f'There is no fixture "{name}": no {first}, nor in a folder above it. {listed}', 404)

    def _read(self, id: str, path: Path, table_prefix: str) -> Model:
        """Raises ConfigurationError."""
        document = _document(path)
        if table_prefix:
            document = _without_old_prefix(document)
        file = "/" + path.relative_to(self._root).as_posix()
        try:
            return read_definition(id, file, document, table_prefix).replace(source=read_text(path))
        except ModelFileError as error:
            where = place_in_json(path, error.at)
            raise ConfigurationError(f"Cannot read model {path}:{where}: {error.problem}", error.hint) from error

    def _said(self, error: ConfigurationError) -> str:
        message = error.message.replace(f"{self._root}/", "")
        return message + (f". {error.hint}" if error.hint else "")

    def _table_prefix(self) -> str:
        for name in ("app.yao", "app.jsonc", "app.json"):
            path = self._root / name
            if path.is_file():
                try:
                    document = read_json(path, "application")
                except ConfigurationError:  # whoever needs the rest of it says what is wrong with it
                    return _PREFIX
                prefix = document.get("prefix") if isinstance(document, dict) else None
                return prefix if isinstance(prefix, str) and prefix else _PREFIX
        return _PREFIX


def _files(folder: Path, prefix: str, root: Path) -> Iterator[tuple[str, Path]]:
    """The files of models below a folder, each with its id, sorted."""
    for found in files_below(folder, root=root, enters=no_packages):
        suffix = next((suffix for suffix in _SUFFIXES if found.endswith(suffix)), None)
        if suffix is not None:
            name = found[len(str(folder)) + 1 :].removesuffix(suffix)
            yield prefix + name.replace(".", "_").replace("/", "."), Path(found)


def _document(path: Path) -> Json:
    """The value in a model's file. Raises ConfigurationError."""
    value = read_json(path, "model", is_data=True)
    if path.suffix == ".json":
        try:
            json.loads(read_text(path))
        except json.JSONDecodeError as error:
            message = f"Cannot read model {path}:{error.lineno}:{error.colno}: {error.msg}"
            hint = ".json files cannot have comments or trailing commas: rename it to .yao or .jsonc"
            raise ConfigurationError(message, hint) from error
    return value


def _without_old_prefix(document: Json) -> Json:
    table = document.get("table") if isinstance(document, dict) else None
    if not isinstance(table, dict) or not isinstance(table.get("name"), str):
        return document
    return {**document, "table": {**table, "name": table["name"].removeprefix(_OLD_PREFIX)}}
