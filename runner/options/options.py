"""The options of one run: the table of all flags, the checked values of a command line, and what a saved run may set for
another one: the values of its flags, but none that opens a wall."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from runner.errors import ConfigurationError
from runner.options import flags
from runner.options.flags import Carried, Changes, File, Flag, FlagTable, Regrade, flag
from scripttest import BENCHMARK, EVERY_RUN, FUZZ, holds_secrets, parts_below
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from runner.options.values import Allowance, ClusterAddress, CoverageThreshold, Shard, StoreKeep, Variant, WatchExpr
    from scripttest.typing_names import Record

DEFAULT_SCRIPT_TIMEOUT = 30.0
"""Seconds."""
DEFAULT_CASE_TIMEOUT = 300.0
"""Seconds."""
DEFAULT_THRESHOLD = 0.8
"""The lowest score with which a conversation passes."""


# fmt: off
class RunOptions(FlagTable):
    """What the flags say; paths are as the user wrote them. One entry is all that a new flag needs."""

    inputs: tuple[str, ...] = flag("Case file, folder, agents:<id>, scripts.<agent>.<module> or message. Repeatable. Default: all tests here.", changes=Changes.NONE, file=File.ONE_RUN, carried=Carried.RUN, regrade=Regrade.TYPED, mutate=True, short="i", name="input", kind="repeated", metavar="TESTS")
    name: str | None = flag("Agent to test. Default: found from the tests or the working directory.", changes=Changes.NONE, file=File.ONE_RUN, carried=Carried.TEST, regrade=Regrade.YES, mutate=True, short="n", metavar="ID", every_day="Choose tests")
    outputs: tuple[str, ...] = flag("Report file; its extension decides the format. Repeatable.", changes=Changes.NONE, file=File.RUN, carried=Carried.NO, regrade=Regrade.TYPED, short="o", name="output", kind="repeated", metavar="FILE", every_day="See results")
    connector: str | None = flag("Connector for the tested agent. Default: its own.", changes=Changes.ALL, file=File.AGENT, carried=Carried.TEST, mutate=True, short="c", metavar="ID", every_day="Run them", repl=True)
    variants: tuple[Variant, ...] = flag("Also run the cases with these settings, and compare: NAME=SETTING,... where a setting is connector:ID, prompts:FILE or env:NAME=VALUE. Repeatable.", changes=Changes.NONE, file=File.RUN, carried=Carried.TEST, name="variant", kind="repeated", metavar="VARIANT", read=flags.value_read_by("read_variant"))
    until_decided: bool = flag("Run the variants round by round and stop as soon as one is clearly better; at most --runs rounds, 5 by default.", changes=Changes.NONE, file=File.RUN, carried=Carried.RUN, kind="switch", needs="variant", excludes=("repeat",))
    app: str | None = flag("Application root. Default: the nearest one at or above the working directory.", changes=Changes.NONE, file=File.APPLICATION, carried=Carried.TEST, regrade=Regrade.YES, mutate=True, short="a", metavar="DIR", repl=True)
    profile: str | None = flag("Profile of yao-test.toml to use.", changes=Changes.NONE, file=File.ONE_RUN, carried=Carried.TEST, regrade=Regrade.YES, mutate=True, metavar="NAME", repl=True)
    user: str | None = flag("Test user. Default: test-user.", changes=Changes.CONTEXT, file=File.AGENT, carried=Carried.TEST, regrade=Regrade.YES, mutate=True, short="u", metavar="ID", repl=True)
    team: str | None = flag("Test team. Default: test-team.", changes=Changes.CONTEXT, file=File.AGENT, carried=Carried.TEST, regrade=Regrade.YES, mutate=True, short="t", metavar="ID", repl=True)
    locale: str | None = flag("Locale of the test user. Default: en-us.", changes=Changes.CONTEXT, file=File.AGENT, carried=Carried.TEST, regrade=Regrade.YES, mutate=True, metavar="ID", repl=True)
    ctx: str | None = flag("JSON file with the context. Overrides --user, --team and --locale.", changes=Changes.CONTEXT, file=File.AGENT, carried=Carried.TEST, regrade=Regrade.YES, mutate=True, metavar="FILE", repl=True)
    env_files: tuple[str, ...] = flag(".env file with environment variables, which override the environment. Repeatable.", changes=Changes.ALL, file=File.SECURITY, carried=Carried.TYPED, regrade=Regrade.TYPED, mutate=True, short="e", name="env-file", kind="repeated", metavar="FILE", repl=True)
    reporter: str | None = flag("Reporter for the first --output: report.json, report.markdown, report.html, report.summary, or an agent.", changes=Changes.NONE, file=File.RUN, carried=Carried.NO, regrade=Regrade.TYPED, short="r", metavar="ID")
    run: str | None = flag("Run only tests and cases whose name matches; a part after a slash selects subtests.", changes=Changes.NONE, file=File.RUN, carried=Carried.RUN, regrade=Regrade.TYPED, mutate=True, metavar="REGEX", read=flags.search, aliases=("-run",), every_day="Choose tests")
    tags: tuple[str, ...] = flag("Run only tests and cases with this tag. Repeatable: any one of the tags is enough.", changes=Changes.NONE, file=File.RUN, carried=Carried.RUN, mutate=True, name="tag", kind="repeated", metavar="TAG")
    last_failed: bool = flag("Run only tests that failed last time; all tests if none did.", changes=Changes.NONE, file=File.ONE_RUN, carried=Carried.RUN, kind="switch", excludes=("failed-first",), every_day="Choose tests")
    failed_first: bool = flag("Run tests that failed last time first.", changes=Changes.NONE, file=File.RUN, carried=Carried.NO, kind="switch", excludes=("shuffle",))
    shuffle: int | None = flag("Run in random order and print the seed; pass SEED to repeat that order.", changes=Changes.NONE, file=File.RUN, carried=Carried.NO, kind="maybe", metavar="SEED", read=flags.shuffle_seed)
    """The seed of the random order; None: tests are not shuffled."""
    timeout: float | None = flag("Time limit of each test, such as 500ms, 30s, 1m30s. Default: 30s for script tests, 5m for cases.", changes=Changes.NONE, file=File.AGENT, carried=Carried.OPEN, regrade=Regrade.YES, mutate=True, metavar="DURATION", read=flags.duration, repl=True)
    """Seconds."""
    parallel: int | None = flag("Number of test modules or cases to run at the same time. Default: one more than CPUs for modules, 1 for cases.", changes=Changes.NONE, file=File.RUN, carried=Carried.NO, regrade=Regrade.YES, mutate=True, metavar="N", read=flags.count)
    runs: int = flag("Run each test and case N times to measure how stable it is. Default: 1.", changes=Changes.NONE, file=File.RUN, carried=Carried.TEST, mutate=True, default=1, metavar="N", read=flags.count, every_day="Run them")
    """How often each test runs."""
    min_pass_rate: float = flag("Required pass rate over the runs of a test or case, in percent. Default: 100.", changes=Changes.NONE, file=File.RUN, carried=Carried.TEST, default=100, metavar="PERCENT", read=flags.percent, needs="runs")
    """Percent of its runs that have to pass for a test to pass."""
    repeat: str | None = flag("Required passes per case, such as \"4 of 5\", for cases without `repeat`; a case stops as soon as the outcome is certain.", changes=Changes.NONE, file=File.RUN, carried=Carried.TEST, regrade=Regrade.YES, metavar="POLICY", read=flags.policy, excludes=("runs",))
    threshold: float | None = flag("Minimum score of a graded case, 0 to 1. Default: 0.8.", changes=Changes.GRADED, file=File.AGENT, carried=Carried.TEST, regrade=Regrade.YES, metavar="SCORE", read=flags.share)
    """0 to 1."""
    require_judge: bool = flag("Fail assertions that no judge could grade. Default: they pass and are counted.", changes=Changes.JUDGED, file=File.AGENT, carried=Carried.TEST, regrade=Regrade.YES, mutate=True, kind="switch")
    judge_samples: int = flag("Number of votes per judge, 1 to 9. Default: 1.", changes=Changes.JUDGED, file=File.RUN, carried=Carried.TEST, regrade=Regrade.YES, mutate=True, metavar="N", read=flags.samples, default=1)
    """Votes of each judge on an answer."""
    judge_connector: str | None = flag("Connector for all judges. Default: their own.", changes=Changes.JUDGED, file=File.RUN, carried=Carried.TEST, regrade=Regrade.YES, mutate=True, metavar="ID")
    embedding_connector: str | None = flag("Connector for the embeddings of `similar`. Default: that of the agent's connector.", changes=Changes.JUDGED, file=File.AGENT, carried=Carried.TEST, regrade=Regrade.YES, metavar="ID")
    on_inconclusive: str | None = flag("Result when the votes are inconclusive: pass, fail or skip. Default: an error.", changes=Changes.JUDGED, file=File.RUN, carried=Carried.TEST, regrade=Regrade.YES, metavar="WHAT", read=flags.one_of("pass", "fail", "skip"))
    simulator: str | None = flag("Simulator for cases without one: agents:<id> or scripts:<module>.", changes=Changes.ALL, file=File.AGENT, carried=Carried.TEST, regrade=Regrade.YES, metavar="ID")
    interactive: bool = flag("Ask at the terminal when an agent waits for input.", changes=Changes.ALL, file=File.RUN, carried=Carried.TEST, kind="switch", excludes=("skip-interactive",))
    skip_interactive: bool = flag("Never ask at the terminal, not even for cases with `interactive`.", changes=Changes.ALL, file=File.RUN, carried=Carried.TEST, kind="switch")
    on_missing_input: str | None = flag("What to do when an agent waits for input and there is none: skip, fail or end. Default: skip.", changes=Changes.ALL, file=File.AGENT, carried=Carried.TEST, regrade=Regrade.YES, metavar="WHAT", read=flags.one_of("skip", "fail", "end"))
    before: str | None = flag("Hook to run before the cases of each input, such as env_test.BeforeAll.", changes=Changes.ALL, file=File.AGENT, carried=Carried.TEST, metavar="HOOK", aliases=("--before-all",))
    after: str | None = flag("Hook to run after the cases of each input.", changes=Changes.ALL, file=File.AGENT, carried=Carried.TEST, metavar="HOOK", aliases=("--after-all",))
    record: str | None = flag("Record model responses in this folder, one file per case.", changes=Changes.NONE, file=File.RUN, carried=Carried.TYPED, regrade=Regrade.TYPED, mutate=True, metavar="DIR", read=flags.filled("Pass the folder of the recordings"), excludes=("replay", "record-missing"))
    replay: str | None = flag("Replay recorded model responses from this folder; no model is called.", changes=Changes.ALL, file=File.RUN, carried=Carried.TEST, regrade=Regrade.TYPED, mutate=True, metavar="DIR", read=flags.filled("Pass the folder of the recordings"), excludes=("record-missing", "retry-errors"), repl=True)
    record_missing: str | None = flag("Replay recorded model responses from this folder; call models for the rest and record their responses.", changes=Changes.ALL, file=File.RUN, carried=Carried.TYPED, regrade=Regrade.TYPED, mutate=True, metavar="DIR", read=flags.filled("Pass the folder of the recordings"), repl=True)
    store: str | None = flag("Folder where runs are stored for history, --last-failed and baselines. Default: .yao-test, if it exists.", changes=Changes.NONE, file=File.RUN, carried=Carried.NO, mutate=True, metavar="DIR", read=flags.filled("Pass the folder of the store"), excludes=("dry-run",))
    store_keep: tuple[StoreKeep, ...] = flag("Age or size beyond which the oldest runs are deleted from the store, such as 90d or 500MB. Repeatable. Default: 1GB.", changes=Changes.NONE, file=File.RUN, carried=Carried.NO, kind="repeated", metavar="LIMIT", read=flags.value_read_by("read_store_keep"))
    baseline: str | None = flag("Compare with the newest runs of this branch, commit or run in the store; with --bench, with the results in this file.", changes=Changes.NONE, file=File.ONE_RUN, carried=Carried.NO, metavar="NAME", read=flags.filled("Pass a revision, such as origin/main"), excludes=("dry-run", "json", "watch"))
    resume: str | None = flag("Continue the run in this .jsonl report: run only tests without a valid result in it.", changes=Changes.NONE, file=File.ONE_RUN, carried=Carried.NO, metavar="FILE", excludes=("dry-run",))
    shard: Shard | None = flag("Run one part of the tests, such as the second of four: 2/4.", changes=Changes.NONE, file=File.ONE_RUN, carried=Carried.RUN, metavar="I/N", read=flags.value_read_by("read_shard"))
    cluster: ClusterAddress | None = flag("Run the tests on the workers of a Dask cluster: the address tls://HOST:PORT of its scheduler, or local, or local:N.", changes=Changes.NONE, file=File.SECURITY, carried=Carried.NO, mutate=True, metavar="ADDRESS", read=flags.value_read_by("read_cluster_address"), excludes=("watch", "coverage", "dry-run", "db", "interactive", "update-snapshots", "fuzz", "bench"))
    """The scheduler that distributes the tests; None: this machine runs them."""
    max_cost: float | None = flag("Stop starting tests and model calls once they have cost this many US dollars.", changes=Changes.NONE, file=File.RUN, carried=Carried.NO, regrade=Regrade.YES, mutate=True, metavar="USD", read=flags.amount, repl=True)
    """US dollars."""
    max_tokens: int | None = flag("Stop starting tests and model calls once they have used this many tokens.", changes=Changes.NONE, file=File.RUN, carried=Carried.NO, regrade=Regrade.YES, mutate=True, metavar="N", read=flags.count, repl=True)
    no_models: bool = flag("Call no real model: tests that need one end with an error.", changes=Changes.NONE, file=File.RUN, carried=Carried.NO, regrade=Regrade.YES, kind="switch", repl=True)
    max_duration: float | None = flag("Stop starting tests after this time, such as 30m.", changes=Changes.NONE, file=File.RUN, carried=Carried.NO, regrade=Regrade.YES, mutate=True, metavar="DURATION", read=flags.duration)
    """Seconds."""
    retry_errors: int = flag("Re-run tests that ended with an error (such as a model host being down) up to N times at the end. Default: 0.", changes=Changes.NONE, file=File.RUN, carried=Carried.NO, regrade=Regrade.YES, metavar="N", read=flags.count, default=0)
    """How many further passes run the tests that broke."""
    max_errors: Allowance | None = flag("Tolerate this many errors, such as 3 or 2%. Default: 0.", changes=Changes.NONE, file=File.RUN, carried=Carried.NO, regrade=Regrade.YES, metavar="N", read=flags.value_read_by("read_allowance"))
    """How many tests may break."""
    trace: str | None = flag("Detail of model and tool calls kept in results: off, summary or full. Default: summary.", changes=Changes.NONE, file=File.RUN, carried=Carried.OPEN, regrade=Regrade.YES, metavar="HOW", read=flags.one_of("off", "summary", "full"))
    story: str | None = flag("Run failed script tests again (with -v also hooks and tools of failed cases) and show step by step what happened: for up to three of them, for all, or off. Default: for up to three on a terminal.", changes=Changes.NONE, file=File.RUN, carried=Carried.NO, kind="maybe", metavar="HOW", read=flags.story_form)
    story_hide: tuple[str, ...] = flag("Hide the values of variables and properties with this name in stories; * stands for any characters. Repeatable.", changes=Changes.NONE, file=File.RUN, carried=Carried.NO, name="story-hide", kind="repeated", metavar="NAME")
    otlp: str | None = flag("Send the run as spans to an OpenTelemetry collector, such as http://localhost:4318.", changes=Changes.NONE, file=File.SECURITY, carried=Carried.NO, kind="maybe", metavar="ENDPOINT", read=flags.value_read_by("collector"), excludes=("dry-run",))
    """The address of a collector; empty: the variables `OTEL_*` name it."""
    strict: bool = flag("Fail results that have warnings, such as unfinished work.", changes=Changes.ALL, file=File.RUN, carried=Carried.TEST, regrade=Regrade.YES, mutate=True, kind="switch")
    """Whether a warning of a test makes it fail."""
    seed: int | None = flag("Seed for random numbers: with the same seed, a test gets the same numbers in every run.", changes=Changes.ALL, file=File.RUN, carried=Carried.TEST, regrade=Regrade.YES, mutate=True, metavar="N", read=flags.count, repl=True)
    """The seed of the random numbers of each test, together with its name."""
    lenient: bool = flag("Warn about unknown fields in case files instead of rejecting them.", changes=Changes.ALL, file=File.RUN, carried=Carried.TEST, regrade=Regrade.YES, kind="switch")
    db: str | None = flag("Save the test's database to this file; with several tests, to a folder of this name.", changes=Changes.NONE, file=File.RUN, carried=Carried.NO, metavar="FILE", excludes=("dry-run",), repl=True)
    strict_db: bool = flag("Reject rows that MySQL would reject even if SQLite accepts them.", changes=Changes.ALL, file=File.RUN, carried=Carried.TEST, mutate=True, kind="switch", repl=True)
    allow_net: tuple[str, ...] = flag("Hosts that scripts may reach: host or host:port; * is every public host.", changes=Changes.ALL, file=File.SECURITY, carried=Carried.TYPED, regrade=Regrade.YES, mutate=True, kind="optional", metavar="HOST", read=flags.hosts, repl=True)
    allow_exec: tuple[str, ...] = flag("Programs that sandbox agents may run in a jail, such as echo,ls. Repeatable.", changes=Changes.ALL, file=File.SECURITY, carried=Carried.TYPED, regrade=Regrade.YES, mutate=True, kind="repeated", metavar="NAME", read=flags.programs, repl=True)
    require_trust: bool = flag("Reject connectors, prompts and hooks that yao-test.trust does not approve as they are.", changes=Changes.NONE, file=File.CHECKS, carried=Carried.GUARD, regrade=Regrade.YES, mutate=True, kind="switch", repl=True)
    trust_from: str | None = flag("Like --require-trust, but with yao-test.trust from another revision, such as origin/main.", changes=Changes.NONE, file=File.CHECKS, carried=Carried.GUARD, regrade=Regrade.YES, mutate=True, metavar="REF", read=flags.filled("Pass a revision, such as origin/main"), repl=True)
    """A revision of the repository, from which the approvals are read."""
    sandbox: str | None = flag("With require, run only on machines that have every sandbox wall in yao-test doctor.", changes=Changes.NONE, file=File.RUN, carried=Carried.GUARD, regrade=Regrade.YES, mutate=True, metavar="WHAT", read=flags.one_of("require"), repl=True)
    update_snapshots: bool = flag("Update stored snapshots and remove obsolete ones.", changes=Changes.NONE, file=File.ONE_RUN, carried=Carried.RUN, kind="switch", every_day="Run them")
    no_writes: bool = flag("Write no files except the store given by --store and, with --update-snapshots, snapshots.", changes=Changes.NONE, file=File.ONE_RUN, carried=Carried.NO, kind="switch", excludes=("output", "record", "record-missing", "db", "fuzz"), repl=True)
    dry_run: bool = flag("List tests and cases without running them.", changes=Changes.NONE, file=File.ONE_RUN, carried=Carried.NO, kind="switch", excludes=("durations",))
    forbid_only: bool = flag("Fail tests that call `t.only`, and run all others too. Default: on in CI.", changes=Changes.NONE, file=File.RUN, carried=Carried.TEST, kind="switch")
    fail_fast: bool = flag("Stop at the first failure.", changes=Changes.NONE, file=File.RUN, carried=Carried.NO, regrade=Regrade.YES, kind="switch", excludes=("max-failures",), every_day="Run them")
    max_failures: int | None = flag("Stop after this many failures or errors.", changes=Changes.NONE, file=File.RUN, carried=Carried.NO, regrade=Regrade.YES, metavar="N", read=flags.count)
    """After how many failed or broken tests the run stops."""
    coverage: bool = flag("Measure coverage of handlers: statements, branches, functions and lines.", changes=Changes.NONE, file=File.RUN, carried=Carried.NO, kind="switch")
    coverage_thresholds: tuple[CoverageThreshold, ...] = flag("Minimum coverage, such as lines=90 or FOLDER:lines=90. Repeatable.", changes=Changes.NONE, file=File.RUN, carried=Carried.NO, name="coverage-threshold", kind="repeated", metavar="METRIC=PERCENT", read=flags.value_read_by("read_coverage_threshold"))
    fuzz: str | None = flag("Search for inputs that make the matching Fuzz functions fail; no other tests run.", changes=Changes.NONE, file=File.ONE_RUN, carried=Carried.NO, metavar="REGEX", read=flags.filled("{} . names all"), excludes=("run", "runs", "watch", "resume", "shard", "bench"))
    fuzz_time: float = flag("Search time per Fuzz function. Default: 30s.", changes=Changes.NONE, file=File.RUN, carried=Carried.OPEN, default=30, metavar="DURATION", read=flags.duration, needs="fuzz")
    """Seconds."""
    bench: str | None = flag("Run the matching Benchmark functions; no other tests run. Only results go to standard output.", changes=Changes.NONE, file=File.ONE_RUN, carried=Carried.NO, metavar="REGEX", read=flags.filled("{} . names all"), excludes=("run", "runs", "watch", "resume", "shard", "coverage", "reporter", "store"))
    bench_time: float = flag("Minimum time per Benchmark function. Default: 1s.", changes=Changes.NONE, file=File.RUN, carried=Carried.NO, default=1, metavar="DURATION", read=flags.duration, needs="bench")
    """Seconds."""
    repetitions: int = flag("Number of measurements per Benchmark function. Default: 1.", changes=Changes.NONE, file=File.RUN, carried=Carried.NO, name="count", default=1, metavar="N", read=flags.count, needs="bench")
    """How often each benchmark runs."""
    bench_threshold: float = flag("Allowed slowdown against the baseline, beyond noise. Default: 10%.", changes=Changes.NONE, file=File.RUN, carried=Carried.NO, default=10, metavar="PERCENT", read=flags.value_read_by("growth"), needs="baseline")
    """Percent."""
    watch_expr: tuple[WatchExpr, ...] = flag("Print an expression each time after a line of a script: FILE:LINE:EXPRESSION. Repeatable.", changes=Changes.NONE, file=File.ONE_RUN, carried=Carried.NO, kind="repeated", metavar="WATCH", read=flags.value_read_by("read_watch_expr"), excludes=("cluster", "dry-run", "bench"))
    durations: int | None = flag("List the N slowest tests at the end.", changes=Changes.NONE, file=File.RUN, carried=Carried.NO, regrade=Regrade.YES, metavar="N", read=flags.count)
    watch: bool = flag("Watch files and re-run affected tests on every save.", changes=Changes.NONE, file=File.ONE_RUN, carried=Carried.NO, kind="switch", excludes=("dry-run", "resume", "json", "interactive"), every_day="Run them")
    verbose: int = flag("Show the output of passing tests, and the statistics behind verdicts; -v -v adds Python tracebacks to errors.", changes=Changes.NONE, file=File.RUN, carried=Carried.NO, regrade=Regrade.YES, mutate=True, short="v", kind="count", every_day="See results")
    quiet: bool = flag("Show only failures and the summary.", changes=Changes.NONE, file=File.RUN, carried=Carried.NO, regrade=Regrade.YES, mutate=True, short="q", kind="switch", excludes=("verbose",))
    brief: bool = flag("Print only failures, with short stories. Default: on when a coding agent runs the command.", changes=Changes.NONE, file=File.RUN, carried=Carried.NO, kind="switch", excludes=("verbose", "json", "watch", "interactive"))
    json: str | None = flag("Print one JSON document and nothing else, for tools and coding agents; --json=lines prints one line per result as it ends.", changes=Changes.NONE, file=File.ONE_RUN, carried=Carried.NO, mutate=True, kind="maybe", metavar="lines", read=flags.json_form, excludes=("interactive", "quiet", "reporter"))
    no_color: bool = flag("Turn colours off, like the variable NO_COLOR.", changes=Changes.NONE, file=File.RUN, carried=Carried.NO, regrade=Regrade.YES, mutate=True, kind="switch", repl=True)
    # fmt: on

    def words(self, wanted: Callable[[Flag], bool], joined: bool = False) -> list[str]:
        """Those flags that are wanted and do not have their default, as words of a command line; see `Flag.words`."""
        found = ((flag, getattr(self, flag.field)) for flag in FLAGS if wanted(flag))
        return [word for flag, value in found if value != flag.default for word in flag.words(value, joined)]

    def placed(self, root: Path, directory: Path) -> RunOptions:
        """The options with paths that count from an application; so far they count from `directory`."""

        def place(value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(map(place, value))
            return value and os.path.relpath(directory / Path(value).expanduser(), root)

        return self.replace(**{flag.field: place(getattr(self, flag.field)) for flag in FLAGS if flag.is_path})

    @property
    def script_timeout(self) -> float:
        """Seconds that a script test may take."""
        return self.timeout or DEFAULT_SCRIPT_TIMEOUT

    @property
    def case_timeout(self) -> float:
        """Seconds that a case may take which has no timeout of its own."""
        return self.timeout or DEFAULT_CASE_TIMEOUT

    @property
    def failure_limit(self) -> int | None:
        """After how many failed or broken tests a run stops; None: it does not stop."""
        return 1 if self.fail_fast else self.max_failures

    @property
    def failure_flag(self) -> str:
        """The flag that sets this limit, as it is written."""
        return "--fail-fast" if self.fail_fast else f"--max-failures {self.max_failures}"

    @property
    def pattern(self) -> str:
        """The pattern that the names of tests must match; empty: all run."""
        return self.run or self.fuzz or self.bench or ""

    @property
    def kept_baseline(self) -> str | None:
        """Name of the runs in the store that this run is compared with."""
        return None if self.bench else self.baseline

    @property
    def measured_baseline(self) -> str | None:
        """The file of earlier results that benchmarks are compared with."""
        return self.baseline if self.bench else None

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of test functions that this run runs."""
        return (FUZZ,) if self.fuzz else (BENCHMARK,) if self.bench else EVERY_RUN

    @property
    def selecting(self) -> str:
        """The flags that select tests by name, by tag or by earlier failures, as they are written."""
        named = ((name, getattr(self, name)) for name in ("run", "fuzz", "bench"))
        flags = [f"--{name} {pattern}" for name, pattern in named if pattern]
        flags += [f"--tag {tag}" for tag in self.tags]
        return " ".join([*flags, "--last-failed"] if self.last_failed else flags)

    @property
    def reorders(self) -> bool:
        """Whether tests run in another order than that of their files."""
        return self.failed_first or self.shuffle is not None

    @property
    def score_threshold(self) -> float:
        """The lowest score with which a conversation passes that has no threshold of its own."""
        return DEFAULT_THRESHOLD if self.threshold is None else self.threshold


FLAGS = RunOptions.__declared__
"""All flags of a run, in the order of `--help`."""
FLAG_OF = {flag.name: flag for flag in FLAGS}
"""Name → flag."""


class RunSettings(Value):
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


class ConfiguredOptions(Value):
    """The options of a run with what the configuration file adds, and its other settings."""

    options: RunOptions
    """The options, with those of the file."""
    settings: RunSettings = RunSettings()


def texts_in(arguments: Sequence[str]) -> dict[str, Any] | None:
    """The texts of the flags by field, as click gives them; None where only click can say more. It loads slowly."""
    by_spelling = {spelling: flag for flag in FLAGS for spelling in flag.spellings}
    values: dict[str, Any] = {flag.field: flag.not_given for flag in FLAGS}
    rest = deque(arguments)
    while rest:
        argument = rest.popleft()
        spelling, equals, value = argument.partition("=")
        found = by_spelling.get(spelling)
        if found is None or (equals and not spelling.startswith("--")):
            return None
        key = found.field
        if found.kind in ("switch", "count"):
            if equals:
                return None
            values[key] = True if found.kind == "switch" else values[key] + 1
            continue
        if not equals and (not rest or rest[0].startswith("-")):
            if found.kind not in ("optional", "maybe"):
                return None
            value = "*"
        elif not equals and not found.may_be(rest[0]):
            return None
        elif not equals:
            value = rest.popleft()
        if found.kind in ("text", "maybe") and values[key] is not None:
            return None
        values[key] = (*values[key], value) if found.kind in ("repeated", "optional") else value
    return values


def options_from(values: dict[str, Any]) -> RunOptions:
    """Makes options from the texts of the flags, by field. Raises ConfigurationError."""
    given = {one.name: one for one in FLAGS if one.is_given(values)}
    for one in given.values():
        for other in one.excludes:
            if other in given:
                raise ConfigurationError(f"--{one.name} and --{other} cannot be used together")
    return with_rounds(RunOptions.read(values))


def lacking(name: str, options: RunOptions) -> Flag | None:
    """The flag that the flag `name` needs and that is not set; `options` are all options of the run."""
    needs = FLAG_OF[name].needs
    needed = FLAG_OF[needs] if needs is not None else None
    return needed if needed is not None and getattr(options, needed.field) == needed.default else None


def check_needs(options: RunOptions, values: dict[str, Any]) -> None:
    """Raises ConfigurationError for a flag of `values` that needs another one, which `options` do not have."""
    for one in FLAGS:
        needed = lacking(one.name, options) if one.is_given(values) else None
        if needed is not None and not needed.is_given(values):
            raise ConfigurationError(f"--{one.name} needs --{needed.name}", f"--{needed.name}: {needed.help}")


def with_rounds(options: RunOptions) -> RunOptions:
    """Options with as many runs as `--until-decided` plans. Raises ConfigurationError for unfit variants."""
    if options.variants:
        from runner.options.values import check_variants, rounds_of

        check_variants(options.variants)
        if options.until_decided:
            options = options.replace(runs=rounds_of(options.runs))
    return options


def absolute(path: str, directory: Path) -> Path:
    """The real path of what the user wrote, from the working directory. A pipe of the shell, as `<(...)` makes it, has
    none: it stays as it was written. Raises ConfigurationError when a link that comes with the application leads out of
    it."""
    found = _checked(path, directory)
    real = found.resolve()
    return found if os.path.exists(found) and not os.path.exists(real) else real


def report_path(output: str, directory: Path) -> Path:
    """The absolute path of `-o`. Its name is as the user wrote it, also when it is a link: the name says the format.
    Raises ConfigurationError when a link that comes with the application leads out of it."""
    path = _checked(output, directory)
    return path.parent.resolve() / path.name


def check_kept(outputs: Iterable[str], read: Iterable[Path], directory: Path) -> None:
    """Raises ConfigurationError for a report that would replace a file which the command reads."""
    files = {os.path.realpath(path) for path in read}
    for output in outputs:
        if os.path.realpath(report_path(output, directory)) in files:
            raise ConfigurationError(f"Cannot write over {output}: this command reads it", "Choose another file with -o")


def _checked(path: str, directory: Path) -> Path:
    from runner.security.files import check_target

    found = directory / Path(path).expanduser()
    try:
        check_target(found)
    except OSError as error:
        raise ConfigurationError(f"Cannot use {path}: {error.strerror}") from error
    return found


TYPED = frozenset(flag.field for flag in FLAGS if flag.carried is Carried.TYPED)
"""Flags that only the command line may set."""


def saved_values(options: Record) -> dict[str, Any]:
    """The values of flags of a report that mean something for another run, by fields. Raises ConfigurationError."""
    used = (flag for flag in FLAGS if flag.carried is not Carried.NO and flag.field in options)
    return {flag.field: flag.saved_value(options[flag.field]) for flag in used}


def taken_over(options: Mapping[str, Any]) -> str:
    """The flags that a report sets, as they are written on a command line."""
    given = (flag for flag in FLAGS if flag.words(options.get(flag.field)))
    return " ".join(spelled(flag, options[flag.field]) for flag in given)


def spelled(flag: Flag, value: Any) -> str:
    """A flag with its value, as it is written on a command line, or that there is none."""
    from shlex import join

    return join(flag.words(value)) or f"no --{flag.name}"


def walls_in(values: Mapping[str, Any], root: Path, directory: Path) -> dict[str, Any]:
    """The values, by fields, that open a wall: typed flags, places outside of the application, variables."""
    given = [(flag, values.get(flag.field, flag.default)) for flag in FLAGS]
    return {flag.field: value for flag, value in given if value != flag.default and _opens(flag, value, root, directory)}


def _opens(flag: Flag, value: Any, root: Path, directory: Path) -> bool:
    if flag.carried is Carried.TYPED or not flag.may_open_walls:
        return flag.carried is Carried.TYPED
    if flag.field == "variants":
        names = [name for one in value for name, _ in one.env]
        prompts = [one.prompts for one in value if one.prompts]
        return any(_is_outside(path, root, directory) for path in prompts) or _decides_hosts(names, root)
    if flag.field == "inputs":
        return any(os.path.lexists(directory / one) and _is_outside(one, root, directory) for one in value)
    return flag.field != "app" and _is_outside(value, root, directory)


def _decides_hosts(variables: Collection[str], root: Path) -> bool:
    """Whether connectors or MCP servers of an application use some of these variables, which may say where keys go."""
    if not variables:
        return False
    from runner.security.files import read_text
    from runner.security.secrets import definitions

    named = re.compile(rf"\$ENV\.(?:{'|'.join(map(re.escape, variables))})\b")
    return any(named.search(read_text(path, "replace")) for path in definitions(root))


def _is_outside(path: str, root: Path, directory: Path) -> bool:
    """Whether a path leads out of an application, or to what commonly holds keys."""
    parts = parts_below(os.path.realpath(directory / Path(path).expanduser()), os.path.realpath(root))
    return parts is None or holds_secrets(parts)
