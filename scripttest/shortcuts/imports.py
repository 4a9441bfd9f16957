"""Imports modules of this project and of the standard library from one file, instead of from a file for each.

Python keeps the bytecode of a module in a file of its own below `__pycache__`. A run of three tests imports more than a
hundred and fifty modules, and a run of one case four hundred; to look for that many files and to read them takes a
tenth of the run (`tests/bench/shortcuts.py`). So the command copies what Python has written there into one more file,
and what one import makes another import is read together. A module is imported from it while its source has the size
and the time of change that Python has noted, which is how Python itself judges its files. All other modules are
imported the plain way, and all of them while the file is missing, damaged, or from another Python.

The file has a length in 8 bytes, and a table of so many: who made it, and where the batch of each module begins and how
long it is, from the end of the table on. A batch has the module, and those that its import has imported in each run so
far; and the names of those that it has imported in some runs only, because in others they were there already. All are
in Python's `marshal` format, as modules are.
"""

from __future__ import annotations

import marshal
import os
import sys
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
_DAMAGED = (OSError, ValueError, EOFError, TypeError, AttributeError)
_Module = tuple[str, bool, str, int, int, "CodeType"]
"""Of a module: its source; whether it is a package; Python's file; time and size of the source; its bytecode."""
_Batch = tuple[dict[str, _Module], set[str]]
"""Modules by name; and names of those that are not among them, though they were once imported with these."""


class ModuleFile:
    """The file, as a finder for `sys.meta_path`."""

    def __init__(self, path: str) -> None:
        """Opens the file at a path, where none need be."""
        self._path = path
        self._table: dict[str, tuple[int, int]] = {}
        self._at_hand: dict[str, tuple[str, _Module]] = {}
        """Modules that were read and are not imported yet, each with the one of whose batch it is."""
        self._missed: set[str] = set()
        """Modules that the file does not have as they are."""
        self._batches: dict[str, tuple[set[str], set[str]]] = {}
        """By module of which the batch was read: what is in it, and what is to be kept out of it."""
        self._wanted: dict[str, set[str]] = {}
        """By the same modules: what their import needed that was not in it."""
        self.importing: str | None = None
        """The module that is being imported, and not because another is."""
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
            if name not in self._at_hand:
                self._read(name)
            _, (source, is_package, cached, changed, size, code) = self._at_hand.pop(name)
            if not _is_unchanged(source, changed, size):
                raise ValueError
        except (KeyError, *_DAMAGED):
            self._missed.add(name)
            return None
        spec = ModuleSpec(name, _Loader(self, name, source, code), origin=source, is_package=is_package)
        if is_package:
            spec.submodule_search_locations = [os.path.dirname(source)]
        spec.has_location = True
        spec.cached = cached
        return spec

    def _read(self, name: str) -> None:
        if self.importing in self._batches:
            self._wanted.setdefault(self.importing, set()).add(name)
        modules, apart = self._batch(name)
        self._at_hand |= {one: (name, module) for one, module in modules.items()}
        self._batches[name] = set(modules), apart

    def _batch(self, name: str) -> _Batch:
        batch: _Batch = marshal.loads(self._content(name))
        return batch

    def _content(self, name: str) -> bytes:
        start, length = self._table[name]
        return os.pread(self._descriptor, length, self._first + start)

    def save(self) -> None:
        """Writes the file again when modules were missing, or are to be read with others, or no more, if bytecode may
        be written. Other threads may still import."""
        if sys.dont_write_bytecode or not os.access(os.path.dirname(self._path), os.W_OK):
            return
        missed = self._missed.copy()
        specs = [(name, spec) for name in missed if (spec := _spec_of(name)) is not None]
        new = {name: found for name, spec in specs if (found := _written(spec)) is not None}
        changed: dict[str, _Batch] = {name: ({name: module}, set()) for name, module in new.items()}
        for name, (members, apart) in self._batches.copy().items():
            idle = {one for one in members if self._at_hand.get(one, ("",))[0] == name}
            wanted = self._wanted.get(name, set()) - apart
            known = (wanted & self._table.keys()) - missed
            fresh = (wanted | members) & new.keys()
            if known or fresh or idle:
                modules, _ = self._batch(name)
                modules |= {one: self._batch(one)[0][one] for one in known} | {one: new[one] for one in fresh}
                changed[name] = {one: module for one, module in modules.items() if one not in idle}, apart | idle
        if not changed:
            return
        contents = {name: self._content(name) for name in self._table if name not in changed}
        contents |= {name: marshal.dumps(batch) for name, batch in changed.items()}
        table: dict[str, tuple[int, int]] = {}
        end = 0
        for name, content in contents.items():
            table[name] = (end, len(content))
            end += len(content)
        head = marshal.dumps((_MADE_BY, table))
        unfinished = f"{self._path}.{os.getpid()}"
        try:
            with open(unfinished, "xb") as file:
                file.write(len(head).to_bytes(_LENGTH, "little") + head)
                file.writelines(contents.values())
            os.replace(unfinished, self._path)
        except OSError:
            if os.path.exists(unfinished):
                os.unlink(unfinished)


class _Loader(SourceFileLoader):
    """Loads a module of which the code is known."""

    def __init__(self, file: ModuleFile, name: str, path: str, code: CodeType) -> None:
        super().__init__(name, path)
        self._file = file
        self._code: CodeType | None = code

    def get_code(self, fullname: str) -> CodeType | None:
        code, self._code = self._code, None
        return code or super().get_code(fullname)

    def exec_module(self, module: ModuleType) -> None:
        file = self._file
        if file.importing is not None:
            return super().exec_module(module)
        file.importing = self.name
        try:
            super().exec_module(module)
        finally:
            file.importing = None


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
