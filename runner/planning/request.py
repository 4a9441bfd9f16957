"""What the command line asks a run to do, as one value."""

from __future__ import annotations

from collections.abc import Mapping

from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.application.application import Application
    from runner.environment import Environment
    from runner.options.options import RunOptions, Settings


class RunRequest(Value):
    """The options of one run, and the application and environment that they apply to."""

    options: RunOptions
    settings: Settings
    """The settings of the configuration file."""
    environment: Environment
    application: Application
    context: Mapping[str, Any]
    """The context of the run: the fields of `agent.Context`."""
