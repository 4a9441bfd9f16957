"""Interleaves the runs of several variants, so that a slow hour of a model host affects all of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import TypeVar

T = TypeVar("T")


def in_turns(lists: Sequence[Sequence[T]], seed: str) -> list[T]:
    """The first item of each list, then the second of each, and so on; each round is in a random order, which depends
    on the seed."""
    if len(lists) == 1:
        return list(lists[0])
    from random import Random

    draw = Random(seed)
    found: list[T] = []
    for taken in zip_longest(*lists):
        present = [item for item in taken if item is not None]
        draw.shuffle(present)
        found += present
    return found
