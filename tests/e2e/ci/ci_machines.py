"""Machines of CI systems that run the files of this repository: a runner of GitHub, its API, a job of GitLab."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ruamel.yaml import YAML

ROOT = Path(__file__).parents[3]
ACTION = ROOT / ".github/actions/yao-test"
COMPONENT = ROOT / "templates/yao-test.yml"
SHIM = f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -P -m runner "$@"\n'
PIP = """import os, sys
open(os.environ['PIP_LOG'], 'a').write(repr(sys.argv[1:]) + '\\n')
for name in ("requirements-test.txt", "wheels/own.whl"):
    if os.path.exists(name):
        open(os.environ['PIP_LOG'], 'a').write(open(name).read())
"""
TEST = (
    "export function TestSum(t) { t.assert.Equal(1 + 1, 2); }\nexport function TestOff(t) { t.assert.Equal(1, ONE); }\n"
)
EXPRESSION = re.compile(r"\$\{\{ (.+?) \}\}")


def documents(path: Path) -> list[Any]:
    return list(YAML(typ="safe").load_all(path))


class GitHub:
    """A fake of the API for the comments of a pull request."""

    def __init__(self) -> None:
        self.comments: list[dict[str, Any]] = []
        self.asked: list[str] = []
        self.status = 200
        self.url = ""
        self.person = ""
        """Whose token it is; empty: that of a job."""

    def answer(self, method: str, path: str, token: str, body: Any) -> Any:
        assert token == "Bearer the-token"
        if path == "/user":
            return {"login": self.person} if self.person else None
        self.asked.append(f"{method} {path}")
        if method == "POST":
            author = {"type": "User", "login": self.person} if self.person else {"type": "Bot"}
            self.comments.append({"id": 1000 + len(self.comments), "user": author, **body})
        if method == "PATCH":
            assert path.startswith("/repos/acme/agents/issues/comments/")
            (own,) = [one for one in self.comments if one["id"] == int(path.rpartition("/")[2])]
            own.update(body)
        if method == "GET":
            size, page = map(int, re.findall(r"=(\d+)", path))
            return self.comments[(page - 1) * size : page * size]
        return {}


class Step(NamedTuple):
    """A step that was run."""

    name: str
    code: int
    stdout: str


def python_with(folder: Path, package: str, code: str) -> Path:
    """A Python with one package, of which `-m` runs the code."""
    packages = folder / f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages" / package
    packages.mkdir(parents=True)
    (packages / "__init__.py").touch()
    (packages / "__main__.py").write_text(code)
    base = Path(sys.base_prefix, "bin", f"python{sys.version_info[0]}.{sys.version_info[1]}")
    (folder / "bin").mkdir()
    (folder / "bin/python").symlink_to(base)
    (folder / "pyvenv.cfg").write_text(f"home = {base.parent}\n")
    return folder / "bin/python"


class FakeRunner:
    """Runs the steps of the action as a runner of GitHub does. Of other actions it notes what they are given."""

    def __init__(self, folder: Path, github: GitHub, event: str = "pull_request") -> None:
        self.folder = folder
        self.workspace = folder / "work"
        self.event = event
        self.uploads: list[Mapping[str, str]] = []
        (folder / "temp").mkdir()
        (folder / "bin").mkdir()
        python = python_with(folder / "venv", "pip", PIP)
        source = self.workspace / "assistants/demo/src"
        source.mkdir(parents=True)
        (source.parent / "package.yao").write_text("{}")
        (source / "sum_test.ts").write_text(TEST.replace("ONE", "1"))
        for name, text in {"yao-test": SHIM, "python": f'#!/bin/sh\nexec {python} "$@"\n'}.items():
            (folder / "bin" / name).write_text(text)
            (folder / "bin" / name).chmod(0o755)
        (folder / "event.json").write_text(json.dumps({"pull_request": {"number": 7}}))
        self.environment = {
            "PATH": f"{folder / 'bin'}:{os.defpath}",
            "HOME": str(folder),
            "PIP_LOG": str(folder / "pip.log"),
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION": "tests",
            "GITHUB_ACTION_PATH": str(ACTION),
            "GITHUB_API_URL": github.url,
            "GITHUB_EVENT_PATH": str(folder / "event.json"),
            "GITHUB_REPOSITORY": "acme/agents",
            "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
            "GITHUB_WORKSPACE": str(self.workspace),
            "RUNNER_TEMP": str(folder / "temp"),
        }

    def run(self, **given: str) -> list[Step]:
        (action,) = documents(ACTION / "action.yml")
        inputs = {name: str(one.get("default", "")) for name, one in action["inputs"].items()} | {
            name.replace("_", "-"): value for name, value in given.items()
        }
        inputs["token"] = "the-token"
        outputs: dict[str, dict[str, str]] = {}
        failed, done = False, []
        for step in action["runs"]["steps"]:
            condition = step.get("if", "success()")
            if (failed and "always()" not in condition) or not self._value(condition, inputs, outputs):
                continue
            if "uses" in step:
                self.uploads += [self._filled(step["with"], inputs, outputs)] if "upload" in step["uses"] else []
                continue
            output = self.folder / "output"
            output.write_text("")
            environment = {**self.environment, "GITHUB_OUTPUT": str(output)}
            environment |= self._filled(step.get("env", {}), inputs, outputs)
            where = self._filled({"at": step.get("working-directory", ".")}, inputs, outputs)["at"]
            command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
            run = subprocess.run(
                command, cwd=self.workspace / where, env=environment, capture_output=True, text=True, check=False
            )
            outputs[step.get("id", "")] = dict(line.split("=", 1) for line in output.read_text().splitlines())
            failed |= run.returncode != 0
            done.append(Step(step["name"], run.returncode, run.stdout + run.stderr))
        return done

    def _filled(self, texts: Mapping[str, str], inputs: Any, outputs: Any) -> dict[str, str]:
        return {
            name: EXPRESSION.sub(lambda match: str(self._value(match[1], inputs, outputs)), str(text))
            for name, text in texts.items()
        }

    def _value(self, expression: str, inputs: Mapping[str, str], outputs: Mapping[str, Mapping[str, str]]) -> Any:
        known = {f"inputs.{name}": value for name, value in inputs.items()}
        known |= {f"steps.{id}.outputs.{name}": value for id, of in outputs.items() for name, value in of.items()}
        known |= {"github.event_name": self.event}
        words = re.sub(r"[a-z]+(?:\.[\w-]+)+", lambda match: repr(known.get(match[0], "")), expression)
        return eval(words.replace("&&", "and").replace("||", "or"), {"always": lambda: True, "success": lambda: True})


def codes(steps: list[Step]) -> dict[str, int]:
    return {step.name: step.code for step in steps}


def component(**given: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The header of the component, and what its jobs are with these inputs."""
    header, jobs = documents(COMPONENT)
    values = {name: str(one["default"]) for name, one in header["spec"]["inputs"].items()} | given

    def filled(value: Any) -> Any:
        if isinstance(value, dict):
            return {filled(name): filled(item) for name, item in value.items()}
        if isinstance(value, list):
            return [filled(item) for item in value]
        return re.sub(r"\$\[\[ inputs\.([\w-]+) \]\]", lambda match: values[match[1]], value) if value else value

    return header, filled(jobs)


def run_component(runner: FakeRunner, arguments: str, **variables: str) -> tuple[dict[str, Any], Any]:
    """The job of the component with these arguments, and how it ends in the workspace of the runner."""
    job = component(arguments=arguments)[1]["yao-test"]
    own = {name: value for name, value in job["variables"].items() if name.startswith("YAO_TEST_")}
    given = {name: value for name, value in runner.environment.items() if not name.startswith("GITHUB_")}
    environment = {**given, **own, **variables, "CI_PROJECT_DIR": str(runner.workspace)}
    script = "\n".join(job["script"]).replace("/tmp/", f"{runner.folder}/temp/")
    command = ["bash", "-eo", "pipefail", "-c", script]
    return job, subprocess.run(command, cwd=runner.workspace, env=environment, capture_output=True, text=True)


def clone_of_a_pull_request(runner: FakeRunner, shallow: bool) -> str:
    """Makes the workspace a clone, in which a change of the base has other requirements, a wheel and modules. Returns the
    commit of the base."""

    def git(*words: str) -> str:
        command = ["git", "-c", "user.name=n", "-c", "user.email=e@example.com", *words]
        return subprocess.run(command, cwd=runner.workspace, check=True, capture_output=True, text=True).stdout.strip()

    def written(names: dict[str, str]) -> None:
        for name, text in names.items():
            (runner.workspace / name).parent.mkdir(exist_ok=True)
            (runner.workspace / name).write_text(text)

    git("init", "-q", "-b", "main")
    written({"requirements-test.txt": "the base\n", "wheels/own.whl": "the wheel of the base\n"})
    git("add", "-A")
    git("commit", "-q", "-m", "base")
    base = git("rev-parse", "HEAD")
    git("clone", "-q", "--bare", ".", "../origin.git")
    marks = {f"{name}.py": "open('IMPORTED', 'a').write(__name__)" for name in ("shlex", "json", "subprocess", "words")}
    pip = {"pip/__main__.py": "open('IMPORTED', 'a').write('pip')", "pip/__init__.py": ""}
    written({"requirements-test.txt": "of a stranger\n", "wheels/own.whl": "of a stranger\n", **marks, **pip})
    git("add", "-A")
    git("commit", "-q", "-m", "change")
    git("remote", "add", "origin", "../origin.git")
    if shallow:
        git("push", "-q", "origin", "HEAD:refs/pull/7")
        subprocess.run(["rm", "-rf", ".git"], cwd=runner.workspace, check=True)
        git("init", "-q")
        git("remote", "add", "origin", f"file://{runner.folder}/origin.git")
        git("fetch", "-q", "--depth=1", "origin", "refs/pull/7")
        git("checkout", "-q", "-f", "FETCH_HEAD")
    return base
