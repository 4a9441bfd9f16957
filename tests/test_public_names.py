"""The public names of the packages are sorted, complete, and there."""

from __future__ import annotations

import importlib

import pytest


@pytest.mark.parametrize("name", ["scripttest", "bindings"])
def test_every_public_name_resolves_and_the_list_is_sorted(name: str) -> None:
    package = importlib.import_module(name)
    assert sorted(package.__all__) == package.__all__
    for public in package.__all__:
        assert getattr(package, public) is not None


@pytest.mark.parametrize("name", ["scripttest", "bindings"])
def test_an_unknown_name_is_an_attribute_error(name: str) -> None:
    package = importlib.import_module(name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = package.nothing
