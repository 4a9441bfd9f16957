"""Counts in a worker process which code its scripts run. The counters are in memory that all its realms share. It is
backed by a file, which the command reads at the end.

`JS_NewArrayBuffer` of the pinned engine takes the size, the size that it may grow to, a function that frees the memory,
the argument of that function, and whether the buffer is shared. The function must not be a Python function; `labs` of
the C library takes a number and does nothing."""

from __future__ import annotations

import mmap
import os
from ctypes import addressof, c_char

import _quickjs

from scripttest.realm.quickjs import PLAIN, Int, Library, Pointer, Size, Text, Value, pointers

COUNTERS = 1 << 22
"""As in `scripttest.syntax.coverage`."""
NOTES = COUNTERS - 100_000
"""The counter from which on there are notes: how many characters, and these."""
_BYTES = 4 * COUNTERS
_GIVE = """(() => {
  const memory = globalThis.$yaoMemory;
  delete globalThis.$yaoMemory;
  Object.defineProperty(globalThis, "$yaoHits", { value: new Uint32Array(memory) });
  return globalThis.$yaoHits.length;
})()"""


class Counters:
    """The counters of this process."""

    notes = NOTES

    def __init__(self, folder: str) -> None:
        """Puts their file into a folder; empty: they have none, and this process reads them. Raises OSError."""
        self.is_own = not folder
        """Whether this process reads them."""
        if self.is_own:
            self._memory = mmap.mmap(-1, _BYTES)
        else:
            file = os.open(f"{folder}/{os.getpid()}", os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            try:
                os.ftruncate(file, _BYTES)
                self._memory = mmap.mmap(file, _BYTES)
            finally:
                os.close(file)
        self._address = addressof(c_char.from_buffer(self._memory))
        engine = Library(_quickjs.__file__)
        self._new = engine.function("JS_NewArrayBuffer", Value, Pointer, Pointer, Size, Size, Pointer, Pointer, Int)
        self._global = engine.function("JS_GetGlobalObject", Value, Pointer)
        self._define = engine.function("JS_DefinePropertyValueStr", Int, Pointer, Value, Text, Value, Int)
        self._free = engine.function("JS_FreeValue", None, Pointer, Value)
        self._nothing = engine.address("labs")

    def begin(self, rounds: int) -> None:
        """Sets the first counter, and those that were used to 0: the second one has the highest of them."""
        used = 4 * (self._highest() + 1)
        self._memory[:used] = rounds.to_bytes(4, "little") + bytes(used - 4)

    def read(self) -> tuple[int, list[int]]:
        """The first counter, and which of the others but the second are not 0."""
        with memoryview(self._memory)[: 4 * (self._highest() + 1)].cast("I") as counters:
            return counters[0], [number for number, count in enumerate(counters) if count and number > 1]

    def noted(self) -> str:
        """The notes, line by line; they are forgotten."""
        with memoryview(self._memory)[4 * NOTES :].cast("I") as notes:
            said, notes[0] = "".join(map(chr, notes[1 : 1 + notes[0]])), 0
        return said

    def _highest(self) -> int:
        return max(1, min(int.from_bytes(self._memory[4:8], "little"), COUNTERS - 1))

    def give(self, holder: _quickjs.Context) -> None:
        """Makes the counters a global of a context. Raises OSError when its engine is another than this module
        knows."""
        context = pointers(holder)[1]
        memory = self._new(context, self._address, _BYTES, 0, self._nothing, None, 0)
        target = self._global(context)
        self._define(context, target, b"$yaoMemory", memory, PLAIN)
        self._free(context, target)
        if holder.eval(_GIVE) != COUNTERS:
            raise OSError("The engine does not take memory of the process")
