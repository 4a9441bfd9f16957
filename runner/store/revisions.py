"""Which commit and which branch the code of a run is of, read off the files of the repository: no program is started,
which what the repository says could have do anything.

On a CI server that checks out a commit without a branch, the variables of that server name the branch.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from scripttest.values import Value

VARIABLES = (
    "GITHUB_HEAD_REF GITHUB_REF_NAME CI_MERGE_REQUEST_SOURCE_BRANCH_NAME CI_COMMIT_BRANCH CI_COMMIT_REF_NAME"
    " SYSTEM_PULLREQUEST_SOURCEBRANCH BUILD_SOURCEBRANCHNAME CIRCLE_BRANCH BITBUCKET_BRANCH BUILDKITE_BRANCH"
    " DRONE_BRANCH CHANGE_BRANCH BRANCH_NAME"
).split()
"""What CI servers call the branch: GitHub, GitLab, Azure, CircleCI, Bitbucket, Buildkite, Drone, Jenkins; that of a
change before that which it goes into."""
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_BRANCHES = "refs/heads/"
LINKS = 5
"""References that lead to each other."""


class Revision(Value):
    """The revision of the code: its branch and commit."""

    commit: str | None = None
    branch: str | None = None
    place: str | None = None
    """The place of the application; see `runner.store.places.place_of`."""


def revision_of(folder: Path, variables: Mapping[str, str]) -> Revision:
    """The revision that is checked out around a folder; with nothing known where there is no repository, or one that
    cannot be read. `variables` are those of the environment."""
    named = next((name for variable in VARIABLES if (name := variables.get(variable, "").strip())), None)
    found = _git_folder(folder)
    if found is None:
        return Revision(branch=named)
    head = _read(found / "HEAD")
    if not head.startswith("ref: "):
        return Revision(commit=head if _COMMIT.fullmatch(head) else None, branch=named)
    ref = head.removeprefix("ref: ").strip()
    branch = ref.removeprefix(_BRANCHES) if ref.startswith(_BRANCHES) and ref != f"{_BRANCHES}.invalid" else named
    return Revision(commit=_resolved(found, ref), branch=branch)


def _git_folder(folder: Path) -> Path | None:
    for parent in (folder, *folder.parents):
        found = parent / ".git"
        if found.is_dir():
            return found
        if found.is_file():  # a worktree, or a submodule
            target = _read(found)
            return (parent / target.removeprefix("gitdir:").strip()) if target.startswith("gitdir:") else None
    return None


def _resolved(git: Path, ref: str) -> str | None:
    common = _read(git / "commondir")
    places = [git, *([git / common] if common else [])]
    for _ in range(LINKS):
        if ".." in ref.split("/") or ref.startswith("/"):
            return None
        text = next((text for place in places if (text := _read(place / ref))), "") or _packed(places, ref)
        if not text.startswith("ref: "):
            return text if _COMMIT.fullmatch(text) else None
        ref = text.removeprefix("ref: ").strip()
    return None


def _packed(places: list[Path], ref: str) -> str:
    for place in places:
        for line in _read(place / "packed-refs").split("\n"):
            commit, _, name = line.partition(" ")
            if name == ref:
                return commit
    return ""


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace").strip()
    except OSError:
        return ""
