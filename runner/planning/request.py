"""What a run is asked to do, as one value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from scripttest.values import Value

if TYPE_CHECKING:
    from runner.application.application import Application
    from runner.cli.options import RunOptions
    from runner.cli.settings import Settings
    from runner.environment import Environment


class RunRequest(Value):
    """Of one run: its options, and what they are said of."""

    options: RunOptions
    settings: Settings
    """Of the configuration file."""
    environment: Environment
    application: Application
    context: Mapping[str, Any]
    """Of the run: the fields of `agent.Context`."""
