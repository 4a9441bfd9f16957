"""The shape of a case file's entries (seeds 004 and 001; specification, section 5), as pydantic models.

Unknown fields are errors, but for those that start with `x-`. `yao-test schema` prints the JSON Schema of `Case`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, model_validator

AssertionType = Literal[
    "equals",
    "contains",
    "not_contains",
    "icontains",
    "starts_with",
    "regex",
    "json_path",
    "json_schema",
    "type",
    "tool_called",
    "tool_result",
    "tool_sequence",
    "script",
    "agent",
    "any_of",
    "all_of",
    "latency_ms",
    "tokens",
    "cost",
    "snapshot",
]


class Model(BaseModel):
    """Base: no unknown fields, no coercion between types."""

    model_config = ConfigDict(extra="forbid", strict=True, populate_by_name=True)


class SkipOptions(Model):
    """Parts of a call to leave out."""

    history: bool = False
    trace: bool = False
    output: bool = False
    keyword: bool = False
    search: bool = False
    content_parsing: bool = False


class CallOptions(Model):
    """`context.Options` of a call (seeds 000 and 001)."""

    connector: str | None = None
    mode: str | None = None
    search: Any = None
    skip: SkipOptions | None = None
    metadata: dict[str, Any] = {}
    disable_global_prompts: bool = False


class Message(BaseModel):
    """One message of a chat; further fields go to the agent as they are."""

    model_config = ConfigDict(extra="allow", strict=True)

    role: Literal["system", "developer", "user", "assistant", "tool"] = "user"
    content: str | dict[str, Any] | list[dict[str, Any]] | None = None


class AssertionOptions(Model):
    """Options of `agent` and `script` assertions."""

    connector: str | None = None
    metadata: dict[str, Any] = {}


class Assertion(Model):
    """One check on the output."""

    type: AssertionType = "equals"
    value: Any = None
    path: str | None = None
    pattern: str | None = None
    name: str | None = None
    """Tool name of `tool_called`; name of a `snapshot`."""
    script: str | None = None
    use: str | None = None
    criteria: str | None = None
    options: AssertionOptions = AssertionOptions()
    mode: Literal["exact", "in_order", "any_order"] | None = None
    """Of `tool_sequence`."""
    message: str | None = None
    negate: bool = False

    @model_validator(mode="before")
    @classmethod
    def _bare_name(cls, value: Any) -> Any:
        return {"type": value} if isinstance(value, str) else value


class Mocks(Model):
    """Stand-ins for what hooks and tools call, for the length of the case."""

    process: dict[str, Any] = {}
    """Process name or pattern with `*` → its answer."""
    agent: dict[str, Any] = {}
    """Agent id or pattern → its answer."""
    http: dict[str, Any] = {}
    """`GET https://host/path` or pattern → the response."""
    now: str | None = None
    """RFC 3339: the time that scripts see."""


class Case(BaseModel):
    """One entry of a case file, standard mode."""

    model_config = ConfigDict(extra="forbid", strict=True, populate_by_name=True)

    id: Annotated[str, Field(min_length=1)]
    name: str | None = None
    input: str | Message | list[Message] | None = None
    messages: list[Message] | None = None
    assertions: Annotated[
        list[Assertion] | None, Field(validation_alias=AliasChoices("assert", "assertions"))
    ] = None
    expected: Any = None
    user: str | None = None
    team: str | None = None
    metadata: dict[str, Any] = {}
    options: CallOptions = CallOptions()
    tags: list[str] = []
    skip: bool | str = False
    timeout: str | None = None
    before: str | None = None
    after: str | None = None
    mocks: Mocks | None = None
    attachments: list[dict[str, Any]] = []
