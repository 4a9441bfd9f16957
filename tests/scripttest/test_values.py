"""Records: built by keyword, equal by their fields, never changed."""

from __future__ import annotations

import copy
import pickle

import pytest

from scripttest.values import Value, fields_of, names_of


class Place(Value):
    file: str
    line: int = 1


class Named(Place):
    name: str


class Renumbered(Named):
    line: int = 7
    """Declared again, with another default."""
    column: int = 0


class Listed(Value):
    items: tuple[Place, ...] = ()
    extra: dict[str, int] | None = None


class WithMembers(Value):
    seconds: float
    LIMIT = 5.0
    _kept: int = 3

    @property
    def late(self) -> bool:
        return self.seconds > self.LIMIT


def test_fields_are_given_by_keyword_and_the_rest_has_defaults() -> None:
    place = Place(file="a.ts")
    assert (place.file, place.line) == ("a.ts", 1)
    assert Place(file="a.ts", line=4).line == 4
    assert Listed() == Listed(items=(), extra=None)


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({}, "file"),
        ({"line": 2}, "file"),
        ({"file": "a.ts", "column": 3}, "column"),
        ({"lines": 3, "column": 3}, "column, file, lines"),
    ],
)
def test_missing_and_unknown_fields_are_named(fields: dict[str, object], wrong: str) -> None:
    with pytest.raises(TypeError, match=rf"^Place: missing or unknown fields: {wrong}$"):
        Place(**fields)


def test_fields_are_not_given_by_position() -> None:
    with pytest.raises(TypeError, match="positional"):
        Place("a.ts", 1)  # type: ignore[misc]


def test_a_record_is_not_taken_apart_by_position() -> None:
    with pytest.raises(TypeError, match="cannot unpack non-iterable"):
        _, _ = Place(file="a.ts")  # type: ignore[misc]
    with pytest.raises(TypeError, match="not subscriptable"):
        Place(file="a.ts")[0]  # type: ignore[index]


def test_a_record_never_changes() -> None:
    place = Place(file="a.ts")
    with pytest.raises(AttributeError, match=r"^Place never changes: replace\(line=\.\.\.\) makes another one$"):
        place.line = 2  # type: ignore[misc]
    with pytest.raises(AttributeError, match="never changes"):
        place.other = 2  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"^Place never changes$"):
        del place.file
    assert place == Place(file="a.ts", line=1)


def test_replace_makes_another_record() -> None:
    place = Place(file="a.ts", line=3)
    other = place.replace(line=4)
    assert (place.line, other.line, other.file) == (3, 4, "a.ts")
    assert type(Named(file="a", name="b").replace(name="c")) is Named
    with pytest.raises(TypeError, match=r"^Place: missing or unknown fields: row$"):
        place.replace(row=1)


def test_records_are_equal_when_class_and_fields_are() -> None:
    assert Place(file="a.ts") == Place(file="a.ts", line=1)
    assert Place(line=1, file="a.ts") == Place(file="a.ts")
    assert Place(file="a.ts") != Place(file="a.ts", line=2)
    assert Place(file="a.ts") != Place(file="b.ts")

    class Position(Value):
        file: str
        line: int = 1

    assert Place(file="a.ts") != Position(file="a.ts")
    assert Place(file="a.ts") != {"file": "a.ts", "line": 1}


def test_equal_records_are_one_key() -> None:
    assert {Place(file="a", line=2), Place(line=2, file="a"), Place(file="b")} == {
        Place(file="a", line=2),
        Place(file="b"),
    }
    assert hash(Listed(items=(Place(file="a"),))) == hash(Listed(items=(Place(file="a"),)))
    with pytest.raises(TypeError, match="unhashable"):
        hash(Listed(extra={"a": 1}))


def test_fields_come_in_the_order_of_the_class_not_of_the_call() -> None:
    assert names_of(Named) == ("file", "line", "name")
    assert list(fields_of(Named(name="n", line=2, file="f")).items()) == [("file", "f"), ("line", 2), ("name", "n")]
    assert repr(Named(name="n", line=2, file="f")) == "Named(file='f', line=2, name='n')"


def test_a_field_that_is_declared_again_keeps_its_place_and_has_the_new_default() -> None:
    assert names_of(Renumbered) == ("file", "line", "name", "column")
    assert repr(Renumbered(file="f", name="n")) == "Renumbered(file='f', line=7, name='n', column=0)"
    assert Named(file="f", name="n").line == 1


def test_members_that_are_no_fields() -> None:
    """Names without an annotation, names with an underscore, properties and methods."""
    assert names_of(WithMembers) == ("seconds",)
    assert [WithMembers(seconds=seconds).late for seconds in (4.0, 6.0)] == [False, True]
    with pytest.raises(TypeError, match="LIMIT"):
        WithMembers(seconds=1.0, LIMIT=2.0)  # type: ignore[call-arg]


def test_the_fields_that_are_handed_out_are_a_copy() -> None:
    place = Place(file="a.ts")
    fields_of(place)["file"] = "b.ts"
    assert place.file == "a.ts"


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_a_copy_is_an_equal_record(again: object) -> None:
    record = Listed(items=(Place(file="a", line=2),), extra={"b": 1})
    assert callable(again)
    assert again(record) == record
    assert type(again(record)) is Listed
