"""Which host calls of tests are answered."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from scripttest import TestKey
from scripttest.process import PollLoop
from scripttest.workers.answers import HostCall
from scripttest.workers.calls import HostCalls, WakeUp
from scripttest.workers.services import Services

NEXT = HostCall(number="7", name="fuzz.Next", arguments="[null]", world="")


class Realm:
    """The slot of a worker, as far as calls see it."""

    def __init__(self, is_late: bool) -> None:
        self.worker = SimpleNamespace(is_late=is_late, deadline=1.0)
        self.work = SimpleNamespace(running=0)
        self.is_open = False
        self.replies: list[tuple[str, str]] = []

    def reply(self, number: str, envelope: str) -> None:
        self.replies.append((number, envelope))


class Asked(Services):
    """Answers each call with its name."""

    def call(self, test: TestKey, name: str, arguments: str, world: str, link: Any) -> str:
        return name


@pytest.mark.parametrize(("is_late", "answer"), [(True, '{"ok": null}'), (False, "fuzz.Next")])
def test_a_realm_whose_time_is_up_gets_no_further_input(is_late: bool, answer: str) -> None:
    """Its next realm asks for that: two that ask at a time would take each other's."""
    loop = PollLoop()
    bell = WakeUp(loop)
    slot: Any = Realm(is_late)
    calls = HostCalls(Asked(), bell)
    calls.begin(slot, NEXT, test=TestKey(suite="scripts.a.b", test="FuzzIt"), timeout=1.0)
    while not slot.replies:
        calls.deliver()
    calls.close()
    bell.close()
    assert slot.replies == [("7", answer)]
