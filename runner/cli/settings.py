"""Those settings of an application's configuration file that are not flags."""

from __future__ import annotations

from collections.abc import Mapping

from runner.cli.options import RunOptions
from scripttest.values import Value


class Settings(Value):
    """The settings of one run."""

    typed: RunOptions | None = None
    """The options as the command line alone sets them; None: the file sets none."""
    agents: Mapping[str, RunOptions] = {}
    """Agent → the options of its tests, for agents with options of their own."""
    prices: Mapping[str, Mapping[str, float]] = {}
    """Connector → its prices, US dollars for a million tokens: `input`, `output`, `cached`, `cache_write`."""
    warnings: tuple[str, ...] = ()
    """Warnings about entries of the file that have no effect."""

    def of(self, agent: str, options: RunOptions) -> RunOptions:
        """The options for the tests of an agent; `options` are those of the run."""
        return self.agents.get(agent, options)


class Configured(Value):
    """The options of a run with what the configuration file adds, and its other settings."""

    options: RunOptions
    """The options, with those of the file."""
    settings: Settings = Settings()
