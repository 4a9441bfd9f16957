"""The model of standard cases in a case file (seeds 004 and 001; specification, section 5). The models of other cases
have a module each; `runner.cases.kinds` has the table of them.

Unknown fields are errors, except fields that start with `x-`, which `runner.shapes.declared` leaves out. Defaults
that can be changed come from factories, because others would be those of all cases. `yao-test schema` prints the JSON
Schema of these models; a string below a field is its description there. What models cannot express is checked by
`runner.cases.validation`.

`mocks` are stand-ins for what the hooks and tools of a case call. Replies in `mocks.http` are a text or `{status, data,
headers, lines, message}`, and in `mocks.exec` a text or `{stdout, stderr, exit_code, delay}`: as of `t.mock.http` and
`t.mock.exec`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from bindings import agent_id
from runner.assertions import TYPES
from runner.assertions.checking import problem_with_assertion, type_named
from runner.assertions.model import Assertions
from runner.cases.entries import Finding
from runner.shapes.declared import Field, Model
from runner.shapes.fields import CallOptions, DurationText, FreeObject, FreeValue, OpenModel, TimeText, milliseconds_of
from runner.shapes.shape import misfit
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.assertions.model import Assertion

PARTS = {
    "http": ("status", "data", "headers", "lines", "message", "code"),
    "exec": ("stdout", "stderr", "exit_code", "delay"),
}
_MEANT = {
    "http": {
        **dict.fromkeys(("body", "json", "text", "content", "payload"), "data"),
        **dict.fromkeys(("statusCode", "status_code"), "status"),
        **dict.fromkeys(("statusText", "error"), "message"),
        "header": "headers",
    },
    "exec": {
        **dict.fromkeys(("output", "out", "data"), "stdout"),
        **dict.fromkeys(("error", "err"), "stderr"),
        **dict.fromkeys(("code", "exitCode", "status"), "exit_code"),
        "sleep": "delay",
    },
}
"""Names that other libraries have for the parts; `bindings/src/mocks/mocked-*.ts` have the same for scripts."""
MessagePartType = Literal["text", "image", "image_url", "audio", "input_audio", "file", "data"]


class CaseOptions(CallOptions):
    """Options of the call, and of the database in which it happens."""

    strict_database: Annotated[bool, Field(spellings=("strictDatabase", "strict_database"))] = False
    """Reject rows that MySQL would reject even if SQLite accepts them, as `--strict-db` does for all cases."""


class HeldFile(Model):
    """A file within a part, in the form of OpenAI's chat API."""

    url: str | None = None
    """A `data:` or `https:` URL, or `file://` and a path from the folder of the case file."""
    filename: Annotated[str | None, Field(spellings=("filename", "name"))] = None
    """The name that the agent sees."""
    file_data: str | None = None
    """The content as a `data:` URL."""
    file_id: str | None = None
    """A file that the host of the model has."""


class HeldImage(Model):
    """An image within a part, in the form of OpenAI's chat API."""

    url: str
    """A `data:` or `https:` URL."""
    detail: str | None = None
    """`auto`, `low` or `high`."""


class HeldAudio(Model):
    """A recording within a part, in the form of OpenAI's chat API."""

    data: str
    """Base64."""
    format: str | None = None
    """Such as `wav` or `mp3`."""


class MessagePart(Model):
    """A part of a message: a text, an image, a recording, a file."""

    type: MessagePartType
    """What the part is; `image_url`, `input_audio` and `data` go to the agent as they are."""
    text: str | None = None
    """The text of a `text` part."""
    source: str | None = None
    """Where the content is: `file://` and a path from the folder of the case file, or a URL."""
    url: str | None = None
    """The same as `source`."""
    name: Annotated[str | None, Field(spellings=("name", "filename"))] = None
    """The name that the agent sees of a `file`; the file's own by default."""
    detail: str | None = None
    """Of an `image`: `auto`, `low` or `high`."""
    data: FreeValue = None
    """Of `audio`, its content in base64; of a `data` part, anything."""
    format: str | None = None
    """The format of `audio` whose content is `data`, such as `mp3`; `wav` by default."""
    file: str | HeldFile | None = None
    """The content of a `file` part, instead of `source`."""
    image_url: str | HeldImage | None = None
    """The content of an `image_url` part."""
    input_audio: HeldAudio | None = None
    """The content of an `input_audio` part."""


class ToolCall(OpenModel):
    """A call of a tool in a message of the agent; further fields go to the agent as they are."""

    function: FreeObject = Field(default_factory=dict)
    """The name of the tool and its arguments."""


class Message(OpenModel):
    """One message of a chat; further fields, such as `name`, go to the agent as they are."""

    role: Literal["system", "developer", "user", "assistant", "tool"] = "user"
    """The role of the speaker."""
    content: Annotated[str | MessagePart | list[MessagePart] | None, Field(spellings=("content", "input"))] = None
    """A text, a part, or a list of parts."""
    tool_calls: list[ToolCall] | None = None
    """The tools that the agent called."""


class Repeat(Model):
    """How often a case runs and when it passes: by a number of passing runs, or by two pass rates."""

    wanted: Annotated[str | None, Field(spellings=("pass",))] = None
    """`4 of 5`, `all of 5`, `any of 3`, `majority of 5`, `80% of 5`."""
    stop: bool | None = None
    """With `pass`: whether to stop when the verdict is certain; default: true."""
    good: float | None = Field(default=None, gt=0, le=1)
    """Pass rate, 0 to 1, of a good case."""
    bad: float | None = Field(default=None, gt=0, le=1)
    """Pass rate of a bad case."""
    most: int | None = Field(default=None, ge=1)
    """Maximum number of runs. Default: 40."""
    error: float | None = Field(default=None, gt=0)
    """Share of wrong verdicts at both rates. Default: 0.05."""


def _checked(kind: str, replies: dict[str, Any]) -> dict[str, Any]:
    for pattern, reply in replies.items():
        for part in reply if isinstance(reply, dict) else ():
            if part not in PARTS[kind]:
                raise misfit('unknown part "{name}"{inside}', pattern, part, hint=_known_parts(kind, part))
        if problem := _problem_with_reply(kind, reply):
            raise misfit('the reply "{name}"{inside} cannot be used: {problem}', pattern, problem=problem)
    return replies


def _known_parts(kind: str, part: str) -> str:
    """What to write instead of an unknown part of a reply."""
    if part in _MEANT[kind]:
        return f'Did you mean "{_MEANT[kind][part]}"?'
    if kind == "exec":
        return f"A reply may have {', '.join(PARTS[kind])}"
    return f'A reply may have {", ".join(PARTS[kind][:-1])}; to reply with an object, write {{"data": ...}}'


def _problem_with_reply(kind: str, reply: Any) -> str:
    """What is wrong with the values of a reply; empty: nothing."""
    if kind == "exec" and not isinstance(reply, (str, dict, NoneType)):
        return f"it must be a string, or an object with any of {', '.join(PARTS[kind])}"
    parts = reply if isinstance(reply, dict) else {}
    numbers, texts = (("exit_code",), ("stdout", "stderr")) if kind == "exec" else (("status", "code"), ())
    for part in numbers:
        if isinstance(parts.get(part, 0), bool) or not isinstance(parts.get(part, 0), int):
            return f"{part} must be a whole number"
    wrong = next((part for part in texts if not isinstance(parts.get(part, ""), (str, NoneType))), "")
    return f"{wrong} must be a string" if wrong else ""


HttpReplies = Annotated[FreeObject, lambda shape: shape.changed(partial(_checked, "http"))]
"""Method and URL, or a pattern → the reply."""
ExecReplies = Annotated[FreeObject, lambda shape: shape.changed(partial(_checked, "exec"))]
"""Command, its first words, or a pattern → the reply."""


class SearchResults(Model):
    """What searches find, in each of the places."""

    web: list[FreeObject] | None = None
    """On the web: `{title, content, url}`."""
    kb: list[FreeObject] | None = None
    """In knowledge bases."""
    db: list[FreeObject] | None = None
    """In the database."""


class Mocks(Model):
    """Stand-ins for what hooks and tools call, for the length of the case."""

    process: FreeObject = Field(default_factory=dict)
    """Process name or pattern with `*` → its answer."""
    agent: FreeObject = Field(default_factory=dict)
    """Agent id or pattern → its answer."""
    http: HttpReplies = Field(default_factory=dict)
    """`GET https://host/path` or pattern → the response."""
    exec: ExecReplies = Field(default_factory=dict)
    """Command, its first words, `*` for anything, or `/regular expression/` → its output."""
    search: list[FreeObject] | SearchResults | None = None
    """What searches of hooks, and those before the model is asked, find: `[{title, content, url}]`, or one list for
    each place."""
    now: TimeText | None = None
    """ISO 8601: the time that scripts see."""

    @property
    def stopped_at(self) -> float | None:
        """That time in milliseconds since 1970; None: the clock goes on."""
        return None if self.now is None else milliseconds_of(self.now)


class Case(Model):
    """One call of the agent, and assertions on its answer."""

    # The models of other cases extend this one, and say by its class variables and methods what is different.
    runs: ClassVar[str] = "standard"
    """The mode of its cases."""
    run_by: ClassVar[str] = "mode.SingleAnswer"
    """The class in `runner.modes` that runs them."""
    in_turns: ClassVar[bool] = False
    """Whether the user may speak several times."""
    graded: ClassVar[bool] = False
    """Whether the answer of a standard case gets a score."""
    scores_turns: ClassVar[bool] = False
    """Whether each turn gets a score; a report of it has the whole transcript."""
    lists_checkpoints: ClassVar[bool] = False
    """Whether a report of it has a list of checkpoints, even an empty one."""
    id: Annotated[str, Field(pattern=r"\S")]
    """Id of the case, unique in the file."""
    name: str | None = None
    """A description of the case for people; `--run` searches it too."""
    type: Literal["single_turn"] | None = None
    """`single_turn`, the default."""
    input: str | Message | list[Message] | None = None
    """Input of the agent: a string, a message, or the conversation so far."""
    messages: list[Message] | None = None
    """The conversation so far; overrides `input`."""
    assertions: Annotated[Assertions | None, Field(spellings=("assert", "assertions"))] = None
    """Assertions on the output; they override `expected`."""
    expected: FreeValue = None
    """The exact output; null means that it is not set."""
    user: str | None = None
    """Id of the user; overridden by `-u`."""
    team: str | None = None
    """Id of the user's team; overridden by `-t`."""
    metadata: FreeObject = Field(default_factory=dict)
    """Becomes `ctx.metadata`."""
    options: CaseOptions = Field(default_factory=lambda: _OPTIONS)
    """Options of the call."""
    tags: list[str] = Field(default_factory=list)
    """Tags, for `--tag` and reports."""
    depends_on: list[str] = Field(default_factory=list)
    """Ids of cases in the file that must pass first."""
    skip: bool | str = False
    """Whether to skip the case, or the reason for skipping it."""
    repeat: str | Repeat | None = None
    """Required passes, such as `4 of 5`; overrides `--runs` and `--repeat`."""
    timeout: DurationText | None = None
    """Time limit, such as `30s`, `1m30s`, `500ms` or `2h`; overrides `--timeout`."""
    before: str | None = None
    """Hook that runs before the case: `env_test.Before` in the agent's `src/`."""
    after: str | None = None
    """Hook that runs after the case, also when it failed."""
    mocks: Mocks | None = None
    """Mocks for the calls of hooks and tools."""
    fixtures: list[str] = Field(default_factory=list)
    """Initial rows of the database: `pets` is `fixtures/pets.jsonl` next to the case file or above it."""
    attachments: list[MessagePart] = Field(default_factory=list)
    """Parts to add to the last message of the user."""

    def findings(self, folder: Path) -> Iterator[Finding]:
        """What is wrong beyond what is looked for in all cases; relative files count from the folder."""
        has_expected = self.expected is not None
        for number, assertion in enumerate(self.assertions or (), 1):
            if problem := problem_with_assertion(assertion, has_expected=has_expected):
                yield Finding(path=("assert", number - 1), text=f"assertion {number}: {problem}")

    def references(self, connector: str = "", simulator: str = "") -> Iterator[Reference]:
        """The files and agents that it refers to, as far as a run needs them. `connector`: from `--connector`; it
        replaces all connectors that the case names for the agent. `simulator`: from `--simulator`, for a case that
        names none."""
        for hook in (self.before, self.after):
            if hook:
                yield Reference(kind="hook", text=hook)
        if self.options.connector and not connector:
            yield Reference(kind="connector", text=self.options.connector)
        yield from references_of_assertions(self.assertions)


class Reference(Value):
    """Something that a case, or a flag, names."""

    kind: Literal["agent", "connector", "embedding", "generator", "hook", "judge", "simulator"]
    """An agent, a connector, one that has embeddings, or a function of a script, for the part that it has."""
    text: str
    """The id of an agent; anything else as it is written."""

    @property
    def is_agent(self) -> bool:
        """Whether it is an agent; else, where it may be either, a function of a script."""
        return self.kind == "agent"


def agent_reference(name: str) -> Reference:
    """An agent, which may be written with `agents:` before its id."""
    return Reference(kind="agent", text=agent_id(name))


def simulator_reference(use: str) -> Reference:
    """What plays the user: an agent, or a function of a script."""
    is_script = use.startswith(("scripts:", "scripts."))
    return Reference(kind="simulator", text=use) if is_script else agent_reference(use)


def generator_reference(name: str) -> Reference:
    """What makes cases: an agent, with `agents:` before it, or a function of a script."""
    return agent_reference(name) if agent_id(name) != name else Reference(kind="generator", text=name)


def references_of_assertions(assertions: Iterable[Assertion | str] | None) -> Iterator[Reference]:
    """What assertions name."""
    for assertion in assertions or ():
        if isinstance(assertion, str):
            continue
        kind = type_named(assertion.type) if assertion.type in TYPES else None
        if kind is not None:
            if kind.asks == "agent" and assertion.use:
                yield agent_reference(assertion.use)
            if kind.asks == "script":
                yield Reference(kind="judge", text=assertion.script or assertion.use or "")
            if kind.inner is not None:
                yield from references_of_assertions(kind.inner(assertion))
        if assertion.judge is not None:
            yield from map(agent_reference, assertion.judge.judges)
        if assertion.options.connector:
            embeds = assertion.type == "similar"
            yield Reference(kind="embedding" if embeds else "connector", text=assertion.options.connector)


_OPTIONS: CaseOptions = CaseOptions()
