"""A pool of workers: which worker gets work, which is ended, and what its owner is told."""

from __future__ import annotations

import select
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from command import PATIENCE

from scripttest.compile.compiler import Compiler
from scripttest.results import Cause, Failure
from scripttest.workers.answers import HostCall, Logged, Message
from scripttest.workers.pool import MOST_QUESTIONS, Libraries, WorkerPool, WorkerSlot

ECHO = f"""\
import os, sys
sys.path.insert(0, {str(Path(__file__).parents[3])!r})
from scripttest.protocol import FrameReader, encode
reader = FrameReader()
while data := os.read(0, 65536):
    for kind, parts in reader.feed(data):
        if kind == "log": os.write(1, encode(kind, *parts))
        if kind == "end": os._exit(int(parts[0]))
        if kind == "ask": os.write(1, b"".join(encode("call", str(n), "a.b", "[]", "") for n in range(int(parts[0]))))
        if kind == "reply": os.write(1, encode("log", "info", '"' + parts[1] + '"'))
"""
"""A program that sends lines back, asks, and ends, as it is told."""


class Owner:
    """Watches descriptors with `poll`, and keeps what it hears of its workers."""

    def __init__(self) -> None:
        self._poll = select.poll()
        self._ready: dict[int, Callable[[], None]] = {}
        self.heard_of: list[str] = []
        self.losses: list[Failure] = []

    def watch(self, descriptor: int, ready: Callable[[], None]) -> None:
        self._ready[descriptor] = ready
        self._poll.register(descriptor, select.POLLIN)

    def unwatch(self, descriptor: int) -> None:
        self._poll.unregister(descriptor)
        del self._ready[descriptor]

    def heard(self, slot: WorkerSlot[str], message: Message) -> None:
        assert isinstance(message, Logged)
        self.heard_of.append(message.line.text)

    def asked(self, slot: WorkerSlot[str], call: HostCall) -> None:
        self.heard_of.append(f"{call.name}{call.arguments}")
        slot.reply(call.number, f"answer {call.number}")

    def lost(self, slot: WorkerSlot[str], loss: Failure) -> None:
        self.losses.append(loss)

    def wait(self, condition: Callable[[], Any]) -> None:
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end
            for descriptor, _ in self._poll.poll(50):
                if descriptor in self._ready:
                    self._ready[descriptor]()


@pytest.fixture
def owner() -> Owner:
    return Owner()


@pytest.fixture
def pool(tmp_path: Path, owner: Owner) -> Iterator[WorkerPool[str]]:
    compiler = Compiler(tmp_path, owner)
    libraries = Libraries(compiler, lambda module, script: tmp_path / script)
    pool: WorkerPool[str] = WorkerPool([sys.executable, "-I", "-S", "-c", ECHO], owner, owner, libraries)
    yield pool
    pool.close()
    compiler.close()
    assert pool.slots == []


def test_an_idle_worker_that_has_loaded_the_module_is_found_first(pool: WorkerPool[str]) -> None:
    assert pool.idle("b") is None
    first, second, third = pool.start(), pool.start(), pool.start()
    first.work, second.loaded, third.loaded = "busy", "b", "c"
    assert pool.idle("b") is second
    assert pool.idle("c") is third
    assert pool.idle("d") in (second, third)
    second.work = third.work = "busy"
    assert pool.idle("b") is None


def test_a_worker_that_has_ended_is_not_found(pool: WorkerPool[str], owner: Owner) -> None:
    slot = pool.start()
    slot.worker.child.kill()
    owner.wait(lambda: slot.worker.child.has_ended)
    assert pool.idle("a") is None


def test_idle_workers_that_are_too_many_are_ended(pool: WorkerPool[str]) -> None:
    busy, idle, other = pool.start(), pool.start(), pool.start()
    busy.work = "busy"
    pool.keep(1)
    assert pool.slots == [busy, idle]
    assert not other.is_open
    pool.keep(0)
    assert pool.slots == [busy]


def test_the_first_deadline_counts(pool: WorkerPool[str]) -> None:
    early, late = pool.start(), pool.start()
    assert pool.deadline is None and pool.late() == []
    late.worker.start_clock(60)
    early.worker.start_clock(-60)
    assert pool.deadline == early.worker.deadline
    assert pool.late() == [early]


def test_the_owner_hears_what_a_worker_sends(pool: WorkerPool[str], owner: Owner) -> None:
    slot = pool.start()
    slot.work = "busy"
    slot.worker.send_frame("log", "info", '"one"')
    owner.wait(lambda: owner.heard_of)
    assert owner.heard_of == ["one"]


def test_questions_are_answered_in_their_order(pool: WorkerPool[str], owner: Owner) -> None:
    slot = pool.start()
    slot.work = "busy"
    slot.worker.send_frame("ask", "2")
    owner.wait(lambda: len(owner.heard_of) == 4)
    assert owner.heard_of == ["a.b[]", "a.b[]", "answer 0", "answer 1"]


@pytest.mark.parametrize(("work", "why"), [("busy", "before the last one was answered"), (None, "without work")])
def test_a_worker_that_asks_out_of_turn_is_lost(
    pool: WorkerPool[str], owner: Owner, monkeypatch: pytest.MonkeyPatch, work: str | None, why: str
) -> None:
    slot = pool.start()
    slot.work = work
    monkeypatch.setattr(owner, "asked", lambda *_: None)
    slot.worker.send_frame("ask", str(MOST_QUESTIONS + 1))
    owner.wait(lambda: owner.losses)
    (loss,) = owner.losses
    assert loss.cause == Cause.CRASH
    assert f"a question {why}" in loss.message
    assert pool.slots == []
    slot.reply("0", "nobody hears it")


def test_a_line_of_another_form_loses_the_worker(pool: WorkerPool[str], owner: Owner) -> None:
    slot = pool.start()
    slot.work = "busy"
    slot.worker.send_frame("log", "loud", '"one"')
    owner.wait(lambda: owner.losses)
    assert owner.losses[0].message.endswith("sent something that is not a message: a line that is not a string")
    assert owner.heard_of == [] and pool.slots == []


def test_a_mistake_of_the_owner_is_not_taken_for_one_of_the_worker(
    pool: WorkerPool[str], owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def heard(*_: object) -> None:
        raise KeyError("a mistake in this process")

    monkeypatch.setattr(owner, "heard", heard)
    slot = pool.start()
    slot.work = "busy"
    slot.worker.send_frame("log", "info", '"one"')
    with pytest.raises(KeyError, match="a mistake in this process"):
        owner.wait(lambda: owner.losses)
    assert owner.losses == []


@pytest.mark.parametrize(("killed", "cause"), [(False, Cause.CRASH), (True, Cause.INFRASTRUCTURE)])
def test_the_owner_hears_how_a_worker_was_lost(pool: WorkerPool[str], owner: Owner, killed: bool, cause: Cause) -> None:
    slot = pool.start()
    slot.work = "busy"
    slot.worker.child.kill() if killed else slot.worker.send_frame("end", "7")
    owner.wait(lambda: owner.losses)
    (loss,) = owner.losses
    assert (loss.cause, slot.work, pool.slots) == (cause, "busy", [])
    assert (
        loss.message == f"The worker process {'was killed by signal 9 (SIGKILL)' if killed else 'exited with code 7'}"
    )
