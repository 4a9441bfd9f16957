"""Which packages of an optional part are named, with which versions."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

import pytest

from scripttest import extras as module
from scripttest import install_command

ROOT = Path(__file__).parents[2]
LINES = [
    "click<9,>=8.1",
    "pack.age-one<2,>=0.40; extra == 'own'",
    'pack_two[more]<1,!=0.5,>=0.30; python_version >= "3.11" and extra == "own"',
    "plain; extra == 'own'",
    "pack.age-one<2,>=0.40; extra == 'other'",
]


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The packages that are installed; the metadata of this project are `LINES`."""
    installed: set[str] = set()

    def from_name(name: str) -> None:
        if name not in installed:
            raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", lambda name: LINES)
    monkeypatch.setattr(metadata.Distribution, "from_name", from_name)
    return installed


@pytest.mark.parametrize(
    ("there", "modules", "named"),
    [
        ([], [], "'pack.age-one>=0.40,<2' 'pack_two[more]!=0.5,>=0.30,<1' 'plain'"),
        (["pack.age-one", "plain"], [], "'pack_two[more]!=0.5,>=0.30,<1'"),
        (["pack.age-one", "plain", "pack_two"], ["plain.inner.module"], "'plain'"),
        (["pack.age-one", "plain", "pack_two"], ["pack.age.one.x"], "'pack.age-one>=0.40,<2'"),
        (["pack.age-one", "plain", "pack_two"], ["plainer"], "'pack.age-one>=0.40,<2' 'pack_two[more]!=0.5,>=0.30,<1' 'plain'"),
    ],
)  # fmt: skip
def test_missing_packages_are_named_with_their_versions(
    known: set[str], there: list[str], modules: list[str], named: str
) -> None:
    known |= {*there}
    assert install_command("own", *modules) == f"pip install {named}"


def test_without_metadata_the_place_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PACKAGE", "a-package-that-nobody-has")
    assert install_command("view") == f"pip install '{ROOT}[view]'"


def test_no_message_and_no_page_names_a_package_that_is_on_no_index() -> None:
    """Only with the place from which it is installed."""
    pages = [ROOT / "README.md", ROOT / "Dockerfile", *ROOT.glob("docs/*.md"), *ROOT.glob("templates/*")]
    code = [
        path for folder in ("runner", "bindings", "scripttest", ".github") for path in (ROOT / folder).rglob("*.py")
    ]
    found = [
        (path.name, line)
        for path in (*pages, *code)
        if "node_modules" not in path.parts
        for line in path.read_text("utf-8").splitlines()
        if re.search(r"yao-test\[(?![^\]]*\]\s*@)", line) or re.search(r"pip install +['\"]?yao-test\b(?! @)", line)
    ]
    assert found == []
