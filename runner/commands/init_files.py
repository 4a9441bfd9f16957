"""The files that `yao-test init` writes: an agent, its tests, and a job of a CI system."""

from __future__ import annotations

from pathlib import PurePosixPath

from scripttest.values import Value

CI_SYSTEMS = ("github", "gitlab", "none")
CI_FILES = {"github": ".github/workflows/yao-test.yml", "gitlab": ".gitlab-ci.yml"}
"""CI system → its file, from the root of the repository."""
REQUIREMENTS = "requirements-test.txt"
"""The package that the CI job installs."""
IGNORED = ("output-*.jsonl", ".yao-test/")
"""Lines of `.gitignore`: reports of case files, and what the tool keeps between runs."""


class NewFile(Value):
    """A file that is written if there is none."""

    path: str
    """From the root of the application, with slashes."""
    text: str
    goes_with: tuple[str, ...] = ()
    """Files that have to be as `init` writes them; this one would not fit to others."""


def agent_files(agent: str) -> tuple[NewFile, ...]:
    """An agent with a handler, a test of it, a model's replies and a case, by its id."""
    folder = f"assistants/{agent.replace('.', '/')}"
    package, prompts, replies = (f"{folder}/{name}" for name in ("package.yao", "prompts.yml", "replies.yml"))
    name = PurePosixPath(folder).name.replace("_", " ").replace("-", " ").capitalize()
    handler = f"{folder}/src/greeting.ts"
    return (
        NewFile(path=package, text=PACKAGE.replace("NAME", name)),
        NewFile(path=prompts, text=PROMPTS, goes_with=(package,)),
        NewFile(path=replies, text=REPLIES, goes_with=(package,)),
        NewFile(path=handler, text=HANDLER, goes_with=(package,)),
        NewFile(path=f"{folder}/src/greeting_test.ts", text=HANDLER_TEST, goes_with=(package, handler)),
        NewFile(path=f"{folder}/tests/greetings.jsonl", text=CASES, goes_with=(package, prompts, replies)),
    )


def ci_text(system: str, folder: str) -> str:
    """The file for a CI system, one of `CI_FILES`.

    Args:
        system: `github` or `gitlab`.
        folder: path of the application from the root of the repository, with slashes; empty if it is the root.
    """
    from json import dumps

    text = GITHUB if system == "github" else GITLAB
    if system == "github":
        inside = f"    defaults:\n      run:\n        working-directory: {dumps(folder)}\n" if folder else ""
    else:
        from shlex import quote

        inside = f"    - {dumps(f'cd {quote(folder)}')}\n" if folder else ""
    below = f"{folder}/" if folder else ""
    return text.replace("INSIDE\n", inside).replace("BELOW", below)


PACKAGE = """{
  "name": "NAME",
  "description": "Greets people",
  "connector": "scripted"
}
"""

PROMPTS = """- role: system
  content: You greet people and ask what you can do for them.
"""

REPLIES = """# What the scripted model answers, instead of a real one: the first rule that applies.
- when: { input: { regex: '(?i)\\b(hello|hi)\\b' } }
  reply: Hello! What can I do for you?
- reply: So far I can only say hello.
"""

HANDLER = """/** A greeting for an hour of the day, 0 to 23. */
export function Greeting(name: string, hour: number): string {
  const part = hour < 12 ? "morning" : hour < 18 ? "afternoon" : "evening";
  return `Good ${part}, ${name}!`;
}
"""

HANDLER_TEST = """import { Greeting } from "./greeting";

export function TestGreeting(t: testing.T, ctx: agent.Context) {
  const { assert } = t;

  assert.Equal(Greeting("Ada", 9), "Good morning, Ada!");
  assert.Equal(Greeting("Ada", 20), "Good evening, Ada!");
}
"""

CASES = """{"id": "says-hello", "input": "Hello!", "assert": {"type": "contains", "value": "What can I do"}}
"""

GITHUB = f"""# Script tests and scripted models need no key and no network.
# Give the keys of real models to the job, or replay recordings: yao-test --replay recordings
name: yao-test
on: [push, pull_request]

permissions:
  contents: read

jobs:
  yao-test:
    runs-on: ubuntu-latest
    timeout-minutes: 10
INSIDE
    steps:
      # What a pull request brings is not installed: the requirements are those of its base.
      - uses: actions/checkout@v4
        with: {{ ref: "${{{{ github.base_ref }}}}" }}
      - uses: actions/setup-python@v5
        with: {{ python-version: "3.12" }}
      - run: pip install -r {REQUIREMENTS}
      - uses: actions/checkout@v4
      - run: yao-test -o report.html
      - uses: actions/upload-artifact@v4
        if: always()
        with: {{ name: yao-test, path: "BELOWreport.html" }}
"""

GITLAB = f"""# Script tests and scripted models need no key and no network.
# Give the keys of real models to the job, or replay recordings: yao-test --replay recordings
yao-test:
  image: python:3.12
  timeout: 10 minutes
  script:
INSIDE
    # What a merge request brings is not installed: the requirements are those of its target.
    - |
      git fetch -q --depth 1 origin "${{CI_MERGE_REQUEST_TARGET_BRANCH_NAME:-$CI_COMMIT_SHA}}"
      git worktree add -q -f --detach /tmp/base FETCH_HEAD
      (cd "/tmp/base/$(git rev-parse --show-prefix)" && pip install -r {REQUIREMENTS})
    - yao-test -o report.html -o junit.xml
  artifacts:
    when: always
    paths: ["BELOWreport.html"]
    reports: {{ junit: "BELOWjunit.xml" }}
"""
