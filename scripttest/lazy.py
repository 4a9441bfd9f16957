"""Public names of a package that are resolved on first use: importing a package loads nothing that it does not use."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def lazy_names(package: str, homes: Mapping[str, tuple[str, ...]]) -> Callable[[str], object]:
    """The `__getattr__` of a package whose public names live in modules of it, `homes`: module → names."""

    def resolve(name: str) -> object:
        for home, names in homes.items():
            if name in names:
                from importlib import import_module

                return getattr(import_module(f"{package}.{home}"), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return resolve
