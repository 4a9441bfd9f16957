"""What esbuild complains about, in its own form, and the errors that are made of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from table_tests import each

from scripttest.compile.boundary import Boundary
from scripttest.compile.messages import compile_error, missing_exports, problem, refusal
from scripttest.results import Location

ROOT = Path("/app")
TEST = ROOT / "a_test.ts"


def message(text: str, file: str = "", notes: tuple[str, ...] = (), line_text: str = "", column: int = 0) -> Any:
    location = {"file": file, "line": 3, "column": column, "length": 2, "lineText": line_text} if file else None
    return {"text": text, "location": location, "notes": [{"text": note} for note in notes]}


def test_a_message_has_its_place_in_characters() -> None:
    error = compile_error(TEST, [message("Unexpected end", "src/b.ts", line_text="é = ;", column=5)], Boundary(ROOT))
    assert (error.message, error.location, error.hint) == (
        "Unexpected end",
        Location(file="/app/src/b.ts", line=3, column=5, length=2),
        None,
    )


def test_one_without_a_place_is_about_the_test_file() -> None:
    error = compile_error(TEST, [message("Top-level await is not available in the configured target environment x")], Boundary(ROOT))  # fmt: skip
    assert error.message == "Top-level await is not available"
    assert error.location == Location(file=str(TEST), line=0, column=0)


def test_the_others_are_kept_and_what_could_not_be_listed_comes_last() -> None:
    messages = [message("Cannot read directory x"), message("first"), message("second")]
    error = compile_error(TEST, messages, Boundary(ROOT))
    assert (error.message, [other.text for other in error.others]) == ("first", ["second", "Cannot read directory x"])


def test_nothing_is_shown_of_a_file_outside_the_application() -> None:
    error = compile_error(TEST, [message("Unexpected k3y", "../etc/x.json")], Boundary(ROOT))
    assert "k3y" not in error.message
    assert error.message.startswith("The compiler cannot use /etc/x.json, and its error is not shown: ")


HINTS = {
    "a package": (message('Could not resolve "left-pad"'), "Install it in the application's node_modules"),
    "a file": (message('Could not resolve "./b"'), None),
    "a note": (message('Could not resolve "b"', notes=("Did you mean c? You can mark it",)), "Did you mean c?"),
    "a module of Node.js": (
        message('Could not resolve "sys"', notes=('The package "sys" was not found, but is built into node.',)),
        "It is a Node.js module, and scripts have no Node.js",
    ),
    "another file": (refusal("x"), "Scripts can import files of the application and packages in its node_modules"),
    "anything else": (problem("x"), None),
}  # fmt: skip


@each("name", HINTS)
def test_a_hint_says_what_to_do(name: str) -> None:
    said, hint = HINTS[name]
    assert compile_error(TEST, [said], Boundary(ROOT)).hint == hint


def test_names_that_a_file_does_not_export_are_found() -> None:
    messages = [
        message('No matching export in "src/b.ts" for import "x"'),
        message('No matching export in "src/b.ts" for import "y"'),
        message('Import "z" will always be undefined because the file "src/../c.ts" has no exports'),
        message("something else"),
    ]
    assert missing_exports(messages, ROOT) == {"/app/src/b.ts": {"x", "y"}, "/app/c.ts": {"z"}}
