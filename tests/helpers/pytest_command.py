"""pytest with the plugin, in a process of its own."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from command import Application
from forks import Forked, fork_server

ROOT = Path(__file__).parents[2]
VARIABLES = {"PYTHONPATH": str(ROOT), "COLUMNS": "200", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
PLUGINS = ("-p", "runner.pytest_plugin", "-p", "xdist.plugin", "-o", "addopts=")


def start(here: Application, *words: str) -> Forked:
    """Starts pytest, which loads no other plugin than ours and that for several processes.

    It has a folder for temporary files of its own: in the common one it would remove what former runs of pytest left there.
    """
    variables = {**here.environment, **VARIABLES, "TMPDIR": str(here.home)}
    words = (*PLUGINS, "--rootdir", str(here.root), *words)
    return fork_server().start(words, here.root, variables, program="pytest")


def ended(process: Forked) -> tuple[int, str]:
    """Exit code and output of pytest, which has no errors to write."""
    output, errors = (text.decode() for text in process.communicate() if text is not None)
    assert errors == ""
    return process.wait(), output


def run(here: Application, *words: str) -> tuple[int, str]:
    """Exit code and output of pytest."""
    with start(here, *words) as process:
        return ended(process)


def verdicts(here: Application, *words: str) -> dict[str, str]:
    """Name of each item → how it ended: "failed", "skipped", or "passed" and the seconds, from the JUnit report."""
    report = here.home / "pytest.xml"
    run(here, f"--junit-xml={report}", *words)
    found = {}
    for case in ElementTree.parse(report).iter("testcase"):
        kinds = {child.tag for child in case} - {"system-out", "system-err", "properties"}
        found[case.attrib["name"]] = {"failure": "failed", "error": "error"}.get(*kinds, *kinds) if kinds else "passed"
    return found
