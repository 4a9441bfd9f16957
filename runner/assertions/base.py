"""The base of assertions on answers: the evidence that they check, the judges that they may ask, and their verdicts.

A type of assertions is a `Kind` in a module of this package; the table in `__init__.py` names the module. If a check
cannot be made (a wrong pattern, a validator whose answer makes no sense, a script that throws), it raises
`NotEvaluated`: the assertion fails, also if it is negated."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from scripttest.typing_names import Protocol
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    from runner.assertions.model import Assertion


class ToolUse(Value):
    """A tool that the agent called, with its result, in the order of the calls."""

    name: str
    """The bare tool name."""
    server: str
    """Id of its MCP server."""
    arguments: Any
    """The parsed arguments; the raw text when they are not JSON."""
    result: Any = None
    error: str | None = None
    __members__ = "name server arguments result! error!"
    __readers__ = {"arguments": lambda line: line.get("arguments", line.get("args"))}  # noqa: RUF012

    @property
    def call(self) -> dict[str, Any]:
        """`{name, server, arguments}`, as a JSON value."""
        return {"name": self.name, "server": self.server, "arguments": self.arguments}

    @property
    def label(self) -> str:
        """What stands for the call where the agent says nothing: `[book: success]`."""
        result = self.result
        if isinstance(result, dict):
            if isinstance(result.get("action"), str):
                return f"[{self.name}: {result['action']}]"
            if isinstance(result.get("success"), bool):
                return f"[{self.name}: {'success' if result['success'] else 'failed'}]"
        return f"[{self.name}]"


class AgentUse(Value):
    """Another agent that was asked on the way to an answer."""

    agent: str
    """Its id."""
    by: str
    """Id of the agent that asked it."""
    delegated: bool
    """Whether it answers instead of the other; else its answer went back to a script."""
    after: int
    """How many tools had been called by then."""


class AnsweredTurn(Value):
    """One turn of a conversation: what the user said, and what the agent answered, which is the last message of it. A
    turn in which the agent failed has no answer: its output is None, and the user's message is all of it."""

    turn: int
    """From 1."""
    start: int
    """Place of the user's message in the messages of the evidence, from 0."""
    input: Any
    """Content of the user's message."""
    output: Any
    """The output of the agent."""
    tools: tuple[ToolUse, ...] = ()


class Evidence(Value):
    """Everything an assertion may look at."""

    output: Any
    """JSON value: the output of the agent by the rules of the specification, section 5."""
    cut: str = ""
    """What was done to an output that is a text and not whole: `cut at its token limit`; empty for all others."""
    input: Any = None
    """The case's input as written: text, message or messages."""
    expected: Any = None
    tools: tuple[ToolUse, ...] = ()
    milliseconds: float = 0
    tokens: int | None = 0
    """Input and output tokens of all model calls of the answer; None when they are not known."""
    cost: float | None = None
    """US dollars."""
    model_calls: int | None = 0
    """How often agents have asked models for the answer; None when that is not known."""
    agents: tuple[AgentUse, ...] | None = ()
    """The other agents that were asked, in their order; None when they are not known."""
    messages: tuple[Mapping[str, Any], ...] = ()
    """The conversation up to and with the answer."""
    case: str = ""
    """Id of the case."""
    state: Mapping[str, Any] = {}
    """Conversation state, for final assertions: session id, variables."""
    turns: tuple[AnsweredTurn, ...] = ()
    """The turns that `messages` belong to."""
    criteria: str | None = None
    """The criteria for a whole conversation, as its case has them."""
    files: Callable[[], Mapping[str, bytes]] | None = dict
    """The files of the workspace, by path; None if it no longer exists."""

    @property
    def text(self) -> str:
        """The output as text: a string as it is, anything else as compact JSON."""
        import json

        if isinstance(self.output, str):
            return self.output
        return "" if self.output is None else json.dumps(self.output, ensure_ascii=False, separators=(",", ":"))


class Vote(Value):
    """One of several votes on an answer."""

    passed: bool | None
    """None: it broke, or the judge could not judge."""
    score: float | None = None
    reason: str
    judge: str
    """Id of the agent."""
    connector: str | None = None
    """What it used."""


class Judged(Value):
    """What is known of the judges of something, where judges were asked."""

    votes: tuple[Vote, ...] = ()
    """Where there were several."""
    agreement: float | None = None
    """Share of equal pairs of votes."""
    inconclusive: bool = False
    """It was judged, and the votes do not decide."""
    judge: str | None = None
    """Id of the agent that judged."""
    judge_connector: str | None = None
    """What it used; of several judges all of theirs."""
    options: Mapping[str, Any] | None = None
    """What the judge got in addition to the answer, as written: `{connector?, metadata?}`."""
    similarity: float | None = None
    """Of `similar`: -1 to 1, and 1 for the same."""
    measured_by: str | None = None
    """What measured that: `character n-grams (no model)`, or the connector with its model."""
    __writers__ = {"agreement": lambda result: ... if result.agreement is None else round(result.agreement, 4)}  # noqa: RUF012


class CheckResult(Judged):
    """The result of one assertion."""

    passed: bool
    expected: Any = None
    """JSON value."""
    actual: Any = None
    message: str = ""
    """Why it failed, in one sentence; for judges also why it passed."""
    score: float | None = None
    """0 to 1, where a judge gives one."""
    details: tuple[AssertionResult, ...] = ()
    """The parts of a composition."""
    judged: bool = True
    """False: its judge could not judge, or no part of a composition was judged."""


class AssertionResult(Judged):
    """An assertion with its verdict, as reports show it."""

    type: str
    passed: bool
    expected: Any = None
    actual: Any = None
    message: str = ""
    error: bool = False
    """It could not be evaluated."""
    score: float | None = None
    details: tuple[AssertionResult, ...] = ()
    path: str | None = None
    """As written: where it looked in the output."""
    name: str | None = None
    """As written: the tool or the snapshot that it is about."""
    infrastructure: bool = False
    """It could not be evaluated because a judge, or the way to it, broke."""
    judged: bool = True
    """False: its judge could not judge. It passes all the same, unless `--require-judge` is given, and has no score."""
    __members__ = (
        "type path name value! passed expected! actual! message! error infrastructure judged score"
        " judge judge_connector options votes agreement inconclusive similarity measured_by details"
    )

    __readers__ = {"expected": lambda line: line.get("expected", line.get("value"))}  # noqa: RUF012

    @property
    def value(self) -> Any:
        """`expected`, as the design documents print it."""
        return self.expected

    @property
    def not_judged(self) -> int:
        """How many judges could not judge, in this assertion and its parts."""
        if self.details:
            return sum(part.not_judged for part in self.details)
        return int(not self.judged)


class NotEvaluated(Exception):  # noqa: N818
    """An assertion could not be made; the message says why. `details` are the parts of a composition; `infrastructure`
    tells that a judge, or the way to it, broke."""

    def __init__(self, message: str, details: tuple[AssertionResult, ...] = (), infrastructure: bool = False) -> None:
        super().__init__(message)
        self.details = details
        self.infrastructure = infrastructure


class CutAnswer(NotEvaluated):
    """JSON was looked for in an answer that is not whole: the assertion fails, and its negation cannot be evaluated."""


Embeddings = tuple[Sequence[Sequence[float]], str]
"""What a model made of texts: a vector for each, in their order; and the connector, with its model."""


class JudgeFlags(Value):
    """What the flags of a run say of judges."""

    required: bool = False
    """`--require-judge`: whether what its judge could not judge fails."""
    samples: int = 1
    """`--judge-samples`: votes of each judge where an assertion says nothing of it."""
    connector: str = ""
    """`--judge-connector`: what judges use instead of their own; empty when it is not given."""


class Judges(Protocol):
    """What assertions may ask of the run."""

    @property
    def flags(self) -> JudgeFlags:
        """What the run says of judges."""

    async def validate(self, agent: str, payload: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
        """Asks a validator agent and returns its answer, an object with at least a boolean `passed`, and
        `judged: false` when it could not judge, and the `connector` that it used; raises NotEvaluated when it fails or
        answers anything else. `options` is the assertion's `options`."""

    async def call_script(self, reference: str, roles: tuple[str, ...], arguments: list[Any]) -> Any:
        """Calls a script function by its reference (`scripts:tests.validate-expense`, `scripts.test.Assert`,
        `tests.Validate`) and returns its JSON value; `roles` are the function names to take when it names none. Raises
        NotEvaluated."""

    async def embed(self, connector: str, texts: Sequence[str]) -> Embeddings | None:
        """The embeddings of texts, by this connector, else by the one of the run, else by the one that the agent's
        connector names; None when none is named, or it is scripted. Raises NotEvaluated."""

    def warn(self, text: str, kind: str = "judge") -> None:
        """Adds a warning to the result of the case, once; `kind` as in `ResultWarning`."""

    def match_snapshot(self, name: str, value: Any) -> str | None:
        """Compares with the stored snapshot, or stores it; None when they agree, else what differs."""


Evaluate = Callable[["Assertion", Evidence, Judges], Awaitable[CheckResult]]


class AssertionKind(Value):
    """An assertion type: what it takes, and what checks it."""

    check: Evaluate
    problem: Callable[[Assertion], str | None]
    """What is wrong with an assertion of the type as written; None when it can be checked."""
    fields: tuple[str, ...]
    """Its fields other than `type`, `message` and `negate`."""
    waits: bool = False
    """Whether it waits for a model or a script."""
    asks: Literal["agent", "script"] | None = None
    """Who decides, by the name in its fields: an agent, or a function of a script; None: it does not ask anybody."""
    inner: Callable[[Assertion], list[Assertion]] | None = None
    """The assertions in a valid one of it; None if it has none."""
    parts: bool = False
    """Whether its value is a list of assertions."""


def assertion_kind(
    check: Evaluate, problem: Callable[[Assertion], str | None], takes: str, **more: Any
) -> AssertionKind:
    """A row of a table of types; `takes` has names of fields, with blanks between them."""
    return AssertionKind(check=check, problem=problem, fields=tuple(takes.split()), **more)
