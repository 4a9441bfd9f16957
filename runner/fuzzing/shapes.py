"""What inputs of a search look like: Hypothesis strategies by the shapes of examples, with literals of the source among
the values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from hypothesis import strategies as st

from runner.fuzzing.literals import Literals

LARGEST = 2**53 - 1
"""The largest integer that JavaScript represents exactly."""
_EDGES = tuple(dict.fromkeys(sign * (2**bits + more) for bits in range(54) for more in (0, -1, 1) for sign in (1, -1)))
_EDGES = tuple(number for number in _EDGES if abs(number) <= LARGEST)
_ODD = "\u0301\u05d0\u0939\u200b\u200d\u202e\u2028\u3042\u4e2d\uac00\ufb01\ufeff\uffff\U0001f600\U0001f1e9"
LETTERS = "".join(map(chr, range(0x250))) + _ODD
"""The characters of texts: all of Latin, and some of each sort that code trips over."""
_SHORT = 8
"""Characters between literals."""

Strategy = st.SearchStrategy[Any]


class Shapes:
    """Makes strategies of values."""

    def __init__(self, literals: Literals) -> None:
        self._whole = [number for number in literals.numbers if isinstance(number, int)]
        self._numbers = list(literals.numbers)
        self._texts = [*literals.texts, *(f"{number:.17g}" for number in literals.numbers)]

    def arguments(self, examples: Sequence[Sequence[Any]]) -> Strategy:
        """Lists of arguments of the shapes of some."""
        return self._tuple([list(values) for values in zip(*examples, strict=True)])

    def like(self, examples: Iterable[Any]) -> Strategy:
        """Values of the shapes of some; of any, when there are none."""
        values = list(examples)
        choices = [
            made
            for made in (
                st.none() if None in values else None,
                st.booleans() if any(isinstance(value, bool) for value in values) else None,
                self._number([value for value in values if _is_number(value)]),
                self._text([value for value in values if isinstance(value, str)]),
                self._list([value for value in values if isinstance(value, list)]),
                self._object([value for value in values if isinstance(value, dict)]),
            )
            if made is not None
        ]
        return st.one_of(choices) if choices else self.anything()

    def whole_numbers(self, least: int = -LARGEST, most: int = LARGEST) -> Strategy:
        """Whole numbers within bounds."""
        known = [number for number in self._whole if least <= number <= most]
        edges = [number for number in _EDGES if least <= number <= most]
        return st.one_of(st.integers(least, most), *_some(known), *_some(edges))

    def numbers(self, least: float | None = None, most: float | None = None) -> Strategy:
        """Numbers within bounds, whole ones among them."""
        low = -float(LARGEST) if least is None else least
        high = float(LARGEST) if most is None else most
        known = [number for number in self._numbers if low <= number <= high]
        return st.one_of(st.floats(least, most, allow_nan=False, allow_infinity=False), *_some(known))

    def texts(self, examples: Iterable[str] = ()) -> Strategy:
        """Texts: any, of the characters of examples, and made from literals."""
        own = list(dict.fromkeys(examples))
        known = list(dict.fromkeys([*own, *self._texts]))
        if not known:
            return st.text(LETTERS)
        letters = sorted({letter for text in own for letter in text})
        pieces = st.one_of(st.text(LETTERS, max_size=_SHORT), st.sampled_from(known))
        choices = [st.text(LETTERS), st.sampled_from(known), st.lists(pieces, max_size=4).map("".join)]
        if letters:
            choices.append(st.text(st.sampled_from(letters)))
        return st.one_of(choices)

    def anything(self) -> Strategy:
        """Any JSON value, a small one."""
        plain = st.one_of(st.none(), st.booleans(), self.whole_numbers(), self.texts())
        return st.recursive(
            plain, lambda inner: st.one_of(st.lists(inner), st.dictionaries(self.texts(), inner)), max_leaves=5
        )

    def objects(self, keys: dict[str, Strategy], needed: Iterable[str] = ()) -> Strategy:
        """Objects with some of the keys, most with all of them."""
        needs = set(needed)
        whole = st.fixed_dictionaries(keys)
        if needs >= keys.keys():
            return whole
        required = {key: value for key, value in keys.items() if key in needs}
        optional = {key: value for key, value in keys.items() if key not in needs}
        return st.one_of(st.fixed_dictionaries(required, optional=optional), whole)

    def _tuple(self, columns: list[list[Any]]) -> Strategy:
        return st.tuples(*(self.like(values) for values in columns)).map(list)

    def _number(self, values: list[float]) -> Strategy | None:
        if not values:
            return None
        return self.whole_numbers() if all(isinstance(value, int) for value in values) else self.numbers()

    def _text(self, values: list[str]) -> Strategy | None:
        return self.texts(values) if values else None

    def _list(self, values: list[list[Any]]) -> Strategy | None:
        return st.lists(self.like(item for value in values for item in value)) if values else None

    def _object(self, values: list[dict[str, Any]]) -> Strategy | None:
        if not values:
            return None
        keys = dict.fromkeys(key for value in values for key in value)
        if not keys:
            return st.dictionaries(self.texts(), self.anything(), max_size=3)
        return self.objects({key: self.like(value[key] for value in values if key in value) for key in keys})


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _some(values: list[Any]) -> list[Strategy]:
    return [st.sampled_from(values)] if values else []
