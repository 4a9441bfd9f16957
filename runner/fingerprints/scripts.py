"""Compiles scripts outside of a run, to see whether results were made with the same scripts."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from runner.application.application import tested_by
from runner.fingerprints.parts import SCRIPTS, PartDigests
from runner.parts import Part
from scripttest import Compiled, Source, compile_all


def take_scripts(parts: Iterable[Part], root: Path, digests: PartDigests) -> None:
    """Compiles the scripts among parts, and has their digests known; blocks. One that is not there, or
    cannot be compiled, has the digest of nothing. Raises HostError when there is no compiler."""
    wanted = [(part, root / part.name) for part in parts if part.kind in SCRIPTS]
    sources = [
        Source(key=part.text, test=path, script=tested_by(path) if part.kind == "module" else None)
        for part, path in wanted
        if path.is_file()
    ]
    for result in (one.result for one in compile_all(root, sources)):
        if isinstance(result, Compiled):
            digests.take(result)
