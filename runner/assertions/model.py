"""The shape of an assertion in a case file."""

from __future__ import annotations

from typing import Annotated, Literal

from runner.assertions import TYPES
from runner.shapes.declared import Field, Model, SchemaAdapter, changed, in_order, schema_of
from runner.shapes.fast_validation import Schema
from runner.shapes.fields import FreeObject, FreeValue

AssertionType = Annotated[str, SchemaAdapter(lambda _: {"type": "literal", "expected": list(TYPES)})]


class AssertionOptions(Model):
    """Options of `agent` and `script` assertions."""

    connector: str | None = None
    """Id of the connector that the judging agent uses; of `similar`, of the one that has the embeddings."""
    metadata: FreeObject = Field(default_factory=dict)
    """Further fields for the judge: `criteria` and anything else."""


class JudgeOptions(Model):
    """How many votes there are on an answer, and whose."""

    samples: int | None = Field(default=None, ge=1, le=9)
    """Votes of each judge; `--judge-samples`, else 1."""
    quorum: float | None = Field(default=None, gt=0, le=1)
    """Share of the votes that decide; two thirds, and always more than half."""
    judges: list[Annotated[str, Field(pattern=r"^agents:.")]] = Field(default_factory=list)
    """The agents that judge, as `agents:<id>`; empty: the one of `use`."""


class Assertion(Model):
    """One check on the output."""

    type: AssertionType = "equals"
    """What is checked."""
    value: FreeValue = None
    """What is expected; its meaning depends on the type."""
    path: str | None = None
    """Where in the output: `$.a[0].b` or `a.b`; of `file_exists` and `file_contains` a file of the workspace."""
    pattern: str | None = None
    """Regular expression of `regex`, in the syntax of Go (RE2)."""
    name: str | None = None
    """Tool name of `tool_called`; name of a `snapshot`, or that of a `workspace`."""
    script: str | None = None
    """Script function of `script`: `scripts.test.Assert`."""
    use: str | None = None
    """The judge: `agents:<id>` for `agent`, `scripts:<module>` for `script`."""
    criteria: Annotated[str, Field(pattern=r"\S")] | None = None
    """What the judging agent goes by."""
    options: AssertionOptions = Field(default_factory=lambda: _ASSERTION_OPTIONS)
    """Options of `agent` and `script`."""
    judge: JudgeOptions | None = None
    """For `agent`, `preference` and `rubrics`: how many votes are taken, and of which judges."""
    mode: Literal["exact", "in_order", "any_order", "strict", "unordered", "subset", "superset"] | None = None
    """For `tool_sequence` and `trajectory`: how strictly the order and other calls count."""
    threshold: float | None = Field(default=None, ge=0, le=1)
    """Of `similar`: the least similarity with which it holds; 0.75."""
    mask: list[str] | None = None
    """Of a `snapshot`: JSONPaths of what is not compared, such as `$..created_at`."""
    message: str | None = None
    """What to say when it fails."""
    negate: bool = False
    """Whether it passes when the check fails."""


def _or_bare_name(schema: Schema) -> Schema:
    """Accepts a type name as `{"type": name}`."""
    names = schema_of(AssertionType)
    return in_order(schema, changed(names, lambda name: Assertion(type=name)))


def _or_one(schema: Schema) -> Schema:
    return in_order(schema, changed(schema["items_schema"], lambda element: [element]))


OneOrMany = SchemaAdapter(_or_one)
"""Accepts a single element as a list of one."""
Assertions = Annotated[list[Annotated[Assertion, SchemaAdapter(_or_bare_name)]], OneOrMany]
"""One assertion or a list; each an object or the bare name of its type. Always a list once it is read."""

_ASSERTION_OPTIONS: AssertionOptions = AssertionOptions()
