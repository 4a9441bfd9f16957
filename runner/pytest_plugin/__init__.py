"""The plugin for pytest: script tests and cases of an application as items of a pytest run, so that editors show them
in their test trees. It loads nothing of the rest of this package before pytest meets a file of an application."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the flags that let real models be asked and read files of variables."""
    group = parser.getgroup("yao-test")
    group.addoption(
        "--yao-models",
        action="store_true",
        help="Call real models, which may cost money, instead of skipping the tests and cases that need them.",
    )
    group.addoption(
        "--yao-env-file",
        action="append",
        default=[],
        metavar="FILE",
        help=".env file with environment variables, which override the environment. Repeatable.",
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Takes test modules and case files of agents."""
    is_module = file_path.stem.endswith("_test") and file_path.suffix in (".ts", ".tsx", ".mts", ".cts", ".js")
    if not is_module and not (file_path.parent.name == "tests" and _is_case_file(file_path)):
        return None
    from runner.pytest_plugin.collecting import collected

    return collected(file_path, parent)


def _is_case_file(path: Path) -> bool:
    from runner.security.files import is_collected

    return is_collected(str(path))


def pytest_sessionfinish(session: Any) -> None:
    """Ends the processes of the run."""
    from sys import modules

    if "runner.pytest_plugin.running" in modules:
        from runner.pytest_plugin.running import end

        end(session.config)
