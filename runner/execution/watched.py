"""The files that `--watch-expr` names, which have to fit before anything runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from runner.errors import ConfigurationError, beside_missing, shown_path
from runner.options.values import WatchExpr
from scripttest import UnreadableError, Watch, Watching, WatchProblem


def watching(wanted: Sequence[WatchExpr], root: Path, directory: Path) -> Watching:
    """Puts the expressions into their files, which are named from the working directory or the root of the application.
    Raises ConfigurationError for a file that is not there, a line without code, and a text that is no expression."""
    found = Watching()
    for path in dict.fromkeys(_path(one, root, directory) for one in wanted):
        own = [one for one in wanted if _path(one, root, directory) == path]
        name = shown_path(path, root)
        watches = [
            Watch(line=one.line, expression=one.expression, name=f"{name}:{one.line} {one.expression}") for one in own
        ]
        try:
            problem = found.add(str(path), path.read_bytes(), watches)
        except UnreadableError as error:
            raise ConfigurationError(f"Cannot watch {own[0]}: {error}") from error
        except OSError as error:
            raise ConfigurationError(f"Cannot watch {own[0]}: {error.strerror}") from error
        if problem is not None:
            raise _refusal(own[problem.number], problem)
    return found


def _refusal(one: WatchExpr, problem: WatchProblem) -> ConfigurationError:
    if problem.text:
        return ConfigurationError(f"Cannot watch {one.expression}: {problem.text}")
    near = f"The nearest line with code is {one.file}:{problem.nearest}" if problem.nearest else None
    return ConfigurationError(f"Cannot watch {one}: there is no code on line {one.line}", near)


def _path(one: WatchExpr, root: Path, directory: Path) -> Path:
    path = next((path for folder in (directory, root) if (path := folder / one.file).is_file()), directory / one.file)
    if not path.is_file():
        hint = beside_missing(path, lambda name: name.endswith((".ts", ".js")))
        raise ConfigurationError(f"Cannot watch {one}: there is no file {path}", hint)
    return path.resolve()
