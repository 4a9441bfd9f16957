"""Public names of a package that are resolved when they are first used: importing it loads nothing else."""

from __future__ import annotations

from sys import modules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def lazy_names(package: str, homes: Mapping[str, tuple[str, ...]]) -> Callable[[str], object]:
    """The `__getattr__` of a package whose public names live in modules of it, `homes`: module → names."""

    def resolve(name: str) -> object:
        for home, names in homes.items():
            if name in names:
                from importlib import import_module

                value = getattr(import_module(f"{package}.{home}"), name)
                setattr(modules[package], name, value)
                return value
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return resolve
