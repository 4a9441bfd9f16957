"""The environment that the cases of a run share: the agents, flags for cases, and access to judges and people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from bindings import World
from runner.agents.helpers import MatchSnapshot
from scripttest.values import Value

if TYPE_CHECKING:
    from bindings import OwnDatabase
    from runner.agents.helpers import Helpers
    from runner.agents.runtime import Runtime
    from runner.application.application import Application
    from runner.fingerprints.fingerprints import Fingerprints
    from runner.modes.interactive import Person
    from runner.modes.transcripts import Transcripts
    from runner.options.options import RunOptions


class OpenDatabase(Protocol):
    """Makes the database of an attempt; nothing is opened yet."""

    def __call__(self, world: World, folder: Path, *, strict: bool) -> OwnDatabase:
        """`folder` is that of the case file; `strict` tells whether what MySQL would refuse is refused."""


class CaseEnvironment(Value):
    """The environment that the cases of an agent share in a run."""

    application: Application
    runtime: Runtime
    helpers: Helpers
    options: RunOptions
    """The options for the cases of the agent."""
    context: Mapping[str, Any]
    """The run's context: defaults, flags, `--ctx` file."""
    decided_ids: frozenset[str]
    """Which of `user_id` and `team_id` the flags or the `--ctx` file say; they win over those of a case."""
    snapshot: Callable[[str], MatchSnapshot]
    """Suite id → how its snapshots are matched."""
    database: OpenDatabase
    """Makes the database of an attempt."""
    person: Person | None = None
    """The person to ask; None with `--skip-interactive`."""
    fingerprints: Fingerprints | None = None
    """Makes the fingerprints of results, for a run that resumes this one; None: no report can be resumed."""
    transcripts: Transcripts | None = None
    """What was said in a saved run that is graded again; the agent is not asked then."""
    trace: str = "summary"
    """What results keep of the calls of models and tools: `off`, `summary` or `full`."""
    clean: Callable[[str], str] = str
    """Takes secrets out of texts."""
