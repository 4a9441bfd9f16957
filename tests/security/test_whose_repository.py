"""Attempts to have `--trust-from`, and reads of scripts, ask a repository that came with a pull request, or start a program
that a configuration of Git names."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from agent_files import agent
from command import Application, Run

CASES = "assistants/demo/tests/cases.jsonl"
CONNECTOR = '{"type": "openai", "options": {"model": "m", "host": "https://HOST.example"}}'
FILES = {
    **agent(cases=[{"id": "a", "input": "x"}]),
    "/app.yao": "{}",
    "/connectors/c.conn.yao": CONNECTOR.replace("HOST", "good"),
    "/assistants/demo/tests/table.json": "[1]",
    "/assistants/demo/src/read_test.ts": (
        'export function TestRead(t: any) { t.assert.Equal(new FS("app").ReadFile("assistants/demo/tests/table.json"), "[1]"); }'
    ),
}
CHANGED = {"/connectors/c.conn.yao": CONNECTOR.replace("HOST", "evil")}


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=n", "-c", "user.email=e@example.com", "-c", "protocol.file.allow=always")
    environment = {"PATH": os.defpath, "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "-c", "init.defaultBranch=main", *identity, *words]
    return subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True).stdout


def commit(folder: Path, branch: str = "base") -> str:
    """Commits all that is in a folder, to a branch of a repository that is made for it. Returns the commit."""
    if not (folder / ".git").exists():
        git(folder, "init", "-q")
    git(folder, "add", "-A", "-f", ".")
    git(folder, "commit", "-q", "--allow-empty", "-m", "a commit")
    git(folder, "branch", "-f", branch)
    return git(folder, "rev-parse", "HEAD").strip()


def application(tmp_path: Path, folder: str = "top/app") -> Application:
    """An application that is approved as it is."""
    (tmp_path / "home").mkdir()
    made = Application(tmp_path / folder, tmp_path / "home")
    made.write(FILES)
    assert made.run("trust").code == 0
    return made


@pytest.fixture
def here(tmp_path: Path) -> Application:
    """An application in a folder of a repository, whose branch `base` has its approval."""
    made = application(tmp_path)
    commit(tmp_path / "top")
    return made


def trusted(app: Application, revision: str = "base") -> Run:
    return app.run("-i", CASES, "--trust-from", revision, "-o", str(app.home / "r.json"))


def approving(app: Application) -> Path:
    """The folder of a repository that approves the change; the change is made."""
    app.write(CHANGED)
    before = (app.root / "yao-test.trust").read_bytes()
    app.run("trust")
    other = app.root.parent.parent / "other"
    other.mkdir()
    for name in ("app", "."):
        (other / name).mkdir(exist_ok=True)
        shutil.copy(app.root / "yao-test.trust", other / name)
    commit(other)
    (app.root / "yao-test.trust").write_bytes(before)
    (other / ".git/config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n")
    return other / ".git"


def bare_in(app: Application, planted: Path) -> None:
    shutil.copytree(planted, app.root, dirs_exist_ok=True)


def bare_above(app: Application, planted: Path) -> None:
    shutil.copytree(planted, app.root.parent, dirs_exist_ok=True)


def folder(app: Application, planted: Path) -> None:
    shutil.copytree(planted, app.root / ".git")


def file(app: Application, planted: Path) -> None:
    shutil.copytree(planted, app.root / "data/repository")
    (app.root / ".git").write_text("gitdir: data/repository\n")


def file_to_another_folder(app: Application, planted: Path) -> None:
    shutil.copytree(planted, app.root.parent / "docs")
    (app.root / ".git").write_text(f"gitdir: {app.root.parent / 'docs'}\n")


def link(app: Application, planted: Path) -> None:
    shutil.copytree(planted, app.root / "data/repository")
    (app.root / ".git").symlink_to("data/repository")


def alternates(app: Application, planted: Path) -> None:
    shutil.copytree(planted / "objects", app.root / "data/objects")
    (app.root.parent / ".git/objects/info/alternates").write_text(f"{app.root}/data/objects\n")


def replaced(app: Application, planted: Path) -> None:
    git(app.root.parent, "fetch", "-q", str(planted), "base:other")
    git(app.root.parent, "replace", "base", "other")


PLANTED = [bare_in, bare_above, folder, file, file_to_another_folder, link, alternates, replaced]


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_a_repository_among_the_files_is_not_asked(here: Application, plant: object) -> None:
    base = git(here.root, "rev-parse", "base").strip()
    assert trusted(here).code == 0, "the control"
    plant(here, approving(here))  # type: ignore[operator]
    run = trusted(here)
    assert run.code == 2, run
    if plant is alternates:
        assert "objects/info/alternates names <app>/data/objects, which is in the checkout" in run.stderr
    else:
        said = "not as approved in yao-test.trust of base: connectors/c.conn.yao (changed)"
        assert f"{said}; compared with commit {base}\n" in run.stderr


def test_without_a_repository_none_among_the_files_is_asked(tmp_path: Path) -> None:
    here = application(tmp_path)
    bare_in(here, approving(here))
    assert "Cannot read yao-test.trust of base: <app> is not in a Git repository" in trusted(here).stderr


def worktree(app: Application) -> Application:
    git(app.root.parent, "worktree", "add", "-q", "../more", "base")
    return Application(app.root.parent.parent / "more/app", app.home)


def worktree_inside(app: Application) -> Application:
    git(app.root.parent, "worktree", "add", "-q", "inside/more", "base")
    return Application(app.root.parent / "inside/more/app", app.home)


def clone(app: Application) -> Application:
    git(app.root.parent.parent, "clone", "-q", "top", "more")
    git(app.root.parent.parent / "more", "branch", "base")
    return Application(app.root.parent.parent / "more/app", app.home)


def clone_inside(app: Application) -> Application:
    git(app.root.parent.parent, "clone", "-q", "top", "top/more")
    git(app.root.parent / "more", "branch", "base")
    return Application(app.root.parent / "more/app", app.home)


def repository_elsewhere(app: Application) -> Application:
    git(app.root.parent, "init", "-q", "--separate-git-dir", "../elsewhere")
    return app


def bare_beside_worktrees(app: Application) -> Application:
    around = app.root.parent.parent / "around"
    around.mkdir()
    git(around, "clone", "-q", "--bare", "../top", ".bare")
    (around / ".git").write_text("gitdir: ./.bare\n")
    git(around / ".bare", "worktree", "add", "-q", "../more", "base")
    return Application(around / "more/app", app.home)


def behind_a_link(app: Application) -> Application:
    link = app.root.parent.parent / "link"
    link.symlink_to(app.root)
    return Application(link, app.home)


def shared_clone(app: Application) -> Application:
    git(app.root.parent.parent, "clone", "-q", "--shared", "top", "more")
    git(app.root.parent.parent / "more", "branch", "base")
    return Application(app.root.parent.parent / "more/app", app.home)


HONEST = [
    worktree, worktree_inside, clone, clone_inside, repository_elsewhere, bare_beside_worktrees, behind_a_link, shared_clone
]  # fmt: skip


@pytest.mark.parametrize("made", HONEST, ids=lambda made: made.__name__)
def test_real_repositories_are_asked(here: Application, made: object) -> None:
    base = git(here.root, "rev-parse", "base").strip()
    there = made(here)  # type: ignore[operator]
    run = trusted(there)
    assert (run.code, run.stderr) == (0, f"Approved by yao-test.trust of base, commit {base}\n"), run
    there.write(CHANGED)
    run = trusted(there)
    assert run.code == 2, run
    assert f"connectors/c.conn.yao (changed); compared with commit {base}\n" in run.stderr


def test_a_submodule_is_read_at_the_commit_that_the_outer_repository_names(tmp_path: Path) -> None:
    source = application(tmp_path, "source")
    commit(source.root)
    top = tmp_path / "top"
    top.mkdir()
    git(top, "init", "-q")
    git(top, "submodule", "add", "-q", str(source.root), "parts/app")
    base = commit(top)
    here = Application(top / "parts/app", source.home)
    run = trusted(here)
    assert (run.code, run.stderr) == (0, f"Approved by yao-test.trust of base, commit {base}\n"), run

    here.write(CHANGED)
    here.run("trust")
    commit(here.root)  # a branch `base` of the submodule approves it
    commit(top, "change")
    run = trusted(here)
    assert run.code == 2, run
    assert f"connectors/c.conn.yao (changed); compared with commit {base}\n" in run.stderr
    assert trusted(here, "change").code == 0, "the control: approved in the outer repository"


def test_no_program_is_started_that_a_configuration_names(here: Application) -> None:
    """A repository may include a file of its checkout in its configuration."""
    top, mark = here.root.parent, here.home / "STARTED"
    program = here.home / "program"
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o755)
    (top / "hooks").mkdir()
    for name in ("post-index-change", "reference-transaction", "post-checkout", "fsmonitor-watchman"):
        shutil.copy(program, top / "hooks" / name)
    (top / ".gitattributes").write_text("* filter=own diff=own\n")
    (top / "settings").write_text(
        f"""
        [core]
            fsmonitor = {program}
            hooksPath = {top}/hooks
            pager = {program}
            sshCommand = {program}
            gitProxy = {program}
            askPass = {program}
            alternateRefsCommand = {program}
        [pager]
            cat-file = true
            ls-files = true
            rev-parse = true
        [diff]
            external = {program}
        [diff "own"]
            textconv = {program}
            command = {program}
        [filter "own"]
            clean = {program}
            smudge = {program}
            process = {program}
        [credential]
            helper = !{program}
        [alias]
            cat-file = !{program}
        [protocol]
            allow = always
        [protocol "ext"]
            allow = always
        [remote "origin"]
            url = ext::{program}
            promisor = true
            partialclonefilter = blob:none
            uploadpack = {program}
        """
    )
    git(top, "config", "core.repositoryFormatVersion", "1")
    git(top, "config", "extensions.partialClone", "origin")
    git(top, "config", "include.path", "../settings")
    assert trusted(here).code == 0
    assert here.run("-i", "scripts.demo.read").code == 0
    blob = git(top, "rev-parse", "base:app/yao-test.trust").strip()
    (top / f".git/objects/{blob[:2]}/{blob[2:]}").unlink()
    run = trusted(here)
    assert (run.code, mark.exists()) == (2, False), run
    with pytest.raises(subprocess.CalledProcessError):
        git(top, "cat-file", "blob", "base:app/yao-test.trust")
    assert mark.exists(), "the control: Git itself starts it"


def test_a_program_in_the_way_of_git_is_none_of_the_checkout(here: Application) -> None:
    """The working directory is no place where Git is looked for."""
    mark = here.home / "STARTED"
    for folder in (here.root, here.root.parent):
        (folder / "git").write_text(f"#!/bin/sh\ntouch {mark}\n")
        (folder / "git").chmod(0o755)
    assert trusted(here).code == 0
    assert not mark.exists()
