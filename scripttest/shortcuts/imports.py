"""Imports modules of this project and of the standard library from one file, instead of from a file for each.

Python keeps the bytecode of a module in a file of its own below `__pycache__`. A run of three tests imports more than a
hundred and fifty modules, and a run of one case four hundred; to look for that many files takes a tenth of the run
(`tests/bench/shortcuts.py`). So the command copies what Python has written there into one more file, after a table of
contents. A module is imported from it while its source has the size and the time of change that Python has noted, which
is how Python itself judges its files. All other modules are imported the plain way, and all of them while the file is
missing, damaged, or from another Python.
"""

from __future__ import annotations

import marshal
import os
import sys
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader

from scripttest.shortcuts import is_off

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType, ModuleType

_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
_LIBRARY = os.path.dirname(os.__file__) + os.sep
"""Where the standard library is."""
_PACKAGES = ("runner", "scripttest", "bindings")
_MADE_BY = (sys.version, _ROOT, _LIBRARY)
_LENGTH = 8
"""Bytes of the number with which our file begins: the length of the table of contents."""
_HEADER = 16
"""Bytes before the bytecode in a file of Python's: four each for its version, flags, time and size of the source."""
_DAMAGED = (OSError, ValueError, EOFError, TypeError)
_Entry = tuple[str, bool, str, int, int, int, int]
"""What the table has of a module: its source; whether it is a package; Python's file; time and size of the source;
where in our file its bytecode begins, and how many bytes it has."""


class ModuleFile:
    """The file, as a finder for `sys.meta_path`."""

    def __init__(self, path: str) -> None:
        """Opens the file at a path, where none need be."""
        self._path = path
        self._table: dict[str, _Entry] = {}
        self._missed: set[str] = set()
        """Modules that are to be added."""
        try:
            self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            length = int.from_bytes(os.read(self._descriptor, _LENGTH), "little")
            if length > os.fstat(self._descriptor).st_size:
                return
            made_by, table = marshal.loads(os.read(self._descriptor, length))
        except _DAMAGED:
            return
        self._first = _LENGTH + length
        if made_by == _MADE_BY:
            self._table = table

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """How to import a module from the file; None: the plain way."""
        entry = self._table.get(name)
        if entry is None or not _is_unchanged(entry):
            self._missed.add(name)
            return None
        source, is_package, cached, *_ = entry
        spec = ModuleSpec(name, _Loader(name, source, self), origin=source, is_package=is_package)
        if is_package:
            spec.submodule_search_locations = [os.path.dirname(source)]
        spec.has_location = True
        spec.cached = cached
        return spec

    def code_of(self, name: str) -> CodeType | None:
        """The code of a module that was found; None if it is damaged."""
        try:
            code: CodeType = marshal.loads(self._bytecode(self._table[name]))
        except _DAMAGED:
            self._missed.add(name)
            return None
        return code

    def _bytecode(self, entry: _Entry) -> bytes:
        return os.pread(self._descriptor, entry[6], self._first + entry[5])

    def save(self) -> None:
        """Writes the file again with the modules that were missing, if there are any, and Python may write bytecode."""
        missed, self._missed = self._missed, set()
        if sys.dont_write_bytecode:
            return
        wanted = [(name, spec) for name in missed if (spec := _spec_of(name)) is not None]
        new = {name: found for name, spec in wanted if (found := _written(spec)) is not None}
        if not new:
            return
        kept = {name: (entry, self._bytecode(entry)) for name, entry in self._table.items() if name not in new}
        table: dict[str, _Entry] = {}
        end = 0
        for name, (entry, bytecode) in {**kept, **new}.items():
            table[name] = (*entry[:5], end, len(bytecode))
            end += len(bytecode)
        contents = marshal.dumps((_MADE_BY, table))
        unfinished = f"{self._path}.{os.getpid()}"
        try:
            with open(unfinished, "xb") as file:
                file.write(len(contents).to_bytes(_LENGTH, "little") + contents)
                file.writelines(bytecode for _, bytecode in {**kept, **new}.values())
            os.replace(unfinished, self._path)
        except OSError:
            if os.path.exists(unfinished):
                os.unlink(unfinished)


class _Loader(SourceFileLoader):
    """Loads a module that is in the file."""

    def __init__(self, name: str, path: str, file: ModuleFile) -> None:
        super().__init__(name, path)
        self._file = file

    def get_code(self, fullname: str) -> CodeType | None:
        return self._file.code_of(fullname) or super().get_code(fullname)


def _is_unchanged(entry: _Entry) -> bool:
    try:
        found = os.stat(entry[0])
    except OSError:
        return False
    return int(found.st_mtime) == entry[3] and found.st_size == entry[4]


def _spec_of(name: str) -> ModuleSpec | None:
    """How a module was imported that belongs into the file."""
    spec = getattr(sys.modules.get(name), "__spec__", None)
    if spec is None or not spec.origin or not spec.cached:
        return None
    top = name.partition(".")[0]
    folder = _ROOT if top in _PACKAGES else _LIBRARY if top in sys.stdlib_module_names else None
    return spec if folder is not None and spec.origin.startswith(folder) else None


def _written(spec: ModuleSpec) -> tuple[_Entry, bytes] | None:
    """What Python has written of a module; None: nothing that is right for its source as it is now."""
    from importlib.util import MAGIC_NUMBER

    source, cached = spec.origin, spec.cached
    assert source is not None and cached is not None
    try:
        with open(cached, "rb") as file:
            header, code = file.read(_HEADER), marshal.loads(file.read())
    except _DAMAGED:
        return None
    changed, size = (int.from_bytes(header[at : at + 4], "little") for at in (8, 12))
    entry = (source, spec.submodule_search_locations is not None, cached, changed, size, 0, 0)
    is_timed = header[:8] == MAGIC_NUMBER + bytes(4)
    return (entry, marshal.dumps(_placed(code, source))) if is_timed and _is_unchanged(entry) else None


def _placed(code: CodeType, source: str) -> CodeType:
    """The code with the path of its source, which Python's file may have from the folder on where it was written."""
    inner = tuple(_placed(one, source) if isinstance(one, type(code)) else one for one in code.co_consts)
    return code.replace(co_filename=source, co_consts=inner)


def import_quickly() -> ModuleFile | None:
    """Imports modules from the file from now on, where Python would look for files of its own. `save` keeps the file
    complete. None when this is switched off."""
    if is_off("imports") or __spec__ is None or __spec__.cached is None or PathFinder not in sys.meta_path:
        return None
    file = ModuleFile(f"{__spec__.cached}s")
    sys.meta_path.insert(sys.meta_path.index(PathFinder), file)
    return file
