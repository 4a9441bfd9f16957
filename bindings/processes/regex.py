"""`regex.`: Go patterns for `t.assert.Match`."""

from __future__ import annotations

from bindings.processes.arguments import Arguments, host_functions
from bindings.services import HostCall
from scripttest.typing_names import Json


def _match(given: Arguments, call: HostCall) -> Json:
    from bindings.patterns import PatternError, search

    pattern, text = given.string(1), given.string(2)
    try:
        return search(pattern, text)
    except PatternError as error:
        raise given.error(str(error)) from error


FUNCTIONS = host_functions("regex", {"Match": _match})
