"""The public names of the packages are complete, and there."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest
from source_modules import ROOT


def imported_for_types(path: Path) -> set[str]:
    """What a package imports for type checkers, from its own modules."""
    (block,) = (node for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.If))
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom) and node.module is not None]
    return {alias.name for node in imports if node.module.startswith(path.parent.name) for alias in node.names}


@pytest.mark.parametrize("name", ["scripttest", "bindings"])
def test_every_public_name_resolves_and_is_known_to_type_checkers(name: str) -> None:
    package = importlib.import_module(name)
    assert {*package.__all__} - {"lazy_names"} == imported_for_types(ROOT / name / "__init__.py")
    for public in package.__all__:
        assert getattr(package, public) is not None


@pytest.mark.parametrize("name", ["scripttest", "bindings"])
def test_an_unknown_name_is_an_attribute_error(name: str) -> None:
    package = importlib.import_module(name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = package.nothing
