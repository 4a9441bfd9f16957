"""The action for GitHub, the component for GitLab, the release workflow and the Dockerfile: by their schemas, and run step
by step as the CI systems would, with a real server instead of GitHub's API."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import jsonschema
import pytest
from ruamel.yaml import YAML

from runner.commands.init import ci_text
from runner.version import VERSION

ROOT = Path(__file__).parents[3]
ACTION = ROOT / ".github/actions/yao-test"
RELEASE = ROOT / ".github/workflows/release.yml"
COMPONENT = ROOT / "templates/yao-test.yml"
SHIM = f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m runner "$@"\n'
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


def check(document: Any, schema: str) -> None:
    text = files("check_jsonschema.builtin_schemas.vendor").joinpath(f"{schema}.json").read_text("utf-8")
    found = json.loads(text)
    jsonschema.validators.validator_for(found)(found).validate(document)


def steps_of(document: Any) -> list[dict[str, Any]]:
    jobs = document["jobs"].values() if "jobs" in document else [document["runs"]]
    return [step for job in jobs for step in job["steps"]]


@pytest.mark.parametrize(("path", "schema"), [(ACTION / "action.yml", "github-actions"), (RELEASE, "github-workflows")])
def test_files_for_github_are_as_their_schema_wants_them(path: Path, schema: str) -> None:
    (document,) = documents(path)
    check(document, schema)
    text = path.read_text("utf-8")
    for step in steps_of(document):
        assert "${{" not in step.get("run", ""), step
        if "uses" in step:
            assert re.search(rf"uses: {re.escape(step['uses'])} # v\d", text), step["uses"]
            assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", step["uses"])


def test_only_a_tag_publishes_and_no_secret_is_kept() -> None:
    (document,) = documents(RELEASE)
    publish = document["jobs"].pop("publish")
    assert publish["if"] == "github.event_name == 'push' && github.ref_type == 'tag'"
    assert publish["permissions"] == {"id-token": "write"}
    assert publish["needs"] == "try" and document["jobs"]["try"]["needs"] == ["sdist", "wheel"]
    assert document["permissions"] == {"contents": "read"}
    assert all("permissions" not in job for job in document["jobs"].values())
    assert "secrets." not in RELEASE.read_text("utf-8") and "password" not in publish["steps"][-1].get("with", {})
    built = [entry["platform"] for entry in document["jobs"]["wheel"]["strategy"]["matrix"]["include"]]
    tried = {entry["dist"] for entry in document["jobs"]["try"]["strategy"]["matrix"]["include"]}
    assert tried == {*built, "sdist"}


@pytest.mark.parametrize(("tag", "code"), [(f"v{VERSION}", 0), ("v9.9.9", 1)])
def test_a_release_has_the_version_of_its_tag(tmp_path: Path, tag: str, code: int) -> None:
    (document,) = documents(RELEASE)
    (step,) = [step for step in steps_of(document) if step.get("name") == "The tag is the version"]
    environment = {"PATH": f"{Path(sys.executable).parent}:{os.defpath}", "GITHUB_REF_NAME": tag}
    command = ["bash", "-eo", "pipefail", "-c", step["run"]]
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert (run.returncode, "::error::" in run.stdout) == (code, code == 1)


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


@pytest.fixture
def github() -> Iterator[GitHub]:
    api = GitHub()

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            said = api.answer(self.command, self.path, self.headers["Authorization"], body)
            text = json.dumps(said).encode()
            self.send_response(403 if said is None else api.status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PATCH = answer

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        api.url = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield api
        server.shutdown()
        thread.join()


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


def test_the_action_tests_and_keeps_what_it_found(tmp_path: Path, github: GitHub) -> None:
    runner = FakeRunner(tmp_path, github)
    steps = runner.run(arguments="-i scripts.demo.sum --run 'Test.*'")

    assert codes(steps) == {"Install": 0, "Run": 0, "Comment": 0, "Verdict": 0}, steps
    assert (tmp_path / "pip.log").read_text() == f"['install', '--disable-pip-version-check', '{ROOT}']\n"
    (upload,) = runner.uploads
    assert upload["name"] == "yao-test"
    assert sorted(os.listdir(upload["path"])) == ["junit.xml", "report.html", "report.jsonl", "report.md"]
    assert "TestSum - Passed" in (tmp_path / "summary.md").read_text()
    (comment,) = github.comments
    assert comment["body"].startswith("<!-- yao-test: yao-test -->\n") and "TestSum - Passed" in comment["body"]


def test_a_failure_fails_the_job_after_all_was_kept_and_the_comment_is_updated(tmp_path: Path, github: GitHub) -> None:
    someone = {"id": 90, "user": {"type": "User", "login": "mia"}, "body": "<!-- yao-test: yao-test -->\nmine"}
    github.comments += [{"id": 100 + n, "user": {"type": "User"}, "body": "so"} for n in range(110)] + [someone]
    runner = FakeRunner(tmp_path, github)
    runner.run()
    (runner.workspace / "assistants/demo/src/sum_test.ts").write_text(TEST.replace("ONE", '"@acme/all"'))
    steps = runner.run()

    assert codes(steps) == {"Install": 0, "Run": 0, "Comment": 0, "Verdict": 1}
    assert "::error file=assistants/demo/src/sum_test.ts,line=2" in steps[1].stdout
    assert [one.partition(" ")[0] for one in github.asked] == ["GET", "GET", "POST", "GET", "GET", "PATCH"]
    own = github.comments[-1]
    assert "TestOff - Failed" in own["body"] and "@acme" not in own["body"] and someone["body"].endswith("mine")
    assert len(runner.uploads) == 2


def test_a_person_whose_token_it_is_has_one_comment_too(tmp_path: Path, github: GitHub) -> None:
    github.person = "mia"
    github.comments.append({"id": 90, "user": {"type": "User", "login": "max"}, "body": "<!-- yao-test: t -->\nhis"})
    runner = FakeRunner(tmp_path, github)
    assert comment_on(runner, "first") == comment_on(runner, "second") == ""
    assert [one["body"] for one in github.comments] == ["<!-- yao-test: t -->\nhis", "<!-- yao-test: t -->\nsecond"]


def test_inputs_are_words_and_never_code(tmp_path: Path, github: GitHub) -> None:
    runner = FakeRunner(tmp_path, github, event="push")
    evil = "$(touch evil) `touch evil` ; touch evil"
    steps = runner.run(arguments=f"-i scripts.demo.sum --run '{evil}'", package="a==1 'b c'", artifact="")
    assert codes(steps) == {"Install": 0, "Run": 0, "Verdict": 2}
    assert "['install', '--disable-pip-version-check', 'a==1', 'b c']" in (tmp_path / "pip.log").read_text()
    assert not [*tmp_path.rglob("evil")] and not runner.uploads and not github.asked


@pytest.mark.parametrize(("given", "step"), [("arguments", "Run"), ("package", "Install")])
def test_words_with_an_open_quote_are_said(tmp_path: Path, github: GitHub, given: str, step: str) -> None:
    steps = FakeRunner(tmp_path, github).run(**{given: "-i 'scripts.demo"})
    assert steps[-1] == Step(
        step, 1, f"::error title=yao-test::Cannot read the input {given}, -i 'scripts.demo: No closing quotation\n"
    )
    assert codes(steps).get("Verdict") is None


def comment_on(runner: FakeRunner, report: str) -> str:
    """What the step says that comments with a report."""
    (runner.folder / "report.md").write_text(report)
    environment = {**runner.environment, "TOKEN": "the-token", "TITLE": "t", "REPORTS": str(runner.folder)}
    command = [sys.executable, ACTION / "comment.py"]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout


def test_a_comment_that_may_not_be_written_is_a_warning(tmp_path: Path, github: GitHub) -> None:
    github.status = 403
    said = comment_on(FakeRunner(tmp_path, github), "# Tests\n")
    assert said.startswith("::warning title=yao-test::Cannot comment on the pull request: GitHub answered 403")


def test_comments_of_nobody_are_passed_over(tmp_path: Path, github: GitHub) -> None:
    github.comments += [{"id": 1, "user": None, "body": "<!-- yao-test: t -->"}, {"id": 2, "user": None, "body": None}]
    assert comment_on(FakeRunner(tmp_path, github), "# Tests\n") == ""
    assert len(github.comments) == 3


def test_a_long_report_is_cut_and_stays_markdown(tmp_path: Path, github: GitHub) -> None:
    comment_on(FakeRunner(tmp_path, github), "# Tests\n<details>\n```text\n" + "a line\n" * 20_000)
    (comment,) = github.comments
    assert len(comment["body"]) < 65_536
    assert comment["body"].endswith("\n```\n</details>\n\nThe whole report is among the artifacts of the job.\n")


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


@pytest.mark.parametrize("shallow", [False, True])
@pytest.mark.parametrize("known", ["commit", "branch"])
def test_a_pull_request_installs_what_its_base_names(tmp_path: Path, github: GitHub, shallow: bool, known: str) -> None:
    runner = FakeRunner(tmp_path, github)
    base = clone_of_a_pull_request(runner, shallow)
    named = {"sha": base} if known == "commit" else {"ref": "main"}
    (tmp_path / "event.json").write_text(json.dumps({"pull_request": {"number": 7, "base": named}}))
    steps = runner.run(package="-r requirements-test.txt ./wheels/own.whl", arguments="-i scripts.demo.sum")
    assert codes(steps) == {"Install": 0, "Run": 0, "Comment": 0, "Verdict": 0}, steps
    said = (tmp_path / "pip.log").read_text().splitlines()
    assert said[0].endswith("'-r', 'requirements-test.txt', './wheels/own.whl']")
    assert said[1:] == ["the base", "the wheel of the base"]
    assert not (runner.workspace / "IMPORTED").exists()


def test_a_push_installs_what_its_commit_names(tmp_path: Path, github: GitHub) -> None:
    runner = FakeRunner(tmp_path, github, event="push")
    clone_of_a_pull_request(runner, shallow=False)
    (tmp_path / "event.json").write_text("{}")
    runner.run(package="-r requirements-test.txt", arguments="-i scripts.demo.sum")
    assert (tmp_path / "pip.log").read_text().splitlines()[1:] == ["of a stranger", "of a stranger"]
    assert not (runner.workspace / "IMPORTED").exists(), "not even then"


def test_a_base_that_cannot_be_had_is_said(tmp_path: Path, github: GitHub) -> None:
    runner = FakeRunner(tmp_path, github)
    (tmp_path / "event.json").write_text(
        json.dumps({"pull_request": {"number": 7, "base": {"sha": "0" * 40, "ref": "x"}}})
    )
    steps = runner.run(package="-r requirements-test.txt")
    assert codes(steps) == {"Install": 1}
    assert "::error title=yao-test::Cannot install what the base of the pull request names: " in steps[0].stdout
    assert not (tmp_path / "pip.log").exists()


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


def test_the_component_is_as_its_schema_wants_it() -> None:
    header, jobs = component()
    check(header, "gitlab-ci")
    check(jobs, "gitlab-ci")
    assert [*jobs] == ["yao-test"]


@pytest.mark.parametrize(("one", "code"), [("1", 0), ("2", 1)])
def test_the_component_tests_and_leaves_its_reports(tmp_path: Path, github: GitHub, one: str, code: int) -> None:
    runner = FakeRunner(tmp_path, github)
    (runner.workspace / "assistants/demo/src/sum_test.ts").write_text(TEST.replace("ONE", one))
    _, jobs = component(arguments="-i scripts.demo.sum --run 'Test.*|$(touch evil)'")
    job = jobs["yao-test"]
    variables = {name: value for name, value in job["variables"].items() if name.startswith("YAO_TEST_")}
    given = {name: value for name, value in runner.environment.items() if not name.startswith("GITHUB_")}
    environment = {**given, **variables, "CI_PROJECT_DIR": str(runner.workspace)}
    script = "\n".join(job["script"])
    run = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script], cwd=runner.workspace, env=environment, capture_output=True, text=True
    )
    assert run.returncode == code, run
    assert (tmp_path / "pip.log").read_text() == "['install', '-r', 'requirements-test.txt']\n"
    (kept,) = job["artifacts"]["paths"]
    assert sorted(os.listdir(runner.workspace / kept)) == ["junit.xml", "report.html", "report.jsonl"]
    assert (runner.workspace / job["artifacts"]["reports"]["junit"]).is_file()
    assert not [*tmp_path.rglob("evil")]


@pytest.mark.parametrize("is_request", [False, True])
def test_a_merge_request_installs_what_its_target_names(tmp_path: Path, github: GitHub, is_request: bool) -> None:
    runner = FakeRunner(tmp_path, github)
    clone_of_a_pull_request(runner, shallow=True)
    _, jobs = component(arguments="-i scripts.demo.sum")
    job = jobs["yao-test"]
    variables = {name: value for name, value in job["variables"].items() if name.startswith("YAO_TEST_")}
    if is_request:
        variables["CI_MERGE_REQUEST_TARGET_BRANCH_NAME"] = "main"
    given = {name: value for name, value in runner.environment.items() if not name.startswith("GITHUB_")}
    environment = {**given, **variables, "CI_PROJECT_DIR": str(runner.workspace)}
    script = "\n".join(job["script"]).replace("/tmp/", f"{tmp_path}/temp/")
    command = ["bash", "-eo", "pipefail", "-c", script]
    run = subprocess.run(command, cwd=runner.workspace, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run
    said = (tmp_path / "pip.log").read_text().splitlines()
    assert said[1] == ("the base" if is_request else "of a stranger")
    assert not (runner.workspace / "IMPORTED").exists()
    assert not job["variables"]["PIP_CACHE_DIR"].startswith("$CI_PROJECT_DIR")


def written_by_hand(place: str) -> str:
    """How a pipeline of GitLab that nobody has made of the component installs the tool."""
    if place == "init":
        job = YAML(typ="safe").load(ci_text("gitlab", ""))["yao-test"]
        return next(line for line in job["script"] if "pip install" in line)
    text = (ROOT / "docs/ci.md").read_text("utf-8")
    (pipeline,) = (
        block for block in re.findall(r"```yaml\n(.*?)```", text, re.S) if block.startswith("# .gitlab-ci.yml")
    )
    return "\n".join(YAML(typ="safe").load(pipeline)["default"]["before_script"])


@pytest.mark.parametrize("place", ["init", "docs"])
@pytest.mark.parametrize("is_request", [False, True])
def test_pipelines_by_hand_install_what_the_target_names(
    tmp_path: Path, github: GitHub, place: str, is_request: bool
) -> None:
    runner = FakeRunner(tmp_path, github)
    clone_of_a_pull_request(runner, shallow=True)
    pip = tmp_path / "bin/pip"
    pip.write_text(f'#!/bin/sh\nexec {tmp_path}/venv/bin/python -I -m pip "$@"\n')
    pip.chmod(0o755)
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=runner.workspace, check=True, capture_output=True, text=True
    )
    environment = {**runner.environment, "CI_COMMIT_SHA": head.stdout.strip()}
    if is_request:
        environment["CI_MERGE_REQUEST_TARGET_BRANCH_NAME"] = "main"
    command = ["bash", "-eo", "pipefail", "-c", written_by_hand(place).replace("/tmp/", f"{tmp_path}/temp/")]
    subprocess.run(command, cwd=runner.workspace, env=environment, check=True, capture_output=True)
    said = (tmp_path / "pip.log").read_text().splitlines()
    assert said[1] == ("the base" if is_request else "of a stranger")
    assert not (runner.workspace / "IMPORTED").exists()


@pytest.mark.parametrize("place", ["init", "docs"])
def test_workflows_by_hand_install_before_the_pull_request_is_there(place: str) -> None:
    if place == "init":
        text = ci_text("github", "")
    else:
        page = (ROOT / "docs/ci.md").read_text("utf-8")
        (text,) = (
            block for block in re.findall(r"```yaml\n(.*?)```", page, re.S) if "agents.yml" in block.split("\n")[0]
        )
    (steps,) = (
        job["steps"] for name, job in YAML(typ="safe").load(text)["jobs"].items() if name in ("replay", "yao-test")
    )
    kinds = [step.get("uses", step.get("run", "")) for step in steps]
    first, second = (number for number, kind in enumerate(kinds) if kind.startswith("actions/checkout"))
    assert steps[first]["with"] == {"ref": "${{ github.base_ref }}"} and "with" not in steps[second]
    assert first < kinds.index("pip install -r requirements-test.txt") < second


def test_the_words_of_the_component_import_nothing_where_they_run(tmp_path: Path) -> None:
    """Not even by a Python without `-I`."""
    _, jobs = component()
    words = jobs["yao-test"]["variables"]["YAO_TEST_WORDS"]
    for name in ("shlex", "os", "re"):
        (tmp_path / f"{name}.py").write_text("open('IMPORTED', 'a').write(__name__)")
    command = [sys.executable, "-c", words, "WORDS", "echo", "...", "end"]
    run = subprocess.run(command, cwd=tmp_path, env={**os.environ, "WORDS": "a 'b c'"}, capture_output=True, text=True)
    assert (run.stdout, (tmp_path / "IMPORTED").exists()) == ("a b c end\n", False), run


def test_the_page_on_ci_uses_both_as_they_are() -> None:
    text = (ROOT / "docs/ci.md").read_text("utf-8")
    loaded = [YAML(typ="safe").load(block) for block in re.findall(r"```yaml\n(.*?)```", text, re.S)]
    blocks = [block for block in loaded if isinstance(block, dict)]
    (workflow,) = [block for block in blocks if "agents" in block.get("jobs", {})]
    check(workflow, "github-workflows")
    (action,) = documents(ACTION / "action.yml")
    assert {*workflow["jobs"]["agents"]["steps"][-1]["with"]} <= {*action["inputs"]}
    (included,) = [block for block in blocks if "include" in block]
    check(included, "gitlab-ci")
    header, _ = component()
    assert {*included["include"][0]["inputs"]} <= {*header["spec"]["inputs"]}
    for name in (*action["inputs"], *header["spec"]["inputs"]):
        assert f"`{name}`" in text, name


def test_the_image_is_for_an_ordinary_user() -> None:
    lines = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", "").splitlines()
    words = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    users = [rest for name, rest in words if name == "USER"]
    assert users == ["10001:10001"]
    after = [name for name, _ in words][[name for name, _ in words].index("USER") :]
    assert not {"RUN", "COPY", "ADD"} & {*after}
    assert all(re.fullmatch(r"python:3\.\d+-slim(?: AS \w+)?", rest) for name, rest in words if name == "FROM")
    assert words[-1] == ["ENTRYPOINT", '["yao-test"]']
    (extras,) = (re.findall(r"yao-test\[([\w,]+)\]", rest) for _, rest in words if "yao-test[" in rest)
    assert extras == ["crypto,dask,formats,mcp,otlp"]  # dask: for the workers of a cluster
