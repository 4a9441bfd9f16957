"""Limits of the operating system are those of this machine: a run fits into them, and blames no host for them."""

from __future__ import annotations

import errno
import json

import pytest
from agent_files import agent
from command import MakeApplication
from model_server import ModelServer, echo

from runner.connectors.http import CannotConnect, LocalLimit, not_connected

CASES = 60


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ("-S -n 100", ""),
        ("-n 100", "--parallel is 20 instead of 60: the limit of open files is too low (ulimit -n)"),
    ],
    ids=["soft", "hard"],
)
def test_a_run_fits_into_the_limit_of_open_files(app: MakeApplication, limit: str, said: str) -> None:
    with ModelServer(default=echo(0.1)) as server:
        connector = {"type": "openai", "options": {"host": server.url, "model": "m1", "key": "k"}}
        cases = [{"id": f"c{number}", "input": "hi"} for number in range(CASES)]
        here = app(
            {
                **agent(package={"connector": "host"}, replies=None, cases=cases),
                "/connectors/host.conn.yao": json.dumps(connector),
                "/.env": "NO_PROXY=127.0.0.1\n",
            }
        )
        prefix = ("sh", "-c", f'ulimit {limit}; exec "$@"', "sh")
        process = here.start("-i", "assistants", "--parallel", str(CASES), "-q", "-o", "r.json", prefix=prefix)
        stdout, stderr = process.communicate()

    assert (process.returncode, f"Summary: {CASES} passed" in stdout.decode()) == (0, True)
    shown = (stdout + stderr).decode()
    assert (said in shown, "--parallel is" in shown) == (True, bool(said))
    assert json.loads((here.root / "r.json").read_text())["summary"]["passed"] == CASES
    assert not said or server.connections < CASES


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.EADDRNOTAVAIL, errno.ENOMEM])
def test_a_limit_of_this_machine_is_not_a_host_that_is_down(number: int) -> None:
    error = not_connected("api.example.com", OSError(number, "no"))
    assert type(error) is LocalLimit
    assert str(error).startswith("cannot connect to api.example.com: this machine has reached a limit: ")
    assert type(not_connected("api.example.com", OSError(errno.ECONNREFUSED, "no"))) is CannotConnect
