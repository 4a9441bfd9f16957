"""Fingerprints: digests of everything that a result depends on, `{format, flags, context, case, ...}`.

Many results share the parts of `parts.py`. In addition, each result has its own:

| key | digest of |
| --- | --- |
| `format` | the number of this table; parts with another number cannot be compared |
| `flags` | the flags that change a result |
| `context` | the context of the run: user, team, locale, metadata |
| `case` | the case, except how often it runs |
| `variant` | the agent's own settings in one of several variants |
| `attachments` | the content of attached files |

A result that was made with `--coverage` also has `coverage`. Its scripts contained counters, so their digests are
compared only with those of results with `--coverage`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from runner.fingerprints.parts import SCRIPTS, PartDigests, digest_of, digest_of_bytes
from runner.parts import Part, part_in, stored
from runner.security.files import read_bytes
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.cases.model import Case
    from runner.cli.options import RunOptions

FORMAT = 1
FLAGS = (
    "connector threshold require_judge simulator interactive skip_interactive on_missing_input before after strict "
    "lenient replay strict_db allow_net allow_exec"
).split()
"""Options with which a result may be another one. What `--user`, `--team` and `--ctx` say is the context."""
COVERAGE = "coverage"
Fingerprint = dict[str, "Any"]


class Staleness(Value):
    """How the parts of a result differ from what is there now."""

    parts: tuple[str, ...]
    """Keys of the parts that do; empty if the result is still valid."""
    comparable: bool = True
    """Whether they are of the format that is written now."""


class AgentSettings(Value):
    """What the configuration file says for one agent."""

    options: RunOptions
    context: Mapping[str, Any]


class Fingerprints:
    """Makes the fingerprints of a run's results, and compares those of earlier ones."""

    def __init__(
        self,
        parts: PartDigests,
        options: RunOptions,
        context: Mapping[str, Any],
        agents: Mapping[str, AgentSettings] | None = None,
    ) -> None:
        """`context`: the fields of the run's context; `agents`: those that have settings of their own."""
        self.parts = parts
        self.root = parts.root
        """The application's root, which the paths of scripts count from."""
        self._common = _common(options, context)
        self._of_agents = {agent: _common(own.options, own.context) for agent, own in (agents or {}).items()}
        self._files: dict[Path, str] = {}

    def of_test(self, agent: str, parts: Mapping[Part, str]) -> Fingerprint:
        """The fingerprint of a script test of an agent that used these parts."""
        return {**self._for(agent), **stored(parts)}

    def of_case(
        self, agent: str, case: Case, folder: Path, parts: Mapping[Part, str], variant: str = ""
    ) -> Fingerprint:
        """The fingerprint of a case of an agent that used these parts; `folder` is where its files are looked for,
        `variant` the digest of what the agent had of its own."""
        return {**self._for(agent), **self._of_case(case, folder, variant), **stored(parts)}

    def staleness(
        self,
        before: Mapping[str, Any],
        agent: str,
        case: Case | None = None,
        folder: Path | None = None,
        variant: str = "",
    ) -> Staleness:
        """What has changed since a fingerprint was made.

        Args:
            agent: the agent of the test or case.
            case: the case as it is now, for the result of a case.
            folder: folder of its files.
            variant: digest of the agent's own settings in a variant.
        """
        if before.get("format") != FORMAT:
            return Staleness(parts=(), comparable=False)
        own = dict(self._for(agent))
        if case is not None and folder is not None:
            own |= self._of_case(case, folder, variant)
        used = {key: part for key in before if (part := part_in(key)) is not None}
        keys = [key for key in (*own, *before) if key not in used and key != COVERAGE]
        changed = [key for key in dict.fromkeys(keys) if own.get(key) != before.get(key)]
        parts = [part for key, part in used.items() if self.parts.of(part) != before[key]]
        others = parts
        if own.get(COVERAGE) != before.get(COVERAGE):
            others = [part for part in parts if part.kind not in SCRIPTS]
        changed += [part.text for part in others] + [COVERAGE] * (others != parts)
        return Staleness(parts=tuple(changed))

    def _for(self, agent: str) -> Fingerprint:
        return self._of_agents.get(agent, self._common)

    def _of_case(self, case: Case, folder: Path, variant: str) -> dict[str, str]:
        from runner.cases.attachments import files_of_case

        said = case.model_dump_json(exclude_unset=True, exclude=("repeat",)).encode("utf-8", "replace")
        own = {"case": digest_of_bytes(said), **({"variant": variant} if variant else {})}
        files = sorted(set(files_of_case(case, folder)))
        if files:
            own["attachments"] = digest_of([self._of_file(path) for path in files])
            part = Part(kind="attachments", name=own["attachments"])
            self.parts.files[part] = self.parts.files.get(part, frozenset()) | set(map(os.path.abspath, files))
        return own

    def _of_file(self, path: Path) -> str:
        if path not in self._files:
            try:
                self._files[path] = digest_of_bytes(read_bytes(path))
            except OSError:
                self._files[path] = ""
        return self._files[path]


def _common(options: RunOptions, context: Mapping[str, Any]) -> Fingerprint:
    """What all results with the same options and context have."""
    flags = digest_of([getattr(options, name) for name in FLAGS])
    counted = {COVERAGE: "counted"} if options.coverage else {}
    return {"format": FORMAT, "flags": flags, "context": digest_of(context), **counted}
