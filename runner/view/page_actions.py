"""What pages may ask for other than a single run, and what they may start: comparisons, a test over time, pictures, and
running again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from runner.errors import ConfigurationError
from runner.reporters.html.compared import comparison_record, variants_record
from runner.results.change_verdict import adjusted, change_between
from runner.results.comparison import compare
from runner.results.criteria import objects_in
from runner.results.report import Report
from runner.results.sides import Sides
from runner.results.variants import VariantsCompared
from runner.security.files import application_of, read_named
from runner.version import VERSION
from runner.view.labelling import Labelling
from runner.view.over_time import all_tests, over_time
from runner.view.reruns import Reruns, commands_of, shown
from runner.view.runs import StoredRuns
from scripttest.typing_names import Record

LETTERS = "ABCDEFGHIJ"
"""What compared runs are called."""
MOST = 10
"""Runs that are compared at a time."""
SCHEME = "file://"
LARGEST = 20_000_000
"""Bytes of a picture that is shown."""
SIGNS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
"""The first bytes of pictures that a browser can show and that cannot contain scripts, as SVG can."""


class PageActions:
    """Answers from any thread. Its methods block, and raise ConfigurationError for what cannot be done."""

    def __init__(self, runs: StoredRuns, again: Reruns | None, person: str, now: Callable[[], str]) -> None:
        """Reads nothing yet.

        Args:
            runs: the runs of the store.
            again: runs command lines; None if there is no application.
            person: the person who looks at the pages.
            now: returns the time, UTC, RFC 3339.
        """
        self.runs = runs
        self._again = again
        self.labels = Labelling(runs, person, now)

    def compare(self, ids: Sequence[str]) -> Record:
        """`{heads, comparison, variants, version}`: see `compared`."""
        names = LETTERS[: len(ids)]
        found = compared([self.runs.report(id) for id in ids], [f"Run {letter}" for letter in names])
        return {"heads": [self.runs.head(self.runs.run(id)) for id in ids], **found, "version": VERSION}

    def over_time(self, suite: str, test: str) -> Record:
        """See `over_time`."""
        with self.runs.reading() as store:
            return over_time(store, suite, test)

    def tests(self) -> Record:
        """See `all_tests`."""
        with self.runs.reading() as store:
            return all_tests(store)

    def picture(self, id: str, place: int, source: str) -> tuple[bytes, str] | None:
        """The content of an attachment, and its media type; None if it is not a picture on this machine."""
        application = self.runs.application
        run, result = self.runs.run(id), self.runs.result(id, place)
        if application is None or self.runs.elsewhere(run):
            return None
        return picture(result, source, self.runs.suite(id, result)["file"], application, self.runs.root)

    def plan(self, id: str, keys: Sequence[str]) -> Record:
        """`{commands}`: what `start` would start, as a person would type it."""
        return {"commands": [shown(words) for words in self._commands(id, keys)]}

    def start(self, id: str, keys: Sequence[str]) -> Record:
        """Runs the results of these rows again, or all of a run: `Reruns.record`."""
        commands = self._commands(id, keys)
        assert self._again is not None
        return self._again.start(id, commands)

    def started(self) -> Record:
        """What was started last: `Reruns.record`."""
        return self._again.record() if self._again else {"state": "none", "commands": [], "output": ""}

    def stop(self) -> Record:
        """Stops what was started."""
        return self._again.stop() if self._again else self.started()

    def _commands(self, id: str, keys: Sequence[str]) -> list[list[str]]:
        run = self.runs.run(id)
        if why := self.runs.elsewhere(run):
            raise ConfigurationError(f"Cannot run it again from here: {why}")
        assert self.runs.application is not None
        chosen = self.runs.chosen(id, keys)
        return commands_of(
            run, self.runs.report(id).suites, chosen, self.runs.application, self.runs.root, self.runs.folder
        )


def compared(reports: Sequence[Report], names: Sequence[str]) -> Record:
    """`{comparison, variants}` in the format of the HTML report: the first run compared with each other one.
    `comparison` is null for more than two runs. Raises ConfigurationError.

    Args:
        reports: in the order in which they began.
        names: their names.
    """
    if not 2 <= len(reports) <= MOST:
        raise ConfigurationError(f"Cannot compare {len(reports)} runs: 2 to {MOST} can be compared")
    first, *others = reports
    verdicts = adjusted(
        [
            change_between(first, other, names=Sides(a=names[0], b=name))
            for other, name in zip(others, names[1:], strict=True)
        ]
    )
    variants = variants_record(VariantsCompared(names=names, parts=reports, verdicts=verdicts))
    variants["rows"].sort(key=lambda row: not (row["differs"] or row["answers_differ"]))
    (_, *head), *rows = variants["overview"]
    variants["overview"] = [["Run", *head], *rows]
    if len(others) > 1:
        return {"comparison": None, "variants": variants}
    found = comparison_record(compare(first, others[0]), others[0], first, [(names[1], verdicts[0])])
    return {"comparison": found, "variants": {**variants, "overview": [], "said": []}}


def picture(result: Record, source: str, file: str, application: Path, root: Path) -> tuple[bytes, str] | None:
    """The content of a picture, and its media type, which is found from the content. None if the result has no such
    attachment, or the file is not a picture or has changed.

    Args:
        result: the result with the attachment.
        source: the attachment as the result names it.
        file: path of the suite's file, from `root`.
        application: the picture must be in it.
        root: the repository.
    """
    parts = (result, *objects_in(result.get("turns")))
    attachments = (one for part in parts for one in objects_in(part.get("attachments")))
    sent = next((one for one in attachments if one.get("source") == source), None)
    folder = (root / file).parent
    if sent is None or not source.startswith(SCHEME) or application_of(root / file) != application:
        return None
    try:
        content = read_named(folder / source.removeprefix(SCHEME), folder)
    except (OSError, ValueError):
        return None
    if len(content) != sent.get("size", len(content)) or len(content) > LARGEST:
        return None
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        return content, "image/webp"
    return next(((content, kind) for sign, kind in SIGNS if content.startswith(sign)), None)
