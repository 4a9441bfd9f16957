"""Makes the data that a new realm gets: JSON of `Boot` in `bindings/src/core-state.ts`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property

TYPE_CHECKING = False
if TYPE_CHECKING:
    from scripttest.shortcuts.scan import Scan


class Boots:
    """Makes this data for realms with some or all of the available globals."""

    def __init__(self, names: Mapping[str, str], seed: int | None = None) -> None:
        """`names`: global name → part of the bindings that supplies it. `seed`: that of the random numbers of a
        module's top-level code; None: they are not seeded."""
        self.names = names
        self._seed = {} if seed is None else {"seed": str(seed)}

    def own(self, scan: Scan) -> str:
        """The data for a realm of a module's own code."""
        return self._text(scan, nested=False)

    def whole(self) -> str:
        """The data for a module whose code is not known: it gets all globals."""
        from scripttest.shortcuts.scan import everything

        return self._text(everything(self.names, guarded=True), nested=False)

    @cached_property
    def nested(self) -> str:
        """For a realm of a script that another one calls, whose code is not known either. Its verdicts are the
        caller's, so that nothing in it is guarded, unless the worker sees that it declares a built-in."""
        from scripttest.shortcuts.scan import everything

        return self._text(everything(self.names, guarded=False), nested=True)

    def _text(self, scan: Scan, *, nested: bool) -> str:
        listed = " ".join(f"{name}:{self.names[name]}" for name in scan.names)
        seed = {} if nested else self._seed
        return json.dumps({"guarded": scan.guarded, "hooks": scan.hooks, "nested": nested, "globals": listed, **seed})
