"""Asking Git about the repository that holds a folder, and about no other.

Files that come with a clone, an archive or a pull request can look like a repository: a bare one among them, a `.git`
that leads to one, a `config` that names programs. None of these is asked:

| what | rule |
| --- | --- |
| a repository | a folder above, or the folder itself, with a `.git` of its own; never a bare one |
| `.git` that is a file or a link | it leads out of the checkouts around it, or into the `.git` of one of them, as \
in worktrees and submodules |
| a repository in another one | the outer one, if it tracks the files of the inner one; a submodule is read at the \
commit that the outer one names |
| objects of another repository (`alternates`) | refused if they are in the checkout |
| programs: hooks, `core.fsmonitor`, pagers, filters, credential helpers, transports, lazy fetches | none is started, \
whatever a configuration says |

Git itself refuses repositories of other users (`safe.directory`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from scripttest.files import SOURCE_LIMIT, anywhere, parts_below, read_file
from scripttest.values import Value

_SETTINGS = (
    "safe.bareRepository=explicit",
    "core.fsmonitor=",
    "core.hooksPath=/dev/null",
    "core.untrackedCache=false",
    "core.attributesFile=/dev/null",
    "core.pager=cat",
    "core.sshCommand=false",
    "core.askPass=",
    "credential.helper=",
    "diff.external=",
    "protocol.allow=never",
    "submodule.recurse=false",
)
_VARIABLES = {
    "LC_ALL": "C",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}
_SUBMODULE = "160000"
_LINKS = 5
"""References that lead to each other."""
_DIGITS = (40, 64)
"""Of the digest of a commit."""


class GitError(Exception):
    """Git could not answer; the message says why."""


class Repository(Value):
    """A repository with files of its own."""

    top: str
    """The real path of its checkout."""
    folder: str
    """The real path of what its `.git` is or leads to."""
    variables: Mapping[str, str]
    """The environment, for `PATH` and `HOME`."""

    def ask(self, *words: str) -> bytes:
        """What a command of Git prints; blocks. Raises GitError."""
        import subprocess

        self._check_objects()
        settings = [word for setting in _SETTINGS for word in ("-c", setting)]
        given = {name: self.variables[name] for name in ("PATH", "HOME") if name in self.variables}
        environment = {**given, **_VARIABLES, "GIT_CEILING_DIRECTORIES": os.path.dirname(self.top)}
        try:
            done = subprocess.run(
                ["git", "--no-pager", *settings, *words],
                cwd=self.top,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
            )
        except OSError as error:
            raise GitError(f"Git cannot be started: {error.strerror}") from error
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().splitlines()
            raise GitError(next((line for line in said if line.startswith("fatal")), said[-1] if said else "it failed"))
        return done.stdout

    def commit(self, revision: str) -> str:
        """The digest of the commit that a branch, a tag or the like names. Raises GitError."""
        return self.ask("rev-parse", "--verify", f"{revision}^{{commit}}").decode().strip()

    def tracks(self, folder: str) -> str:
        """How this repository tracks another folder of its checkout: as a `submodule`, as its own `files`, or, empty,
        not at all. Raises GitError."""
        found = self.ask("ls-files", "-z", "--stage", "--", os.path.relpath(folder, self.top))
        return ("submodule" if found.startswith(_SUBMODULE.encode()) else "files") if found else ""

    def submodule(self, commit: str, folder: str) -> str | None:
        """The commit of a submodule in a commit of this repository; None where the folder is none. Raises GitError."""
        found = self.ask("ls-tree", "-z", "--full-tree", commit, "--", os.path.relpath(folder, self.top)).decode()
        return found.split()[2] if found.startswith(_SUBMODULE) else None

    def _check_objects(self) -> None:
        objects = os.path.join(_shared(self.folder), "objects")
        for line in _lines(f"{objects}/info/alternates"):
            path = os.path.realpath(os.path.join(objects, line))
            if _is_below(path, self.top) and not _is_below(path, self.folder):
                raise GitError(f"objects/info/alternates names {path}, which is in the checkout")


def repositories_of(folder: str, variables: Mapping[str, str]) -> list[Repository]:
    """The repository that tracks a folder, then the submodules in it that lead to the folder; none without a
    repository. Git is started only where several are around the folder. Raises GitError."""
    around = _around(os.path.realpath(folder), variables)
    chain = around[:1]
    for outer in around[1:]:
        tracked = outer.tracks(chain[0].top)
        if tracked:
            chain = [outer, *chain] if tracked == "submodule" else [outer]
    return chain


def read_at(revision: str, path: str, variables: Mapping[str, str]) -> tuple[bytes, str]:
    """The content of a file in another revision, and the digest of its commit; blocks. `revision`: a branch, a tag
    or a commit of the repository. `path`: where the file is in the checkout; its folder has to exist. `variables`:
    the environment, for `PATH` and `HOME`. Raises GitError: there is no repository, no such revision, or no such
    file in it."""
    real = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
    chain = repositories_of(os.path.dirname(real), variables)
    if not chain:
        raise GitError(f"{os.path.dirname(real)} is not in a Git repository")
    repository, *inner = chain
    try:
        first = commit = repository.commit(revision)
    except GitError as error:
        raise GitError(f"{repository.top} has no commit {revision}: {error}") from error
    for submodule in inner:
        named = repository.submodule(commit, submodule.top)
        if named is not None:
            repository, commit = submodule, named
    return repository.ask("cat-file", "blob", f"{commit}:{os.path.relpath(real, repository.top)}"), first


def merge_base(revision: str, folder: str, variables: Mapping[str, str]) -> str:
    """The digest of the commit at which the checkout that holds a folder left another revision; blocks. Raises
    GitError."""
    chain = repositories_of(folder, variables)
    if not chain:
        raise GitError(f"{folder} is not in a Git repository")
    repository = chain[0]
    try:
        return repository.ask("merge-base", "HEAD", repository.commit(revision)).decode().strip()
    except GitError as error:
        raise GitError(f"{repository.top} has no commit {revision} that is an ancestor of HEAD: {error}") from error


def head_of(folder: str) -> tuple[str, str]:
    """The reference that is checked out around a folder, such as `refs/heads/main`, and the digest of its commit; each
    is empty where it is not known. Git is not started."""
    top = next(_tops(os.path.realpath(folder)), None)
    if top is None:
        return "", ""
    own = _target(f"{top}/.git")
    places = (own, _shared(own))
    head = said = _first(f"{own}/HEAD")
    for _ in range(_LINKS):
        name = said.removeprefix("ref: ").strip()
        if name == said or name.startswith("/") or ".." in name.split("/"):
            break
        packed = (line.split() for place in places for line in _lines(f"{place}/packed-refs"))
        said = next(filter(None, (_first(f"{place}/{name}") for place in places)), "") or next(
            (words[0] for words in packed if words[1:] == [name]), ""
        )
    is_commit = len(said) in _DIGITS and not said.strip("0123456789abcdef")
    return head.removeprefix("ref: ").strip() if head.startswith("ref: ") else "", said if is_commit else ""


def _around(folder: str, variables: Mapping[str, str]) -> list[Repository]:
    """The repositories whose checkouts hold a folder, the nearest one first."""
    found: list[Repository] = []
    for top in reversed([*_tops(folder)]):
        target = _target(f"{top}/.git")
        is_own = target == f"{top}/.git" or any(_is_below(target, _shared(one.folder)) for one in found)
        is_inside = any(_is_below(target, checkout) for checkout in (top, *(one.top for one in found)))
        if _is_git_folder(target) and (is_own or not is_inside):
            found.insert(0, Repository(top=top, folder=target, variables=variables))
    return found


def _tops(folder: str) -> Iterator[str]:
    """The folders from this one upward that have a `.git`."""
    while True:
        if os.path.lexists(f"{folder}/.git"):
            yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def _target(path: str) -> str:
    """Where a `.git` is, by its real path; it is a folder, a link, or a file with `gitdir: PATH`."""
    line = _first(path)
    named = line.removeprefix("gitdir: ") if line.startswith("gitdir: ") else path
    return os.path.realpath(os.path.join(os.path.dirname(path), named))


def _is_git_folder(path: str) -> bool:
    return os.path.lexists(f"{path}/HEAD") and os.path.isdir(f"{_shared(path)}/objects")


def _shared(folder: str) -> str:
    """The folder of the repository to which that of a worktree belongs; otherwise the folder."""
    return os.path.realpath(os.path.join(folder, _first(f"{folder}/commondir")))


def _is_below(path: str, folder: str) -> bool:
    return parts_below(path, folder) is not None


def _first(path: str) -> str:
    return next(iter(_lines(path)), "")


def _lines(path: str) -> list[str]:
    """The lines of a file of Git; none where there is no such file."""
    try:
        return os.fsdecode(read_file(path, anywhere, SOURCE_LIMIT)).splitlines()
    except OSError:
        return []
