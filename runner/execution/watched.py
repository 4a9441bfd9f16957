"""The files that `--watch-expr` names, which have to fit before anything runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from runner.errors import ConfigurationError, beside_missing, shown_path
from runner.options.values import WatchExpr
from runner.record.events import HookOutput, TestEnd
from scripttest import UnreadableError, Watch, Watching

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.record.events import Event
    from runner.record.fold import Execution


class Unpassed:
    """A receiver of events that knows which watches no test has passed."""

    def __init__(self, names: set[str]) -> None:
        """`names` are those of all."""
        self.names = names

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Looks for their values in the captured lines."""
        logs = event.result.logs if isinstance(event, TestEnd) else event.logs if isinstance(event, HookOutput) else ()
        for line in logs:
            if line.level == "watch":
                self.names = {
                    name for name in self.names if not line.text.startswith((f"{name} = ", f"{name} throws "))
                }

    def close(self) -> None:
        """Does nothing."""


def watching(wanted: Sequence[WatchExpr], root: Path, directory: Path) -> Watching:
    """Puts the expressions into their files, which are named from the working directory or the root of the application.
    Raises ConfigurationError for a file that is not there, a line without code, and a text that is no expression."""
    found = Watching()
    by_path: dict[Path, list[WatchExpr]] = {}
    for one in wanted:
        by_path.setdefault(_path(one, root, directory), []).append(one)
    for path, own in by_path.items():
        name = shown_path(path, root)
        watches = [
            Watch(line=one.line, expression=one.expression, name=f"{name}:{one.line} {one.expression}") for one in own
        ]
        try:
            problem = found.add(str(path), path.read_bytes(), watches)
        except (UnreadableError, OSError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise ConfigurationError(f"Cannot watch {own[0]}: {why}") from error
        if problem is not None:
            one = own[problem.number]
            if problem.text:
                raise ConfigurationError(f"Cannot watch {one.expression}: {problem.text}")
            near = f"The nearest line with code is {one.file}:{problem.nearest}" if problem.nearest else None
            raise ConfigurationError(f"Cannot watch {one}: there is no code on line {one.line}", near)
    return found


def _path(one: WatchExpr, root: Path, directory: Path) -> Path:
    path = next((path for folder in (directory, root) if (path := folder / one.file).is_file()), directory / one.file)
    if not path.is_file():
        hint = beside_missing(path, lambda name: name.endswith((".ts", ".js")))
        raise ConfigurationError(f"Cannot watch {one}: there is no file {path}", hint)
    return path.resolve()
