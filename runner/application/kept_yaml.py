"""Keeps the values of YAML files for later runs: to load what reads YAML takes a tenth of the processor time of a
command with one case (`tests/bench/shortcuts.py`).

A value depends on nothing but the text of its file, which is read each time, and on what reads it."""

from __future__ import annotations

from importlib.machinery import PathFinder
from pathlib import Path

from scripttest import DAMAGED, KeptFiles, is_off, state_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_ROOT = Path(__file__).parents[2]
_READERS = ("runner/application/documents.py", "bindings/processes/formats.py")
"""Files of this project that say how YAML is read."""


class KeptYaml:
    """The values of the YAML files of one application."""

    def __init__(self, folder: Path) -> None:
        """`folder`: see `KeptFiles`."""
        self._files = None if is_off("yaml") else KeptFiles(str(folder))

    def value(self, text: str, read: Callable[[], Any]) -> Any:
        """The value of a text, which `read` returns."""
        if self._files is None:
            return read()
        key = text.encode("utf-8", "surrogatepass")
        readers = [state_of(str(_ROOT / path)) for path in _READERS]
        if (library := PathFinder.find_spec("yaml")) is not None and library.origin is not None:
            readers.append(state_of(library.origin))
        try:
            state, known, value = self._files.read(key)
            if state == readers and known == text:
                return value
        except DAMAGED:
            pass
        value = read()
        self._files.write(key, (readers, text, value))
        return value
