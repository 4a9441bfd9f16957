"""The flags of the command: one table, read by click, and by a quick reader for command lines without surprises.

Importing click costs more than running a small test module, so `read` handles what it is sure of and answers None for
everything else (help, mistakes, abbreviations), which `cli` then gives to click.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from scripttest.values import Value


class Flag(Value):
    """One option of the command."""

    name: str
    """Long spelling without dashes; its underscored form names the value."""
    help: str
    short: str | None = None
    kind: str = "text"
    """text, repeated, optional (repeated, and `*` where the value is left out), switch or count."""
    metavar: str = "TEXT"
    aliases: tuple[str, ...] = ()
    """Further spellings, with dashes."""

    @property
    def key(self) -> str:
        """Name of the value."""
        return self.name.replace("-", "_")

    @property
    def spellings(self) -> tuple[str, ...]:
        """All spellings, with dashes."""
        short = (f"-{self.short}",) if self.short else ()
        return (*short, f"--{self.name}", *self.aliases)


FLAGS = (
    Flag(name="input", help="scripts.<agent>.<module>, case file, folder, agents:<id> or message. Repeatable.", short="i", kind="repeated"),
    Flag(name="name", help="Agent to test. Default: found from the tests or the working directory.", short="n", metavar="ID"),
    Flag(name="output", help="Report file; its extension decides the format. Repeatable.", short="o", kind="repeated", metavar="FILE"),
    Flag(name="connector", help="Connector that the tested agent uses in the place of its own.", short="c", metavar="ID"),
    Flag(name="app", help="Application root. Default: found upward from here.", short="a", metavar="DIR"),
    Flag(name="user", help="Test user. Default: test-user.", short="u", metavar="ID"),
    Flag(name="team", help="Test team. Default: test-team.", short="t", metavar="ID"),
    Flag(name="ctx", help="JSON file with the context; it wins over --user and --team.", metavar="FILE"),
    Flag(name="reporter", help="Who writes the first --output: report.markdown and the like, or an agent.", short="r", metavar="ID"),
    Flag(name="run", help="Only tests and cases whose name matches; a slash starts a subtest.", metavar="REGEX", aliases=("-run",)),
    Flag(name="timeout", help="Time of one test, such as 500ms, 30s, 1m30s. Default: 30s, cases 5m.", metavar="DURATION"),
    Flag(name="parallel", help="Test modules and cases at a time. Default: the CPUs for modules, 1 for cases.", metavar="N"),
    Flag(name="runs", help="How often each test and case runs, to see how stable it is. Default: 1.", metavar="N"),
    Flag(name="min-pass-rate", help="Percent of its runs that have to pass for a case to pass. Default: 100.", metavar="PERCENT"),
    Flag(name="threshold", help="Score from which on a conversation passes, 0 to 1. Default: 0.8.", metavar="SCORE"),
    Flag(name="require-judge", help="What no judge could judge fails, instead of passing unjudged.", kind="switch"),
    Flag(name="simulator", help="Who plays the user in cases that name nobody: agents:<id> or scripts:<module>.", metavar="ID"),
    Flag(name="interactive", help="Ask at the terminal when an agent waits for input.", kind="switch"),
    Flag(name="skip-interactive", help="Ask nobody, not even in cases that say so.", kind="switch"),
    Flag(name="on-missing-input", help="What happens when nobody answers: skip, fail or end. Default: skip.", metavar="WHAT"),
    Flag(name="before", help="Hook before the cases of each input, such as env_test.BeforeAll.", metavar="HOOK"),
    Flag(name="after", help="Hook after the cases of each input.", metavar="HOOK"),
    Flag(name="record", help="Keep what models answer, in a file for each case below this folder.", metavar="DIR"),
    Flag(name="replay", help="Answer out of what was recorded; no model is asked.", metavar="DIR"),
    Flag(name="record-missing", help="Answer out of what was recorded; ask models for the rest and add it.", metavar="DIR"),
    Flag(name="resume", help="Go on with this .jsonl report: only what it has no result of runs.", metavar="FILE"),
    Flag(name="shard", help="Run one of N parts of the tests, such as 2/4.", metavar="I/N"),
    Flag(name="max-cost", help="Begin no test once model calls have cost so many US dollars.", metavar="USD"),
    Flag(name="max-tokens", help="Begin no test once model calls have taken so many tokens.", metavar="N"),
    Flag(name="max-duration", help="Begin no test after this time, such as 30m.", metavar="DURATION"),
    Flag(name="strict", help="What is a warning on a result, such as unfinished work, fails it.", kind="switch"),
    Flag(name="lenient", help="Unknown fields in case files are warnings.", kind="switch"),
    Flag(name="allow-net", help="Hosts scripts may reach: host or host:port; * is every public one.", kind="optional", metavar="HOST"),
    Flag(name="update-snapshots", help="Store snapshots anew, and remove obsolete ones.", kind="switch"),
    Flag(name="dry-run", help="List the tests and cases and run nothing.", kind="switch"),
    Flag(name="fail-fast", help="Stop at the first failure.", kind="switch"),
    Flag(name="verbose", help="Show the output of passing tests too; twice: tracebacks of this tool.", short="v", kind="count"),
    Flag(name="quiet", help="Show failures and the summary only.", short="q", kind="switch"),
    Flag(name="no-color", help="No colours. NO_COLOR in the environment does the same.", kind="switch"),
)  # fmt: skip


def read(arguments: list[str]) -> dict[str, Any] | None:
    """Values by key, as click would give them; None when the command line is not plain."""
    by_spelling = {spelling: flag for flag in FLAGS for spelling in flag.spellings}
    values: dict[str, Any] = {}
    for flag in FLAGS:
        values[flag.key] = {"repeated": (), "optional": (), "switch": False, "count": 0}.get(flag.kind)
    rest = deque(arguments)
    while rest:
        argument = rest.popleft()
        spelling, equals, value = argument.partition("=")
        found = by_spelling.get(spelling)
        if found is None or (equals and not spelling.startswith("--")):
            return None
        key = found.key
        if found.kind in ("switch", "count"):
            if equals:
                return None
            values[key] = True if found.kind == "switch" else values[key] + 1
            continue
        if not equals and (not rest or rest[0].startswith("-")):
            if found.kind != "optional":
                return None
            value = "*"
        elif not equals:
            value = rest.popleft()
        if found.kind == "text" and values[key] is not None:
            return None
        values[key] = (*values[key], value) if found.kind in ("repeated", "optional") else value
    return values
