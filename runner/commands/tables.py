"""The commands other than the run: the words and flags of each, its help, and the function that carries it out."""

from __future__ import annotations

from functools import partial

from runner.errors import ConfigurationError
from runner.options import flags
from runner.options.flags import (
    Flag,
    FlagTable,
    amount,
    count,
    duration,
    flag,
    number,
    one_of,
    share_or_percent,
    value_read_by,
)
from runner.options.options import FLAGS
from runner.reporters import EXTENSIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, ClassVar

    from runner.options.values import CoverageThreshold, Shard, StoreKeep


class CommandTable(FlagTable):
    """What the command line of a command says. The help is the docstring of each class: one declares a command."""

    __act__: ClassVar[str] = ""
    """Module below `runner.commands`, and the function that gets the environment and this; empty for a group."""
    __page__: ClassVar[str] = ""
    """The page of the documentation that the help names."""
    __of_run__: ClassVar[tuple[Flag, ...]] = ()
    """Flags of a run that the command has, too. Their texts, by field, are the third argument of the function."""
    __group__: ClassVar[Mapping[str, type[CommandTable]]] = {}
    """The commands of a group, by name."""

    def __init_subclass__(
        cls,
        act: str = "",
        page: str = "",
        of_run: Callable[[Flag], bool] | None = None,
        group: Mapping[str, type[CommandTable]] | None = None,
    ) -> None:
        super().__init_subclass__()
        cls.__act__, cls.__page__, cls.__group__ = act, page, group or {}
        cls.__of_run__ = tuple(filter(of_run, FLAGS)) if of_run is not None else ()


option: Callable[..., Any] = partial(
    flag, changes=flags.Changes.NONE, file=flags.File.ONE_RUN, carried=flags.Carried.NO
)
"""A flag of a command."""


def word(metavar: str, kind: str = "word", **declared: Any) -> Any:
    """A word of a command, or all of its words."""
    return option("", kind=kind, metavar=metavar, **declared)


def switch(help: str, **declared: Any) -> Any:
    """A flag without a value."""
    return option(help, kind="switch", **declared)


def outputs(help: str, **declared: Any) -> Any:
    """The files of `-o`."""
    return option(help, kind="repeated", name="output", short="o", metavar="FILE", **declared)


def _port(text: str, where: str) -> str:
    if text != "*" and not (text.isdecimal() and 0 < int(text) < 65536):
        raise ConfigurationError(f"Cannot use {where}: {text} is not a port from 1 to 65535")
    return text


# fmt: off
_STORE = "older of the store. Default: the one in yao-test.toml, else .yao-test of the application."
_store = option(f"F{_STORE}", metavar="DIR")
_app = option("Application root. Default: the nearest one at or above the working directory.", short="a", metavar="DIR")
_json = switch("Print one JSON document.", name="json")
_no_color = switch("Turn colours off.")
_statistics = switch("Show the statistics behind the verdict.", name="verbose", short="v")
_branch = option("Only runs on this branch.", metavar="NAME")
_REPORTS = ", ".join(EXTENSIONS)


class Calibrate(CommandTable, act="labels:calibrate", page="calibrating"):
    """Measures how well the judges of a saved run agree with human labels, and how consistent they are. LABELS are
    .jsonl or .csv files written by yao-test label; each person may have their own."""

    report: str = word("REPORT", required=True)
    labels: tuple[str, ...] = word("[LABELS]...", kind="words")
    outputs: tuple[str, ...] = outputs("Also write the result to a file: .json. Repeatable.")
    min_kappa: float | None = option("Exit with 1 if kappa could be below this value, or if there are too few labels.", metavar="KAPPA", read=number(float, r"-?\d*\.?\d+", lambda kappa: -1 <= kappa <= 1, "a number from -1 to 1"))


class Completion(CommandTable, act="completion:completion", page="cli"):
    """Prints the completion script for a shell. bash: eval "$(yao-test completion bash)"; zsh: eval "$(yao-test
    completion zsh)"; fish: yao-test completion fish | source"""

    shell: str = word("SHELL", required=True, read=one_of("bash", "zsh", "fish"))


class Config(CommandTable, act="settings:config", page="configuration"):
    """Prints the settings in the application's yao-test.toml and where each comes from. Exit codes: 0 the file is
    valid, or there is none; 2 it is invalid."""

    app: str | None = _app
    profile: str | None = option("Show the settings with this profile.", metavar="NAME")
    as_json: bool = _json


class Convert(CommandTable, act="init:convert", page="data"):
    """Converts a promptfoo configuration, or a dataset of Inspect or DeepEval, to a case file, and lists what cannot be
    converted."""

    file: str = word("FILE", required=True)
    output: str | None = option("Case file to write: .jsonl, .json or .yaml. Default: print JSONL.", short="o", metavar="FILE")
    format: str | None = option("Format of FILE. Default: detected from its fields.", name="from", read=one_of("promptfoo", "inspect", "deepeval"))
    scorer: str | None = option("Scorer that Inspect used.", read=one_of("includes", "match", "exact", "pattern", "model_graded_qa"))


class Diff(CommandTable, act="diff:diff", page="comparing"):
    """Compares two runs and tells real regressions from noise. A is the older report (.jsonl or .json), B the newer
    one; further reports are compared with A too. With A alone, compares its variants. With --baseline, A is the newer
    run; without A, the latest run in the store."""

    a: str | None = word("[A]")
    b: str | None = word("[B]")
    more: tuple[str, ...] = word("[MORE]...", kind="words")
    outputs: tuple[str, ...] = outputs("Also write the comparison to a file: .md, .json, .html. Repeatable.")
    baseline: str | None = option("Compare with the newest runs of a branch, or with a commit or a run, from the store.", metavar="NAME")
    store: str | None = option(f"With --baseline: f{_STORE}", metavar="DIR")
    fail_on: str | None = option("Exit with 1 when the verdict is \"regressed\"; with unsure, also when it is \"cannot tell\".", read=one_of("regressed", "unsure"))
    fail_on_regression: bool = switch("Exit with 1 on any new failure, even if it may be noise.")
    measure: str = option("Measure to compare: passed, score, or the id of a criterion. Default: passed.", metavar="NAME", default="passed")
    margin: float = option("Largest difference that does not matter to you, in percentage points. Default: 5.", metavar="POINTS", default=5, read=number(float, r"\d*\.?\d+", lambda points: 0 < points <= 100, "a number above 0 to 100"))
    noise: str | None = option("Whether repeated runs of a case can give different results. Default: none for scripted and replayed models, else runs.", read=one_of("runs", "none"))
    slower_factor: float = option("Report a test as slower when it takes at least this many times as long, and --slower-by longer. Default: 2.", metavar="FACTOR", default=2, read=number(float, r"\d*\.?\d+", lambda factor: factor >= 1, "a number of at least 1"))
    slower_by: float = option("Report a test as slower when it takes at least this much longer, and --slower-factor times as long. Default: 200ms.", metavar="DURATION", default=0.2, read=duration)
    """Seconds."""
    as_json: bool = _json
    verbose: bool = _statistics
    no_color: bool = _no_color


class Doctor(CommandTable, act="settings:doctor", page="mocking"):
    """Shows which sandbox walls this machine has, which optional parts are installed, and which calls of each agent
    need a mock, a key or an optional part. Exit codes: 0 done; 1 with --strict if an agent lacks anything; 2
    configuration error."""

    app: str | None = option("Application root. Default: the nearest one at or above the working directory, if there is one.", short="a", metavar="DIR")
    env_files: tuple[str, ...] = option(".env file with environment variables. Repeatable.", kind="repeated", name="env-file", short="e", metavar="FILE")
    as_json: bool = _json
    strict: bool = switch("Exit with 1 if an agent lacks anything.")
    write_mocks: str | None = option("Write a TypeScript module with the missing mocks. They throw until you fill them in.", metavar="FILE")


class Extract(CommandTable, act="show:extract", page="reports"):
    """Writes one file per result of a saved .jsonl or .json report; with -o FILE.csv, a table of its cases that can be
    used as a case file."""

    report: str = word("REPORT", required=True)
    directory: str | None = option("Folder for the files, or a table (.csv, .tsv). Default: a folder next to the report, with its name.", short="d", aliases=("-o",), metavar="DIR|FILE.csv")
    kind: str = option("Format of the files: Markdown or JSON.", name="format", default="md", read=one_of("md", "markdown", "json"))
    statuses: tuple[str, ...] = option("Only results with this status. Repeatable.", kind="repeated", name="status", read=one_of("passed", "failed", "skipped"))


class History(CommandTable, act="history:history", page="history"):
    """Shows how tests performed over the runs in the store, the worst first: how often each passes, and the commit since
    which it has been flaky, slower or more expensive. TEST is the name of a test, or a part of several names."""

    test: str | None = word("[TEST]")
    store: str | None = _store
    branch: str | None = _branch
    last: int = option("Only the newest N runs. Default: 100.", metavar="N", default=100, read=number(int, r"\d+", lambda runs: 1 <= runs <= 1_000_000, "a whole number from 1 to 1000000"))
    as_json: bool = _json
    verbose: bool = _statistics
    no_color: bool = _no_color


class Init(CommandTable, act="init:init", page="quickstart"):
    """Creates an agent with a hook, a tool, a scripted model, a script test, a case and a conversation, the TypeScript
    declarations, AGENTS.md and a CI file; inside an application, adds them to it. Existing files are kept."""

    folder: str | None = word("[FOLDER]")
    name: str | None = option("Agent to create. Default: hello.", short="n", metavar="ID")
    data: str | None = option("Make the agent's cases from a table: .csv or .tsv.", metavar="TABLE")
    example: str | None = option("Create a larger example application instead.", read=one_of("support-desk", "rag", "sandbox"))
    vscode: bool = switch("Write tasks for VS Code, with a problem matcher for failures.")
    ci: str | None = option("CI file to write. Default: ask at a terminal, else github.", read=one_of("github", "gitlab", "none"))


class Label(CommandTable, act="labels:label", page="calibrating"):
    """Shows you answers that judges have graded and asks whether each is good: y, n, s to skip, u to undo, q to stop.
    Saves every label at once, as .jsonl or .csv. Without a terminal, writes a file for you to fill in. Existing labels
    are kept."""

    report: str = word("REPORT", required=True)
    output: str = option("File for the labels: .jsonl or .csv.", short="o", metavar="FILE", required=True)
    count: int = option("Number of answers to ask about. Default: 60.", metavar="N", default=60, read=count)


class Mcp(CommandTable, act="serve:mcp", page="coding-agents"):
    """Serves tests to coding agents over the Model Context Protocol, on standard input and output: running them,
    explaining failures, coverage, history. Real models are called only with --allow-models and a budget."""

    app: str | None = _app
    store: str | None = _store
    allow_models: bool = switch("Let tests call real models; needs --max-cost or --max-tokens.")
    max_cost: float | None = option("Budget of the server, in US dollars.", metavar="USD", read=amount)
    max_tokens: int | None = option("Budget of the server, in tokens.", metavar="N", read=count)
    http: str | None = option("Serve over HTTP on this port of 127.0.0.1, to clients with the token: the one in YAO_TEST_MCP_TOKEN, else a new one. Default: a free port.", kind="maybe", metavar="PORT", read=_port)


class Merge(CommandTable, act="merge:merge", page="long-runs"):
    """Merges the .jsonl or .json reports of the shards of one run. If two have the same result, the later one wins.
    Lists missing shards and tests and exits with 2, unless --partial is given. With --as-runs, turns several reports of
    the same cases into one report with several runs."""

    parts: tuple[str, ...] = word("PART...", kind="words", required=True)
    outputs: tuple[str, ...] = outputs(f"Report to write: {_REPORTS}. Repeatable.", required=True)
    partial: bool = switch("Exit with 0 even if shards or tests are missing.")
    as_runs: bool = switch("Treat each report as further runs of the same cases.")
    thresholds: tuple[CoverageThreshold, ...] = option("Minimum coverage; exit with 1 if it is lower. Repeatable.", kind="repeated", name="coverage-threshold", metavar="METRIC=PERCENT", read=value_read_by("read_coverage_threshold"))


class Mutate(CommandTable, act="mutate:mutate", page="mutating", of_run=lambda flag: flag.mutate):
    """Plants small faults, mutants, in the handlers that script tests load, and runs the tests with each: a mutant that
    survives shows a missing test. For case files, makes the agent's answers worse and grades them again. No files are
    changed. Exit codes: 0; 1 if the score is below --threshold, or if tests fail without mutants."""

    tests: tuple[str, ...] = word("[TESTS]...", kind="words")
    files: tuple[str, ...] = option("Paths of the handlers to mutate; !GLOB excludes some. Default: handlers that the tests load. Repeatable.", kind="repeated", name="mutate", metavar="GLOB")
    origin: str | None = option("Report, or run:ID, with the answers to change. Default: the newest stored run; scripted models are called.", name="from", metavar="REPORT")
    ask_judges: bool = switch("Let judges call real models to grade changed answers.")
    prompts: bool = switch("Remove each rule of the agents' prompts in turn, and run the cases without it.")
    yes: bool = switch("With --prompts: call the models without a cost limit.")
    resume: str | None = option("With --prompts: save model responses next to this file, and resume from them.", metavar="FILE")
    threshold: float | None = option("Minimum score, such as 0.8 or 80%; exit with 1 if it is lower.", metavar="SCORE", read=share_or_percent)
    since: str | None = option("Only mutants on lines changed since the merge base with a revision, and all mutants of handlers whose tests changed.", metavar="REF")
    sample: int | None = option("Number of mutants, or rules, to sample, using --seed.", metavar="N", read=count)
    mutators: tuple[str, ...] = option("Mutators to use; stryker is the set of StrykerJS. Repeatable.", kind="repeated", metavar="NAME")
    shard: Shard | None = option("Run one part of the mutants, such as the second of four: 2/4.", metavar="I/N", read=value_read_by("read_shard"))
    fresh: bool = switch("Test all mutants again, ignoring verdicts of earlier runs.")
    outputs: tuple[str, ...] = outputs("Also write a report: .json, .html, .md. Repeatable.")


class Regrade(CommandTable, act="show:regrade", page="long-runs", of_run=lambda flag: flag.regrade is not flags.Regrade.NO):
    """Grades the answers in a saved .jsonl report again, with the current assertions and judges of the case files.
    Cases that no longer exist are graded with the assertions stored in the report. No agent is called. Exit codes are
    as in a run."""

    report: str = word("REPORT", required=True)


class Repl(CommandTable, act="repl:repl", page="debugging", of_run=lambda flag: flag.repl):
    """Opens a TypeScript prompt with the functions of a script, and with t, ctx, mocks and the database of a test.
    `await` and input over several lines work; _ is the last value. Ctrl-C interrupts, Ctrl-D quits. With input from a
    pipe, prints the value of each, and exits with 1 if any of them threw."""

    script: str = word("scripts.AGENT.MODULE", required=True)


class Schema(CommandTable, act="settings:schema", page="editor"):
    """Prints a JSON Schema that lets editors complete and check files. file: case files. case: a single case, as on a
    line of JSONL. result: what --json prints. config: yao-test.toml."""

    of: str = word("SCHEMA", default="file", read=one_of("file", "case", "result", "config"))
    output: str | None = option("Write the schema to this file.", short="o", metavar="FILE")


class Show(CommandTable, act="show:show", page="reports"):
    """Shows a saved .jsonl or .json report, or a run from the store (run:ID), on the console, or writes it in another
    format."""

    report: str = word("REPORT", required=True)
    outputs: tuple[str, ...] = outputs(f"Write the report to a file: {_REPORTS}. Repeatable.")
    reporter: str | None = option("Print the report with a built-in reporter, such as report.markdown.", short="r", metavar="ID")
    store: str | None = _store
    verbose: int = option("Show every test of every suite, and the output of passing tests.", kind="count", short="v")
    quiet: bool = switch("Show only failures and the summary.", short="q")
    no_color: bool = _no_color


class Status(CommandTable, act="show:status", page="long-runs", of_run=lambda flag: flag.may_open_walls):
    """Shows what --resume would run for .jsonl reports, and why, without running it. Exit codes: 0 nothing to run; 1
    results are missing, stale or ended with an error; 2 a report, or a file it depends on, cannot be read."""

    reports: tuple[str, ...] = word("REPORT...", kind="words", required=True)


class StoreList(CommandTable, act="history:list_runs"):
    """Lists the runs in a store, newest first."""

    store: str | None = _store
    branch: str | None = _branch
    as_json: bool = _json


class StoreMerge(CommandTable, act="history:merge"):
    """Copies the runs and labels of the other stores into the first one."""

    into: str = word("STORE", required=True)
    stores: tuple[str, ...] = word("OTHER...", kind="words", required=True)


class StorePrune(CommandTable, act="history:prune_runs"):
    """Removes runs beyond an age or a size, the oldest first. Keeps the newest run and runs with labels."""

    keep: tuple[StoreKeep, ...] = option("Age or size to keep, such as 90d or 500MB. Repeatable.", kind="repeated", metavar="LIMIT", required=True, read=value_read_by("read_store_keep"))
    store: str | None = _store


class Store(CommandTable, page="history", group={"list": StoreList, "merge": StoreMerge, "prune": StorePrune}):
    """Lists the runs in a store, merges stores, and removes old runs."""


class Trust(CommandTable, act="settings:trust", page="security"):
    """Approves the connectors, MCP servers, prompts, hooks and .env of an application (default: the one here) as they
    are now: writes their digests to yao-test.trust and shows what changed. With --require-trust, a run rejects files
    that differ from it."""

    folder: str | None = word("[FOLDER]")


class Types(CommandTable, act="types:types", page="editor"):
    """Installs the TypeScript declarations into types/yao-test of an application (default: the one here), and small
    project files that let editors find the module of each test."""

    folder: str | None = word("[FOLDER]")


class View(CommandTable, act="serve:view", page="view"):
    """Serves the runs in a store as web pages: results, traces, a test over time, runs side by side, human labels.
    Pages update during a run. Prints a link that works only on this machine. Press Ctrl-C to stop."""

    store: str | None = _store
    port: int = option("Port on 127.0.0.1. Default: a free one.", metavar="PORT", default=0, read=number(int, r"\d+", lambda port: 1 <= port <= 65535, "a whole number from 1 to 65535"))
    app: str | None = _app
    as_json: bool = _json


# fmt: on
