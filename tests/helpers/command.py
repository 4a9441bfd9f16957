"""Applications written for a test, and the real command in them."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pytest
from forks import Forked, fork_server
from in_process import INHERITED, run_in_process, run_on_terminal

Files = Mapping[str, str | bytes]
Record = dict[str, Any]
T = TypeVar("T")
MakeApplication = Callable[[Files], "Application"]

COMMAND = [sys.executable, "-m", "runner"]
PATIENCE = 120
"""Seconds after which what should have happened counts as missing; only a hang gets there, on a slow machine as well."""


class Run(NamedTuple):
    """What a command left behind; the application's folder is written `<app>`, the home folder `<home>`."""

    code: int
    stdout: str
    stderr: str


class Application:
    """An application folder, and the command in it."""

    apart = False
    """Whether `run` starts a process each time, as where it matters what a process inherits and hands on."""

    def __init__(self, root: Path, home: Path) -> None:
        self.root = root
        self.home = home
        self.source = root / "assistants/demo/src"
        self.temporary: Path | None = None
        """The folder for temporary files of commands that are started; None: that of the system."""

    def write(self, files: Files) -> None:
        """Writes files. A name that starts with `/` counts from the application root, any other from the `src` folder of
        the agent `demo`."""
        for name, content in files.items():
            path = self.root / name[1:] if name.startswith("/") else self.source / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)

    @property
    def environment(self) -> dict[str, str]:
        """The whole environment of a command."""
        temporary = {} if self.temporary is None else {"TMPDIR": str(self.temporary)}
        return {"PATH": os.defpath, "HOME": str(self.home), "LANG": "C.UTF-8", **temporary}

    def start(
        self,
        *arguments: str,
        prefix: tuple[str, ...] = (),
        takes_terminal: bool = False,
        fresh: bool = False,
        **more: Any,
    ) -> subprocess.Popen[bytes] | Forked:
        """Starts the command in a session of its own.

        Args:
            prefix: words before the command, which a shell is to begin then.
            takes_terminal: whether the terminal that is its standard input is to control it.
            fresh: whether Python itself is to start anew; otherwise the command is forked from a process that has loaded
                its modules, unless there is a prefix or Python would read one of the variables when it starts.
            more: as for `subprocess.Popen`.
        """
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
        options = {"cwd": self.root, "env": self.environment, **pipes, **more}
        if not fresh and not prefix and not any(name.startswith(INHERITED) for name in options["env"]):
            directory, variables = options.pop("cwd"), options.pop("env")
            return fork_server().start(arguments, directory, variables, takes_terminal=takes_terminal, **options)
        attach = take_terminal if takes_terminal else None
        return subprocess.Popen([*prefix, *COMMAND, *arguments], start_new_session=True, preexec_fn=attach, **options)

    def run(self, *arguments: str, directory: str = "", env: Mapping[str, str] | None = None) -> Run:
        """Runs the command to its end, in this process unless it is `apart`.

        Args:
            directory: the working directory, from the application root.
            env: the whole environment, `environment` by default.
        """
        variables = self.environment if env is None else env
        if self.apart:
            return self.fork(*arguments, directory=directory, env=variables)
        return self._ended(*run_in_process(arguments, (self.root / directory).resolve(), variables, PATIENCE))

    def fork(self, *arguments: str, directory: str = "", env: Mapping[str, str] | None = None) -> Run:
        """The same in a process of its own, for what concerns a process: how it ends, what it inherits, its children,
        its memory. From any thread."""
        variables = self.environment if env is None else env
        return self._ended(*fork_server().run(arguments, self.root / directory, variables, PATIENCE))

    def spawn(self, *arguments: str, prefix: tuple[str, ...] = (), **more: Any) -> Run:
        """The same as a shell begins it, for what concerns that beginning: permissions, standard streams, limits."""
        with self.start(*arguments, prefix=prefix, fresh=True, **more) as process:
            return self.finish(process)

    def finish(self, process: subprocess.Popen[bytes] | Forked) -> Run:
        """Waits for the end of a command."""
        try:
            stdout, stderr = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        return self._ended(process.returncode, stdout, stderr)

    def _ended(self, code: int, stdout: bytes | None, stderr: bytes | None) -> Run:
        return Run(code=code, stdout=self.anonymous(stdout), stderr=self.anonymous(stderr))

    def anonymous(self, output: bytes | None) -> str:
        """Text without the places of this machine."""
        text = (output or b"").decode(errors="replace")
        return text.replace(str(self.root), "<app>").replace(str(self.home), "<home>")

    def report(self, *arguments: str, code: int | None = None) -> Record:
        """The `.json` report of a run, which goes to a file outside the application; `code` is the exit code to expect."""
        path = self.home / f"report-{time.monotonic_ns()}.json"
        run = self.run(*arguments, "-o", str(path))
        assert path.exists(), run
        assert "Traceback" not in run.stdout + run.stderr
        if code is not None:
            assert run.code == code, run
        report: Record = json.loads(self.anonymous(path.read_bytes()))
        return report

    def results(self, *arguments: str, code: int | None = None) -> dict[str, Record]:
        """The records of a run by test name; those of several modules by `<module>.<test>`."""
        report = self.report(*arguments, code=code)
        if "reports" not in report:
            return {record["name"]: record for record in report["results"]}
        found = {}
        for part in report["reports"]:
            module = part["script"].removeprefix("scripts.demo.")
            found |= {f"{module}.{record['name']}": record for record in part["results"]}
        return found

    def listing(self) -> dict[str, tuple[int, int]]:
        """Every file and folder below the root, with its size and the time of its last change."""
        paths = [self.root, *sorted(self.root.rglob("*"))]
        return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in paths}


def take_terminal() -> None:
    """Lets the terminal that is the standard input control this process."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def on_terminal(application: Application, *arguments: str, **variables: str) -> tuple[int, str]:
    """Exit code, and what a terminal of 60 columns gets; `variables` are added to the environment."""
    environment = {**application.environment, "TERM": "xterm", "COLUMNS": "60", **variables}
    if "--help" not in arguments:
        code, output = run_on_terminal(arguments, application.root, environment, PATIENCE)
        return code, output.decode().replace("\r\n", "\n")
    leader, follower = pty.openpty()
    with application.start(*arguments, stdout=follower, stderr=follower, env=environment) as process:
        os.close(follower)
        output = b""
        with suppress(OSError):
            while piece := os.read(leader, 65536):
                output += piece
        os.close(leader)
        code = process.wait(PATIENCE)
    return code, output.decode().replace("\r\n", "\n")


def eventually(condition: Callable[[], T], what: str, seconds: float = PATIENCE) -> T:
    """The first true value of a condition; fails when it stays false."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.01)
    raise AssertionError(f"it never happened: {what}")


def given_time(run: Callable[[str], dict[str, Record]], seconds: float, *names: str) -> dict[str, Record]:
    """What `run(timeout)` says with a timeout that is enough for the tests of these names.

    Others of the same run never end and take all the time that they get, so it is short at first: `seconds`. Where the
    machine is too slow or too busy for that, the run gets six times as long, and once more.
    """
    results: dict[str, Record] = {}
    for timeout in (seconds, 6 * seconds, 36 * seconds):
        results = run(f"{timeout * 1000:.0f}ms")
        if all(results[name].get("cause") != "timeout" for name in names):
            break
    return results


def make_application(folder: Path, files: Files) -> Application:
    """An application with an agent `demo` in a new folder."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    application = Application(folder / "app", home)
    application.write({"/assistants/demo/package.yao": "{}", **files})
    return application


def unprivileged() -> tuple[str, ...]:
    """What to put before a command so that permissions bind it, also for root."""
    if os.getuid() != 0:
        return ()
    if not Path("/usr/bin/setpriv").exists():
        pytest.skip("permissions do not bind here")
    return ("/usr/bin/setpriv", "--bounding-set=-all", "--inh-caps=-all")
