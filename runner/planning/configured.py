"""The options of a run with what `yao-test.toml` adds to those of the command line, and to those of a run that is
resumed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runner.application.application import Application
from runner.application.configuration import configured
from runner.cli.options import FLAGS, RunOptions
from runner.cli.settings import Settings
from runner.planning.resume import COMPARED


def with_configuration(
    options: RunOptions, values: Mapping[str, Any], application: Application
) -> tuple[RunOptions, Settings]:
    """Options and settings of a run; `values` is what the command line says. What a run takes over from the one that it
    resumes counts as given. Raises ConfigurationError."""
    given = {flag.name for flag in FLAGS if flag.is_given(dict(values))}
    if options.resume is not None:
        given |= {flag.name for flag in FLAGS if flag.field in (*COMPARED, "timeout")}
    return configured(options, frozenset(given), application)
