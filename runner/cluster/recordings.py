"""Recordings of model calls that workers make, where the command writes them."""

from __future__ import annotations

import os
from pathlib import Path

from runner.errors import RunnerError


def write_recording(folder: Path, name: str, content: bytes | None) -> None:
    """Writes what a worker has recorded, or removes it. Raises OSError, and RunnerError for a place outside."""
    parts = name.split("/")
    if name.startswith("/") or ".." in parts:
        raise RunnerError(f"A worker names a recording outside of {folder}: {name}")
    path = folder.joinpath(*parts)
    if content is None:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    beside.write_bytes(content)
    beside.replace(path)
