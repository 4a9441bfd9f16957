"""Tests over tables of values: each row is tried, and what fails is told together, in one test."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

Test = Callable[..., None]


def each(names: str | Iterable[str], rows: Iterable[Any], ids: Any = None) -> Callable[[Test], Test]:
    """Like `pytest.mark.parametrize`, for tests so quick that an item of pytest for each row would take longer than they.

    Args:
        ids: names of the rows, in their order; anything else, such as a function, leaves each row to name itself.
    """
    named = [name.strip() for name in names.split(",")] if isinstance(names, str) else [*names]
    table = [*rows]
    labels = [*ids] if isinstance(ids, Iterable) and not isinstance(ids, str) else table

    def over(test: Test) -> Test:
        def tried(**fixtures: Any) -> None:
            failed = []
            for label, row in zip(labels, table, strict=True):
                try:
                    test(**fixtures, **dict(zip(named, row if len(named) > 1 else (row,), strict=True)))
                except Exception as error:
                    error.add_note(f"in the row {label!r:.500}")
                    failed.append(error)
            if failed:
                raise ExceptionGroup(f"{len(failed)} of {len(table)} rows", failed)

        whole = inspect.signature(test)
        kept = [one for name, one in whole.parameters.items() if name not in named]
        tried.__name__, tried.__doc__, tried.__module__ = test.__name__, test.__doc__, test.__module__
        tried.__signature__ = whole.replace(parameters=kept)  # type: ignore[attr-defined]
        return tried

    return over
