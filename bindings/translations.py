"""The translations that `$L` returns, from `langs/<locale>/**/*.yml`, source text → translation.

A locale such as `zh-cn` falls back to its language, `zh`. What is not translated stays as it is."""

from __future__ import annotations

import os
from pathlib import Path

from bindings.errors import ProcessError
from bindings.processes.formats import decode_yaml
from scripttest import holds_secrets, parts_below, read_file


def load_translations(app_root: Path, locale: str) -> dict[str, str]:
    """All translations for a locale; a folder that is not there has none. Raises ProcessError."""
    texts: dict[str, str] = {}
    for name in (locale.partition("-")[0], locale):
        for path in sorted((app_root / "langs" / name).rglob("*.yml")):
            try:
                value = decode_yaml(_read(path, app_root))
            except (OSError, ValueError) as error:
                why = error.strerror if isinstance(error, OSError) else error
                raise ProcessError(f"Cannot read the translations in langs/{name}/{path.name}: {why}") from error
            if not isinstance(value, dict):
                raise ProcessError(f"The translations in langs/{name}/{path.name} are not a mapping of strings")
            texts |= {str(source): str(text) for source, text in value.items()}
    return texts


def _read(path: Path, app_root: Path) -> str:
    root = os.path.realpath(app_root)

    def judge(real: str) -> str | None:
        parts = parts_below(real, root)
        is_open = parts is not None and not holds_secrets(parts)
        return None if is_open else f"a link leads to {real}, which is not open to scripts"

    return read_file(str(path), judge).decode("utf-8-sig")
