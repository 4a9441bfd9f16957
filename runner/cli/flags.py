"""The flags of the command: one table, read by click, and by a quick reader for command lines without surprises.

Importing click costs more than running a small test module, so `read` handles what it is sure of and answers None for
everything else (help, mistakes, abbreviations), which `cli` then gives to click.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from scripttest.values import NamedTuple


class Flag(NamedTuple):
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
    Flag("input", "scripts.<agent>.<module>, case file, folder, agents:<id> or message. Repeatable.", "i", "repeated"),
    Flag("name", "Agent to test. Default: found from the tests or the working directory.", "n", metavar="ID"),
    Flag("output", "Report file; its extension decides the format. Repeatable.", "o", "repeated", "FILE"),
    Flag("connector", "Connector that the tested agent uses in the place of its own.", "c", metavar="ID"),
    Flag("app", "Application root. Default: found upward from here.", "a", metavar="DIR"),
    Flag("user", "Test user. Default: test-user.", "u", metavar="ID"),
    Flag("team", "Test team. Default: test-team.", "t", metavar="ID"),
    Flag("ctx", "JSON file with the context; it wins over --user and --team.", metavar="FILE"),
    Flag("reporter", "Who writes the first --output: report.markdown and the like, or an agent.", "r", metavar="ID"),
    Flag("run", "Only tests and cases whose name matches; a slash starts a subtest.", None, "text", "REGEX", ("-run",)),
    Flag("timeout", "Time of one test, such as 500ms, 30s, 1m30s. Default: 30s, cases 5m.", metavar="DURATION"),
    Flag("parallel", "Test modules and cases at a time. Default: the CPUs for modules, 1 for cases.", metavar="N"),
    Flag("runs", "How often each test and case runs, to see how stable it is. Default: 1.", metavar="N"),
    Flag("min-pass-rate", "Percent of its runs that have to pass for a case to pass. Default: 100.", metavar="PERCENT"),
    Flag("threshold", "Score from which on a conversation passes, 0 to 1. Default: 0.8.", metavar="SCORE"),
    Flag("require-judge", "What no judge could judge fails, instead of passing unjudged.", None, "switch"),
    Flag("simulator", "Who plays the user in cases that name nobody: agents:<id> or scripts:<module>.", metavar="ID"),
    Flag("interactive", "Ask at the terminal when an agent waits for input.", None, "switch"),
    Flag("skip-interactive", "Ask nobody, not even in cases that say so.", None, "switch"),
    Flag("on-missing-input", "What happens when nobody answers: skip, fail or end. Default: skip.", metavar="WHAT"),
    Flag("before", "Hook before the cases of each input, such as env_test.BeforeAll.", metavar="HOOK"),
    Flag("after", "Hook after the cases of each input.", metavar="HOOK"),
    Flag("record", "Keep what models answer, in a file for each case below this folder.", metavar="DIR"),
    Flag("replay", "Answer out of what was recorded; no model is asked.", metavar="DIR"),
    Flag("record-missing", "Answer out of what was recorded; ask models for the rest and add it.", metavar="DIR"),
    Flag("resume", "Go on with this .jsonl report: only what it has no result of runs.", metavar="FILE"),
    Flag("shard", "Run one of N parts of the tests, such as 2/4.", metavar="I/N"),
    Flag("max-cost", "Begin no test once model calls have cost so many US dollars.", metavar="USD"),
    Flag("max-tokens", "Begin no test once model calls have taken so many tokens.", metavar="N"),
    Flag("max-duration", "Begin no test after this time, such as 30m.", metavar="DURATION"),
    Flag("strict", "What is a warning on a result, such as unfinished work, fails it.", None, "switch"),
    Flag("lenient", "Unknown fields in case files are warnings.", None, "switch"),
    Flag("allow-net", "Hosts scripts may reach: host or host:port; * is every public one.", None, "optional", "HOST"),
    Flag("update-snapshots", "Store snapshots anew, and remove obsolete ones.", None, "switch"),
    Flag("dry-run", "List the tests and cases and run nothing.", None, "switch"),
    Flag("fail-fast", "Stop at the first failure.", None, "switch"),
    Flag("verbose", "Show the output of passing tests too; twice: tracebacks of this tool.", "v", "count"),
    Flag("quiet", "Show failures and the summary only.", "q", "switch"),
    Flag("no-color", "No colours. NO_COLOR in the environment does the same.", None, "switch"),
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
