"""The parts of fingerprints: their stored form, and kinds that other versions have."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.application.application import Application
from runner.fingerprints.parts import PartDigests
from runner.parts import Dependency, dependency_in, stored_dependencies


@pytest.mark.parametrize(
    "part", [Dependency(kind="models", name="all"), Dependency(kind="script", name="a folder/a b.ts")]
)
def test_the_stored_form_is_read_back(part: Dependency) -> None:
    (key,) = stored_dependencies({part: "1"})
    assert dependency_in(key) == part


def test_what_each_result_has_of_its_own_is_no_part() -> None:
    assert dependency_in("flags") is None


@pytest.mark.parametrize("kind", ["known", "of", "take", "script"])
def test_a_kind_that_is_not_known_has_an_empty_digest(tmp_path: Path, kind: str) -> None:
    assert PartDigests(Application(tmp_path), {}, "", None).of(Dependency(kind=kind, name="x")) == ""
