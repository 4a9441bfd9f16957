"""Which files scripts may read: those of the application, without those that commonly hold keys."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path

_CODE = (".ts", ".js", ".tsx", ".jsx", ".mts", ".mjs", ".cts", ".cjs")
_CLOSED = (
    r"(?:\.env.*|.*\.(?:conn|mcp)\.\w+|\.git|\.ssh|\.aws|\.npmrc|\.netrc|\.pypirc|id_(?:rsa|ed25519)"
    r"|.*\.(?:pem|key|p12|pfx))$"
)
"""Names of files and folders that commonly hold keys."""


def holds_secrets(parts: tuple[str, ...]) -> bool:
    """Whether a path, as its parts from the root of an application, commonly holds keys. Names are taken in every case
    and spelling that a file system may take for the same."""
    from unicodedata import normalize

    for depth, name in enumerate(parts):
        plain = "".join(letter for letter in normalize("NFKC", name).casefold() if letter.isprintable()).rstrip(". ")
        if re.match(_CLOSED, plain) or (not depth and plain == "connectors"):
            return True
    return False


class Boundary:
    """What the scripts of one application may import."""

    def __init__(self, root: Path) -> None:
        """`root` is the application's absolute path."""
        self._root = str(root)
        self._real = os.path.realpath(root)

    def refused(self, name: str, own: Path) -> str | None:
        """Why a file may not be part of a script, for people; None when it may.

        Args:
            name: of the file, from the application's root or absolute
            own: folder of the script itself, which may lie elsewhere when it came with this package
        """
        if name.startswith(("yao-runtime:", "<", "(disabled):")) or (name.endswith(_CODE) and name[0] not in "./"):
            return None
        return _refused(name, self._root, self._real, str(own))


@lru_cache(1000)
def _refused(name: str, root: str, real: str, own: str) -> str | None:
    path = os.path.normpath(os.path.join(root, name))
    if "/node_modules/" in path:
        return None
    for folder in (root, real):
        if path.startswith(folder.rstrip("/") + "/"):
            parts = tuple(path[len(folder.rstrip("/")) + 1 :].split("/"))
            return f"{'/'.join(parts)} is not open to scripts: it may hold secrets" if holds_secrets(parts) else None
    if path.startswith((own + "/", os.path.realpath(own) + "/")):
        return None
    return f"{path} is not a file of the application"
