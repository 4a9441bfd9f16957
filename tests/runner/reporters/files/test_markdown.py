"""Markdown: what it looks like, what it makes of odd texts, and that it fits the summary of a job."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token
from sample_reports import GOLDEN, ODD, STREAMS, odd, report, result, written
from table_tests import each

from runner.reporters.markdown import LIMIT, markdown

JOB_SUMMARY = 1024 * 1024
OUR_HTML = re.compile(r"(</?details>|<summary>[^<]*</summary>|\s)*")


def tokens_of(text: str) -> list[Token]:
    return MarkdownIt("gfm-like", {"linkify": False}).parse(text)


def assert_tame(text: str) -> None:
    """No HTML but our own, no links and no images; what opens closes."""
    for token in tokens_of(text):
        children = [child.type for child in token.children or []]
        assert not {"html_inline", "link_open", "image"} & set(children), token.content[:200]
        assert token.type != "html_block" or OUR_HTML.fullmatch(token.content), token.content[:200]
    html = "".join(token.content for token in tokens_of(text) if token.type == "html_block")
    assert html.count("<details>") == html.count("</details>")


def test_a_report_begins_as_the_design_document_prints_it() -> None:
    failed = [result(f"F{number}", "failed", error="no") for number in range(2)]
    text = markdown(report(*(result(f"T{number:03}") for number in range(1, 41)), *failed))

    assert text.startswith("""\
# Agent Test Report

## Summary

| Metric    | Value              |
| --------- | ------------------ |
| Agent     | keyword            |
| Connector | deepseek.v3        |
| Total     | 42                 |
| Passed    | 40                 |
| Failed    | 2                  |
| Pass Rate | 95.2% (84.2-98.7%) |
| Duration  | 12.3s              |
| Input     | tests/a.jsonl      |

## Environment

| Setting | Value     |
| ------- | --------- |
| User    | test-user |
| Team    | test-team |
| Locale  | en-us     |

## Results

### ❌ F0 - Failed (234ms)
""")
    assert "\n### ✅ T001 - Passed (234ms)\n" in text


@pytest.mark.parametrize("stream", STREAMS)
def test_a_recorded_run_has_a_heading_for_each_result(stream: str) -> None:
    text = (GOLDEN / f"{stream}.md").read_text("utf-8")
    tokens = tokens_of(text)

    headings = [inner.content for outer, inner in pairwise(tokens) if (outer.type, outer.tag) == ("heading_open", "h3")]
    summary = {row[0]: row[1] for row in re.findall(r"^\| (\w+) +\| (\d+) +\|$", text, re.M)}
    assert len(headings) == int(summary["Total"])
    assert_tame(text)


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_any_text_is_text(text: str, tmp_path: Path) -> None:
    made = written(odd(text), tmp_path, "md").decode()

    assert_tame(made)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", made)
    assert len(made.encode()) < JOB_SUMMARY


def test_a_long_report_fits_the_summary_of_a_job_and_says_what_is_left_out() -> None:
    results = [result(f"{'P' * 300}{number}", output="é" * 3000) for number in range(1500)]
    results += [result(f"F{number}", "failed", error="x" * 3000, output="y" * 3000) for number in range(200)]
    text = markdown(report(*results))

    assert LIMIT - 1000 < len(text.encode()) <= LIMIT < JOB_SUMMARY
    assert text.count("### ❌") == 200
    left_out = re.search(r"Omitted to limit the length of the report: (\d+) passed\.", text)
    assert left_out and int(left_out[1]) + text.count("### ✅") == 1500
    assert_tame(text[: 100_000 + text[100_000:].index("### ")])


def test_thousands_of_long_failures_all_keep_their_heading() -> None:
    text = markdown(report(*(result(f"F{number}", "failed", error="x" * 5000) for number in range(1500))))

    assert len(text.encode()) <= LIMIT
    assert text.count("### ❌") == 1500


@each(("milliseconds", "said"), [(0, "0ms"), (999, "999ms"), (1000, "1.0s"), (12345, "12.3s"), (125_000, "2m5s")])
def test_durations_read_as_in_the_design_document(milliseconds: int, said: str) -> None:
    assert f"### ✅ T001 - Passed ({said})\n" in markdown(report(result(duration_ms=milliseconds)))
