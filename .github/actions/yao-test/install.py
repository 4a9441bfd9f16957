"""Installs yao-test: the arguments for pip in PACKAGE, or by default the repository of this action.

In a pull request, PACKAGE may name files, such as requirements or wheels. They are those of the base, in a folder of
their own: what the pull request brings is not installed before anybody has looked at it. Nothing is imported from the
workspace (`python -I`).
"""

import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from words import words_of

SETTINGS = ("safe.bareRepository=explicit", "core.hooksPath=/dev/null", "core.fsmonitor=", "submodule.recurse=false")


def main() -> int:
    words = words_of("PACKAGE")
    folder = base_files() if words else None
    pip = [sys.executable, "-I", "-m", "pip", "install", "--disable-pip-version-check"]
    return subprocess.run([*pip, *(words or [str(Path(__file__).resolve().parents[3])])], cwd=folder).returncode


def base_files() -> str | None:
    """A folder with the files of the base of a pull request; None for other events."""
    base = base_of_event()
    if not base:
        return None
    folder = Path(os.environ.get("RUNNER_TEMP", "/tmp"), f"yao-test-base-{os.getpid()}")
    for name in base:
        is_here = not name.startswith("refs/") and git("cat-file", "-e", f"{name}^{{commit}}")
        commit = name if is_here else "FETCH_HEAD"
        if not is_here and not git("fetch", "--quiet", "--depth=1", "--no-tags", "origin", name):
            continue
        if git("worktree", "add", "--quiet", "--force", "--detach", str(folder), commit):
            print(f"Files that the input package names are those of the base, {name}", flush=True)
            return str(folder)
    why = "the checkout is no clone, or its base cannot be fetched"
    print(f"::error title=yao-test::Cannot install what the base of the pull request names: {why}")
    sys.exit(1)


def base_of_event() -> list[str]:
    """The base of a pull request, as its commit and its branch; empty for other events."""
    path = os.environ.get("GITHUB_EVENT_PATH")
    event = json.loads(Path(path).read_text("utf-8")) if path else {}
    base = event.get("pull_request", {}).get("base") or {}
    branch = os.environ.get("GITHUB_BASE_REF") or base.get("ref")
    return [name for name in (base.get("sha"), branch and f"refs/heads/{branch}") if name]


def git(*words: str) -> bool:
    settings = [word for setting in SETTINGS for word in ("-c", setting)]
    return subprocess.run(["git", *settings, *words], stderr=subprocess.DEVNULL).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
