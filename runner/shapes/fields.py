"""The types of fields that are more than JSON's: free values, durations, times; and the fields that cases share with
`options` of package.yao, the parameters of a model.

Numbers in free values must not be too large for a double, such as `1e400`, which cannot be passed to scripts or
providers of models.

Of parameters a later one goes over an earlier one, in this order: the connector's file, the package, the case, its
turn, what the Create hook returns."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, TypeVar

from runner.amounts import Duration
from runner.application.documents import JsonPath
from runner.errors import ConfigurationError
from runner.shapes.declared import Field, Model, fields_of
from runner.shapes.shape import Shape, Take, misfit, too_large

_LARGEST = sys.float_info.max
T = TypeVar("T")
_FIRST, _LAST = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)
"""As in `bindings/src/mocks/clock.ts`."""
_TOKEN_LIMITS = frozenset(("max_tokens", "max_completion_tokens"))


def milliseconds_of(text: str) -> float:
    """The time of a text in ISO 8601, in milliseconds since 1970. A date alone is midnight in UTC, and a time without a
    zone is in the zone of this machine. Raises ValueError, OverflowError or OSError."""
    time = datetime.fromisoformat(text)
    if time.tzinfo is None:
        time = time.astimezone() if "T" in text or " " in text else time.replace(tzinfo=UTC)
    if not _FIRST <= time <= _LAST:
        raise ValueError("a clock must be between 0001-01-02 and 9999-12-30")
    return time.timestamp() * 1000


def _within_doubles(value: T, place: JsonPath = ()) -> T:
    if isinstance(value, dict):
        for key, inner in value.items():
            _within_doubles(inner, (*place, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            _within_doubles(inner, (*place, index))
    elif isinstance(value, int | float) and not -_LARGEST <= value <= _LARGEST:
        raise too_large(*place)
    return value


def _free(shape: Shape) -> Shape:
    """A shape whose numbers are not too large; texts, which most values are, are taken without a look at them."""
    large: dict[type, Take] = {kind: _within_doubles for kind in (int, float, list, dict) if kind in shape.takes}
    return shape.like({**shape.takes, **large})


def _read_duration(text: str) -> Duration:
    try:
        return Duration(text, "")
    except ConfigurationError as error:
        problem = error.message.rpartition(": ")[2]
        raise misfit('cannot read {name} "{actual}": {problem}', problem=problem, hint=error.hint) from error


def _checked_time(text: str) -> str:
    try:
        milliseconds_of(text)
    except (ValueError, OverflowError, OSError) as error:
        is_beyond = str(error).startswith("a clock") or isinstance(error, OverflowError)
        hint = (
            "A clock must be between 0001-01-02 and 9999-12-30" if is_beyond else 'Write it as "2030-01-31T09:00:00Z"'
        )
        raise misfit('cannot read {name} "{actual}" as a time', hint=hint) from error
    return text


FreeValue = Annotated[Any, _free]
"""Any JSON value."""
FreeObject = Annotated[dict[str, Any], _free]
"""Any JSON object."""
DurationText = Annotated[Duration, lambda shape: shape.changed(_read_duration)]
"""A text of a duration."""
TimeText = Annotated[str, lambda shape: shape.changed(_checked_time)]
"""A text of a time."""


class OpenModel(Model):
    """Base of what goes to the agent as it is, further fields included."""

    __slots__ = ()
    further: ClassVar[Any] = FreeValue


class ModelParameters(Model):
    """As OpenAI's chat API has them; connectors of other hosts write them as their hosts do."""

    temperature: float | None = None
    """Randomness, usually from 0 to 2."""
    max_tokens: int | None = None
    """Maximum number of tokens in the answer."""
    max_completion_tokens: int | None = None
    """Maximum number of tokens in the answer, reasoning included."""
    top_p: float | None = None
    """Share of the most probable tokens to choose from, 0 to 1."""
    n: int | None = None
    """Number of answers from the model; the first one counts."""
    stop: str | list[str] | None = None
    """Strings at which the answer stops."""
    presence_penalty: float | None = None
    """Penalty for tokens that already occurred, -2 to 2."""
    frequency_penalty: float | None = None
    """Penalty for tokens by how often they occurred, -2 to 2."""
    logit_bias: FreeObject | None = None
    """Token → its bias, -100 to 100."""
    user: str | None = None
    """Id of the user, for the provider."""
    response_format: FreeObject | None = None
    """Format of the answer, such as `{"type": "json_object"}`."""
    seed: int | None = None
    """Seed for providers that can repeat an answer."""
    tools: list[FreeObject] | None = None
    """Further tools, in OpenAI's format."""
    tool_choice: str | FreeObject | None = None
    """`auto`, `none`, `required`, or a tool."""
    stream: bool | None = None
    """Whether the answer is streamed."""
    audio: FreeObject | None = None
    """Voice and format of a spoken answer."""


class SkipOptions(Model):
    """Parts of a call to leave out."""

    history: bool = False
    trace: bool = False
    output: bool = False
    keyword: bool = False
    search: bool = False
    content_parsing: bool = False


class CallOptions(ModelParameters):
    """Options of the call, `context.Options` of Yao, and parameters of the model."""

    connector: str | None = None
    """Id of the connector that answers, instead of the agent's own."""
    mode: str | None = None
    """Mode of the agent, as its hooks see it."""
    search: FreeValue = None
    """Whether and how to search, as the agent's hooks see it."""
    skip: SkipOptions | None = None
    """Parts of the call to leave out."""
    metadata: FreeObject = Field(default_factory=dict)
    """Becomes `ctx.metadata`, over the case's own `metadata`."""
    disable_global_prompts: bool = False
    """Leave out the application's global prompts."""


def parameters_in(options: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a model among options; those that are null are not given."""
    return {name: options[name] for name in options and fields_of(ModelParameters) if options.get(name) is not None}


def is_parameter(name: str, value: Any) -> bool:
    """Whether a value is that of a parameter of this name."""
    try:
        return name in fields_of(ModelParameters) and bool(ModelParameters.model_validate({name: value}))
    except ValueError:
        return False


def over(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> dict[str, Any]:
    """Options with others over them; a limit of tokens replaces that of either name."""
    replaced = _TOKEN_LIMITS if _TOKEN_LIMITS & later.keys() else frozenset[str]()
    return {name: value for name, value in earlier.items() if name not in replaced} | dict(later)
