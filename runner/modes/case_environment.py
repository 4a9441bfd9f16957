"""The environment that the cases of a run share: the agents, flags for cases, and access to judges and people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from bindings import World
from runner.agents.helpers import MatchSnapshot
from runner.options.options import DEFAULT_THRESHOLD
from scripttest.values import Value

if TYPE_CHECKING:
    from bindings import OwnDatabase
    from runner.agents.helpers import Helpers
    from runner.agents.runtime import Runtime
    from runner.application.application import Application
    from runner.fingerprints.fingerprints import Fingerprints
    from runner.modes.interactive import Person
    from runner.modes.transcripts import Transcripts


class OpenDatabase(Protocol):
    """Makes the database of an attempt; nothing is opened yet."""

    def __call__(self, world: World, folder: Path, *, strict: bool) -> OwnDatabase:
        """`folder` is that of the case file; `strict` tells whether what MySQL would refuse is refused."""


class CaseEnvironment(Value):
    """The environment that all cases of a run share."""

    application: Application
    runtime: Runtime
    helpers: Helpers
    context: Mapping[str, Any]
    """The run's context: defaults, flags, `--ctx` file."""
    decided_ids: frozenset[str]
    """Which of `user_id` and `team_id` the flags or the `--ctx` file say; they win over those of a case."""
    connector: str
    """`--connector`; empty when it is not given."""
    timeout: float
    """Seconds for a case that names none."""
    snapshot: Callable[[str], MatchSnapshot]
    """Suite id → how its snapshots are matched."""
    database: OpenDatabase
    """Makes the database of an attempt."""
    threshold: float = DEFAULT_THRESHOLD
    """`--threshold`, for conversations that name none."""
    simulator: str = ""
    """`--simulator`, for cases that name none."""
    on_missing_input: str = "skip"
    """`--on-missing-input`, for cases that say nothing of it."""
    interactive: bool = False
    """Whether a person is asked in all cases, not only in those that say so."""
    person: Person | None = None
    """The person to ask; None with `--skip-interactive`."""
    fingerprints: Fingerprints | None = None
    """Makes the fingerprints of results, for a run that resumes this one; None: no report can be resumed."""
    require_judge: bool = False
    """Whether what its judge could not judge fails."""
    judge_samples: int = 1
    """Votes of each judge where an assertion says nothing of it."""
    judge_connector: str = ""
    """What judges use instead of their own; empty: nothing."""
    transcripts: Transcripts | None = None
    """What was said in a saved run that is graded again; the agent is not asked then."""
    seed: int | None = None
    """The value of `--seed`."""
    trace: str = "summary"
    """What results keep of the calls of models and tools: `off`, `summary` or `full`."""
    spans: bool = False
    """Whether they say when each call began and ended, and in which call of an agent."""
    clean: Callable[[str], str] = str
    """Takes secrets out of texts."""
