"""`--max-errors`: how many tests may break before the run fails."""

from __future__ import annotations

import re
from fractions import Fraction

from runner.errors import ConfigurationError
from scripttest.values import Value


class Allowance(Value):
    """How many tests may break before the run fails: a number, or a share of the planned tests."""

    text: str
    """As the user wrote it."""
    number: Fraction
    is_share: bool
    """Whether the number is a percentage."""

    def covers(self, errors: int, planned: int) -> bool:
        """Whether so many of the planned tests may break; exactly the allowed share may."""
        return errors <= (self.number * planned / 100 if self.is_share else self.number)

    def __str__(self) -> str:
        return self.text


def read_allowance(text: str) -> Allowance:
    """The allowance that a text such as `3`, `2%` or `0.5%` gives. Raises ConfigurationError."""
    number = text.removesuffix("%")
    is_share = number != text
    if not re.fullmatch(r"\d+(\.\d+)?" if is_share else r"\d+", number) or (is_share and Fraction(number) > 100):
        raise ConfigurationError(
            f'Cannot read --max-errors "{text}": it must be a number of tests, or a share of them from 0% to 100%',
            "Such as --max-errors 3 or --max-errors 2%",
        )
    return Allowance(text=text, number=Fraction(number), is_share=is_share)
