"""Declared models take, refuse and give back what pydantic's own models do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.shapes.declared import Field, Model, fields_of
from runner.shapes.shape import Misfit

ROOT = Path(__file__).parents[3]


class Inner(Model):
    name: str
    size: int | None = None


class Open(Model):
    further: ClassVar[Any] = Any
    role: Literal["a", "b"] = "a"
    content: Annotated[str | Inner | list[Inner] | None, Field(spellings=("content", "input"))] = None


class Record(Model):
    id: Annotated[str, Field(pattern=r"\S")]
    inner: Inner = Field(default_factory=lambda: Inner(name="n"))
    open: Open | None = None
    many: list[Inner | str] = Field(default_factory=list)
    either: str | Inner | list[str] | None = None
    flag: bool | str = False
    weight: float = Field(default=1, gt=0)
    share: float | None = Field(default=None, ge=0, le=1)
    needed: list[str] = Field(default_factory=list, min_length=1)
    free: dict[str, Any] = Field(default_factory=dict)


class PydanticInner(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid", strict=True, populate_by_name=True)
    name: str
    size: int | None = None


class PydanticOpen(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow", strict=True, populate_by_name=True)
    role: Literal["a", "b"] = "a"
    content: Annotated[
        str | PydanticInner | list[PydanticInner] | None,
        pydantic.Field(validation_alias=pydantic.AliasChoices("content", "input")),
    ] = None


class PydanticRecord(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid", strict=True, populate_by_name=True)
    id: Annotated[str, pydantic.Field(pattern=r"\S")]
    inner: PydanticInner = pydantic.Field(default_factory=lambda: PydanticInner(name="n"))
    open: PydanticOpen | None = None
    many: list[PydanticInner | str] = pydantic.Field(default_factory=list)
    either: Annotated[str | PydanticInner | list[str] | None, pydantic.Field(union_mode="left_to_right")] = None
    flag: bool | str = False
    weight: float = pydantic.Field(default=1, gt=0, allow_inf_nan=False)
    share: float | None = pydantic.Field(default=None, ge=0, le=1)
    needed: list[str] = pydantic.Field(default_factory=list, min_length=1)
    free: dict[str, Any] = pydantic.Field(default_factory=dict)


scalars = st.one_of(
    st.booleans(),
    st.integers(-1, 3),
    st.sampled_from([0.5, 2.0, float("inf")]),
    st.sampled_from(["", "a", "c"]),
)
inners = st.dictionaries(st.sampled_from(["name", "size", "other"]), scalars, max_size=3)
opens = st.dictionaries(
    st.sampled_from(["role", "content", "input", "further"]),
    st.one_of(scalars, inners, st.lists(inners, max_size=2)),
    max_size=3,
)
records = st.dictionaries(
    st.sampled_from([*fields_of(Record), "unknown"]),
    st.one_of(scalars, inners, opens, st.lists(st.one_of(scalars, inners), max_size=2)),
    max_size=5,
).map(lambda fields: {"id": "a", **fields})


def outcome(model: Any, refusal: type[Exception], value: Any) -> Any:
    """What a model makes of a value: the record as JSON in three forms; None where it refuses it."""
    try:
        record = model.model_validate(value)
    except refusal:
        return None
    return record.model_dump(), record.model_dump(exclude_unset=True), record.model_dump(exclude_defaults=True)


@settings(deadline=None, database=None)
@given(records)
def test_a_declared_model_reads_as_a_model_of_pydantic(value: dict[str, Any]) -> None:
    ours = outcome(Record, Misfit, value)
    content = value.get("open")
    if isinstance(content, dict) and {"content", "input"} <= content.keys():
        assert ours is None  # pydantic takes the second for a further field
    else:
        assert ours == outcome(PydanticRecord, pydantic.ValidationError, value)


def test_everything_that_is_wrong_is_said_of_the_shape_that_a_value_has() -> None:
    value = {
        "id": "\t",
        "inner": {"name": 1, "size": 2.5, "colour": "red"},
        "open": {"content": [{"name": "n"}, {"size": None}], "input": "i", "role": "c", "more": 1},
        "many": ["a", 1],
        "either": True,
        "weight": 0,
        "share": 10**400,
        "needed": [],
        "free": [],
        "unknown": None,
    }
    with pytest.raises(Misfit) as caught:
        Record.model_validate(value)

    assert [complaint.sentence(value) for complaint in caught.value.complaints] == [
        '"id" must not be empty',
        '"inner.name" must be a string, not a number',
        '"inner.size" must be a whole number, not 2.5',
        'unknown field "colour" in "inner"',
        'unknown role "c"',
        '"name" is missing in "open.content[1]"',
        'unknown field "input" in "open"',
        '"many[1]" must be an object or a string, not a number',
        '"either" must be a string, an object or a list, not true or false',
        '"weight" must be more than 0, not 0',
        '"share" is too large for a number',
        '"needed" must not be empty',
        '"free" must be an object, not a list',
        'unknown field "unknown"',
    ]


def test_what_is_null_is_not_given_where_null_is_no_value_and_what_begins_with_x_is_left_out() -> None:
    value = {"id": "a", "needed": ["x"], "inner": None, "share": None, "either": None, "x-note": 1}
    record = Record.model_validate({**value, "open": {"content": None, "x-note": 1, "more": None}})

    assert record.model_fields_set == {"id", "needed", "open"}
    assert record.open is not None
    assert (record.open.model_fields_set, record.open.model_extra) == ({"content"}, {"more": None})
    assert Open.model_validate({"content": None}) == Open.model_validate({})
    with pytest.raises(Misfit, match="missing"):
        Record.model_validate({"id": None})


class Unclear(Model):
    one: Inner | Open


def test_a_union_whose_parts_take_values_of_one_type_cannot_be_declared() -> None:
    with pytest.raises(TypeError, match="two parts of a union"):
        Unclear.model_validate({})


def test_a_misspelt_bound_cannot_be_declared() -> None:
    with pytest.raises(TypeError, match="a field has no minimum"):
        Field(minimum=1)


def test_records_are_made_copied_and_compared_by_their_fields() -> None:
    record = Record(id="a", needed=["x"], open=Open(content="c"))
    copy = record.model_copy(update={"weight": 2})

    assert (copy.id, copy.weight, record.weight) == ("a", 2, 1)
    assert copy.model_fields_set == {"id", "needed", "open", "weight"}
    assert record == Record.model_validate({"id": "a", "needed": ["x"], "open": {"input": "c"}}) != copy
    assert Open.model_validate({"x": 1}) != Open.model_validate({"x": 2})
    assert repr(Inner(name="n")) == "Inner(name='n')"


def test_a_record_with_a_field_that_does_not_exist_is_not_made() -> None:
    with pytest.raises(Misfit, match="unknown"):
        Inner(name="n", colour="red")  # type: ignore[call-arg]


def test_a_run_of_cases_loads_no_library_that_it_does_not_use() -> None:
    code = (
        "import sys, os; sys.argv = ['yao-test', '-i', 'assistants/keyword/tests/inputs.jsonl', '--run', 'T001'];"
        "import runner.commands.main as c\n"
        "def leave(code):\n"
        "    heavy = {'httpx', 'pydantic', 'pydantic_core', 'regex', 'jsonschema', 'attrs', 'rich', 'click', 'jsonpath_ng', 'json_repair', 'mcp'}\n"
        "    print('LOADED', sorted(heavy & sys.modules.keys()), code); sys.stdout.flush(); os.kill(os.getpid(), 9)\n"
        "leave(c.main())"
    )
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)

    assert result.stdout.splitlines()[-1] == "LOADED [] 0", result.stdout + result.stderr
