"""The shape of an assertion in a case file."""

from __future__ import annotations

from typing import Annotated, Literal

from runner.assertions import TYPES
from runner.shapes.declared import Field, Model, shape_of
from runner.shapes.fields import FreeObject, FreeValue
from runner.shapes.shape import Shape, union, words

AssertionType = Annotated[str, lambda _: words(TYPES)]


class AssertionOptions(Model):
    """Options of `agent` and `script` assertions."""

    connector: str | None = None
    """Id of the connector of the judging agent; for `similar`, of the one with the embeddings."""
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
    """Path in the output: `$.a[0].b` or `a.b`; for `file_exists` and `file_contains`, a file of the workspace."""
    pattern: str | None = None
    """Regular expression of `regex`, in the syntax of Go (RE2)."""
    name: str | None = None
    """Tool name of `tool_called`; name of a `snapshot`, or that of a `workspace`."""
    script: str | None = None
    """Script function of `script`: `scripts.test.Assert`."""
    use: str | None = None
    """The judge: `agents:<id>` for `agent`, `scripts:<module>` for `script`."""
    criteria: Annotated[str, Field(pattern=r"\S")] | None = None
    """Criteria for the judging agent."""
    options: AssertionOptions = Field(default_factory=lambda: _ASSERTION_OPTIONS)
    """Options of `agent` and `script`."""
    judge: JudgeOptions | None = None
    """For `agent`, `preference` and `rubrics`: number of votes, and the judges that vote."""
    mode: Literal["exact", "in_order", "any_order", "unordered", "subset"] | None = None
    """For `tool_sequence` and `trajectory`: how strictly the order and other calls count."""
    threshold: float | None = Field(default=None, ge=0, le=1)
    """For `similar`: minimum similarity. Default: 0.75."""
    mask: list[str] | None = None
    """For `snapshot`: JSONPaths to ignore, such as `$..created_at`."""
    message: str | None = None
    """Message to show when it fails."""
    negate: bool = False
    """Whether it passes when the check fails."""


def _or_bare_name(shape: Shape) -> Shape:
    """Accepts a type name as `{"type": name}`."""
    return union(shape, shape_of(AssertionType).changed(lambda name: Assertion(type=name)))


def one_or_many(shape: Shape) -> Shape:
    """Accepts a single element as a list of one."""
    assert shape.items is not None
    return union(shape, shape.items.changed(lambda element: [element]))


Assertions = Annotated[list[Annotated[Assertion, _or_bare_name]], one_or_many]
"""One assertion or a list; each an object or the bare name of its type. Always a list once it is read."""

_ASSERTION_OPTIONS: AssertionOptions = AssertionOptions()
