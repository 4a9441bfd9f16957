"""The settings of the configuration file of an application that are not flags of the run."""

from __future__ import annotations

from collections.abc import Mapping

from runner.cli.options import RunOptions
from scripttest.values import Value


class Settings(Value):
    """Of one run."""

    typed: RunOptions | None = None
    """The options that the command line alone says; None: all of them."""
    agents: Mapping[str, RunOptions] = {}
    """Agent → the options of its tests, where they are others than those of the run."""
    prices: Mapping[str, Mapping[str, float]] = {}
    """Connector → its prices, US dollars for a million tokens: `input`, `output`, `cached`."""
    warnings: tuple[str, ...] = ()
    """What the file says without effect."""

    def of(self, agent: str, options: RunOptions) -> RunOptions:
        """The options of the tests of an agent; `options` are those of the run."""
        return self.agents.get(agent, options)


class Configured(Value):
    """What the command line and the configuration file say together."""

    options: RunOptions
    """With what the file adds to them."""
    settings: Settings = Settings()
