"""The table of flags: each is declared once, with its values, its range and what it excludes."""

from __future__ import annotations

import json
import re
import shlex
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from table_tests import each

import runner
import runner.options.options as options_module
from runner.errors import ConfigurationError
from runner.options.flags import Carried, Changes, Flag, Regrade, flag
from runner.options.options import FLAGS, RunOptions, check_needs, options_from, saved_values, taken_over, texts_in
from runner.planning.resume import origin_of
from scripttest.values import names_of

INPUT = ["-i", "scripts.demo.a"]
NUMBERS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "--parallel": ({"1": 1, "64": 64}, ["0", "-1", "1.5", "many", ""]),
    "--runs": ({"1": 1, "20": 20}, ["0", "1.5", "often"]),
    "--timeout": ({"500ms": 0.5, "1m30s": 90.0, "2h": 7200.0}, ["0s", "30", "soon"]),
    "--max-duration": ({"30m": 1800.0}, ["0ms", "1 hour"]),
    "--max-cost": ({"2.50": 2.5, ".5": 0.5}, ["0", "-1", "free"]),
    "--max-tokens": ({"1000": 1000}, ["0", "1e3"]),
    "--durations": ({"1": 1, "20": 20}, ["0", "all"]),
    "--max-failures": ({"1": 1, "20": 20}, ["0", "-1", "some"]),
    "--threshold": ({"0": 0.0, "1": 1.0, ".8": 0.8}, ["1.01", "-0.1", "high"]),
    "--on-missing-input": ({"skip": "skip", "fail": "fail", "end": "end"}, ["stop", "Skip", ""]),
    "--shuffle": ({"1": 1, "4711": 4711}, ["0", "-1", "often"]),
    "--shard": ({"2/4": "2/4", "1/1": "1/1"}, ["0/4", "5/4", "2", "a/b"]),
    "--record": ({"recordings": "recordings"}, [""]),
    "--replay": ({"recordings": "recordings"}, [""]),
    "--record-missing": ({"recordings": "recordings"}, [""]),
}
EXCLUSIVE = {
    ("repeat", "runs"),
    ("quiet", "verbose"),
    ("interactive", "skip-interactive"),
    ("record", "replay"),
    ("record", "record-missing"),
    ("replay", "record-missing"),
    ("resume", "dry-run"),
    ("fail-fast", "max-failures"),
    ("dry-run", "durations"),
    ("last-failed", "failed-first"),
    ("json", "interactive"),
    ("watch", "dry-run"),
    ("brief", "interactive"),
    ("brief", "watch"),
    ("brief", "verbose"),
    ("brief", "json"),
    ("watch", "resume"),
    ("watch", "json"),
    ("watch", "interactive"),
    ("json", "quiet"),
    ("failed-first", "shuffle"),
    ("no-writes", "record"),
    ("no-writes", "record-missing"),
}


def options(*words: str) -> RunOptions:
    values = texts_in([*INPUT, *words])
    assert values is not None
    return options_from(values)


def field(flag: str) -> str:
    return flag.removeprefix("--").replace("-", "_")


@each("flag", NUMBERS)
def test_the_value_of_a_flag_is_read_and_its_range_is_kept(flag: str) -> None:
    good, bad = NUMBERS[flag]
    for text, value in good.items():
        assert (
            getattr(options(flag, text), field(flag)) == value
            or str(getattr(options(flag, text), field(flag))) == value
        )
    for text in bad:
        with pytest.raises(ConfigurationError) as caught:
            options(f"{flag}={text}")
        assert flag in caught.value.message


def test_a_flag_that_is_not_given_has_its_default() -> None:
    given = options()
    assert given == RunOptions(inputs=("scripts.demo.a",))
    assert (given.runs, given.min_pass_rate, given.timeout, given.outputs, given.verbose) == (1, 100, None, (), 0)


def test_flags_exclude_each_other_whichever_comes_first() -> None:
    """Every two flags of the table together: those of `EXCLUSIVE` are refused, and no others."""
    samples = {
        "record": "r",
        "replay": "r",
        "record-missing": "r",
        "resume": "old.jsonl",
        "runs": "2",
        "max-failures": "2",
        "durations": "2",
        "shuffle": "2",
        "repeat": "1 of 2",
        "json": "lines",
    }
    refused = set()
    alone = [flag for flag in FLAGS if flag.needs is None]
    switches = [flag for flag in alone if flag.kind in ("switch", "count") or flag.name in samples]
    for first, second in combinations(switches, 2):
        words = [
            [f"--{flag.name}", *([samples[flag.name]] if flag.name in samples else [])] for flag in (first, second)
        ]
        messages = []
        for order in (words, words[::-1]):
            try:
                options(*order[0], *order[1])
            except ConfigurationError as error:
                messages.append(error.message)
        if messages:
            pair = next(pair for pair in EXCLUSIVE if {*pair} == {first.name, second.name})
            assert messages == [f"--{pair[0]} and --{pair[1]} cannot be used together"] * 2
            refused.add(pair)
    assert refused == EXCLUSIVE


def test_a_flag_that_needs_another_says_so() -> None:
    values = texts_in([*INPUT, "--min-pass-rate", "80"])
    assert values is not None
    alone = options_from(values)
    with pytest.raises(ConfigurationError, match="--min-pass-rate needs --runs") as caught:
        check_needs(alone, values)
    assert "--runs" in (caught.value.hint or "")
    check_needs(alone.replace(runs=5), values)
    assert options("--min-pass-rate", "80%", "--runs", "5").min_pass_rate == 80


def test_hosts_are_listed_with_commas_or_one_by_one() -> None:
    assert options("--allow-net", "a.test, b.test:80,", "--allow-net", "c.test").allow_net == (
        "a.test",
        "b.test:80",
        "c.test",
    )
    assert options("--allow-net").allow_net == ("*",)


NO_HOSTS = {
    "": "it is empty",
    " , ": "it is empty",
    "http://api.test/v1": "a host must not include a scheme or a path",
    "api.test,api.test/v1": "a host must not include a scheme or a path",
    "10.0.0.0/8": "a host must not include a scheme or a path",
    "me@api.test": "it must be host or host:port",
    "api..test": "it must be host or host:port",
    "::1]": "it must be host or host:port",
    ":80": "it must be host or host:port",
    "a:80:90": "it must be host or host:port",
    "*.api.test": "wildcards are not supported, except * alone",
    "*:443": "wildcards are not supported, except * alone",
    "api.test:": "its port must be a number from 1 to 65535",
    "api.test:http": "its port must be a number from 1 to 65535",
    "api.test:0": "its port must be a number from 1 to 65535",
    "[::1]:65536": "its port must be a number from 1 to 65535",
}


@each("text", NO_HOSTS)
def test_what_can_allow_no_host_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="Cannot use --allow-net") as caught:
        options(f"--allow-net={text}")
    assert caught.value.message.endswith(NO_HOSTS[text])
    assert "host:port" in (caught.value.hint or "")


@each("host", ["*", "localhost", "API.test.", "api_1.test:80", "bücher.test", "127.0.0.1:8080", "::1", "[::1]:80"])
def test_hosts_and_their_ports_are_taken(host: str) -> None:
    assert options(f"--allow-net={host}").allow_net == (host,)


def test_no_program_is_an_error() -> None:
    with pytest.raises(ConfigurationError, match="Cannot use --allow-exec: it is empty"):
        options("--allow-exec=")


@each("name", [flag.name for flag in FLAGS if flag.kind == "text" and flag.name != "run"])
def test_an_empty_value_is_refused(name: str) -> None:
    """A variable of a CI job that is not set must not run something else, such as the agent's own connector."""
    with pytest.raises(ConfigurationError, match=f"(Cannot (use|read)|Invalid) --{name}"):
        options(f"--{name}=")


def test_an_empty_pattern_picks_all() -> None:
    assert options("--run=").run == ""


def test_the_options_and_the_table_are_one() -> None:
    assert [flag.field for flag in FLAGS] == list(names_of(RunOptions))


def test_both_readers_of_command_lines_agree() -> None:
    """The quick one and click, on a line that only click can read (an abbreviation) and its plain form."""
    from runner.commands.parser import click_command

    lines = [
        ["-i", "a", "-i", "b", "--runs", "3", "-v", "-v"],
        ["--input=a", "--allow-net", "x.test", "-q", "-o", "r.json", "-run", "Test"],
        ["-i", "a", "--timeout=5s", "--strict", "--shard", "1/2"],
    ]
    for line in lines:
        quick = texts_in(line)
        assert quick is not None
        assert options_from(click_command().main(line, standalone_mode=False)) == options_from(quick)


def test_each_flag_says_what_it_means_for_other_runs() -> None:
    with pytest.raises(TypeError, match=r"changes.*file.*carried"):
        flag("It says nothing.", kind="switch")
    for one in FLAGS:
        if one.changes_results:  # what results depend on is not forgotten by a run that goes on with them
            assert one.carried in (Carried.TEST, Carried.TYPED), one.name
        if one.changes in (Changes.JUDGED, Changes.GRADED):  # what decides about verdicts only can be decided again
            assert one.regrade is Regrade.YES, one.name
        if one.name.startswith("allow-"):
            assert (one.carried, one.in_file) == (Carried.TYPED, False), one.name


MANY = 5
"""So many names of flags in a row are a list of flags."""
SAMPLES: dict[str, list[str]] = {
    "variants": ["old", "new=connector:x,env:STYLE=a b"],
    "shard": ["2/4"],
    "timeout": ["1m30s"],
    "runs": ["3"],
    "min_pass_rate": ["82.5"],
    "repeat": ["4 of 5"],
    "threshold": ["0.75"],
    "judge_samples": ["3"],
    "on_inconclusive": ["fail"],
    "on_missing_input": ["end"],
    "seed": ["7"],
    "trace": ["full"],
    "sandbox": ["require"],
    "allow_net": ["a.example:1", "b.example"],
    "allow_exec": ["sh", "cat"],
    "run": ["-x|y z"],
    "fuzz_time": ["5s"],
    "tags": ["-t", "u"],
}


@each("one", [one for one in FLAGS if one.carried is not Carried.NO], ids=lambda one: one.name)
def test_what_a_report_carries_is_read_as_it_was_given(one: Flag) -> None:
    """The value of a flag, through the JSON of a report, and through the words that a message or a page prints of it."""
    texts = SAMPLES.get(one.field, ["some text"])
    values = {other.field: other.not_given for other in FLAGS}
    if one.kind == "switch":
        values[one.field] = True
    elif one.kind == "repeated" or one.kind == "optional":
        values[one.field] = tuple(texts)
    else:
        values[one.field] = texts[0]
    given = RunOptions(**{one.field: one.value(values)})
    origin = origin_of(given, RunOptions(), (), "key", {})
    stored = json.loads(json.dumps(origin["options"]))
    assert RunOptions(**saved_values(stored)) == given
    for joined in (False, True):
        read_again = texts_in(given.words(lambda _: True, joined))
        assert read_again is not None and one.value(read_again) == getattr(given, one.field)
    assert shlex.split(taken_over(stored)) == given.words(lambda _: True)


def test_only_the_table_lists_flags() -> None:
    """No other module says of several flags at once what they mean. The flags that pytest itself gives are no such
    list."""
    names = {name for one in FLAGS for name in (one.name, one.field)}
    listing = set()
    for path in {*Path(runner.__file__).parent.rglob("*.py")} - {Path(options_module.__file__)}:
        for found in re.findall(r'"[a-z_ -]*"(?:,?\s+"[a-z_ -]*")*', path.read_text()):
            words = re.findall("[a-z_-]+", found)
            if len(words) >= MANY and names.issuperset(words):
                listing.add((path.name, " ".join(words)))
    assert listing == {("running.py", "input run skip-interactive watch quiet output max-failures fail-fast")}
