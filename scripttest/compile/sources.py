"""What the compiler gets of a file, read here in bounds: the compiler opens no source and no source map itself."""

from __future__ import annotations

import os
import re

from scripttest.compile.boundary import Boundary
from scripttest.files import CODE, DATA_LIMIT, SOURCE_LIMIT

_MAP_COMMENT = rb"([#@]\s*)sourceMappingURL=([^\s*]*)"
_NAMES_NOTHING = rb"[\w.$(){}\[\]'\"`+;,-]*"
"""What may stand behind `sourceMappingURL=` in code that is about source maps, and names no file in another folder."""


def read(path: str, boundary: Boundary, type: str | None = None) -> bytes:
    """The content of an imported file.

    If a script names its source map in a comment, the map is put into the comment. A map that may not be read is left
    out.

    Args:
        path: absolute path.
        type: the type in the import (`with { type: "text" }`), if there is one.

    Raises:
        RefusedFileError: scripts may not read it, it is not a file, or it is too large: `SOURCE_LIMIT` for code,
            `DATA_LIMIT` for everything else.
        OSError: it cannot be read.
    """
    if type is not None or not path.endswith((*CODE, ".css")):
        return boundary.read(path, DATA_LIMIT)
    content = boundary.read(path, SOURCE_LIMIT)
    if b"sourceMappingURL=" not in content:
        return content
    return re.sub(_MAP_COMMENT, lambda found: _with_map(found, os.path.dirname(path), boundary), content)


def _with_map(found: re.Match[bytes], folder: str, boundary: Boundary) -> bytes:
    from base64 import b64encode
    from urllib.parse import unquote_to_bytes

    start, name = found.groups()
    if name.startswith(b"data:"):
        return found[0]
    try:
        file = os.path.join(folder, os.fsdecode(unquote_to_bytes(name.removeprefix(b"file://"))))
        source_map = boundary.read(file, DATA_LIMIT)
    except (OSError, ValueError) as error:
        is_missing = isinstance(error, (FileNotFoundError, IsADirectoryError)) or not name
        return found[0] if is_missing and re.fullmatch(_NAMES_NOTHING, name) else start + b"sourceMappingURL " + name
    return start + b"sourceMappingURL=data:application/json;base64," + b64encode(source_map)
