"""Finds the kept answer to a request: what of requests is compared, what is not, and how differences are shown; and the
replay of one case, whose requests get the answers of its recording.

| compared | not compared |
| --- | --- |
| agent, connector, names of the tools, `response_format` | other parameters, metadata, descriptions of tools |
| role, name and content of each message | ids of tool calls, order of keys in JSON |
| names and arguments of the tool calls in them | dates, times, epoch numbers, UUIDs and ULIDs in texts |
| | the frame around an answer that is judged, which is a digest of it |

A request is first compared with its dates and ids. They are ignored only if that finds nothing. So two requests of a
case that differ only in a date are told apart as long as they have the recorded dates. Each answer is used once: the
nth equal request gets the nth answer."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import lru_cache
from typing import Any, Generic, TypeVar

from runner.connectors.base import Completion, ModelRequest
from runner.errors import RunnerError
from scripttest.values import Value, mapped

T = TypeVar("T")
Described = dict[str, Any]
"""`{connector, model?, agent?, parameters?, options?, tools?, messages}`: a request in the form of recordings."""
Clean = Callable[[str], str]
"""Takes secrets out of a text."""

DATA_URL = 200
"""Characters from which on a `data:` url is recorded by its digest."""
_LINES = 40
"""Lines of a difference that are shown."""
_WIDTH = 200
"""Characters of such a line."""
_COMPARED = 2000
"""Lines of a request that are compared."""

_DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_CLOCK = r"\d{1,2}:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:\s?[AaPp][Mm]\b)?"
_CHANGING = (
    rf"(?P<time>\b(?:"
    rf"{_DAY}[a-z]*,?\s(?:\d{{1,2}}\s{_MONTH}[a-z]*|{_MONTH}[a-z]*\s\d{{1,2}}),?\s\d{{4}}"
    r"|\d{4}-\d\d-\d\d"
    r"|\d{1,4}/\d{1,2}/\d{1,4}"
    rf")(?:(?:T|,?\s){_CLOCK})?(?:\s?(?:Z\b|GMT|UTC|[+-]\d\d:?\d\d))*(?:\s\([A-Z][\w ]+\))?"
    rf"|(?<![\d:.]){_CLOCK}(?![\d:])"
    r"|(?<![\w.-])1\d{9}(?:\d{3})?(?![\w-]))"
    r"|(?P<frame>\banswer-[0-9a-f]{32}\b)"
    r"|(?P<id>\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b|\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b)"
)


_MARK = r"[-\d]"
"""Every match has one."""
_KEPT = 20_000
"""Characters of the longest text of which it is remembered what changes: most prompts are sent with every case."""


def describe(request: ModelRequest, connector: str, model: str, clean: Clean | None = None) -> Described:
    """A request in the form of recordings; without `clean` its parts are those of the request, not copies."""
    said = {
        "model": model,
        "agent": request.agent,
        "parameters": dict(request.parameters),
        "options": dict(request.chosen),
        "tools": [dict(tool) for tool in request.tools],
    }
    found = {key: value for key, value in said.items() if value}
    described: Described = {"connector": connector, **found, "messages": request.messages}
    return described if clean is None else {key: _cleaned(value, clean) for key, value in described.items()}


def exact_key(described: Mapping[str, Any], anything_said: bool = False) -> str:
    """Equal for requests that are the same in all that counts. With `anything_said` messages do not count."""
    return _key(described, [] if anything_said else [_counting(message) for message in described["messages"]])


def keys_of(described: Mapping[str, Any], settings: Mapping[str, Any]) -> tuple[str, str]:
    """The exact and the loose key of a request that was not cleaned, where also the settings of the connector, all
    parameters and all that is said of tools count."""
    further = (described.get("parameters"), described.get("tools"), settings)
    said = [_counting(message) for message in described["messages"]]
    if not all(isinstance(message["content"], str) for message in said):
        said = _cleaned(said, str)
    steady = _steady(said)
    exact = _key(described, said, *further)
    return exact, exact if steady == said else _key(described, steady, *further)


def loose_key(described: Mapping[str, Any]) -> str:
    """Equal for requests that differ in dates and ids alone; of one that was cleaned."""
    return _key(described, [_steady(_counting(message)) for message in described["messages"]])


def steady_text(text: str) -> str:
    """A text with `<time>` and `<id>` for dates and ids; JSON in the order of its keys."""
    return _steady_text(text) if len(text) <= _KEPT else _steady_text.__wrapped__(text)


@lru_cache(maxsize=64)
def _steady_text(text: str) -> str:
    if text[:1] in ("{", "["):
        with suppress(ValueError, RecursionError):
            text = json.dumps(json.loads(text), sort_keys=True, ensure_ascii=False)
    if not re.search(_MARK, text):
        return text
    return re.sub(_CHANGING, lambda match: f"<{match.lastgroup}>", text)


def likeness(one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    """From 0 to 1: how much two requests have in common."""
    from collections import Counter

    first, second = (Counter(word for line in _shown(item) for word in line.split()) for item in (one, other))
    total = first.total() + second.total()
    return 2 * (first & second).total() / total if total else 1.0


def difference(recorded: Mapping[str, Any], asked: Mapping[str, Any]) -> str:
    """How two requests differ, as lines that begin with `-` for what was recorded and `+` for what is asked."""
    from difflib import unified_diff

    lines = list(unified_diff(_shown(recorded), _shown(asked), n=1, lineterm=""))[2:]
    shown = [line if len(line) <= _WIDTH else f"{line[:_WIDTH]}..." for line in lines if not line.startswith("@@")]
    if len(shown) > _LINES:
        shown = [*shown[:_LINES], f"... and {len(shown) - _LINES} more lines"]
    return "\n".join(shown)


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


def suite_label(suite: str, root: str) -> str:
    """A suite as its answers are kept under: its id; of a file, its path below the application."""
    return os.path.relpath(suite, root).replace(os.sep, "/") if os.path.isabs(suite) else suite


class RecordingError(RunnerError):
    """A recording cannot be read; the message says where and why."""


class RecordedCall(Value):
    """One request and its answer."""

    request: Described
    completion: Completion
    chunks: tuple[str, ...] = ()
    """The pieces in which the content came."""


class CaseRecording(Value):
    """The calls of one case."""

    suite: str
    case: str
    time: datetime
    """The time of the recording, for `$SYS` variables."""
    calls: list[RecordedCall]


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
        self, asked: Described, case: str, folder: str, file: str, others: Callable[[], Iterable[tuple[str, Described]]]
    ) -> str:
        """Why a request has no recorded answer, with the recorded request that is most similar: of the case if
        possible, otherwise one of `others`, each with its place. `folder` and `file` are for the message."""
        who = f"agent {asked['agent']}" if asked.get("agent") else "a script"
        head = f'No recorded response for call {self.asked} of "{case}", in which {who} calls {asked["connector"]}'
        todo = f"--record-missing {folder} calls the model and adds its response"
        if same := self.count(asked):
            return f"{head}: {folder}/{file} has {same} for this exact request, and this is one call more. {todo}"
        why = f"there is no {folder}/{file}" if not self.recorded else f"no recording in {folder}/{file} matches"
        own = [(f"its call {number}", call.request) for number, call in enumerate(self.calls, 1) if call is not None]
        near = max(own or others(), key=lambda item: likeness(item[1], asked), default=None)
        if near is None:
            return f"{head}: {why}. {todo}"
        where, recorded = near
        differs = difference(recorded, asked)
        if not differs:
            asks = "was the case renamed, or recorded with fewer --runs?"
            return f"{head}: {why}. {todo}\nThis exact request is in {where}: {asks}"
        return f"{head}: {why}. {todo}\nThe closest recording is {where} (- recorded, + requested):\n{differs}"

    def _keys(self, described: Described, clean: Callable[[], Described] | None = None) -> Keys:
        return Keys(
            exact=lambda: exact_key(described, self._anything),
            loose=lambda: None if self._anything else loose_key(clean() if clean else described),
            model=described.get("model"),
        )


def _key(described: Mapping[str, Any], messages: list[Any], *further: Any) -> str:
    counting = (
        described.get("connector"),
        described.get("agent"),
        sorted(str(tool.get("name")) for tool in described.get("tools") or ()),
        (described.get("parameters") or {}).get("response_format"),
        messages,
        described.get("options") or {},
        *further,
    )
    return _text(counting)


_text = json.JSONEncoder(sort_keys=True, default=str, ensure_ascii=False).encode


def _counting(message: Mapping[str, Any]) -> dict[str, Any]:
    counting = {"role": message.get("role", "user"), "content": message.get("content") or ""}
    if message.get("name"):
        counting["name"] = message["name"]
    if message.get("tool_calls"):
        calls = (call.get("function", call) for call in message["tool_calls"])
        counting["tool_calls"] = [(call.get("name"), call.get("arguments")) for call in calls]
    return counting


def _steady(value: Any) -> Any:
    return mapped(value, lambda leaf: steady_text(leaf) if isinstance(leaf, str) else leaf)


def _cleaned(value: Any, clean: Clean) -> Any:
    def cleaned(leaf: Any) -> Any:
        if not isinstance(leaf, str):
            return leaf
        return clean(leaf if len(leaf) < DATA_URL or not leaf.startswith("data:") else _digest(leaf))

    return mapped(value, cleaned, lambda key: clean(str(key)))


def _digest(url: str) -> str:
    from hashlib import sha256

    kind, _, data = url.partition(",")
    return f"{kind},sha256:{sha256(data.encode('utf-8', 'surrogatepass')).hexdigest()} ({len(data)} characters)"


def _shown(described: Mapping[str, Any]) -> list[str]:
    lines = [f"{key}: {described[key]}" for key in ("connector", "model", "agent") if described.get(key)]
    if described.get("tools"):
        lines.append(f"tools: {', '.join(sorted(str(tool.get('name')) for tool in described['tools']))}")
    form = (described.get("parameters") or {}).get("response_format")
    if form:
        lines.append(f"response_format: {json.dumps(form, sort_keys=True)}")
    lines += [
        f"options.{name}: {json.dumps(value)}" for name, value in sorted((described.get("options") or {}).items())
    ]
    for message in described["messages"]:
        lines += _message_lines(message)
    return lines[:_COMPARED]


def _message_lines(message: Mapping[str, Any]) -> Iterator[str]:
    counting = _counting(message)
    content = counting["content"]
    who = f"{counting['role']} {counting['name']}" if "name" in counting else counting["role"]
    text = (
        steady_text(content)
        if isinstance(content, str)
        else json.dumps(_steady(content), ensure_ascii=False, sort_keys=True)
    )
    first, *rest = text.split("\n")
    yield f"{who}: {first}"
    yield from (f"    {line}" for line in rest)
    for name, arguments in counting.get("tool_calls", ()):
        yield f"{who} calls {name}: {steady_text(arguments) if isinstance(arguments, str) else arguments}"


def _index(keys: Iterable[str | None]) -> dict[str | None, list[int]]:
    index: dict[str | None, list[int]] = {}
    for number, key in enumerate(keys):
        index.setdefault(key, []).append(number)
    return index
