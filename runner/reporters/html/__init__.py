"""The `.html` report: one file that needs nothing else, with the web app of `html/src` and the results as data.

Results are never part of the markup: they are in blocks of base64 (see `html/data.py`), which the app turns into text
nodes. The content security policy of the page allows its own script and style by their hashes, and no connection."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path

from runner.errors import ConfigurationError
from runner.record.events import RunStatus
from runner.record.report import Report
from runner.record.result_texts import counts_text
from runner.record.summary import in_words, remarks
from runner.record.writing import json_line
from runner.reporters.console.style import count
from runner.reporters.document import DocumentReporter
from runner.reporters.html.data import blocks_of, packed
from scripttest.typing_names import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

    from runner.compare.change_report import ChangeReport
    from runner.compare.comparison import Comparison

APP = Path(__file__).parent / "built"

ICON = (
    "%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 22 22'%3E%3Crect width='22' height='22' rx='6' "
    "fill='%23{color}'/%3E"
    "%3Cpath d='{path}' fill='none' stroke='white' stroke-width='2.4'/%3E%3C/svg%3E"
)
"""A sign for the tab of a browser."""
GREEN_ICON = ICON.format(color="17753a", path="M6.5 11.5l3.2 3.2 6-7.2")
"""A tick: the run passed."""
RED_ICON = ICON.format(color="c4232f", path="M7 7l8 8M15 7l-8 8")
"""A cross: it did not."""


class HtmlReporter(DocumentReporter):
    """Collects the data of every result, and writes the page once, at the end."""

    def __init__(self, target: Path | TextIO) -> None:
        """Raises ConfigurationError when the web app is not built."""
        web_app("app")
        super().__init__(target)

    def render(self, report: Report) -> str:
        """The page."""
        if not any(suite.variant for suite in report.suites):
            return render(report)
        from runner.reporters.change_lines import variants_of

        return render(report, variants=variants_of(report))


def render(
    report: Report,
    baseline: Report | None = None,
    found: Comparison | None = None,
    verdicts: Sequence[tuple[str, ChangeReport]] = (),
    variants: Record | None = None,
) -> str:
    """The page of a report, compared with an older one if there is a baseline. Raises ConfigurationError if the web app
    is not built.

    Args:
        baseline: the older report.
        found: the changes since then; by default they are found with the usual thresholds.
        verdicts: names of reports, and whether each is worse than the older one.
        variants: the comparison of variants; see `variants_record`."""
    script, style = web_app("app")
    policy = f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; img-src data:; "
    counts, snapshots = report.counts, report.end.snapshots
    summary = _plain("; ".join([counts_text(counts), *remarks(counts), *([in_words(snapshots)] if snapshots else [])]))
    parts = [
        (APP.parent / "page.html")
        .read_text("utf-8")
        .format(
            policy=policy + "base-uri 'none'; form-action 'none'",
            version=_plain(report.start.version),
            title=_plain(f"{_verdict(report)} – {_subject(report)}"),
            summary=summary,
            style=style,
            icon=GREEN_ICON if report.end.status == RunStatus.PASSED else RED_ICON,
        )
    ]
    blocks = list(blocks_of(report, ""))
    if baseline is not None:
        from runner.compare.comparison import compare
        from runner.reporters.change_lines import comparison_record

        blocks += blocks_of(baseline, "baseline-")
        record = comparison_record(found or compare(baseline, report), report, baseline, verdicts)
        blocks.append(("comparison", packed(json_line(record))))
    if variants is not None:
        blocks.append(("variants", packed(json_line(variants))))
    parts += [f'<script type="text/plain" id="{name}">{text}</script>\n' for name, text in blocks]
    parts.append(f"<script>{script}</script>\n</body>\n</html>\n")
    return "".join(parts)


def _verdict(report: Report) -> str:
    counts = report.counts
    bad = [f"{counts.failed} failed"] if counts.failed else []
    bad += [count(counts.errors, "error")] if counts.errors else []
    return ", ".join(bad) or str(report.end.status)


def _subject(report: Report) -> str:
    labels = [suite.label for suite in report.suites]
    return "tests" if not labels else labels[0] if len(labels) == 1 else f"{len(labels)} suites"


def _plain(text: str) -> str:
    """Text for markup, without characters that cannot be seen."""
    return escape("".join(letter if letter.isprintable() else " " for letter in text))


@cache
def web_app(name: str) -> tuple[str, str]:
    """Script and style sheet of a web app: `app`, of the HTML report, or `view`, of `yao-test view`. Raises
    ConfigurationError when it is not built."""
    try:
        script, style = ((APP / f"{name}.{kind}").read_text("utf-8") for kind in ("js", "css"))
    except OSError as error:
        hint = "In a checkout, run: python bindings/build.py"
        raise ConfigurationError(f"Cannot write an HTML report: {error.filename} is missing", hint) from error
    return script, style


def _hash(text: str) -> str:
    from hashlib import sha256

    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
