"""Counters in memory that all realms of a worker share: those of `--coverage`, and those of scripts with mutants.

Those of coverage are in a file, which the command reads at the end, so that the counts of a worker are not lost if it
is killed. What scripts with mutants name besides, see `syntax/src/mutants/planted.ts`: counter 0 has how many rounds
loops and functions may still go, and counter 1 the highest that is not 0."""

from __future__ import annotations

import mmap
import os
from ctypes import addressof, c_char

from scripttest.realm.quickjs import interface

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _quickjs

COUNTERS = 1 << 22
"""As in `scripttest.syntax.instruments`."""
NOTES = COUNTERS - 100_000
"""The counter from which on there are notes: how many characters, and these."""
ROUNDS = 999_999_999
"""How many rounds loops and functions may go where nothing else is said."""
_BYTES = 4 * COUNTERS
_GIVE = """(() => {
  const memory = globalThis.$yaoMemory;
  delete globalThis.$yaoMemory;
  Object.defineProperty(globalThis, "$yaoHits", { value: new Uint32Array(memory) });
})()"""
_SWITCHES = (
    "const $yaoM={},$yaoR=n=>{{$yaoHits[n]=1;if(n>$yaoHits[1])$yaoHits[1]=n}},"
    "$yaoE=()=>{{$yaoHits[0]=1;throw new Error('a loop, or functions that call each other, did not end')}},$yaoV={};"
)
_VALUE = "(n,v)=>v"
_NOTED = r"""(() => {
const json = JSON.stringify, {getPrototypeOf} = Object, plain = [Object.prototype, Array.prototype, null];
const place = %d, notes = $yaoHits.subarray(%d);
const text = value => {
  let told = '=';
  const made = json(value, (_, v) => {
    const kind = typeof v;
    if (kind === 'function' || (kind === 'object' && v && !plain.includes(getPrototypeOf(v)))) told = '?';
    const isJson = kind === 'number' ? isFinite(v) && !Object.is(v, -0) : kind !== 'undefined' && kind !== 'bigint';
    return told === '?' ? null : isJson ? v : `\0${Object.is(v, -0) ? '-0' : String(v)}`;
  });
  return told + made.replace(/"\\u0000(.*?)"/g, '$1').slice(0, 1000);
};
return (n, v) => {
  if (n === place && notes[0] < notes.length - 1010) {
    let noted = '?';
    try { noted = text(v) } catch {}
    for (const letter of noted) {
      const code = letter.codePointAt(0);
      notes[++notes[0]] = code >> 11 === 27 ? 63 : code;  // half a pair, where it was cut
    }
    notes[++notes[0]] = 10;
  }
  return v;
};
})()"""


class Counters:
    """The counters of this process."""

    def __init__(self, memory: mmap.mmap) -> None:
        self._memory = memory
        self._address = addressof(c_char.from_buffer(memory))

    def give(self, holder: _quickjs.Context) -> None:
        """Makes the counters a global of a context."""
        interface().share(holder, b"$yaoMemory", self._address, _BYTES)
        holder.eval(_GIVE)


class Mutants(Counters):
    """The counters of scripts with mutants, which this process reads, and what is switched on in these scripts."""

    def __init__(self) -> None:
        super().__init__(mmap.mmap(-1, _BYTES))
        self.switch("0", "0")

    def switch(self, mutant: str, noted: str, *limits: str) -> None:
        """Switches a mutant on, `0`: none. `noted` is the place whose values are noted, `0` for none. `limits` are, for
        each of the next tests, how many rounds it may go, and how many milliseconds it may wait."""
        self.is_on = mutant != "0"
        self.script = _SWITCHES.format(mutant, _VALUE if noted == "0" else _NOTED % (int(noted), NOTES))
        """What scripts name."""
        self._limits = [int(limit) for limit in limits]
        self._rounds = ROUNDS

    def take_limits(self) -> float | None:
        """Takes those of the next test; returns how many seconds it may wait, None: as long as it likes."""
        if not self._limits:
            return None
        self._rounds, patience, *self._limits = self._limits
        return patience / 1000

    def restart(self) -> None:
        """Sets the first counter, and those that were used to 0."""
        used = 4 * (self._highest() + 1)
        self._memory[:used] = self._rounds.to_bytes(4, "little") + bytes(used - 4)

    def reached(self, patience: float | None) -> tuple[str, str, str, str]:
        """The parts of the frame `reached`, by how long the test may still wait; the notes are forgotten."""
        with memoryview(self._memory)[: 4 * (self._highest() + 1)].cast("I") as counters:
            left, places = counters[0], [str(place) for place, count in enumerate(counters) if count and place > 1]
        with memoryview(self._memory)[4 * NOTES :].cast("I") as notes:
            noted, notes[0] = "".join(map(chr, notes[1 : 1 + notes[0]])), 0
        endless = "endless" * (left <= 1 or (patience or 0) < 0)
        return str(self._rounds - left), " ".join(places), endless, noted

    def _highest(self) -> int:
        return max(1, min(int.from_bytes(self._memory[4:8], "little"), COUNTERS - 1))


def counters(folder: str) -> tuple[Counters, Mutants | None]:
    """The counters of this process, in a file in a folder; empty: those of scripts with mutants. Raises OSError."""
    if not folder:
        mutants = Mutants()
        return mutants, mutants
    file = os.open(f"{folder}/{os.getpid()}", os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.ftruncate(file, _BYTES)
        return Counters(mmap.mmap(file, _BYTES)), None
    finally:
        os.close(file)
