"""What `$L` answers: the texts of `langs/<locale>/**/*.yml`, source text → translation.

A locale such as `zh-cn` falls back to its language, `zh`. What is not translated stays as it is.
"""

from __future__ import annotations

from pathlib import Path

from bindings.processes.formats import decode_yaml
from bindings.services import ProcessError


def load_translations(app_root: Path, locale: str) -> dict[str, str]:
    """All translations for a locale; a folder that is not there has none. Raises ProcessError."""
    texts: dict[str, str] = {}
    for name in (locale.partition("-")[0], locale):
        for path in sorted((app_root / "langs" / name).rglob("*.yml")):
            try:
                value = decode_yaml(path.read_text("utf-8-sig"))
            except (OSError, ValueError) as error:
                raise ProcessError(f"Cannot read the translations in langs/{name}/{path.name}: {error}") from error
            if not isinstance(value, dict):
                raise ProcessError(f"The translations in langs/{name}/{path.name} are not a mapping of texts")
            texts |= {str(source): str(text) for source, text in value.items()}
    return texts
