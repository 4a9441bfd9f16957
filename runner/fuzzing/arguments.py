"""What `f.schema` was given, as a schema of each argument."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def schemas_of_arguments(schemas: Sequence[Any], size: int | None) -> list[Any]:
    """The schema of each argument: what `f.schema` was given, which may be one schema of the list of them all."""
    if len(schemas) == 1 and isinstance(schemas[0], dict) and size != 1:
        of_all = schemas[0]
        items = of_all.get("prefixItems")
        if items is None and isinstance(of_all.get("items"), list):
            items = of_all["items"]
        if isinstance(items, list):
            rest = {key: of_all[key] for key in ("$defs", "definitions") if key in of_all}
            return [{**rest, **item} if isinstance(item, dict) else item for item in items]
    return list(schemas)
