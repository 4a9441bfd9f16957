"""Fingerprints: digests of everything that a result depends on, `{format, flags, context, case, ...}`.

Many results share the parts of `parts.py`. In addition, each result has its own:

| key | digest of |
| --- | --- |
| `format` | the number of this table; parts with another number cannot be compared |
| `--NAME` | a flag that changes the result (`Flag.changes`); of those that change all results, each that is set |
| `context` | the context of the run: user, team, locale, metadata |
| `case` | the case, except how often it runs |
| `variant` | the agent's own prompts and variables in one of several variants |
| `attachments` | the content of attached files |

A result that was made with `--coverage` also has `coverage`. Its scripts contained counters, so their digests are
compared only with those of results with `--coverage`."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from runner.fingerprints.parts import SCRIPTS, PartDigests, digest_of, digest_of_bytes, parts_of_world
from runner.options.flags import Changes
from runner.options.options import FLAGS, RunOptions
from runner.parts import Dependency, dependency_in, stored_dependencies
from runner.security.files import read_bytes
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from bindings import World
    from runner.agents.assistant import AgentVariant
    from runner.cases.model import Case

FORMAT = 2
COVERAGE = "coverage"
_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
Fingerprint = dict[str, "Any"]


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
        """`context`: the fields of the run's context; `agents`: those that have settings of their own. Paths of options
        count from the application."""
        self.parts = parts
        self.root = parts.root
        """The application's root, which the paths of scripts count from."""
        self._common = _Common(options, context)
        self._of_agents = {agent: _Common(own.options, own.context) for agent, own in (agents or {}).items()}
        self._files: dict[Path, str] = {}

    def of_test(
        self, agent: str, scripts: Sequence[Dependency], parts: Mapping[Dependency, str], world: World | None
    ) -> Fingerprint:
        """The fingerprint of a script test of an agent that used these scripts and parts, and what its world knows."""
        common = self._for(agent).of_result(judged=world is not None and world.is_judged, graded=False)
        own = {script: self.parts.of(script) for script in scripts}
        return {**common, **self._stored(own, world), **stored_dependencies(parts)}

    def _stored(self, parts: Mapping[Dependency, str], world: World | None) -> Fingerprint:
        return stored_dependencies({**parts, **{part: self.parts.of(part) for part in parts_of_world(world)}})

    def of_case(
        self,
        agent: str,
        case: Case,
        written: Mapping[str, Any],
        folder: Path,
        parts: Mapping[Dependency, str],
        variant: AgentVariant | None,
        world: World,
        *,
        graded: bool,
    ) -> Fingerprint:
        """The fingerprint of a case of an agent that used these parts, and those that its world knows.

        Args:
            written: the case as it was written, by the names of its fields.
            folder: where its files are looked for.
            variant: what the agent had of its own.
            graded: whether it has assertions or a score."""
        common = self._for(agent).of_result(judged=world.is_judged, graded=graded)
        return {**common, **self._of_case(case, written, folder, variant), **self._stored(parts, world)}

    def changed(
        self,
        before: Mapping[str, Any],
        agent: str,
        case: Case | None = None,
        folder: Path | None = None,
        variant: AgentVariant | None = None,
    ) -> tuple[str, ...]:
        """What has changed since a fingerprint was made, as keys of it; empty if the result is still valid.

        Args:
            agent: the agent of the test or case.
            case: the case as it is now, for the result of a case.
            folder: folder of its files.
            variant: what the agent has of its own."""
        if before.get("format") != FORMAT:
            return ("format",)
        common = self._for(agent)
        own = {**common.always, **{key: digest for key, digest in common.sometimes.items() if key in before}}
        if case is not None and folder is not None:
            own |= self._of_case(case, case.model_dump(exclude_unset=True), folder, variant)
        used = {key: part for key in before if (part := dependency_in(key)) is not None}
        keys = [key for key in (*own, *before) if key not in used and key != COVERAGE]
        changed = [key for key in dict.fromkeys(keys) if own.get(key) != before.get(key)]
        parts = [part for key, part in used.items() if self.parts.of(part) != before[key]]
        others = parts
        if own.get(COVERAGE) != before.get(COVERAGE):
            others = [part for part in parts if part.kind not in SCRIPTS]
        changed += [part.text for part in others] + [COVERAGE] * (others != parts)
        return tuple(changed)

    def _for(self, agent: str) -> _Common:
        return self._of_agents.get(agent, self._common)

    def _of_case(
        self, case: Case, written: Mapping[str, Any], folder: Path, variant: AgentVariant | None
    ) -> dict[str, str]:
        from runner.cases.messages import files_of_case

        said = _compact({name: value for name, value in written.items() if name != "repeat"})
        own = {"case": digest_of_bytes(said.encode("utf-8", "replace"))}
        if variant is not None:
            own |= {"variant": variant.digest, **({"--connector": variant.connector} if variant.connector else {})}
        files = sorted(set(files_of_case(case, folder)))
        if files:
            own["attachments"] = digest_of([self._of_file(path) for path in files])
            part = Dependency(kind="attachments", name=own["attachments"])
            self.parts.files[part] = self.parts.files.get(part, frozenset()) | set(map(os.path.abspath, files))
        return own

    def _of_file(self, path: Path) -> str:
        if path not in self._files:
            try:
                self._files[path] = digest_of_bytes(read_bytes(path))
            except OSError:
                self._files[path] = ""
        return self._files[path]


class _Common:
    """What results with the same options and context have in common."""

    def __init__(self, options: RunOptions, context: Mapping[str, Any]) -> None:
        digests: defaultdict[str, Fingerprint] = defaultdict(dict)
        for flag in FLAGS:
            value = getattr(options, flag.field)
            if flag.changes is Changes.ALL and value == flag.default:
                continue
            digests[flag.changes][f"--{flag.name}"] = digest_of([value])
        counted = {COVERAGE: "counted"} if options.coverage else {}
        given = [flag for flag in digests[Changes.CONTEXT] if digests[Changes.CONTEXT][flag] != digest_of([None])]
        self.always = {"format": FORMAT, "context": digest_of([context, given]), **digests[Changes.ALL], **counted}
        """What each result has."""
        self._judged, self._graded = digests[Changes.JUDGED], digests[Changes.GRADED]
        self.sometimes = {**self._judged, **self._graded}
        """What some results have."""

    def of_result(self, *, judged: bool, graded: bool) -> Fingerprint:
        """What one result has."""
        return {**self.always, **(self._judged if judged else {}), **(self._graded if graded else {})}
