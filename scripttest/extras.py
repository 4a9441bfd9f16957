"""How to install what an optional part of this package needs.

`yao-test` is on no package index, so anybody could put a package of that name there: messages name the packages that
are missing instead, with the versions in the installed metadata (https://packaging.python.org/specifications/core-metadata/).
"""

from __future__ import annotations

import re
from pathlib import Path

PACKAGE = "yao-test"
_REQUIREMENT = r"([\w.-]+)\s*(\[[^\]]*\])?\s*\(?([^;()]*)\)?\s*;.*\bextra\s*==\s*[\"']([\w.-]+)[\"'].*"


def install_command(extra: str, *modules: str) -> str:
    """The command that installs the missing packages of an optional part, such as `pip install 'xmltodict>=0.14'`;
    all of its packages when none is missing. Without metadata, it names the folder that this package is used from.
    `extra`: the name of the part. `modules`: names of modules that could not be imported."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        found = [match for line in requires(PACKAGE) or () if (match := re.fullmatch(_REQUIREMENT, line))]
    except PackageNotFoundError:
        found = []
    wanted = [(match[1], f"{match[1]}{match[2] or ''}{_ordered(match[3])}") for match in found if match[4] == extra]
    if not wanted:
        return f"pip install '{Path(__file__).resolve().parents[1]}[{extra}]'"
    missing = [text for name, text in wanted if any(_is_of(one, name) for one in modules) or not _is_installed(name)]
    return f"pip install {' '.join(repr(text) for text in missing or [text for _, text in wanted])}"


def _ordered(versions: str) -> str:
    """Bounds as people write them: the lowest version first."""
    return ",".join(sorted((one.strip() for one in versions.split(",") if one.strip()), key=lambda one: one[0] == "<"))


def _is_of(module: str, package: str) -> bool:
    module, package = (re.sub("[-_.]+", "-", name.lower()) for name in (module, package))
    return f"{module}-".startswith(f"{package}-")


def _is_installed(name: str) -> bool:
    from importlib.metadata import Distribution, PackageNotFoundError

    try:
        Distribution.from_name(name)
    except PackageNotFoundError:
        return False
    return True
