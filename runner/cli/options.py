"""The options of one run, checked."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.durations import seconds_of
from runner.errors import ConfigurationError, did_you_mean
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.cli.shard import Shard

DEFAULT_SCRIPT_TIMEOUT = 30.0
"""Seconds."""
DEFAULT_CASE_TIMEOUT = 300.0
"""Seconds."""
DEFAULT_THRESHOLD = 0.8
"""Score from which on a conversation passes."""
ON_MISSING_INPUT = ("skip", "fail", "end")
"""What may happen when an agent waits and nobody answers."""
EXCLUSIVE = (
    ("quiet", "verbose"),
    ("interactive", "skip-interactive"),
    ("record", "replay"),
    ("record", "record-missing"),
    ("replay", "record-missing"),
    ("resume", "dry-run"),
)
"""Flags of which one or the other may be given."""


class RunOptions(Value):
    """What the flags say; paths are as the user wrote them."""

    inputs: tuple[str, ...]
    name: str | None = None
    outputs: tuple[str, ...] = ()
    connector: str | None = None
    app: str | None = None
    user: str | None = None
    team: str | None = None
    ctx: str | None = None
    reporter: str | None = None
    run: str | None = None
    timeout: float | None = None
    """Seconds."""
    parallel: int | None = None
    runs: int = 1
    """How often each test runs."""
    min_pass_rate: float = 100
    """Percent of its runs that have to pass for a test to pass."""
    threshold: float | None = None
    """0 to 1."""
    require_judge: bool = False
    simulator: str | None = None
    interactive: bool = False
    skip_interactive: bool = False
    on_missing_input: str | None = None
    before: str | None = None
    after: str | None = None
    record: str | None = None
    replay: str | None = None
    record_missing: str | None = None
    resume: str | None = None
    shard: Shard | None = None
    max_cost: float | None = None
    """US dollars."""
    max_tokens: int | None = None
    max_duration: float | None = None
    """Seconds."""
    strict: bool = False
    """Whether the warnings of a result fail it."""
    lenient: bool = False
    allow_net: tuple[str, ...] = ()
    update_snapshots: bool = False
    dry_run: bool = False
    fail_fast: bool = False
    verbose: int = 0
    quiet: bool = False
    no_color: bool = False

    @property
    def script_timeout(self) -> float:
        """Seconds that a script test may take."""
        return self.timeout or DEFAULT_SCRIPT_TIMEOUT

    @property
    def case_timeout(self) -> float:
        """Seconds that a case may take which does not say how many."""
        return self.timeout or DEFAULT_CASE_TIMEOUT

    @property
    def score_threshold(self) -> float:
        """Score from which on a conversation passes that does not say which."""
        return DEFAULT_THRESHOLD if self.threshold is None else self.threshold


def options_from(values: dict[str, Any]) -> RunOptions:
    """Options from the values of the flags. Raises ConfigurationError."""
    inputs = values.pop("input")
    if not inputs and values["resume"] is None:
        raise ConfigurationError("Nothing to test: -i is missing", "Try: yao-test -i scripts.expense.setup -v")
    if values["timeout"] is not None:
        values["timeout"] = seconds_of(values["timeout"], "--timeout")
    if values["parallel"] is not None:
        values["parallel"] = _count(values["parallel"], "--parallel")
    _read_runs(values)
    _read_budgets(values)
    if values["threshold"] is not None:
        values["threshold"] = _share(values["threshold"], "--threshold")
    if values["on_missing_input"] is not None:
        _one_of(values["on_missing_input"], ON_MISSING_INPUT, "--on-missing-input")
    for flag in ("record", "replay", "record-missing"):
        if values[flag.replace("-", "_")] == "":
            raise ConfigurationError(f"Cannot use --{flag}: it is empty", "Name the folder of the recordings")
    for first, second in EXCLUSIVE:
        if values[first] and values[second.replace("-", "_")]:
            raise ConfigurationError(f"--{first} and --{second} exclude each other")
    values["allow_net"] = tuple(
        host.strip() for text in values["allow_net"] for host in text.split(",") if host.strip()
    )
    return RunOptions(inputs=tuple(inputs), outputs=tuple(values.pop("output")), **values)


def _read_budgets(values: dict[str, Any]) -> None:
    cost = values["max_cost"]
    if cost is not None:
        if not re.fullmatch(r"\d*\.?\d+", cost) or not float(cost):
            raise ConfigurationError(f'Cannot read --max-cost "{cost}": it must be a number above 0, such as 2.50')
        values["max_cost"] = float(cost)
    if values["max_tokens"] is not None:
        values["max_tokens"] = _count(values["max_tokens"], "--max-tokens")
    if values["max_duration"] is not None:
        values["max_duration"] = seconds_of(values["max_duration"], "--max-duration")
    if values["shard"] is not None:
        from runner.cli.shard import read_shard

        values["shard"] = read_shard(values["shard"])


def _count(text: str, where: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ConfigurationError(f'Cannot read {where} "{text}": it must be a whole number from 1 up')
    return int(text)


def _read_runs(values: dict[str, Any]) -> None:
    """Reads `--runs` and `--min-pass-rate`. Raises ConfigurationError."""
    runs, rate = values["runs"], values["min_pass_rate"]
    if rate is not None and runs is None:
        raise ConfigurationError("--min-pass-rate needs --runs", "Say how often each test is to run, such as --runs 5")
    values["runs"] = 1 if runs is None else _count(runs, "--runs")
    values["min_pass_rate"] = 100 if rate is None else _percent(rate, "--min-pass-rate")


def _percent(text: str, where: str) -> float:
    number = text.removesuffix("%")
    if not re.fullmatch(r"\d+(\.\d+)?", number) or not 1 <= float(number) <= 100:
        raise ConfigurationError(f'Cannot read {where} "{text}": it must be a percentage from 1 to 100, such as 80')
    return float(number)


def _share(text: str, where: str) -> float:
    if not re.fullmatch(r"\d*\.?\d+", text) or float(text) > 1:
        raise ConfigurationError(f'Cannot read {where} "{text}": it must be a number from 0 to 1, such as 0.8')
    return float(text)


def _one_of(text: str, choices: tuple[str, ...], where: str) -> None:
    if text not in choices:
        *others, last = choices
        hint = did_you_mean(text, choices) or f"Write {', '.join(others)} or {last}"
        raise ConfigurationError(f'Cannot use {where} "{text}": there is no such choice', hint)


def absolute(path: str, directory: Path) -> Path:
    """A path that the user wrote, from the working directory."""
    return (directory / Path(path).expanduser()).resolve()


def report_path(output: str, directory: Path) -> Path:
    """The absolute path of `-o`. Its name is as the user wrote it, also when it is a link: the name says the format."""
    path = directory / Path(output).expanduser()
    return path.parent.resolve() / path.name
