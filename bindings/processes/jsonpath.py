"""`jsonpath.`: JSONPath for `t.assert.JSONPath`."""

from __future__ import annotations

from bindings.processes.arguments import Arguments, host_functions
from bindings.services import HostCall
from scripttest.typing_names import Json


def _find(given: Arguments, call: HostCall) -> Json:
    from bindings.json_path import JsonPathError, find

    value, path = given.any(1), given.string(2)
    try:
        return find(value, path)
    except JsonPathError as error:
        raise given.error(str(error)) from error


FUNCTIONS = host_functions("jsonpath", {"Find": _find})
