"""`json.`: reading, writing and repairing JSON, and checking values against a JSON Schema.

`Validate(value, schema)` and `ValidateSchema(schema)` answer null when all is well, else the reason as text.
"""

from __future__ import annotations

from bindings.processes import formats, schemas
from bindings.processes.arguments import Arguments, host_functions
from bindings.services import HostCall
from scripttest.typing_names import Json


def _parse(given: Arguments, call: HostCall) -> Json:
    return formats.parse(given.string(1), given.string(2, ""))


def _validate(given: Arguments, call: HostCall) -> Json:
    found = schemas.misfit(given.any(1), given.any(2))
    return found and found.text


FUNCTIONS = host_functions(
    "json",
    {
        "Encode": lambda given, call: formats.encode_json(given.any(1)),
        "Decode": lambda given, call: formats.decode_json(given.string(1)),
        "Parse": _parse,
        "Repair": lambda given, call: formats.repair_text(given.string(1)),
        "Validate": _validate,
        "ValidateSchema": lambda given, call: schemas.schema_problem(given.any(1)),
    },
)
