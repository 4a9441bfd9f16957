"""Combines the options of the command line, of the file `yao-test.toml`, and of the run that is resumed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runner.application.application import Application
from runner.application.configuration import configured
from runner.options.flags import Carried
from runner.options.options import FLAGS, Configured, RunOptions


def with_configuration(options: RunOptions, values: Mapping[str, Any], application: Application) -> Configured:
    """Options and settings of a run; `values` is what the command line says. What a run takes over from the one that it
    resumes counts as given, but for what results show of the file when it is read again. Raises ConfigurationError."""
    given = {flag.name for flag in FLAGS if flag.is_given(dict(values))}
    if options.resume is not None:
        for flag in FLAGS:
            is_kept = flag.carried in (Carried.RUN, Carried.TEST) and not flag.is_read_again
            if is_kept or (flag.carried is not Carried.NO and getattr(options, flag.field) != flag.default):
                given.add(flag.name)
    return configured(options, frozenset(given), application)
