"""The `.html` report: one file that needs nothing else, with the web app of `html/src` and the results as data.

Results are never part of the markup, but in blocks of base64, which the app turns into text nodes: an index of them
all, which it reads at once, and the results themselves, which it reads when somebody looks at them or searches. The
content security policy of the page allows its own script and style by their hashes, and no connection.

| block | content, as JSON text, compressed with gzip, in base64 |
| --- | --- |
| `index` | `{start, blameless, summary, errors, warnings, rows, blocks}`; `blocks` has the first row of each block |
| `block-0`, ... | `[[record, extra], ...]`; `extra` is `{command, frames?, diffs?}`, `diffs` by paths of checks |
| `comparison` | the changes since the baseline, if there is one, which has its own blocks: `comparison_record` |

A row is `{key, id, status, ms, suite, mode, name?, cause?, tags?, error?, input?, not_judged?, checks_nothing?, score?,
tokens?, cost?, runs?, warnings?, expected?}`; `suite` is a position in `start.suites`. `blameless` has the causes of
failures that are counted as errors."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from html import escape
from pathlib import Path

from runner.errors import ConfigurationError
from runner.record.case_result import json_of
from runner.record.coverage import METRICS, CoverageReport, Figure, figures, lines, totals, uncovered
from runner.record.events import RunStatus
from runner.record.model import TestResult
from runner.record.outcomes import Verdict, verdict_in, verdict_of
from runner.record.report import Report
from runner.record.result_texts import counts_text, difference_in, message_text
from runner.record.stability import normalised
from runner.record.summary import in_words, remarks
from runner.record.writing import json_line
from runner.reporters.console.style import command_of, count, flags_in, has_failed_step
from runner.security.files import CODE, read_bytes, read_named
from scripttest import Cause, Status
from scripttest.typing_names import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
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


def check() -> None:
    """Raises ConfigurationError when the web app is not built."""
    web_app("app")


def page(report: Report) -> str:
    """The page of a run, with the comparison of its variants if it has some."""
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


BLOCK_SIZE = 400_000
"""Characters of JSON after which a block ends."""
EXCERPT = 240
"""Characters of an error or an input in the index."""
TIMES = ("avg_duration", "min_duration", "max_duration", "std_deviation")
FIGURES = ("count", "passed", "pass_rate", "consistency", *(f"{name}_ms" for name in TIMES))
SHOWN_MARKS = 12
"""Runs that the list shows by a mark."""
MARKS = {Verdict.PASSED: "p", Verdict.FAILED: "f", Verdict.SKIPPED: "s", Verdict.BROKEN: "e", Verdict.INCONCLUSIVE: "e"}
CHECKS = ("assertions", "final_assertions", "details")
PARTS = ("steps", "assertions", "turns", "final_assertions", "checkpoints", "details")
"""Members with checks, or with parts that have some."""
TEXTS = {"expected_text": None, "actual_text": None}
"""Members of a failure of a script test that has no printed values."""
AROUND = 3
"""Lines before and after the one that failed."""
SUFFIXES = CODE
"""What may be read: a saved report that somebody sends must not make a page show any other file of this machine."""
LARGEST = 2_000_000
"""Bytes of a file that is still read."""
WIDEST = 300
"""Characters of a line that are shown."""
MOST_LINES = 20_000
"""Lines of sources that a page shows; further files have figures only."""


class Rows:
    """Makes of results their rows in the index, and their texts in the blocks."""

    def __init__(self, report: Report, taken: dict[str, int] | None = None) -> None:
        """`taken`: how many rows have a name already."""
        self.frames = Frames(report.root, report.clean)
        self._places = {suite.id: place for place, suite in enumerate(report.suites)}
        self._commands = [command_of(suite, flags_in(suite, report.start)) for suite in report.suites]
        self._taken = {} if taken is None else taken

    def made(self, result: TestResult, key: str | None = None) -> tuple[Record, str]:
        """The row of a result, and `[record, extra]` as JSON. `key` is that of the row, where it has one already."""
        record = result.line
        row = _row(record)
        row["key"] = key or self._key(f"{result.suite}/{row['id']}")
        row["suite"] = place = self._places[result.suite]
        extra: Record = {"command": self._commands[place](row["id"], has_failed_step(record))}
        if (record["status"] == Status.FAILED or record.get("warnings")) and (frames := self.frames.of(record)):
            extra["frames"] = frames
        if diffs := {path: diff for path, check in _failed_checks(record) if (diff := difference_in(check))}:
            extra["diffs"] = diffs
        return row, json_line([record, extra])

    def _key(self, name: str) -> str:
        count = self._taken[name] = self._taken.get(name, 0) + 1
        return name if count == 1 else f"{name}~{count}"


def blocks_of(report: Report, prefix: str) -> Iterator[tuple[str, str]]:
    """Name and text of each block; the names begin with `prefix`."""
    made = Rows(report)
    rows: list[Record] = []
    starts: list[int] = []
    texts: list[str] = []
    size = 0
    for number, result in enumerate(report.results, 1):
        row, text = made.made(result)
        if not texts:
            starts.append(len(rows))
        rows.append(row)
        texts.append(text)
        size += len(text)
        if size >= BLOCK_SIZE or number == len(report.results):
            yield f"{prefix}block-{len(starts) - 1}", packed(f"[{','.join(texts)}]")
            texts, size = [], 0
    yield f"{prefix}index", packed(json_line(index_of(report, made.frames, rows, starts)))


def index_of(report: Report, frames: Frames, rows: Sequence[Record], starts: Sequence[int]) -> Record:
    """The index of a report with these rows, in blocks that begin with these."""
    index = {
        "start": json_of(report.start),
        "blameless": [cause for cause in Cause if verdict_of(Status.FAILED, cause).is_none],
        "summary": {key: value for key, value in report.summary.items() if key != "coverage"},
        "errors": report.errors,
        "warnings": report.warnings,
        "rows": rows,
        "blocks": starts,
    }
    if report.end.coverage is not None:
        index["coverage"] = covered_record(report.end.coverage, frames)
    return index


def packed(text: str) -> str:
    """Text compressed and written in base64."""
    from gzip import compress

    return b64encode(compress(text.encode(), 1, mtime=0)).decode()


def _row(record: Record) -> Record:
    row: Record = {
        "key": "",
        "id": record["id"],
        "status": record["status"],
        "ms": record["duration_ms"],
        "suite": 0,
        "mode": record.get("mode") or ("standard" if "input" in record else "script"),
    }
    row |= {key: value for key in "name cause tags not_judged checks_nothing".split() if (value := record.get(key))}
    if (score := record.get("score")) is not None:
        row["score"] = score
    skipped = ": ".join(filter(None, ("todo" if record.get("todo") else "", record.get("skip_reason"))))
    if error := record.get("error") or skipped:
        row["error"] = _excerpt(error)
    if warnings := record.get("warnings"):
        row["warnings"] = len(warnings)
    if record["status"] == Status.FAILED and (wanted := _expected(record)):
        row["expected"] = wanted
    if spoken := _spoken(record):
        row["input"] = _excerpt(spoken)
    if usage := record.get("usage"):
        row["tokens"] = usage["input_tokens"] + usage["output_tokens"]
        row |= {key: usage[key] for key in ("cost", "cost_estimated") if key in usage}
    if runs := record.get("runs"):
        row["runs"] = _runs(runs)
    return row


def _expected(record: Record) -> str:
    """What the first check that failed had expected, in a few words: results that fail for the same reason expected the
    same."""
    _, found = next(_failed_checks(record), ("", {}))
    if found.get("expected") is None:
        return ""
    words = found["expected"] if isinstance(found["expected"], str) else normalised(found["expected"])
    return _excerpt(" ".join(str(part) for part in (found.get("path"), words) if part))


def _failed_checks(part: Record, path: str = "") -> Iterator[tuple[str, Record]]:
    if check := part.get("assertion"):
        failures = [(at, one) for at, one in enumerate(part.get("failures") or ()) if one.get("type")]
        yield from ((f"{path}failures.{at}", {**TEXTS, **one}) for at, one in failures)
        if not failures:
            yield f"{path}assertion", check
    for name in PARTS:
        for at, item in enumerate(part.get(name) or ()):
            where = f"{path}{name}.{at}"
            if name in CHECKS and not item.get("passed"):
                yield where, item
            yield from _failed_checks(item, f"{where}.")


def _spoken(record: Record) -> str:
    said = record.get("input")
    return message_text(said[-1] if isinstance(said, list) and said else said)


def _excerpt(text: str) -> str:
    words = " ".join(text[: 4 * EXCERPT].split())
    return words if len(words) <= EXCERPT else f"{words[:EXCERPT]}…"


def _runs(runs: Record) -> Record:
    """The figures of several runs; `marks` has a character for each of the first attempts."""
    figures = {key: runs[key] for key in FIGURES if key in runs}
    figures["marks"] = "".join(MARKS[verdict_in(attempt)] for attempt in runs.get("attempts", ())[:SHOWN_MARKS])
    return figures


class Frames:
    """Reads each file once."""

    def __init__(self, root: str, clean: Callable[[str], str]) -> None:
        """`root` is the folder from which places are named, and below which they are; empty when it is not known.
        `clean` takes secrets out of a text."""
        self._root = Path(root) if root else None
        self._clean = clean
        self._files: dict[str, list[str]] = {}

    def of(self, record: Record) -> dict[str, Record]:
        """Location → `{file, line, column, first, lines}`, for a result and its steps; lines count from 1."""
        found = {}
        for location in _locations(record):
            file, *place = location.rsplit(":", 2)
            if len(place) < 2 or not all(map(str.isdigit, place)):
                continue
            line, column = map(int, place)
            if 0 < line <= len(lines := self.lines(file)):
                first = max(1, line - AROUND)
                shown = lines[first - 1 : line + AROUND]
                found[location] = {"file": file, "line": line, "column": column, "first": first, "lines": shown}
        return found

    def lines(self, file: str) -> list[str]:
        """The lines of a source, cut where they are wide; none where it cannot be read."""
        if file not in self._files:
            text = self._clean(_read((self._root or Path()) / file, self._root))
            self._files[file] = [line[:WIDEST] for line in text.splitlines()]
        return self._files[file]


def _locations(record: Record) -> Iterator[str]:
    if location := record.get("location"):
        yield location
    for part in (*(record.get("warnings") or ()), *record.get("steps", ())):
        yield from _locations(part)


def _read(path: Path, root: Path | None) -> str:
    try:
        if path.suffix not in SUFFIXES or not path.is_file() or path.stat().st_size > LARGEST:
            return ""
        content = read_bytes(path) if root is None else read_named(path, root)
        return content.decode(errors="replace")
    except OSError:
        return ""


def covered_record(coverage: CoverageReport, frames: Frames) -> Record:
    """`{totals, files: [{path, figures, uncovered, hits, lines}]}`: figures are `[covered, total]` for
    statements, branches, functions and lines, `hits` are pairs of a line and how often it ran."""
    files = []
    room = MOST_LINES
    for path, file in coverage.files.items():
        source = frames.lines(f"{coverage.folder}/{path}" if coverage.folder else path)
        room -= len(source)
        files.append(
            {
                "path": path,
                "figures": _figures(figures(file)),
                "uncovered": uncovered(file),
                "hits": list(lines(file).items()),
                "lines": source if room >= 0 else [],
            }
        )
    return {"totals": _figures(totals(coverage.files.values())), "files": files}


def _figures(found: dict[str, Figure]) -> list[list[int]]:
    return [[found[metric].covered, found[metric].total] for metric in METRICS]
