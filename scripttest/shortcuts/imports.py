"""Imports modules of this project and of the standard library from one file, instead of from a file for each.

Python keeps the bytecode of a module in a file of its own below `__pycache__`. A run of three tests imports a hundred
modules of this project, and a run of one case two hundred; to look for that many files and to read them takes 4 to 6 %
of the processor time of the one, and 8 to 11 % of the other (`tests/bench/shortcuts.py`). So the command copies what
Python has written there into one more file. A module is imported from it while its source has the size and the time of
change that Python has noted, which is how Python itself judges its files. All other modules are imported the plain way,
and all of them while the file is missing, damaged, or from another Python.

The file has a length in 8 bytes, and a table of so many: who made it, and where each module begins and how long it is,
from the end of the table on. All is in Python's `marshal` format, as Python's own files are."""

from __future__ import annotations

import marshal
import os
import sys
import time
from importlib.machinery import BuiltinImporter, ModuleSpec, SourceFileLoader

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
_HEADER = 16
"""Bytes before the bytecode in a file of Python's: four each for its version, flags, time and size of the source."""
_ABANDONED = 60.0
"""Seconds after which nobody writes any more what nobody has finished."""
_DAMAGED = (OSError, ValueError, EOFError, TypeError, AttributeError)
_Module = tuple[str, bool, str, int, int, "CodeType"]
"""Of a module: its source; whether it is a package; Python's file; time and size of the source; its bytecode."""


class ModuleFile:
    """The file, as a finder for `sys.meta_path`."""

    def __init__(self, path: str) -> None:
        """Opens the file at a path, where none need be."""
        self._path = path
        self._table: dict[str, tuple[int, int]] = {}
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
        try:
            module: _Module = marshal.loads(self._content(name))
            source, is_package, cached, changed, size, code = module
            if not _is_unchanged(source, changed, size):
                raise ValueError
        except (KeyError, *_DAMAGED):
            self._missed.add(name)
            return None
        spec = ModuleSpec(name, _Loader(name, source, code), origin=source, is_package=is_package)
        if is_package:
            spec.submodule_search_locations = [os.path.dirname(source)]
        spec.has_location = True
        spec.cached = cached
        return spec

    def _content(self, name: str) -> bytes:
        start, length = self._table[name]
        return os.pread(self._descriptor, length, self._first + start)

    def save(self) -> None:
        """Writes the file again with the modules that were missing since the last time, if there are any, bytecode may
        be written, and nobody else is writing. Other threads may still import."""
        missed = self._missed.copy()
        self._missed -= missed
        if sys.dont_write_bytecode or not os.access(os.path.dirname(self._path), os.W_OK):
            return
        specs = [(name, spec) for name in missed if (spec := _spec_of(name)) is not None]
        new = {name: marshal.dumps(found) for name, spec in specs if (found := _written(spec)) is not None}
        if new:
            ModuleFile(self._path).add(new)

    def add(self, new: dict[str, bytes]) -> None:
        """Writes the file again with these modules, each as the file has it, unless somebody else is writing it. It may
        have many MB, so they are copied one by one."""
        lengths = {name: length for name, (_, length) in self._table.items()}
        lengths |= {name: len(content) for name, content in new.items()}
        table: dict[str, tuple[int, int]] = {}
        end = 0
        for name, length in lengths.items():
            table[name] = (end, length)
            end += length
        head = marshal.dumps((_MADE_BY, table))
        unfinished = f"{self._path}.new"
        try:
            if _is_abandoned(unfinished):
                os.unlink(unfinished)
            with open(unfinished, "xb") as file:
                file.write(len(head).to_bytes(_LENGTH, "little") + head)
                for name in table:
                    file.write(new[name] if name in new else self._content(name))
            os.replace(unfinished, self._path)
        except FileExistsError:
            return
        except OSError:
            if os.path.exists(unfinished):
                os.unlink(unfinished)


class _Loader(SourceFileLoader):
    """Loads a module of which the code is known."""

    def __init__(self, name: str, path: str, code: CodeType) -> None:
        super().__init__(name, path)
        self._code: CodeType | None = code

    def get_code(self, fullname: str) -> CodeType | None:
        code, self._code = self._code, None
        return code or super().get_code(fullname)


def _is_abandoned(path: str) -> bool:
    """Whether there is such a file, of a process that was killed while it wrote."""
    try:
        return time.time() - os.stat(path).st_mtime > _ABANDONED
    except FileNotFoundError:
        return False


def _is_unchanged(source: str, changed: int, size: int) -> bool:
    try:
        found = os.stat(source)
    except OSError:
        return False
    return int(found.st_mtime) == changed and found.st_size == size


def _spec_of(name: str) -> ModuleSpec | None:
    """How a module was imported that belongs into the file."""
    spec = getattr(sys.modules.get(name), "__spec__", None)
    if spec is None or not spec.origin or not spec.cached:
        return None
    top = name.partition(".")[0]
    folder = _ROOT if top in _PACKAGES else _LIBRARY if top in sys.stdlib_module_names else None
    return spec if folder is not None and spec.origin.startswith(folder) else None


def _written(spec: ModuleSpec) -> _Module | None:
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
    if header[:8] != MAGIC_NUMBER + bytes(4) or not _is_unchanged(source, changed, size):
        return None
    is_package = spec.submodule_search_locations is not None
    return source, is_package, cached, changed, size, _placed(code, source)


def _placed(code: CodeType, source: str) -> CodeType:
    """The code with the path of its source, which Python's file may have from the folder on where it was written."""
    inner = tuple(_placed(one, source) if isinstance(one, type(code)) else one for one in code.co_consts)
    return code.replace(co_filename=source, co_consts=inner)


def import_quickly() -> ModuleFile | None:
    """Imports modules from the file from now on, where Python would look for files of its own. `save` keeps the file
    complete. None when this is switched off."""
    if is_off("imports") or __spec__ is None or __spec__.cached is None or BuiltinImporter not in sys.meta_path:
        return None
    file = ModuleFile(f"{__spec__.cached}s")
    sys.meta_path.insert(sys.meta_path.index(BuiltinImporter), file)
    return file
