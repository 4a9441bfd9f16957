"""What a watched run waits for: files whose content has changed, not merely the time of their last save, and keys."""

from __future__ import annotations

import os
import sys
import termios
import threading
import time
import tty
from collections.abc import Callable, Iterable
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from queue import Empty, Queue
from typing import TextIO

from runner.errors import RunnerError
from runner.options.options import RunOptions, absolute, report_path
from runner.reporters.console.style import Style
from runner.reporters.console.terminal import CLEAR
from runner.security.files import walk
from scripttest import written_files
from scripttest.values import Value

STEP = 5
"""Changes are reported after this many milliseconds without an event."""
DEBOUNCE = 20
"""Changes are reported after this many milliseconds in any case."""
WATCHED_AFTER = 1000
"""Milliseconds until it is certain that the folder is watched; then it is compared once with what it was before."""
LARGE = 4 << 20
"""Bytes from which on a file counts as changed when its size or its time does."""
IGNORED = frozenset({"node_modules", ".git", ".hg", ".svn", ".venv", "__pycache__", "__snapshots__", ".yao-test"})
"""Folders whose files no test reads, or which tests write."""
QUIET = 0.02
"""Seconds without a change, after which a run begins."""
ONE_FILE = 0.004
"""The same where one file was saved, as by an editor."""
FILLING = 0.2
"""The same where a file is empty: who saves it has perhaps not written it yet."""
LOOK = 1.0
"""Seconds after which a signal is seen that came just before the waiting began, and did not end it."""
LONGEST = 0.3
"""Seconds after the first change, after which it begins in any case."""
MANY = 20
"""More files than that are written by a tool, such as a switch of branches, which is waited for longer."""
QUIET_OF_MANY = 0.1
LONGEST_OF_MANY = 5.0


class Changes:
    """Reports changes of files, on its own thread."""

    def __init__(self, root: Path, tell: Callable[[set[str]], None], broke: Callable[[Exception], None]) -> None:
        """Looks at all files below `root`. `tell` is called with the absolute paths of changed files; `broke` with the
        reason why watching has ended."""
        self._broke = broke
        self._root = str(root)
        self._tell = tell
        self._stop = threading.Event()
        self._places: tuple[str, ...] = ()
        self._known: dict[str, bytes] = {}
        """File → the digest of what it contained when it was last read."""
        self._changed(_files(self._root))

    def start(self) -> None:
        """Begins."""
        threading.Thread(target=self._work, name="changes", daemon=True).start()

    def expect(self, path: Path, content: bytes) -> None:
        """Takes note of what the command itself is about to write, so that it does not count as a change."""
        self._known[str(path)] = _digest_of(content)

    def leave_out(self, places: Iterable[Path]) -> None:
        """From now on, what the command writes at these places, files or folders, is no change."""
        self._places = tuple(map(str, places))

    def _is_of_run(self, path: str) -> bool:
        """Whether a file is one of these, or one that is written first and renamed then."""
        folder, name = os.path.split(path)
        for place in self._places:
            above, own = os.path.split(place)
            stem = os.path.splitext(own)[0]
            beside = name.startswith((f".{own}.", f"{stem}.calls.", f"{own}.json"))
            if path == place or path.startswith(f"{place}/") or (folder == above and beside):
                return True
        return False

    def stop(self) -> None:
        """Ends the thread, soon."""
        self._stop.set()

    def _work(self) -> None:
        try:
            try:
                self._watch(force_polling=None)
            except OSError:  # no more watches, or a file system that has none
                self._watch(force_polling=True)
        except Exception as error:
            self._broke(error)

    def _watch(self, force_polling: bool | None) -> None:
        from watchfiles import watch

        looked = False
        for events in watch(
            self._root,
            watch_filter=None,
            debounce=DEBOUNCE,
            step=STEP,
            stop_event=self._stop,
            rust_timeout=WATCHED_AFTER,
            yield_on_timeout=True,
            raise_interrupt=False,
            force_polling=force_polling,
            ignore_permission_denied=True,
        ):
            changed = self._changed({file for _, path in events for file in self._within(path)})
            if not looked:
                looked = True
                changed |= self._all_changed()
            changed = {path for path in changed if not (written_files.is_own(path) or self._is_of_run(path))}
            if changed:
                self._tell(changed)

    def _changed(self, paths: Iterable[str]) -> set[str]:
        """The files whose content has changed since they were last read, and those that were created or removed."""
        found = set()
        for path in paths:
            before, now = self._known.get(path), _digest(path)
            if before == now:
                continue
            if now is None:
                del self._known[path]
            else:
                self._known[path] = now
            found.add(path)
        return found

    def _all_changed(self) -> set[str]:
        """The same for all files, old and new."""
        return self._changed({*self._known, *_files(self._root)})

    def _within(self, path: str) -> list[str]:
        """The files of a changed path: itself, or all files of a folder that was created or removed."""
        if any(part in IGNORED or part.startswith(".yao-test.") for part in path[len(self._root) :].split("/")):
            return []
        known = [file for file in self._known if file.startswith(f"{path}/")]
        return [path, *known, *(_files(path) if os.path.isdir(path) else [])]


def written_by(options: RunOptions, directory: Path) -> list[Path]:
    """Where a run writes what flags ask for: files and folders."""
    places = [options.record, options.record_missing, options.db, options.store]
    reports = [report_path(output, directory) for output in options.outputs]
    return [*reports, *(absolute(place, directory) for place in places if place)]


def _files(folder: str) -> list[str]:
    found = []
    for one in walk(folder, root=folder, enters=lambda _, name: name not in IGNORED, follows=False):
        found += [f"{one.path}/{name}" for name in one.files]
        found += [f"{one.path}/{name}" for name in one.links if name not in IGNORED]
    return found


def _digest(path: str) -> bytes | None:
    try:
        about = os.stat(path)
        if not os.path.isfile(path):
            return None
        if about.st_size > LARGE:
            return f"{about.st_size} {about.st_mtime_ns}".encode()
        with open(path, "rb") as file:
            return _digest_of(file.read())
    except OSError:
        return None


def _digest_of(content: bytes) -> bytes:
    return blake2b(content, digest_size=16).digest()


class SavedFile(Value):
    """A file was saved or removed."""

    path: str
    in_run: bool = False
    """Whether something ran at that time."""


class Pressed(Value):
    """A key; an empty text if the terminal was closed."""

    key: str


class Broke(Value):
    """Nobody watches the files any more."""

    reason: str


Message = SavedFile | Pressed | Broke


class Inbox:
    """Messages in the order in which they came. Any thread puts in, the main thread takes out."""

    def __init__(self) -> None:
        self._messages: Queue[Message] = Queue()

    def put(self, messages: Iterable[Message]) -> None:
        """Puts them in. From any thread."""
        for message in messages:
            self._messages.put(message)

    def waiting(self) -> list[Message]:
        """The entries that have not been taken yet. From any thread."""
        with self._messages.mutex:
            return list(self._messages.queue)

    def next(self) -> Message:
        """Waits for the next one."""
        while (message := self._take(LOOK)) is None:
            continue
        return message

    def gathered(self, changed: set[str]) -> tuple[set[str], list[Message]]:
        """Waits until it is quiet: all changes until then, with those that are given, and what else came."""
        others: list[Message] = []
        began = time.monotonic()
        while (left := began + (LONGEST_OF_MANY if len(changed) > MANY else LONGEST) - time.monotonic()) > 0:
            message = self._take(min(_quiet(changed), left))
            if message is None:
                break
            if isinstance(message, SavedFile):
                changed.add(message.path)
            else:
                others.append(message)
        return changed, others

    def _take(self, seconds: float) -> Message | None:
        with suppress(Empty):
            return self._messages.get(timeout=seconds)
        return None


def _quiet(changed: set[str]) -> float:
    """Seconds without a further change, after which those so far are all."""
    if len(changed) > MANY:
        return QUIET_OF_MANY
    sizes = [_size(path) for path in changed]
    if 0 in sizes:
        return FILLING
    return QUIET if None in sizes or len(sizes) != 1 else ONE_FILE


def _size(path: str) -> int | None:
    try:
        return os.path.getsize(path)
    except OSError:
        return None


ESCAPE = "\x1b"
HELP = """\
  a      run all tests
  f      run failed tests
  u      update snapshots of failed tests
  p      only matching files
  t      only matching tests
  Esc    clear both filters
  Enter  rerun
  q      quit
"""


class Screen:
    """The terminal of a watched run."""

    def __init__(self, stream: TextIO, style: Style) -> None:
        self._stream = stream
        self._style = style

    def say(self, text: str) -> None:
        """A line about what happens."""
        self._write(self._style.paint(f"{text}\n", "cyan"))

    def explain(self, error: RunnerError) -> None:
        """Prints an error and its hint."""
        hint = f"Hint: {error.hint}\n" if error.hint else ""
        self._write(self._style.paint(f"Error: {error.message}\n", "red") + hint)

    def show_keys(self) -> None:
        """Prints the list of keys."""
        self._write(HELP)

    def wait(self, files: str, names: str | None) -> None:
        """The line below a verdict; `files` and `names` are the patterns of `p` and `t`."""
        filters = [f"files {files}"] if files else []
        filters += [f"tests {names}"] if names else []
        only = f" ({', '.join(filters)})" if filters else ""
        self._write(self._style.paint(f"Waiting for changes{only}: h for help, q to quit\n", "dim"))

    def ask(self, question: str, inbox: Inbox) -> str | None:
        """A line that the user types; None if the user cancels. Meanwhile, changes stay in the inbox."""
        text, waiting = "", []
        self._write(question)
        while True:
            message = inbox.next()
            if isinstance(message, SavedFile):
                waiting.append(message)
                continue
            key = message.key if isinstance(message, Pressed) else ""
            if key in ("\n", "", ESCAPE):
                break
            text = text[:-1] if key in ("\x7f", "\b") else text + key
            self._write(f"{CLEAR}{question}{text}")
        self._write("\n")
        inbox.put(waiting)
        return text if key == "\n" else None

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


class Keys:
    """Within it, the terminal gives single keys and shows none of them."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        """`tell` is called with each key; with an empty text if the terminal was closed."""
        self._tell = tell
        self._descriptor = sys.stdin.fileno()

    def __enter__(self) -> Keys:
        self._before = termios.tcgetattr(self._descriptor)
        tty.setcbreak(self._descriptor, termios.TCSANOW)  # a key that was pressed before counts too
        threading.Thread(target=self._work, name="keys", daemon=True).start()
        return self

    def restore_at_once(self) -> None:
        """Gives the terminal back as it was, without waiting for what it has yet to show."""
        self._restore(termios.TCSANOW)

    def __exit__(self, *_: object) -> None:
        self._restore(termios.TCSADRAIN)

    def _restore(self, when: int) -> None:
        with suppress(termios.error):  # the terminal was closed
            termios.tcsetattr(self._descriptor, when, self._before)

    def _work(self) -> None:
        while True:
            try:
                pressed = os.read(self._descriptor, 64)
            except OSError:
                pressed = b""
            if not pressed:
                self._tell("")
                return
            text = pressed.decode(errors="replace")
            if text.startswith(ESCAPE) and len(text) > 1:  # an arrow or the like
                continue
            for key in text:
                self._tell("\n" if key == "\r" else key)
