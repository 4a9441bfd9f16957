"""Fixtures for tests that use the real command on an application written for the test."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command import MakeApplication, make_application

signal.signal(signal.SIGINT, signal.default_int_handler)
for number in (signal.SIGHUP, signal.SIGQUIT):
    signal.signal(number, signal.SIG_DFL)
"""`nohup`, and a shell's job in the background, ignore these three, and so would each command that a test starts."""

sys.dont_write_bytecode = False
"""What pytest makes of assertions is kept, also where Python is told to keep nothing, as in containers: each process of
a run would make it again, which takes as long as some hundred tests."""

FOLDER = Path(__file__).parent

MEMORY = Path("/dev/shm")
"""Where Linux has a file system in memory."""
ENOUGH = 4 << 30
"""Free bytes there that are enough for the folders of a whole run."""

if MEMORY.is_dir() and os.access(MEMORY, os.W_OK):
    system = os.statvfs(MEMORY)
    if system.f_bavail * system.f_frsize >= ENOUGH and not system.f_flag & os.ST_NOEXEC:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
"""On a disk, a sixth of a short test is spent on its folders: ext4 looks at each file that was removed within the last
minutes when it makes one."""

LONG = {
    "test_documented_commands", "test_mcp_remote", "test_verdict_attacks", "test_record_replay", "test_resume",
    "test_timeouts", "test_cancellation", "test_progress", "test_soak", "test_injected_faults", "test_answer_journal",
    "test_model_hosts", "test_budgets", "test_odd_texts_in_reports", "test_interactive", "test_run_ends", "test_ci_page",
    "test_saved_report_properties", "test_script_value_properties", "test_endless_tests", "test_html_results",
    "test_mcp_misbehaviour", "test_view_pages", "test_html_looks", "test_cluster_runs", "test_pytest_plugin",
    "test_formatting", "test_watch_runs", "test_retry_errors", "test_html_exports", "test_fingerprints",
    "test_fuzz_runs", "test_fuzz_finds", "test_assert", "test_pages", "test_worker_limits",
    "test_cluster_kills", "test_cluster_refusals", "test_html_runs", "test_terminal", "test_scratch",
    "test_configuration", "test_processes_crypto", "test_declarations", "test_layers", "test_stopped_clock",
    "test_waiting_loops", "test_pending_calls", "test_cluster_history", "test_view_runs_under_way", "test_view_access",
    "test_plain", "test_compiler", "test_inputs", "test_damaged_stores", "test_read_answers",
    "test_pytest_items", "test_exit_codes", "test_approved_files", "test_snapshots", "test_stored_runs", "test_ci_installs",
    "test_bounds_of_input", "test_trust", "test_endless_work", "test_mcp_services",
}  # fmt: skip
"""Modules that take some seconds, and mostly wait. They begin early, so that nobody waits for one of them in the end."""


gc.disable()  # while tests are collected; most of what is made then stays


def pytest_sessionstart(session: pytest.Session) -> None:
    """Each process of a whole run reads the modules of tests from another one on. Without a cache, as in a fresh clone,
    they would all rewrite the assertions of each; so one does, and the others find what it has kept."""
    worker = getattr(session.config, "workerinput", None)
    if worker is not None and [Path(one).resolve() for one in session.config.args] == [FOLDER]:
        paths = sorted(map(str, FOLDER.rglob("test_*.py")))
        first = len(paths) * int(worker["workerid"].removeprefix("gw")) // worker["workercount"]
        session.config.args = paths[first:] + paths[:first]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Modules that wait begin early, each among some that compute: together they would leave the processors idle."""
    modules = sorted({item.path for item in items})
    waiting = [path for path in modules if path.stem in LONG]
    places = {path: 4.0 * number for number, path in enumerate(waiting)}
    others = (path for path in modules if path.stem not in LONG)
    places |= {path: number + 0.5 for number, path in enumerate(others)}
    items.sort(key=lambda item: places[item.path])


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """From here on garbage is collected as in a command, without a look at all tests and modules each time."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


def pytest_xdist_auto_num_workers() -> int:
    """Twice as many as there are CPUs: many tests wait for a deadline, a grace or a slow model."""
    return (os.cpu_count() or 1) * 2


@pytest.fixture
def app(tmp_path: Path) -> MakeApplication:
    """Writes an application of this test."""
    return lambda files: make_application(tmp_path, files)


@pytest.fixture(scope="module")
def shared_app(tmp_path_factory: pytest.TempPathFactory) -> MakeApplication:
    """Writes an application that all tests of a module look at."""
    return lambda files: make_application(tmp_path_factory.mktemp("shared"), files)


@pytest.fixture(scope="session")
def real_browser() -> Iterator[Any]:
    """The one browser of this process; see `browsers`, whose library few tests need."""
    from browsers import launched

    with launched() as chromium:
        yield chromium
