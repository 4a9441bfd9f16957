"""The model calls of one case while it runs: those of its recording first, then what was asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from runner.answers.matching import (
    Described,
    Keys,
    StoredAnswers,
    difference,
    exact_key,
    likeness,
    loose_key,
    same_model,
)
from runner.answers.recording_files import CaseRecording, RecordedCall, RecordingError


class CaseReplay:
    """The model calls of one run of a case."""

    def __init__(self, recording: CaseRecording | None, counts_messages: bool, of_suite: bool = False) -> None:
        """Without `counts_messages` whatever is said is the same request; `of_suite` as of an `Origin`."""
        self.of_suite = of_suite
        self.calls: list[RecordedCall | None] = list(recording.calls) if recording else []
        """None: asked, and not answered."""
        self.time = recording.time if recording else None
        self.recorded = len(self.calls)
        self.asked = 0
        self.problem: RecordingError | None = None
        self.misses: list[str] = []
        self._anything = not counts_messages
        self._kept = StoredAnswers(list(recording.calls) if recording else [], lambda call: self._keys(call.request))

    def reserve(self) -> int:
        """A place for the answer to what is being asked."""
        self.calls.append(None)
        return len(self.calls) - 1

    def unused(self) -> int:
        """How many recorded calls were not used."""
        return self._kept.unused

    def take(self, raw: Described, clean: Callable[[], Described]) -> RecordedCall | None:
        """The next recorded call of a request; None when there is none. `clean` gives the request as it is recorded."""
        return self._kept.take(self._keys(raw, clean))

    def count(self, described: Described) -> int:
        """How many recorded calls are of this request."""
        key = loose_key(described)
        return sum(
            loose_key(call.request) == key and same_model(call.request.get("model"), described.get("model"))
            for call in self.calls
            if call is not None
        )

    def explain_miss(
        self,
        asked: Described,
        case: str,
        folder: str,
        file: str,
        others: Callable[[], Iterable[tuple[str, Described]]],
    ) -> str:
        """Why a request has no recorded answer, with the recorded request that is most similar: of the case if
        possible, otherwise one of `others`, each with its place. `folder` and `file` are for the message."""
        who = f"agent {asked['agent']}" if asked.get("agent") else "a script"
        head = f'No recorded answer for call {self.asked} of "{case}", in which {who} asks {asked["connector"]}'
        todo = f"--record-missing {folder} asks the model and adds it"
        if same := self.count(asked):
            return f"{head}: {folder}/{file} has {same} to just this request, and this is one more. {todo}"
        why = f"there is no {folder}/{file}" if not self.recorded else f"none in {folder}/{file} fits"
        own = [(f"its call {number}", call.request) for number, call in enumerate(self.calls, 1) if call is not None]
        near = max(own or others(), key=lambda item: likeness(item[1], asked), default=None)
        if near is None:
            return f"{head}: {why}. {todo}"
        where, recorded = near
        differs = difference(recorded, asked)
        if not differs:
            return f"{head}: {why}. {todo}\nJust this is {where}: was the case renamed?"
        return f"{head}: {why}. {todo}\nNearest is {where} (- recorded, + asked):\n{differs}"

    def _keys(self, described: Described, clean: Callable[[], Described] | None = None) -> Keys:
        return Keys(
            exact=lambda: exact_key(described, self._anything),
            loose=lambda: None if self._anything else loose_key(clean() if clean else described),
            model=described.get("model"),
        )
