"""Records the model calls of a run, or answers them from recordings.

| mode | a request |
| --- | --- |
| `record` | goes to the model; when the case ends, its file is written anew |
| `replay` | is answered from the recording; if it is not in it, the case fails |
| `missing` | is answered from the recording; if it is not in it, it goes to the model and is added |

Only answers are recorded, not failed calls. The nth time that a case sends the same request, it gets the nth recorded
answer. So it does not matter what other cases do at the same time. The file of a case is read at its first request."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from runner.answers.files import SUFFIX, cleaned, file_of, folder_of, read_recording, sweep, write_recording
from runner.answers.replay import (
    CaseRecording,
    CaseReplay,
    Clean,
    Described,
    RecordedCall,
    RecordingError,
    describe,
    suite_label,
)
from runner.connectors.base import ConnectorError, ModelAnswer, ModelRequest, Origin, ask, say
from runner.errors import ConfigurationError
from runner.options.options import RunOptions, absolute
from scripttest import Status, TestKey

if TYPE_CHECKING:
    from runner.answers.journal import Journal
    from runner.connectors.load import Connectors


Mode = Literal["record", "replay", "missing"]
FLAGS: dict[Mode, str] = {"record": "--record", "replay": "--replay", "missing": "--record-missing"}
SHOWN = 20
"""Unused recordings that are named."""
_NEIGHBOURS = 100
"""Files of other cases in which the nearest request is looked for."""
_SEARCHES = 20
"""How often in a run."""


def check_folder(text: str, folder: Path, mode: Mode) -> None:
    """Makes the folder that a flag names as `text`, if it is to be written. Raises ConfigurationError when it cannot be
    used."""
    subject = f"Cannot use {FLAGS[mode]} {text}"
    if folder.exists() and not folder.is_dir():
        raise ConfigurationError(f"{subject}: it is a file", "Pass a folder; each case gets its own file in it")
    if mode == "replay":
        if not folder.exists():
            raise ConfigurationError(f"{subject}: there is no such folder", f"Record first, with --record {text}")
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".{os.getpid()}.tmp"
        probe.open("xb").close()  # never through a link
        probe.unlink()
    except OSError as error:
        raise ConfigurationError(f"{subject}: {error.strerror}", "It must be a writable folder") from error


def open_recording(options: RunOptions, directory: Path, root: Path, redact: Clean) -> Recording:
    """The recordings of a run, one of whose three flags is given. Raises ConfigurationError."""
    texts: dict[Mode, str | None] = {
        "record": options.record,
        "replay": options.replay,
        "missing": options.record_missing,
    }
    mode, text = next((mode, text) for mode, text in texts.items() if text is not None)
    folder = absolute(text, directory)
    check_folder(text, folder, mode)
    return Recording(folder, text, mode, root, redact)


class Recording:
    """The recordings of one run."""

    def __init__(self, folder: Path, shown: str, mode: Mode, root: Path, redact: Clean = str) -> None:
        """Reads nothing yet. `shown`: the folder as the user wrote it. `root`: the application's root, which recordings
        have as `<app>`. `redact`: removes secrets from a text; applied to everything that is written or shown."""
        self.mode = mode
        self.folder = folder
        """Where the recordings are."""
        self._shown = shown
        self._root = str(root)
        self._redact = redact
        self._replays: dict[tuple[str, str], dict[int, CaseReplay]] = {}
        self._messages: frozenset[str] = frozenset()
        self._seen: dict[str, set[str]] = {}
        """Folder of a suite → the files of its cases that ran, below it."""
        self._swept: set[Path] = set()
        self._unused: list[str] = []
        self._unused_count = 0
        self._searches = 0
        self.held_back: Callable[[str], str | None] | None = None
        """Says of a suite why its models are not asked what is not recorded, for people; None: they are asked all, and
        that is recorded. For the mode `missing`."""

    def set_messages(self, suites: Iterable[str]) -> None:
        """Says which suites, by their ids, are messages of the command line, whose texts are no paths. To be called
        before their cases run."""
        self._messages = frozenset(suites)

    async def complete(
        self,
        origin: Origin,
        connector: str,
        request: ModelRequest,
        connectors: Connectors,
        journal: Journal | None = None,
    ) -> ModelAnswer:
        """The answer to a request of a case. What is not recorded is asked through the `journal`, if there is one.
        Raises ConnectorError: a miss, or what the model's connector raises."""
        replay = self._replay_of(origin)
        replay.asked += 1
        model = connectors.model(connector)
        if self._mode(origin.suite) != "record":
            call = self._find(replay, origin, connector, request, model)
            if call is not None:
                say(call.chunks, request)
                return ModelAnswer(completion=call.completion, chunks=call.chunks)
        place = replay.reserve()
        described = describe(request, connector, model, self._clean)
        if journal is None:
            answer = await ask(connectors.get(connector), request)
        else:
            answer = await journal.complete(origin, connector, request, connectors)
        completion, pieces = cleaned(answer.completion, answer.chunks, self._redact)
        replay.calls[place] = RecordedCall(request=described, completion=completion, chunks=pieces)
        return answer

    def time(self, origin: Origin, now: Callable[[], datetime]) -> datetime:
        """The time that `$SYS` variables show in a case: one time for all of it, that of its recording if there is
        one."""
        replay = self._replay_of(origin)
        replay.time = replay.time or now()
        return replay.time

    def misses(self, test: TestKey) -> list[str]:
        """The requests of a run of a case that have no recorded answer."""
        replay = self._replays.get((test.suite, test.test), {}).get(test.run)
        return replay.misses if replay else []

    def forget(self, test: TestKey) -> None:
        """Forgets what a run of a case has asked, which asks it again."""
        self._replays.get((test.suite, test.test), {}).pop(test.run, None)

    def give_up(self, test: TestKey) -> None:
        """Takes note that a run of a case was cut short: what it asked is not recorded, except where it was missing."""
        if self._mode(test.suite) == "record":
            self.forget(test)

    def keep(self, suite: str, case: str) -> None:
        """Takes note that there is a case that does not run this time."""
        self._note(suite, file_of(self._redact(case)))

    def end(self, suite: str, case: str, status: str) -> None:
        """Takes note that a case has ended with all its runs, and writes what is to be written. Raises OSError."""
        replays = self._replays.pop((suite, case), {})
        self.keep(suite, case)
        if replays:
            self._end(suite, case, replays)
        elif status != Status.SKIPPED and self.mode != "record":
            self._never_asked(suite, case)
        elif status == Status.PASSED:
            (self.folder / self._name(suite, case)).unlink(missing_ok=True)

    def finish(self, whole: bool) -> str | None:
        """Writes what belongs to whole suites, and, of `missing`, cases that were given up; what to say of recordings
        that were not used. With `whole` those of cases that are no longer there are among them. Raises OSError."""
        for suite, case in [key for key in self._replays if key[0]]:
            replays = self._replays.pop((suite, case))
            if self.mode == "missing" or any(replay.of_suite for replay in replays.values()):
                self._end(suite, case, replays)
        if self.mode == "record" or self.held_back is not None:
            return None
        if whole:
            for text in self._forgotten():
                self._note_unused(text)
        if not self._unused_count:
            return None
        more = f", and {self._unused_count - SHOWN} more" if self._unused_count > SHOWN else ""
        return f"Unused recordings in {self._shown}: {', '.join(self._unused)}{more}"

    def close(self) -> None:
        """Writes what was asked after the end of the run. Raises OSError."""
        for suite, case in list(self._replays):
            self._save(suite, case, self._replays.pop((suite, case)))

    def file(self, origin: Origin) -> str:
        """The file of a case, below the folder of the recordings."""
        return self._name(origin.suite, origin.case, origin.run)

    def _clean(self, text: str) -> str:
        return self._redact(text).replace(self._root, "<app>")

    # the files

    def _name(self, suite: str, case: str, run: int = 1) -> str:
        return f"{self._folder(suite)}/{file_of(self._redact(case), run)}"

    def _folder(self, suite: str) -> str:
        return folder_of(self._redact(suite_label(suite, self._root)), suite in self._messages)

    def _mode(self, suite: str) -> Mode:
        return "record" if self.held_back is not None and self.held_back(suite) is None else self.mode

    def _replay_of(self, origin: Origin) -> CaseReplay:
        of_case = self._replays.setdefault((origin.suite, origin.case), {})
        if origin.run not in of_case:
            of_case[origin.run] = self._open(origin)
        return of_case[origin.run]

    def _open(self, origin: Origin) -> CaseReplay:
        self._note(origin.suite, file_of(self._redact(origin.case), origin.run))
        if self._mode(origin.suite) == "record":
            return CaseReplay(None, bool(origin.suite), origin.of_suite)
        try:
            path = self.folder / self._name(origin.suite, origin.case, origin.run)
            return CaseReplay(read_recording(path, self._redact(origin.case)), bool(origin.suite), origin.of_suite)
        except RecordingError as error:
            replay = CaseReplay(None, bool(origin.suite), origin.of_suite)
            replay.problem = error
            return replay

    def _end(self, suite: str, case: str, replays: Mapping[int, CaseReplay]) -> None:
        for replay in replays.values():
            unused, recorded = replay.unused(), replay.recorded
            if unused:
                which = "all" if unused == recorded else f"{unused} of"
                self._note_unused(f'"{case}" in {suite_label(suite, self._root)} ({which} {recorded})')
        self._save(suite, case, replays)

    def _never_asked(self, suite: str, case: str) -> None:
        """A case has ended that has asked nothing, although it may have a recording."""
        try:
            recording = read_recording(self.folder / self._name(suite, case), self._redact(case))
        except RecordingError as error:
            self._note_unused(error.message)
        else:
            self._end(suite, case, {1: CaseReplay(recording, True)})

    def _save(self, suite: str, case: str, replays: Mapping[int, CaseReplay]) -> None:
        if self.mode == "replay":
            return
        for run, replay in replays.items():
            calls = [call for call in replay.calls if call is not None]
            if len(calls) == replay.recorded or replay.problem is not None:
                continue
            path = self.folder / self._name(suite, case, run)
            if path.parent not in self._swept:
                self._swept.add(path.parent)
                sweep(path.parent, time.time())
            when = replay.time or datetime.now().astimezone()
            write_recording(
                path,
                CaseRecording(
                    suite=self._clean(suite_label(suite, self._root)), case=self._redact(case), time=when, calls=calls
                ),
            )

    def _note(self, suite: str, file: str) -> None:
        if self.mode != "record" and suite:
            self._seen.setdefault(self._folder(suite), set()).add(file)

    def _note_unused(self, text: str) -> None:
        self._unused_count += 1
        if len(self._unused) < SHOWN:
            self._unused.append(text)

    def _forgotten(self) -> Iterator[str]:
        """Files of cases that did not run, in the folders of suites that did."""
        for folder, seen in self._seen.items():
            for path in _files(self.folder / folder):
                if path.name not in seen:
                    yield f"{folder}/{path.name} (of no case)"

    # what is not there

    def _find(
        self, replay: CaseReplay, origin: Origin, connector: str, request: ModelRequest, model: str
    ) -> RecordedCall | None:
        """The recorded answer; None when the model is to be asked."""
        if replay.problem is not None:
            raise self._missed(replay, f"{replay.problem.message}. {replay.problem.hint}")
        call = replay.take(
            describe(request, connector, model), lambda: describe(request, connector, model, self._clean)
        )
        if call is None and self.held_back is not None and (reason := self.held_back(origin.suite)):
            raise self._missed(replay, reason)
        if call is None and self.mode == "replay":
            where, file = self._folder(origin.suite), self._name(origin.suite, origin.case, origin.run)
            asked = describe(request, connector, model, self._clean)
            why = replay.explain_miss(asked, origin.case, self._shown, file, lambda: self._neighbours(where))
            raise self._missed(replay, why)
        return call

    @staticmethod
    def _missed(replay: CaseReplay, message: str) -> ConnectorError:
        replay.misses.append(message)
        return ConnectorError(message)

    def _neighbours(self, folder: str) -> Iterator[tuple[str, Described]]:
        """Requests of other cases, first those of the suite; of a bounded number of files, and not in every miss."""
        self._searches += 1
        if self._searches > _SEARCHES:
            return
        near = _files(self.folder / folder)[:_NEIGHBOURS]
        for path in near or _files(self.folder, deep=True)[:_NEIGHBOURS]:
            try:
                recording = read_recording(path)
            except RecordingError:
                continue
            for number, call in enumerate(recording.calls if recording else (), 1):
                yield f"call {number} of {path.relative_to(self.folder)}", call.request


def _files(folder: Path, deep: bool = False) -> list[Path]:
    found = folder.rglob(f"*{SUFFIX}") if deep else folder.glob(f"*{SUFFIX}")
    return sorted(path for path in found if not path.name.startswith("."))
