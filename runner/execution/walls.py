"""Checks before a run which walls the operating system can put around scripts."""

from __future__ import annotations

from runner.errors import ConfigurationError
from scripttest import missing_walls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.environment import Environment
    from runner.options.options import RunOptions


def look_at_walls(options: RunOptions, environment: Environment) -> None:
    """With --verbose, prints which walls are missing, unless the tests run on a cluster; with --sandbox=require, raises
    ConfigurationError if any is."""
    missing = [f"{name}: {why}" for name, why in missing_walls().items()]
    if missing and options.sandbox is not None:
        raise ConfigurationError(
            f"Cannot run with --sandbox=require: this machine lacks {len(missing)} of the walls around scripts\n  "
            + "\n  ".join(missing),
            "yao-test doctor lists them all; docs/security.md says what holds without them",
        )
    if missing and options.verbose and options.cluster is None:
        environment.stderr.write("Note: this machine lacks walls around scripts\n  " + "\n  ".join(missing) + "\n")
