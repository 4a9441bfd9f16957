"""Combines the options of the command line, of the file `yao-test.toml`, and of the run that is resumed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runner.application.application import Application
from runner.application.configuration import configured
from runner.cli.options import FLAGS, RunOptions
from runner.cli.settings import Configured
from runner.planning.resumable import COMPARED, FROM_FILE


def with_configuration(options: RunOptions, values: Mapping[str, Any], application: Application) -> Configured:
    """Options and settings of a run; `values` is what the command line says. What a run takes over from the one that it
    resumes counts as given, but for what results show of the file when it is read again. Raises ConfigurationError."""
    given = {flag.name for flag in FLAGS if flag.is_given(dict(values))}
    if options.resume is not None:
        known = RunOptions(inputs=())
        told = {name for name in FROM_FILE if getattr(options, name) != getattr(known, name)}
        given |= {flag.name for flag in FLAGS if flag.field in ({*COMPARED} - {*FROM_FILE} | told)}
    return configured(options, frozenset(given), application)
