"""Stored answers for the requests of one case. Each is used once: the nth equal request gets the nth answer.
Recordings and the journal of a run look answers up with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from runner.connectors.base import Completion, ModelRequest
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.connectors.base import Connector

T = TypeVar("T")


class Answer(Value):
    """The answer to a request, from the model or from a store."""

    completion: Completion
    chunks: tuple[str, ...]
    """The pieces in which the text came."""
    asked: bool = True
    """Whether the model was asked; else the answer had been kept."""
    journaled: bool = False
    """Whether the run that this one continues has stored it, and paid for it."""


class Keys(Value):
    """By what a request is found; two that are equal in one of the keys are the same in all that it counts."""

    exact: Callable[[], str]
    loose: Callable[[], str | None]
    """Without dates and ids; None when the exact one is the only one that counts."""
    model: Any
    """The name of the model; empty when it is not known, and then it fits to all."""


class StoredAnswers(Generic[T]):
    """Answers in the order in which they came."""

    def __init__(self, answers: Sequence[T], keys: Callable[[T], Keys]) -> None:
        """`keys` are those of the request that an answer is for."""
        self._answers = answers
        self._keys = [keys(answer) for answer in answers]
        self._used: set[int] = set()
        self._exact: dict[str | None, list[int]] | None = None
        self._loose: dict[str | None, list[int]] | None = None

    @property
    def unused(self) -> int:
        """How many were not used."""
        return len(self._answers) - len(self._used)

    def take(self, asked: Keys) -> T | None:
        """The next answer to a request; None when there is none. One that is exactly the same goes before one that
        differs in dates and ids."""
        if not self.unused:
            return None
        if self._exact is None:
            self._exact = _index(keys.exact() for keys in self._keys)
        found = self._next(self._exact.get(asked.exact()), asked.model)
        if found is None and (loose := asked.loose()) is not None:
            if self._loose is None:
                self._loose = _index(keys.loose() for keys in self._keys)
            found = self._next(self._loose.get(loose), asked.model)
        if found is None:
            return None
        self._used.add(found)
        return self._answers[found]

    def _next(self, numbers: list[int] | None, model: Any) -> int | None:
        for number in numbers or ():
            if number not in self._used and same_model(self._keys[number].model, model):
                return number
        return None


def same_model(one: Any, other: Any) -> bool:
    """Whether nothing says that two models differ: a name may come from a variable that is not set."""
    return not one or not other or bool(one == other)


async def ask(connector: Connector, request: ModelRequest) -> Answer:
    """The answer of a model; listeners get its pieces as they arrive. Raises ConnectorError."""
    chunks: list[str] = []

    def hear(chunk: str) -> None:
        chunks.append(chunk)
        if request.on_chunk is not None:
            request.on_chunk(chunk)

    completion = await connector.complete(request.replace(on_chunk=hear))
    return Answer(completion=completion, chunks=tuple(chunks))


def say(chunks: Iterable[str], request: ModelRequest) -> None:
    """Sends the pieces of a stored answer to the listener."""
    if request.on_chunk is not None:
        for chunk in chunks:
            request.on_chunk(chunk)


def _index(keys: Iterable[str | None]) -> dict[str | None, list[int]]:
    index: dict[str | None, list[int]] = {}
    for number, key in enumerate(keys):
        index.setdefault(key, []).append(number)
    return index
