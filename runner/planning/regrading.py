"""`yao-test regrade REPORT`: reads the flags and the transcripts of a saved report, and finds the cases that they are
graded by.

A case that is in its file is graded as the file has it now, because regrading is for changed assertions. One that is
no longer there, or whose file does not exist, is graded as the report has it. If a file was moved, name it with `-i`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote

from runner.agents.assistant import Assistant, Assistants, stand_in
from runner.application.application import AgentFolder, repository_of
from runner.cases.model import Case
from runner.cases.reader import LocatedCase, cases_from_values, chooser
from runner.errors import BrokenError, ConfigurationError, listed
from runner.modes.transcripts import Transcripts, problem_with_transcript
from runner.options.flags import Regrade
from runner.options.options import FLAGS, absolute, saved_values
from runner.planning.plan import CaseSource, RunRequest
from runner.planning.resume import lines_in, made_problem, record_in
from runner.record.checks import HINT, SEVERAL, TO_MERGE
from runner.record.events import looks_in
from runner.record.lines import result_of
from runner.record.model import Suite, TestResult, suite_in
from runner.record.saved import start_in
from scripttest import TestKey
from scripttest.typing_names import Record

NOT_KEPT = "its case no longer exists and is not in the report"
NO_FILES = "its case no longer exists, and its attachments were not saved"


def read_regraded(shown: str, path: Path) -> tuple[tuple[str, ...], Record, Transcripts]:
    """The inputs of a report that have cases, the flags that it sets for `regrade`, and its transcripts. Raises
    ConfigurationError when it has none."""
    start, *records = _read(shown, path)
    labels = dict.fromkeys(suite.label for suite in _suites_of(start) if not suite.is_message)
    if not labels:
        raise ConfigurationError(
            f"Cannot regrade {shown}: it has no results of case files",
            "Script tests and messages have no assertions to regrade",
        )
    said = start.get("resume")
    said = said if isinstance(said, dict) else {}
    options = said.get("options")
    told = saved_values(options if isinstance(options, dict) else {})
    of_file = said.get("from_file") or ()
    wanted = [flag.field for flag in FLAGS if flag.regrade is Regrade.YES]
    again = {flag.field for flag in FLAGS if flag.is_read_again and flag.field in of_file}
    taken = {name: told[name] for name in wanted if name in told and name not in again}
    taken |= {"runs": int(start.get("runs_per_case", 1)), "min_pass_rate": start.get("min_pass_rate", 100)}
    return tuple(labels), taken, _transcripts_in(shown, start, records)


def _suites_of(start: Record) -> list[Suite]:
    return [suite for suite in map(suite_in, start.get("suites") or ()) if suite.has_cases]


def _transcripts_in(shown: str, start: Record, records: list[Record]) -> Transcripts:
    suites = {suite.id: suite for suite in _suites_of(start)}
    found: dict[TestKey, TestResult] = {}
    refused: dict[str, str] = {}
    results = [one for one in records if one["type"] == "result" and one.get("suite", "") in suites]
    for record in results:
        try:
            result = result_of(record, suite=record["suite"], position=0)
            problem = problem_with_transcript(result)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            problem = "it was written by another version"
        if problem is None:
            found[result.key] = result
        else:
            refused.setdefault(record["id"], problem)
    summary: Record = next((record for record in reversed(records) if record["type"] == "summary"), {})
    looks = looks_in(summary)
    runs = looks.made if looks.planned > 1 else int(start.get("runs_per_case", 1))
    counts = Counter((key.suite, key.test) for key in found)
    repeated = {(record["suite"], record["id"]) for record in results if record.get("repeat") is not None}
    for key in list(found):
        test = (key.suite, key.test)
        if counts[test] < runs and test not in repeated:
            del found[key]
            refused.setdefault(key.test, "not all of its runs have a transcript")
    if not found:
        why = f", such as {next(iter(refused))}: {next(iter(refused.values()))}" if refused else ""
        raise ConfigurationError(f"Cannot regrade {shown}: none of its results has a transcript{why}", "Rerun it")
    ids = start_in(start).all_run_ids
    return Transcripts(
        report=shown,
        suites=list(suites.values()),
        results=found,
        refused=refused,
        looks=looks,
        run_ids=ids,
        is_whole=bool(summary) and not summary.get("not_run"),
    )


def _read(shown: str, path: Path) -> list[Record]:
    subject = f"Cannot regrade {shown}"
    lines = enumerate(lines_in(path, subject), 1)
    read = [(number, record_in(line)) for number, line in lines if line.strip(b" \t\r\0")]
    records = [record for _, record in read if record is not None]
    if not records or records[0]["type"] != "start":
        hint = "Only .jsonl reports contain the required data; -o FILE.jsonl writes one"
        raise ConfigurationError(f"{subject}: it is not a .jsonl report of yao-test", hint)
    if damaged := next((number for number, record in read[:-1] if record is None), None):
        hint = f"To run again what is lost: yao-test --resume {quote(shown)}"
        raise ConfigurationError(f"{subject}:{damaged}: the line is damaged", hint)
    if any(record["type"] == "start" for record in records[1:]):
        raise ConfigurationError(f"{subject}: {SEVERAL}", TO_MERGE)
    if problem := made_problem(records[0]):
        raise ConfigurationError(f"{subject}: {problem}", HINT)
    return records


class Regrading:
    """Finds the cases that the results of a report are graded by."""

    def __init__(self, request: RunRequest) -> None:
        assert request.transcripts is not None
        self._options = request.options
        self._application = request.application
        self._directory = request.environment.directory
        self.transcripts = request.transcripts
        """The transcripts of the cases, after `cases` by suites of this run."""
        self.warnings: list[str] = []
        """About the cases that `cases` has found."""
        self._chosen = chooser(self._options.run) if self._options.run else None
        self._suites = [suite for suite in self.transcripts.suites if not suite.is_message]
        self._places = {suite.label: self._place(suite) for suite in self._suites}
        self._refused = dict(self.transcripts.refused)
        self._kept: list[str] = []
        """Names of cases that are taken from the report, for the warning about them."""

    def inputs(self) -> tuple[str, ...]:
        """The inputs of the report that still exist, as paths where their files are now."""
        found = ((input, self._places.get(input, Path())) for input in self._options.inputs)
        return tuple(input if place == Path() else str(place) for input, place in found if place is not None)

    def cases(self, sources: Sequence[CaseSource]) -> list[CaseSource]:
        """The cases that are graded; `sources` are those that exist. Raises ConfigurationError when there is none."""
        kept: list[CaseSource] = []
        results: dict[TestKey, TestResult] = {}
        moved = self._moved(sources)
        for suite in self._suites:
            place = self._places[suite.label]
            base = next((source for source in sources if place and source.suite.file == str(place)), None)
            base = base or (moved if place is None else None)
            if base is None and (place is not None or not self._is_wanted(suite)):
                continue
            of_suite = {key: result for key, result in self.transcripts.results.items() if key.suite == suite.id}
            source = self._source(suite, base, of_suite)
            if source is not None:
                kept.append(source)
                results |= {key.replace(suite=source.suite.id): result for key, result in of_suite.items()}
        if not kept:
            why = "".join(f"; {id}: {why}" for id, why in [*self._refused.items()][:1])
            said = f"Cannot regrade {self.transcripts.report}: it has no transcripts of these cases{why}"
            raise ConfigurationError(said)
        self.transcripts = self.transcripts.replace(results=results)
        self.warnings = list(self._warnings(sum(source.selected for source in kept)))
        return kept

    def _warnings(self, count: int) -> Iterator[str]:
        cases = "1 case" if count == 1 else f"{count} cases"
        yield f"Regraded from {self.transcripts.report}: {cases}; no agent was called"
        yield from self._kept
        if not self.transcripts.is_whole:
            yield f"The run of {self.transcripts.report} did not end: cases without a result are left out"
        if self._refused:
            named = listed([f"{id} ({why})" for id, why in self._refused.items()])
            several = f"{len(self._refused)} results have no transcript and are"
            yield f"{'1 result has no transcript and is' if len(self._refused) == 1 else several} left out: {named}"

    def _place(self, suite: Suite) -> Path | None:
        """The file of a suite, looked for from the working directory, then from the root of the repository."""
        if not suite.file:
            return None
        places = (absolute(suite.label, self._directory), self._written(suite))
        return next((place for place in places if place.is_file()), None)

    def _written(self, suite: Suite) -> Path:
        """The path that the file of a suite had when the report was written."""
        return repository_of(self._application.root) / suite.file

    def _moved(self, sources: Sequence[CaseSource]) -> CaseSource | None:
        """The input that replaces the one missing file, when there is exactly one of each."""
        gone = [label for label, place in self._places.items() if place is None]
        known = set(map(str, self._places.values()))
        strange = [source for source in sources if source.suite.file and source.suite.file not in known]
        return strange[0] if len(gone) == len(strange) == 1 else None

    def _is_wanted(self, suite: Suite) -> bool:
        path = absolute(suite.label, self._directory) if suite.file else None
        return any(
            input == suite.label or (path is not None and path.is_relative_to(self._directory / input))
            for input in self._options.inputs
        )

    def _source(
        self, suite: Suite, base: CaseSource | None, results: Mapping[TestKey, TestResult]
    ) -> CaseSource | None:
        runs: dict[str, list[int]] = {}
        for key in results:
            runs.setdefault(key.test, []).append(key.run)
        left = runs.keys() - set(base.ids()) if base is not None else runs.keys()
        of_report = self._of_report(result for key, result in results.items() if key.test in left)
        if of_report:
            ids = [located.case.id for located in of_report]
            gone = f"from {suite.label}, which is missing" if base is None else f"no longer in {base.suite.label}"
            self._kept.append(
                f"Graded with the assertions stored in the report, because these cases are {gone}: {listed(ids)}"
            )

        def cases() -> Iterator[LocatedCase]:
            if base is not None:
                wanted = (located for located in base.cases() if located.case.id in runs)
                yield from (located.replace(case=alone(located.case)) for located in wanted)
            yield from of_report

        selected = sum(1 for _ in cases())
        if not selected:
            return None
        numbers = {case: tuple(sorted(made)) for case, made in runs.items()}
        if base is None:
            place = self._written(suite) if suite.file else self._directory / "cases"
            suite = suite.replace(file=str(place) if suite.file else "")
            assistant, folder = self._assistant(suite.agent), place.parent
        else:
            own = f"{base.suite.id} [{suite.variant}]" if suite.variant else base.suite.id
            suite = base.suite.replace(id=own, label=suite.label, variant=suite.variant)
            assistant, folder = base.assistant, base.folder
        return CaseSource(
            suite=suite,
            assistant=assistant,
            folder=folder,
            selected=selected,
            total=selected,
            cases=cases,
            ids=base.ids if base is not None else lambda: runs,
            runs=numbers,
        )

    def _assistant(self, id: str) -> Assistant:
        """The agent; when it is missing or cannot be used, a substitute without its files."""
        assistants = Assistants(self._application)
        try:
            return assistants.get(id)
        except BrokenError:
            return stand_in(assistants.find(id))
        except ConfigurationError:
            return stand_in(AgentFolder(id=id, folder=self._application.assistants.joinpath(*id.split("."))))

    def _of_report(self, results: Iterable[TestResult]) -> list[LocatedCase]:
        """Cases that are in no file, as the report holds them."""
        found: dict[str, LocatedCase | None] = {}
        for result in results:
            if result.name in found or result.case is None:
                continue
            found[result.name] = None
            try:
                case = _case_in(result)
            except ValueError as error:
                self._refused.setdefault(result.name, str(error))
                continue
            if self._chosen is None or self._chosen(case):
                found[result.name] = LocatedCase(line=result.case.line, case=case)
        return [located for located in found.values() if located is not None]


def _case_in(result: TestResult) -> Case:
    """The case in the record of a result. Raises ValueError, whose message says why it cannot be read."""
    said, regradable = result.case, result.regradable
    assert said is not None
    if regradable is None or regradable.case is None:
        raise ValueError(NOT_KEPT)
    if said.attachments or any(turn.attachments for turn in said.turns):
        raise ValueError(NO_FILES)
    begun = {"id": result.name} if said.input is None else {"id": result.name, "input": said.input}
    try:
        (case,) = cases_from_values([{**begun, **regradable.case}], "the report", Path()).cases
    except ConfigurationError as error:
        raise ValueError(f"its case no longer exists: {' '.join(error.message.split())}") from error
    return case


def alone(case: Case) -> Case:
    """The same case without hooks and dependencies, and not marked as skipped."""
    return case.model_copy(update={"before": None, "after": None, "depends_on": [], "skip": False})
