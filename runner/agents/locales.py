"""Translations of the texts in `package.yao`: `{{ key.path }}` is looked up in `locales/<locale>.yml`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from runner.application.documents import read_yaml

_KEY = r"\{\{\s*([\w.-]+)\s*\}\}"


def translate(text: str, tables: Iterable[Mapping[str, Any]]) -> str:
    """A text with its keys replaced, by the first table that has them; others stay."""
    known = list(tables)

    def value(match: re.Match[str]) -> str:
        return next((found for table in known if (found := _at(table, match[1])) is not None), match[0])

    return re.sub(_KEY, value, text)


def read_tables(folders: Iterable[Path], locale: str) -> list[Mapping[str, Any]]:
    """The tables for a locale, best first: those of `de-at` before those of `de`, in the order of the folders. Raises
    ConfigurationError."""
    codes = [locale.lower(), locale.lower().partition("-")[0]]
    tables: list[Mapping[str, Any]] = []
    for code in dict.fromkeys(codes):
        for folder in folders:
            for path in sorted(folder.glob("*.y*ml")):
                table = read_yaml(path, "locale") if path.stem.lower() == code else None
                if isinstance(table, dict):
                    tables.append(table)
    return tables


def _at(table: Any, path: str) -> str | None:
    for key in path.split("."):
        table = table.get(key) if isinstance(table, dict) else None
    return table if isinstance(table, str) else None
