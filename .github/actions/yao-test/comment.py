"""Writes the report of a run as a comment on the pull request, or updates the one that an earlier run has written, with
GitHub's REST API (https://docs.github.com/rest/issues/comments). If that fails, the job gets a warning, because the
token of a fork may not write comments.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.error
import urllib.request
from functools import cache
from pathlib import Path
from typing import Any

LIMIT = 60_000
"""Most characters of a comment; GitHub accepts 65 536."""
PAGE = 100
"""Comments in one answer."""


def main() -> None:
    report = Path(os.environ["REPORTS"], "report.md")
    event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text("utf-8"))
    number = event["pull_request"]["number"]
    if not report.is_file():
        return warn("there is no report to comment with: the run has not begun")
    title = os.environ["TITLE"]
    marker = f"<!-- yao-test: {title.replace('--', '- -')} -->"
    body = f"{marker}\n{shortened(report.read_text('utf-8'))}"
    issues = f"/repos/{os.environ['GITHUB_REPOSITORY']}/issues"
    try:
        own = find(f"{issues}/{number}/comments", marker)
        if own is None:
            call("POST", f"{issues}/{number}/comments", {"body": body})
        else:
            call("PATCH", f"{issues}/comments/{own}", {"body": body})
    except urllib.error.HTTPError as error:
        hint = ". The job needs permissions: pull-requests: write, and a fork has none" if error.code == 403 else ""
        warn(f"GitHub answered {error.code} {error.reason}{hint}")
    except (OSError, ValueError) as error:
        warn(str(getattr(error, "reason", error)))


def find(comments: str, marker: str) -> int | None:
    """The id of the comment of an earlier run. Only comments of bots, and of the person whose token is given, count, so
    that nobody else can imitate it."""
    page = 1
    while True:
        found = call("GET", f"{comments}?per_page={PAGE}&page={page}")
        for comment in found:
            author = comment["user"] or {}  # None: the account was deleted
            is_marked = (comment["body"] or "").startswith(marker)
            if is_marked and (author.get("type") == "Bot" or author.get("login", "") == person()):
                return comment["id"]
        if len(found) < PAGE:
            return None
        page += 1


@cache
def person() -> str | None:
    """The name of the person whose token is given; None for the token of a job."""
    try:
        return call("GET", "/user")["login"]
    except urllib.error.HTTPError:
        return None


def call(method: str, path: str, content: dict[str, Any] | None = None) -> Any:
    request = urllib.request.Request(
        os.environ["GITHUB_API_URL"] + path,
        method=method,
        data=None if content is None else json.dumps(content).encode(),
        headers={
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {os.environ['TOKEN']}",
            "Content-Type": "application/json",
            "User-Agent": "yao-test",
            "X-GitHub-Api-Version": "2022-11-28",
        },
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def shortened(text: str) -> str:
    """A report within the limit, cut between lines, with open blocks closed. An `@` in it notifies nobody."""
    text = text.replace("@", "@\u2060")
    if len(text) <= LIMIT:
        return text
    kept = text[:LIMIT].rpartition("\n")[0]
    fences = [line for line in kept.split("\n") if line.startswith("```")]
    closing = fences[-1].rstrip("abcdefghijklmnopqrstuvwxyz") + "\n" if len(fences) % 2 else ""
    closing += "</details>\n" * max(0, kept.count("<details>") - kept.count("</details>"))
    return f"{kept}\n{closing}\nThe whole report is among the artifacts of the job.\n"


def warn(message: str) -> None:
    print(f"::warning title=yao-test::Cannot comment on the pull request: {message}".replace("\n", " "))


if __name__ == "__main__":
    sys.exit(main())
