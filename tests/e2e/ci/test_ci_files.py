"""The files for CI systems and for releases, by their schemas: actions, workflows, the component, the Dockerfile."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ci_machines import ACTION, ROOT, component, documents
from ruamel.yaml import YAML

from runner.version import VERSION

RELEASE = ROOT / ".github/workflows/release.yml"


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


def test_the_component_is_as_its_schema_wants_it() -> None:
    header, jobs = component()
    check(header, "gitlab-ci")
    check(jobs, "gitlab-ci")
    assert [*jobs] == ["yao-test"]


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
