"""JUnit XML: the schema, and the texts that XML has no place for."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree
from sample_reports import GOLDEN, ODD, STREAMS, odd, report, result, written

SCHEMA = etree.XMLSchema(etree.parse(Path(__file__).with_name("junit.xsd")))
READ_BY_OTHERS = ("file", "line")
"""Attributes of a test case that GitLab and CircleCI read, and the schema does not know."""


def assert_valid(document: bytes) -> etree._Element:
    root = etree.fromstring(document, etree.XMLParser(huge_tree=True))
    for case in root.iter("testcase"):
        for name in READ_BY_OTHERS:
            case.attrib.pop(name, None)
    SCHEMA.assertValid(root)
    return root


@pytest.mark.parametrize("stream", STREAMS)
def test_a_recorded_run_fits_the_schema(stream: str) -> None:
    root = assert_valid((GOLDEN / f"{stream}.xml").read_bytes())

    suites = root.findall("testsuite")
    for key, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert [int(suite.get(key, "")) for suite in suites] == [len(list(suite.iter(tag))) for suite in suites]
    assert int(root.get("errors", "")) == len(list(root.iter("error")))


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_any_text_fits_the_schema(text: str, tmp_path: Path) -> None:
    assert_valid(written(odd(text), tmp_path, "xml"))


@pytest.mark.parametrize(
    ("cause", "tag"),
    [
        *((cause, "failure") for cause in ("assertion", "error", "timeout", "crash", "setup", "pending")),
        ("infrastructure", "error"),
    ],
)
def test_what_broke_is_an_error_and_all_else_a_failure_as_everywhere(cause: str, tag: str, tmp_path: Path) -> None:
    root = assert_valid(written(report(result(status="failed", cause=cause, error="no")), tmp_path, "xml"))

    (case,) = root.iter("testcase")
    assert [(child.tag, child.get("type"), child.text) for child in case][:1] == [(tag, cause, "no")]
    assert (root.get("failures"), root.get("errors")) == (("1", "0") if tag == "failure" else ("0", "1"))


def test_what_broke_outside_the_tests_is_an_error_of_its_own(tmp_path: Path) -> None:
    root = assert_valid(written(report(result()).replace(errors=["The engine stopped", "twice"]), tmp_path, "xml"))

    assert [suite.get("name") for suite in root] == ["tests/a.jsonl", "run"]
    assert [error.text for error in root.iter("error")] == ["The engine stopped\ntwice"]
    assert (root.get("tests"), root.get("errors")) == ("2", "1")


def test_a_run_without_tests_is_a_document(tmp_path: Path) -> None:
    assert_valid(written(report(), tmp_path, "xml"))
    assert_valid(written(report(suites=()), tmp_path, "xml"))


@pytest.mark.parametrize(
    ("text", "read"),
    {
        "line breaks": ("a\r\nb\rc\nd", "a\r\nb\rc\nd"),
        "markup": ("<a href=\"x\">'&amp;' ]]> <!--", "<a href=\"x\">'&amp;' ]]> <!--"),
        "control characters": ("\0\x1b[31mred\x7f", "\\u0000\\u001b[31mred\\u007f"),
        "half of a surrogate pair": ("\ud83d!", "\\ud83d!"),
        "not a character": ("\ufffe\uffff", "\\ufffe\\uffff"),
        "blanks and tabs": ("\t a  b \t", "\t a  b \t"),
        "other scripts": ("שלום 👩‍🚀 é", "שלום 👩‍🚀 é"),
    }.values(),
)
def test_texts_are_read_back_as_they_were(text: str, read: str, tmp_path: Path) -> None:
    record = result(id=f"x{text}", status="failed", cause="assertion", error=text, logs=[text], input=None, output=None)
    root = assert_valid(written(report(record), tmp_path, "xml"))

    (case,) = root.iter("testcase")
    assert case.get("name") == f"x{read}"
    assert [(child.tag, child.text) for child in case] == [("failure", read), ("system-out", read)]
    assert case[0].get("message") == read.split("\n")[0]


@pytest.mark.parametrize("count", [0, 1, 99, 100, 101, 250])
def test_every_result_is_written_once_and_in_order(count: int, tmp_path: Path) -> None:
    root = assert_valid(written(report(*(result(id=f"T{number}") for number in range(count))), tmp_path, "xml"))

    assert [case.get("name") for case in root.iter("testcase")] == [f"T{number}" for number in range(count)]
    assert root.get("tests") == str(count)
