"""Which tests failed when they last ran, as a store has it."""

from __future__ import annotations

from pathlib import Path

from runner.store.places import FILE
from runner.store.reading import OPTIONAL_TEXT, RESULTS, SUITES, TEXT
from runner.store.rows import CASE_FILE, MODULE, NOT_ENDED
from runner.store.store import Store
from scripttest import Status, kind_of

_WHEN = "runs.started_at || printf('%020d', runs.rowid)"
_NEWEST = f"""
    SELECT suite, test, verdict, max({_WHEN}) AS newest FROM results JOIN runs ON runs.id = run
    WHERE attempt = 0 AND cause IS NOT '{NOT_ENDED}' GROUP BY suite, test
"""
"""How each test ended when it last ran, and when that was."""
_OF_NEWEST = RESULTS | {"newest": TEXT}
_LISTED = f"""
    SELECT suite, kind, max({_WHEN}) AS last, max(CASE WHEN ended AND selected = total THEN {_WHEN} END) AS whole
    FROM suites JOIN runs ON runs.id = run WHERE selected IS NOT NULL GROUP BY suite
"""
"""When the tests of a suite were last known, and when all of them last ran."""
_OF_LISTED = SUITES | {"last": TEXT, "whole": OPTIONAL_TEXT}


def failed_in(folder: Path, repository: Path) -> dict[str, list[str]]:
    """Suite → the names of its tests that failed or broke; a file of cases is named by its absolute path, other suites
    by their ids. A module that could not be loaded has its own name among them. Empty where nothing is known, or there
    is no store. Raises ConfigurationError, and StoreError when the store cannot be read."""
    if not (folder / FILE).is_file():
        return {}
    with Store(folder) as store:
        listed = {suite: (kind, last, whole or "") for suite, kind, last, whole in store.rows(_OF_LISTED, _LISTED)}
        found: dict[str, list[str]] = {}
        for suite, test, verdict, when in store.rows(_OF_NEWEST, _NEWEST):
            kind, last, whole = listed.get(suite, ("", "", ""))
            is_gone = when < whole or (kind == MODULE and not kind_of(test) and when < last)
            if verdict not in (Status.PASSED, Status.SKIPPED) and not is_gone:
                key = str(repository / suite) if kind == CASE_FILE else suite
                found.setdefault(key, []).append(test)
    return found
