"""The journal of a run: it stores the answers that cases under way have got, beside the `.jsonl` report. If the run is
killed and continued, no more answers are requested twice than are asked for at a time.

    {"type": "calls", "version": 1}
    {"suite", "case", "run", "of_suite"?, "time", "zone", "exact", "loose", "ms", "completion"}       an answer
    {"ended": ["assistants/expense/tests/filing.jsonl", "taxi", 1]}        its answers are no longer needed

`exact` and `loose` are digests of the request, by which it is found, as in recordings. `completion` is as in a
recording. Each run of a case has its own answers.

| event | what happens |
| --- | --- |
| the command is killed | the line that was being written is lost, and answers that have just arrived |
| a model is asked, or the event loop goes on | the answers that have arrived before it are written |
| a case ends with a verdict | its answers are dropped; those that are not written yet never are |
| a case breaks because a model did not answer | its answers are kept for when it runs again |
| a case breaks for another reason | its answers are dropped, because they may be the reason |
| the file cannot be written, or has `MOST_BYTES` | one warning, and the run continues without a journal |
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from functools import cache, partial
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from runner.answers.files import JournalFile, cleaned, completion_from, completion_to, time_from
from runner.answers.replay import Clean, Keys, StoredAnswers, describe, keys_of, suite_label
from runner.connectors.base import Completion, ConnectorError, ModelAnswer, ModelRequest, Origin, ask, say
from runner.connectors.usage import case_now, count_in
from runner.errors import ConfigurationError
from runner.security.files import JOURNAL, check_target
from scripttest import TestKey
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.connectors.load import Connectors


_Digests = tuple[str, str]
_Key = tuple[str, str, int]
"""The suite, the case and the run of answers, as they stand in the journal."""
MOST_BYTES = 1_000_000_000
_HEAD = {"type": "calls", "version": 1}


class CallGate(Protocol):
    """Makes calls wait, so that there are few answers that are not stored yet. For one event loop."""

    async def begin(self) -> None:
        """Waits until a call may begin. The time is not counted as time of its case."""

    def give_up(self) -> None:
        """Takes note that a call has ended without an answer."""

    def end(self) -> None:
        """Takes note that the answer to a call was written."""


class _Call(Value):
    """One answer."""

    digests: Callable[[], _Digests]
    """Those of its request, the exact and the loose one, made when they are needed: the answers of most cases are
    never written."""
    milliseconds: float
    """How long it took."""
    completion: Completion
    chunks: tuple[str, ...]
    """The pieces in which it came."""


class _CaseCalls:
    """What models have answered in one run of a case."""

    time: datetime | None = None
    """What `$SYS` variables say."""
    of_suite = False
    """As of their `Origin`."""
    kept: StoredAnswers[_Call] | None = None
    """The answers of an earlier run of the case, which it gets again."""
    unanswered = False
    """Whether a model did not answer."""

    def __init__(self) -> None:
        self.calls: list[_Call] = []

    def rewind(self) -> None:
        """Keeps all answers so far, for the next time that it runs."""
        self.kept, self.unanswered = StoredAnswers(list(self.calls), lambda call: _keys(call.digests)), False


def journal_beside(report: Path) -> Path:
    """Where the journal of a `.jsonl` report is."""
    return report.with_name(report.name[: -len(report.suffix)] + JOURNAL)


class Journal:
    """The journal of one run. May be used from any thread."""

    def __init__(
        self,
        path: Path | None,
        open_file: Callable[[Path], JournalFile] | None,
        root: Path,
        redact: Clean = str,
        warn: Callable[[str], None] = lambda _: None,
        resumes: bool = False,
        limit: int = MOST_BYTES,
        gate: CallGate | None = None,
    ) -> None:
        """Reads the journal of an earlier run if this run `resumes` it; otherwise removes it.

        Args:
            path: the file; None: answers are kept in memory alone, and nothing else but `root` is needed.
            open_file: opens a file for this run only, without removing its content. Raises OSError, and
                ConfigurationError if another process writes it.
            root: the application's root; names of files start there.
            redact: removes secrets from a text; applied to everything that is written.
            warn: called once, with the reason, when answers are no longer stored.
            limit: most bytes of the file.
            gate: decides when calls begin; without it, each begins at once.
        """
        self._path = path or Path()
        self._open_file = open_file
        self._root = str(root)
        self._redact = redact
        self._warn = warn
        self._limit = limit
        self._gate = gate
        self._label = cache(lambda suite: self._clean(suite_label(suite, self._root)))
        self._size = 0
        self._file: JournalFile | None = None
        self._writes = path is not None
        self._lock = threading.RLock()
        self._cases: dict[_Key, _CaseCalls] = {}
        self._unwritten: dict[_Key, list[_Call]] = {}
        """The answers that are written when the event loop goes on, if their case has not ended."""
        if path is not None:
            self._open(resumes)

    async def complete(
        self, origin: Origin, connector: str, request: ModelRequest, connectors: Connectors
    ) -> ModelAnswer:
        """The answer to a request of a case: the one that is kept, else that of the model. Raises ConnectorError."""
        if not origin.suite or connectors.is_scripted(connector):
            return await ask(connectors.get(connector), request)
        key = self._written(origin.suite, origin.case, origin.run)
        of_case = self._case(key)
        digests = partial(self._digests, request, connector, connectors)
        kept = of_case.kept and of_case.kept.take(_keys(digests))
        if kept:
            say(kept.chunks, request)
            count_in(kept.milliseconds / 1000)
            return ModelAnswer(completion=kept.completion, chunks=kept.chunks, journaled=True)
        if self._gate is not None:
            await self._gate.begin()
        if self._unwritten:
            self._flush()
        started = case_now()
        try:
            answer = await ask(connectors.get(connector), request)
        except BaseException as error:
            of_case.unanswered |= isinstance(error, ConnectorError)
            if self._gate is not None:
                self._gate.give_up()
            raise
        completion, chunks = cleaned(answer.completion, answer.chunks, self._redact)
        milliseconds = round((case_now() - started) * 1000, 1)
        call = _Call(digests=digests, milliseconds=milliseconds, completion=completion, chunks=chunks)
        with self._lock:
            if self._cases.get(key) is of_case:  # else the case has ended, and nobody asks for it again
                of_case.calls.append(call)
                of_case.of_suite = origin.of_suite
                if not self._unwritten:
                    asyncio.get_running_loop().call_soon(self._flush)
                self._unwritten.setdefault(key, []).append(call)
        if self._gate is not None:
            self._flush()
            self._gate.end()
        return answer

    def _digests(self, request: ModelRequest, connector: str, connectors: Connectors) -> _Digests:
        described = describe(request, connector, connectors.model(connector))
        exact, loose = (_digest(self._clean(key)) for key in keys_of(described, connectors.settings(connector)))
        return exact, loose

    def _flush(self) -> None:
        with self._lock:
            unwritten, self._unwritten = self._unwritten, {}
            for key, calls in unwritten.items():
                for call in calls:
                    self._write(_record_of(key, self._cases[key], call))

    def time(self, origin: Origin, now: Callable[[], datetime]) -> datetime:
        """The time that `$SYS` variables show in a case: that at which it first began."""
        if not origin.suite:
            return now()
        of_case = self._case(self._written(origin.suite, origin.case, origin.run))
        of_case.time = of_case.time or now()
        return of_case.time

    def end(self, test: TestKey, broke: bool) -> None:
        """Takes note that a run of a case has a result. `broke`: it will run again."""
        key = self._written(test.suite, test.test, test.run)
        of_case = self._cases.get(key)
        if of_case is None:
            return
        if broke and of_case.unanswered:
            of_case.rewind()
            return
        with self._lock:
            del self._cases[key]
            unwritten = self._unwritten.pop(key, [])
        if len(unwritten) < len(of_case.calls):
            self._write({"ended": key})

    def add(self, line: str) -> None:
        """Takes an answer that another machine has got, as a line of its journal."""
        record = json.loads(line)
        if "exact" in record:
            with self._lock:
                self._take(record)
            self._write(record)

    def lines(self, tests: Mapping[str, Collection[str] | None]) -> list[str]:
        """The answers of tests that are under way, as a journal for another machine. `tests`: suite → its tests; None
        stands for all of them."""
        wanted = {
            self._label(suite): None if names is None else set(map(self._clean, names))
            for suite, names in tests.items()
        }
        with self._lock:
            found = self._texts(lambda key: key[0] in wanted and ((names := wanted[key[0]]) is None or key[1] in names))
        return [json.dumps(_HEAD), *found] if found else []

    def _texts(self, is_wanted: Callable[[_Key], bool] = lambda _: True) -> list[str]:
        cases = [(key, of_case) for key, of_case in self._cases.items() if is_wanted(key)]
        return [json.dumps(_record_of(key, of_case, call)) for key, of_case in cases for call in of_case.calls]

    def close(self, complete: bool) -> None:
        """Closes the file, and removes it when nobody has a use for what is in it: with `complete`, all has ended."""
        with self._lock:
            self._flush()
            useful = any(one.calls and not (complete and one.of_suite) for one in self._cases.values())
            self._writes = False
            try:
                self._end_file(remove=not useful)
            except OSError as error:
                self._give_up(error)

    def _case(self, key: _Key) -> _CaseCalls:
        with self._lock:
            return self._cases.setdefault(key, _CaseCalls())

    def _written(self, suite: str, case: str, run: int) -> _Key:
        return self._label(suite), self._clean(case), run

    def _clean(self, text: str) -> str:
        return self._redact(text).replace(self._root, "<app>")

    def _open(self, resumes: bool) -> None:
        """Takes up what there is, and leaves in the file what is of use."""
        try:
            self._check()
            if not self._path.exists():
                return
            assert self._open_file is not None
            self._file = self._open_file(self._path)
            records = list(_records(self._path))
            if records[:1] != [_HEAD] and self._path.stat().st_size:
                raise ConfigurationError("a file with this name exists and is not a journal")
            if not resumes:
                self._end_file(remove=True)
                return
            self._take_up(records[1:])
            texts = [json.dumps(_HEAD), *self._texts()]
            self._file.replace(texts)
            self._size = sum(len(text) + 1 for text in texts)
        except (ConfigurationError, OSError) as error:
            self._end_file()
            self._give_up(error)

    def _end_file(self, remove: bool = False) -> None:
        """Closes the file, if it is open, and may remove it. Raises OSError."""
        file, self._file = self._file, None
        if file is not None:
            file.close()
        if file is not None and remove:
            self._path.unlink(missing_ok=True)

    def _check(self) -> None:
        """Nobody has named the journal, so what is there may have come with the application. Raises OSError for a link
        out of it, and ConfigurationError for what is not a file or too large."""
        check_target(self._path)
        if not self._path.exists():
            return
        if not self._path.is_file():
            raise ConfigurationError("it is not a file")
        if self._path.stat().st_size > self._limit:
            raise ConfigurationError(f"it has more than {_bytes(self._limit)}")

    def _take_up(self, records: Iterable[dict[str, Any]]) -> None:
        """Takes up lines, up to one that says nothing."""
        for record in records:
            try:
                if "ended" in record:
                    suite, case, run = record["ended"]
                    self._cases.pop((suite, case, run), None)
                else:
                    self._take(record)
            except (AttributeError, LookupError, TypeError, ValueError, RecursionError):
                break
        for of_case in self._cases.values():
            of_case.rewind()

    def _take(self, record: dict[str, Any]) -> None:
        """Takes an answer. Raises AttributeError, KeyError, TypeError or ValueError when the line has none."""
        digests, time = (record["exact"], record["loose"]), time_from(record) if "time" in record else None
        completion, chunks = completion_from(record["completion"])
        call = _Call(digests=lambda: digests, milliseconds=record["ms"], completion=completion, chunks=chunks)
        of_case = self._case((record["suite"], record["case"], record["run"]))
        of_case.time = of_case.time or time
        of_case.of_suite = record.get("of_suite") is True
        of_case.calls.append(call)

    def _write(self, record: dict[str, Any]) -> None:
        """Writes a line. If that fails, there is a warning, and nothing more is written."""
        with self._lock:
            if not self._writes:
                return
            text = json.dumps(record)
            try:
                if self._size + len(text) >= self._limit:
                    raise ConfigurationError(f"the limit is {_bytes(self._limit)}")
                self._size += len(text) + 1
                if self._file is None:
                    assert self._open_file is not None
                    self._check()
                    self._file = self._open_file(self._path)
                    head = json.dumps(_HEAD)
                    self._file.write(head)
                    self._size += len(head) + 1
                self._file.write(text)
            except (ConfigurationError, OSError) as error:
                self._give_up(error)

    def _give_up(self, error: ConfigurationError | OSError) -> None:
        self._writes = False
        why = error.message if isinstance(error, ConfigurationError) else error.strerror or str(error)
        self._warn(
            f"Cannot save model responses to {self._path}: {why}. The run continues; if it is aborted, "
            "unfinished cases will call their models again"
        )


def _bytes(count: int) -> str:
    return f"{count // 1_000_000_000} GB" if count >= 1_000_000_000 else f"{count} bytes"


def _keys(digests: Callable[[], _Digests]) -> Keys:
    made = cache(digests)
    return Keys(exact=lambda: made()[0], loose=lambda: made()[1], model="")


def _record_of(key: _Key, of_case: _CaseCalls, call: _Call) -> dict[str, Any]:
    time = of_case.time
    when = {} if time is None else {"time": time.isoformat(timespec="seconds"), "zone": time.tzname()}
    return {
        **dict(zip(("suite", "case", "run"), key, strict=True)),
        **({"of_suite": True} if of_case.of_suite else {}),
        **when,
        **dict(zip(("exact", "loose"), call.digests(), strict=True)),
        "ms": call.milliseconds,
        "completion": completion_to(call.completion, call.chunks),
    }


def _records(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a journal, up to one that is torn."""
    with path.open("rb") as file:
        for line in file:
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                return
            if not line.endswith(b"\n") or not isinstance(record, dict):
                return
            yield record


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
