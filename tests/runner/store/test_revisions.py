"""Which commit and branch are checked out, in repositories that git has made."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from runner.store.places import Revision, revision_of


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.email=a@example.com", "-c", "user.name=A", "-c", "commit.gpgsign=false")
    return subprocess.run(
        ["git", *who, *arguments], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repository")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "commit", "-q", "--allow-empty", "-m", "one")
    (folder / "app/inner").mkdir(parents=True)
    return folder


def test_a_branch_below_the_repository_in_each_form_of_reference(repository: Path) -> None:
    commit = git(repository, "rev-parse", "HEAD")
    assert revision_of(repository / "app/inner", {}) == Revision(commit=commit, branch="main")
    git(repository, "pack-refs", "--all")
    assert revision_of(repository, {"GITHUB_REF_NAME": "other"}) == Revision(commit=commit, branch="main")


def test_a_worktree(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", "-b", "feature/x", str(tmp_path / "tree"))
    git(tmp_path / "tree", "commit", "-q", "--allow-empty", "-m", "two")
    commit = git(tmp_path / "tree", "rev-parse", "HEAD")
    assert revision_of(tmp_path / "tree", {}) == Revision(commit=commit, branch="feature/x")


def test_a_commit_without_a_branch_has_the_one_that_the_server_names(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", "--detach", str(tmp_path / "tree"))
    commit = git(repository, "rev-parse", "HEAD")
    assert revision_of(tmp_path / "tree", {}) == Revision(commit=commit)
    change = {"GITHUB_HEAD_REF": "fix", "GITHUB_REF_NAME": "12/merge"}
    assert revision_of(tmp_path / "tree", change) == Revision(commit=commit, branch="fix")
    assert revision_of(tmp_path / "tree", {"GITHUB_HEAD_REF": "", "CI_COMMIT_BRANCH": "main"}).branch == "main"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("HEAD", "ref: refs/heads/../../../../secret"),
        ("HEAD", "ref: /etc/hostname"),
        ("HEAD", "\0\xff"),
        ("HEAD", "ref: refs/heads/none"),
        ("refs/heads/main", "ref: refs/heads/main"),
        ("refs/heads/main", "not a commit"),
    ],
)
def test_what_cannot_be_read_is_not_known(tmp_path: Path, name: str, content: str) -> None:
    for place, text in {"HEAD": "ref: refs/heads/main", name: content}.items():
        path = tmp_path / ".git" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("latin-1"))
    assert revision_of(tmp_path, {}).commit is None
    assert revision_of(tmp_path / "none", {}).commit is None
