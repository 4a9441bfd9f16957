"""What the server of `yao-test view` answers, and to whom."""

from __future__ import annotations

import http.client
import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from shlex import split
from typing import Any

import httpx
import pytest
from agent_files import agent, case_file
from command import Application, eventually, make_application
from html_reports import NASTY, report, result, suite
from kept_runs import KeptRunUnderWay, keep
from view_server import NOW, View, serving

from runner.planning.last_failed import STORE as FOLDER
from runner.store.places import Revision, place_of
from runner.store.store import Store
from runner.view import reruns

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'
JUDGED = {"type": "agent", "use": "agents:judge", "value": "is polite"}
CASES = [
    {"id": "late", "input": "May I check out late?", "assert": JUDGED},
    {"id": "-x --app=/", "input": "a dog?", "assert": {"type": "contains", "value": "cat"}},
    {"id": NASTY.replace("\0", ""), "input": NASTY.replace("\0", ""), "assert": {"type": "contains", "value": "heard"}},
    {
        "id": "seen",
        "input": {"role": "user", "content": [{"type": "text", "text": "What is it?"}, *({"type": "image", "source": f"file://{name}"} for name in ("room.png", "fake.png", "../../../outside.png"))]},
        "assert": {"type": "contains", "value": "heard"},
    },
    {"id": "talk", "turns": [{"input": "hello", "assertions": JUDGED}, {"input": "bye", "assertions": JUDGED}]},
]  # fmt: skip
FILES: dict[str, Any] = {
    **agent(replies="- reply: 'heard {{ input }}'", cases=CASES),
    **agent("judge", replies="- reply: { json: { passed: true, reason: fine } }"),
    "/assistants/demo/tests/room.png": PNG,
    "/assistants/demo/tests/fake.png": SVG,
    "/outside.png": PNG,
}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Application:
    """An application whose store has two runs of it, one of them with two runs of each case, and one from elsewhere."""
    application = make_application(tmp_path_factory.mktemp("view"), FILES)
    (application.root / FOLDER).mkdir()
    for more in ((), ("--runs", "2")):
        run = application.run("-i", case_file(), "-q", "--trace", "full", *more)
        assert run.code == 1, run
    keep(
        application.root / FOLDER,
        report([suite("a.jsonl")], [result("a.jsonl", "a", input="x", output="y")], timestamp="2099-01-01T00:00:00Z"),
    )
    return application


@pytest.fixture(scope="module")
def view(kept: Application) -> Iterator[View]:
    with serving(kept.root / FOLDER, kept.root, kept.environment) as view:
        yield view


@pytest.fixture(scope="module")
def runs(view: View) -> list[dict[str, Any]]:
    """Heads of the runs: the newest, from elsewhere, then that of two runs each, then the first."""
    found: list[dict[str, Any]] = view.get("/api/runs", limit=10)["runs"]
    return found


def places(view: View, run: str) -> dict[str, int]:
    return {row["id"]: at for at, row in enumerate(view.get(f"/api/runs/{run}/index")["rows"])}


ROUTES = [
    ("GET", "/nowhere"), ("GET", "//"), ("GET", "/api"),
    ("GET", "/api/runs?limit=1"), ("GET", "/api/events"), ("GET", "/api/runs/x/index"), ("GET", "/api/runs/x/block-0"),
    ("GET", "/api/runs/x/events?after=0"), ("GET", "/api/runs/x/picture?at=0"), ("GET", "/api/runs/x/labels?at=0"),
    ("PUT", "/api/runs/x/labels"), ("GET", "/api/runs/x/labels.jsonl"), ("POST", "/api/runs/x/again"), ("GET", "/api/again"),
    ("DELETE", "/api/again"), ("GET", "/api/compare"), ("GET", "/api/history"), ("GET", "/api/tests"), ("OPTIONS", "/api/runs"),
]  # fmt: skip


def asked(view: View, method: str, path: str, headers: list[tuple[str, str]]) -> http.client.HTTPResponse:
    """The answer to a request with these headers and no others."""
    connection = http.client.HTTPConnection("127.0.0.1", view.port, timeout=10)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in headers:
        connection.putheader(name, value)
    connection.endheaders()
    response = connection.getresponse()
    response.read()
    connection.close()
    return response


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_nothing_is_answered_without_the_token(view: View, method: str, path: str) -> None:
    host = ("Host", f"127.0.0.1:{view.port}")
    wrong = view.token[:-1] + ("A" if view.token[-1] != "A" else "B")
    given = [
        [], [("X-Yao-Test-Token", wrong)], [("X-Yao-Test-Token", "")], [("Cookie", f"token={view.token}")],
        [("Authorization", f"Bearer {view.token}")], [("X-Yao-Test-Token", view.token)] * 2, [("X-Yao-Test-Token", "\xe9")],
    ]  # fmt: skip
    for headers in given:
        assert asked(view, method, path, [host, *headers]).status == 403, headers
    joined = "&" if "?" in path else "?"
    assert asked(view, method, f"{path}{joined}token={view.token}", [host]).status == 403  # a link to it must not do


def test_the_pages_themselves_are_the_same_for_everybody(view: View, runs: list[dict[str, Any]]) -> None:
    host = ("Host", f"127.0.0.1:{view.port}")
    texts = [
        httpx.get(view.origin + path).text
        for path in ("/", f"/run?run={runs[0]['id']}", "/tests", "/test?test=late", "/compare")
    ]
    assert len(set(texts)) == 1
    assert all(run["id"] not in texts[0] for run in runs)
    for method in ("POST", "PUT", "DELETE"):
        assert asked(view, method, "/run", [host]).status == 405


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "[::1]:{port}", "127.0.0.1.nip.io:{port}", ""])  # fmt: skip
def test_another_host_is_refused(view: View, host: str) -> None:
    headers = [("Host", host.format(port=view.port)), ("X-Yao-Test-Token", view.token)]
    assert asked(view, "GET", "/api/runs?limit=1", headers).status in (400, 421)
    assert asked(view, "GET", "/", headers).status in (400, 421)


def test_the_host_must_be_said_once(view: View) -> None:
    host, token = ("Host", f"127.0.0.1:{view.port}"), ("X-Yao-Test-Token", view.token)
    assert asked(view, "GET", "/api/runs?limit=1", [token]).status in (400, 421)
    assert asked(view, "GET", "/api/runs?limit=1", [host, ("Host", "evil.example"), token]).status in (400, 421)
    assert asked(view, "GET", "/api/runs?limit=1", [("Host", f"localhost:{view.port}"), token]).status == 200


def test_a_page_of_another_origin_changes_nothing(view: View, runs: list[dict[str, Any]]) -> None:
    path = f"/api/runs/{runs[-1]['id']}/again"
    for origin in ("http://evil.example", "null", f"http://127.0.0.1:{view.port + 1}"):
        refused = view.client.post(path, json={"keys": []}, headers={"Origin": origin})
        assert refused.status_code == 403
    assert view.get("/api/again")["state"] == "none"
    plan = view.client.post(f"{path}/plan", json={"keys": []}, headers={"Origin": view.origin})
    assert plan.status_code == 200


@pytest.mark.parametrize("path", ["/", "/view.js", "/api/runs?limit=1", "/nowhere", "/api/runs/x/index"])
def test_every_answer_has_its_headers(view: View, path: str) -> None:
    headers = view.client.get(path).headers
    policy = headers["content-security-policy"].split("; ")
    assert policy == [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' blob:",
        "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
    ]  # fmt: skip
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    assert "set-cookie" not in headers
    assert "access-control-allow-origin" not in headers


def test_nobody_else_can_connect(view: View) -> None:
    own = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for address in own - {"127.0.0.1"}:
        with pytest.raises(OSError, match="refused"):
            socket.create_connection((str(address), view.port), timeout=5)


BAD = {
    "no number": ("GET", "/api/runs?limit=x", None, 400),
    "a long number": ("GET", "/api/runs?limit=99999999999999999999", None, 400),
    "no such run": ("GET", "/api/runs/nowhere/index", None, 400),
    "the beginning of an id": ("GET", "/api/runs/{short}/index", None, 404),
    "no such result": ("GET", "/api/runs/{run}/labels?at=999", None, 404),
    "one run": ("GET", "/api/compare?run={run}", None, 400),
    "many runs": ("GET", "/api/compare?" + "run={run}&" * 11, None, 400),
    "no JSON": ("PUT", "/api/runs/{run}/labels", b"{", 400),
    "no object": ("PUT", "/api/runs/{run}/labels", b"[]", 400),
    "deep JSON": ("PUT", "/api/runs/{run}/labels", b"[" * 100_000, 400),
    "a large body": ("PUT", "/api/runs/{run}/labels", b" " * 1_000_001, 400),
    "no place": ("PUT", "/api/runs/{run}/labels", b'{"at": true}', 400),
    "half of a letter": ("POST", "/api/runs/{run}/again/plan", b'{"keys": ["\\ud800"]}', 404),
    "no question": ("PUT", "/api/runs/{run}/labels", b'{"at": 0, "run": 9, "turn": 0, "criterion": "x", "passed": true, "why": ""}', 400),
    "no verdict": ("PUT", "/api/runs/{run}/labels", b'{"at": 0, "run": 1, "turn": 0, "criterion": "", "passed": "yes", "why": ""}', 400),
    "a long reason": ("PUT", "/api/runs/{run}/labels", json.dumps({"at": 0, "run": 1, "turn": 0, "criterion": "", "passed": True, "why": "x" * 2001}).encode(), 400),
    "keys that are no texts": ("POST", "/api/runs/{run}/again", b'{"keys": [1]}', 400),
    "keys of no result": ("POST", "/api/runs/{run}/again", b'{"keys": ["--app=/"]}', 404),
    "no keys": ("POST", "/api/runs/{run}/again", b"{}", 400),
    "another method": ("POST", "/api/runs", b"", 405),
    "nothing there": ("GET", "/api/nothing", None, 404),
}  # fmt: skip


@pytest.mark.parametrize(("method", "path", "content", "status"), BAD.values(), ids=BAD)
def test_bad_requests_are_refused_in_a_sentence(
    view: View, runs: list[dict[str, Any]], method: str, path: str, content: bytes | None, status: int
) -> None:
    run = runs[-1]["id"]
    response = view.client.request(method, path.format(run=run, short=run[:4]), content=content)
    assert response.status_code == status, response.text
    if status == 400:
        said = response.json()["error"]
        assert said.startswith(("Cannot ", "There is no run"))
        assert "Traceback" not in said
    assert view.get("/api/again")["state"] == "none"


def test_a_run_is_as_its_report_has_it(view: View, runs: list[dict[str, Any]]) -> None:
    elsewhere, twice, first = runs
    assert [run["counts"]["total"] for run in runs] == [1, 5, 5]
    assert first["status"] == "failed"
    assert first["suites"] == [case_file()]
    index = view.get(f"/api/runs/{first['id']}/index")
    with Store(view.folder) as store:
        saved = store.report(first["id"])
    results = [result for result, _ in view.get(f"/api/runs/{first['id']}/block-0")]
    assert results == saved.lines
    assert [row["id"] for row in index["rows"]] == [result["id"] for result in results]
    assert index["summary"]["failed"] == 1
    assert view.get(f"/api/runs/{first['id']}/block-1") == []
    assert view.get(f"/api/runs/{first['id']}/variants") is None
    assert [row["runs"]["count"] for row in view.get(f"/api/runs/{twice['id']}/index")["rows"]] == [2] * 5
    assert elsewhere["elsewhere"]


@pytest.mark.parametrize(
    ("source", "kind"),
    [("file://room.png", "image/png"), ("file://fake.png", None), ("file://../../../outside.png", "image/png"), ("file://package.yao", None), ("file:///etc/passwd", None)],
)  # fmt: skip
def test_pictures_are_what_they_say(view: View, runs: list[dict[str, Any]], source: str, kind: str | None) -> None:
    run = runs[-1]["id"]
    response = view.client.get(f"/api/runs/{run}/picture", params={"at": places(view, run)["seen"], "source": source})
    assert response.headers.get("content-type") == kind
    assert (response.status_code, response.content) == ((200, PNG) if kind else (204, b""))
    other = view.client.get(f"/api/runs/{run}/picture", params={"at": places(view, run)["late"], "source": source})
    assert other.status_code == 204


def test_a_picture_that_has_changed_is_not_shown(tmp_path: Path) -> None:
    application = make_application(tmp_path, FILES)
    application.run("-i", case_file(), "--run", "seen", "-q", "--store", FOLDER)
    (application.root / "assistants/demo/tests/room.png").write_bytes(PNG + b"other")
    with serving(application.root / FOLDER, application.root) as view:
        run = view.get("/api/runs", limit=1)["runs"][0]["id"]
        found = view.client.get(f"/api/runs/{run}/picture", params={"at": 0, "source": "file://room.png"})
    assert found.status_code == 204


def test_labels_are_kept_and_exported_for_calibrate(view: View, kept: Application, runs: list[dict[str, Any]]) -> None:
    run = runs[-1]["id"]
    at = places(view, run)
    assert view.get(f"/api/runs/{run}/labels", at=at["late"])["questions"] == [
        {"run": 1, "turn": 0, "criterion": "", "input": "May I check out late?", "output": "heard May I check out late?"},
        {"run": 1, "turn": 0, "criterion": "is polite", "input": "May I check out late?", "output": "heard May I check out late?", "judged": {"passed": True, "judge": "judge"}},
    ]  # fmt: skip
    assert [(one["turn"], one["criterion"]) for one in view.get(f"/api/runs/{run}/labels", at=at["talk"])["questions"]] == [
        (0, ""), (1, "is polite"), (2, "is polite"),
    ]  # fmt: skip

    def say(test: str, turn: int, criterion: str, passed: bool | None, why: str = "") -> Any:
        said = {"at": at[test], "run": 1, "turn": turn, "criterion": criterion, "passed": passed, "why": why}
        response = view.client.put(f"/api/runs/{run}/labels", json=said)
        assert response.status_code == 200, response.text
        return response.json()

    assert say("late", 0, "is polite", True) == {"count": 1, "label": {"passed": True, "why": "", "person": "ann"}}
    assert say("late", 0, "is polite", False, 'it says "heard"')["count"] == 1
    assert say("talk", 2, "is polite", True)["count"] == 2
    assert say("late", 0, "", True)["count"] == 3
    assert say("late", 0, "", None) == {"count": 2}
    with Store(view.folder) as store:
        assert [(label.test, label.passed, label.made_at) for label in store.labels(run)] == [
            ("late", False, NOW), ("talk", True, NOW),
        ]  # fmt: skip
    text = view.client.get(f"/api/runs/{run}/labels.jsonl").text
    assert [json.loads(line) for line in text.splitlines()] == [
        {"suite": case_file(), "id": "late", "run": 1, "turn": 0, "criterion": "is polite", "input": "May I check out late?", "output": "heard May I check out late?", "passed": False, "why": 'it says "heard"'},
        {"suite": case_file(), "id": "talk", "run": 1, "turn": 2, "criterion": "is polite", "input": "bye", "output": "heard bye", "passed": True},
    ]  # fmt: skip
    (kept.root / "labels.jsonl").write_text(text, "utf-8")
    with Store(view.folder) as store:
        (kept.root / "run.jsonl").write_text(store.text(run), "utf-8")
    trust = kept.run("calibrate", "run.jsonl", "labels.jsonl")
    assert trust.code == 0, trust
    assert "is polite  2       50.0%" in trust.stdout
    assert (trust.stderr, "whole answers" in trust.stdout) == ("", False)

    say("late", 0, "", True)
    text = view.client.get(f"/api/runs/{run}/labels.jsonl").text
    (kept.root / "labels.jsonl").write_text(text, "utf-8")
    trust = kept.run("calibrate", "run.jsonl", "labels.jsonl")
    assert "is polite  2       50.0%" in trust.stdout
    assert "Left out: 1 label of whole answers, which no judge has judged." in trust.stdout
    (whole,) = [line for line in text.splitlines() if json.loads(line)["criterion"] == ""]
    (kept.root / "labels.jsonl").write_text(f"{whole}\n", "utf-8")
    refused = kept.run("calibrate", "run.jsonl", "labels.jsonl")
    assert (refused.code, refused.stderr.splitlines()[0]) == (
        2,
        "Error: Cannot calibrate run.jsonl: labels.jsonl has labels of whole answers only",
    )


def test_each_run_of_a_case_has_its_own_labels(view: View, runs: list[dict[str, Any]]) -> None:
    run = runs[1]["id"]
    at = places(view, run)["late"]
    said = {"at": at, "run": 2, "turn": 0, "criterion": "is polite", "passed": True, "why": ""}
    view.client.put(f"/api/runs/{run}/labels", json=said)
    questions = view.get(f"/api/runs/{run}/labels", at=at)["questions"]
    assert [(one["run"], one["criterion"], "label" in one) for one in questions] == [
        (1, "", False), (1, "is polite", False), (2, "", False), (2, "is polite", True),
    ]  # fmt: skip
    assert json.loads(view.client.get(f"/api/runs/{run}/labels.jsonl").text)["run"] == 2

    half = view.client.put(f"/api/runs/{run}/labels", content=json.dumps({**said, "why": "half \ud800"}))
    assert half.json()["label"]["why"] == "half \\ud800"


def test_two_runs_are_compared(view: View, runs: list[dict[str, Any]]) -> None:
    found = view.get("/api/compare", run=[runs[-1]["id"], runs[1]["id"]])
    assert found["comparison"]["changes"][0]["word"] == "unchanged"
    assert found["comparison"]["was"] == [0, 1, 2, 3, 4]
    assert found["variants"]["head"] == ["Case", "Run A", "Run B"]
    three = view.get("/api/compare", run=[runs[2]["id"], runs[1]["id"], runs[2]["id"]])
    assert three["comparison"] is None
    assert [row[0] for row in three["variants"]["overview"]] == ["Run", "Run A", "Run B", "Run C"]
    other = view.client.get("/api/compare", params={"run": [runs[0]["id"], runs[1]["id"]]})
    assert other.json()["error"].startswith("Cannot compare Run A with Run B: they have no case in common")


def test_a_test_is_shown_over_time(view: View, runs: list[dict[str, Any]]) -> None:
    found = view.get("/api/history", suite=case_file(), test="late")
    assert [(one["run"], one["verdict"], one["passed"], one["judged"]) for one in found["occurrences"]] == [
        (runs[1]["id"], "passed", 2, 2), (runs[-1]["id"], "passed", 1, 1),
    ]  # fmt: skip
    assert {one["answer"] for one in found["occurrences"]} == {"heard May I check out late?"}
    assert found["rate"][1] == 1
    tests = view.get("/api/tests")["tests"]
    assert (tests[0]["test"], tests[0]["verdicts"]) == ("-x --app=/", ["failed", "failed"])
    assert view.get("/api/history", suite="nowhere", test="none")["occurrences"] == []


def test_what_is_run_again_is_the_command_line_of_the_run(
    view: View, kept: Application, runs: list[dict[str, Any]]
) -> None:
    run = runs[1]["id"]
    keys = [row["key"] for row in view.get(f"/api/runs/{run}/index")["rows"] if row["id"] in ("late", "-x --app=/")]
    plan = view.client.post(f"/api/runs/{run}/again/plan", json={"keys": keys}).json()
    store = kept.root / FOLDER
    assert plan["commands"] == [
        f"yao-test --input={case_file()} '--run=^late$|^-x.--app\\=.$' --runs=2 --trace=full --store={store}"
    ]
    assert len(view.get("/api/runs", limit=10)["runs"]) == 3  # a plan runs nothing
    begun = view.client.post(f"/api/runs/{run}/again", json={"keys": keys})
    assert begun.json()["state"] == "running", begun.text
    second = view.client.post(f"/api/runs/{run}/again", json={"keys": keys})
    assert second.status_code == 400
    assert second.json()["error"].startswith("Cannot start it: something is still running")
    again = eventually(lambda: (found := view.get("/api/again"))["state"] == "ended" and found, "it ended")
    assert again["code"] == 1
    assert "✗ [-x --app=/]" in again["output"]
    newest = view.get("/api/runs", limit=2)["runs"][1]
    assert newest["counts"] == {"total": 2, "passed": 1, "failed": 1, "skipped": 0, "errors": 0}
    assert view.get("/api/history", suite=case_file(), test="late")["occurrences"][0]["run"] == newest["id"]


SELECTIONS = {
    ("--run", "c1|TestA"): ["--run=c1|TestA"],
    ("--tag", "smoke", "--tag", "b c"): ["--tag=smoke", "--tag=b c"],
    ("--shard", "1/2"): ["--shard=1/2"],
    ("--run", "c", "--tag", "smoke"): ["--run=c", "--tag=smoke"],
    (): [],
}


@pytest.fixture(scope="module")
def selecting(tmp_path_factory: pytest.TempPathFactory) -> Application:
    cases = [{"id": f"c{number}", "input": "x", "tags": ["smoke", "b c"]} for number in range(3)]
    cases[2]["assert"] = {"type": "equals", "value": "none"}
    script = "export function TestA(t) {}\nexport function TestB(t) { t.fail('no'); }\n"
    root = tmp_path_factory.mktemp("selecting")
    return make_application(root, {**agent(cases=cases), "some_test.ts": script, f"/{FOLDER}/.keep": ""})


def plans(here: Application) -> list[list[str]]:
    """What would run all of the newest run again."""
    with serving(here.root / FOLDER, here.root) as view:
        newest = view.get("/api/runs", limit=1)["runs"][0]["id"]
        commands = view.client.post(f"/api/runs/{newest}/again/plan", json={"keys": []}).json()["commands"]
    return [[word for word in split(command)[1:] if not word.startswith("--store=")] for command in commands]


@pytest.mark.parametrize("flags", SELECTIONS, ids=" ".join)
def test_a_run_of_some_tests_is_run_again_with_those(selecting: Application, flags: tuple[str, ...]) -> None:
    selecting.run(*flags, "-q")
    (words,) = plans(selecting)
    assert [word for word in words if not word.startswith("--input=")] == SELECTIONS[flags]


def test_a_run_of_what_had_failed_is_run_again_with_that(selecting: Application) -> None:
    assert selecting.run("-q").code == 1
    assert selecting.run("--last-failed", "-q").code == 1
    assert sorted(plans(selecting)) == sorted(
        [["--input=scripts.demo.some", "--run=^TestB$"], [f"--input={case_file()}", "--run=^c2$"]]
    )
    assert selecting.run("--last-failed", "--run", "Test", "-q").code == 1
    assert plans(selecting) == [["--input=scripts.demo.some", "--run=^TestB$"]]
    assert selecting.run("--last-failed", "--tag", "smoke", "-q").code == 1
    assert plans(selecting) == [[f"--input={case_file()}", "--run=^c2$", "--tag=smoke"]]


def test_a_module_that_could_not_be_loaded_is_run_again_as_a_whole(tmp_path: Path) -> None:
    here = make_application(tmp_path, {"some_test.ts": "export function TestA(t) {", f"/{FOLDER}/.keep": ""})
    assert here.run("-q").code == 1
    assert here.run("--last-failed", "-q").code == 1
    assert plans(here) == [["--input=scripts.demo.some"]]


def test_more_names_than_fit_into_a_word_run_again_in_parts(tmp_path: Path) -> None:
    application = make_application(tmp_path, FILES)
    names = [f"{'n' * 200}{number}" for number in range(1200)]
    made = report([suite("a.jsonl")], [result("a.jsonl", name, "failed", input="x") for name in names])
    id = keep(tmp_path / "store", made, Revision(place=place_of(application.root)))
    with serving(tmp_path / "store", application.root) as view:
        keys = [row["key"] for row in view.get(f"/api/runs/{id}/index")["rows"]]
        commands = view.client.post(f"/api/runs/{id}/again/plan", json={"keys": keys}).json()["commands"]
    words = [[word for word in split(command) if word.startswith("--run=")] for command in commands]
    assert all(len(word.encode()) < 2**17 for (word,) in words)
    assert [name for (word,) in words for name in re.findall(r"n+\d+", word)] == names


def test_what_cannot_be_started_ends_and_is_said(
    view: View, kept: Application, runs: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reruns, "PROGRAM", (str(kept.root / "nothing"),))
    view.client.post(f"/api/runs/{runs[1]['id']}/again", json={"keys": []})
    again = eventually(lambda: (found := view.get("/api/again"))["state"] == "ended" and found, "it ended")
    assert again["code"] == 3
    assert "Error: Cannot start " in again["output"]


def test_a_run_from_elsewhere_is_not_run_again(view: View, runs: list[dict[str, Any]]) -> None:
    for path in ("again", "again/plan"):
        refused = view.client.post(f"/api/runs/{runs[0]['id']}/{path}", json={"keys": []})
        assert refused.status_code == 400
        assert refused.json() == {
            "error": "Cannot run it again from here: it was made on another machine, or in another application"
        }


@pytest.mark.parametrize(
    "flags", [["--app", "/"], ["--store", "/x"], ["--nothing"], ["-o", "x.json"], ["--timeout", "1s", "--watch"]]
)
def test_flags_that_no_run_has_are_not_taken(tmp_path: Path, flags: list[str]) -> None:
    application = make_application(tmp_path, FILES)
    made = report([suite("a.jsonl")], [result("a.jsonl", "a", input="x")])
    made.start["flags"] = flags
    id = keep(tmp_path / "store", made, Revision(place=place_of(application.root)))
    with serving(tmp_path / "store", application.root) as view:
        response = view.client.post(f"/api/runs/{id}/again/plan", json={"keys": []})
    if flags[0] == "--app":  # the application is always that of the server
        assert response.json()["commands"] == [f"yao-test --input=a.jsonl --store={tmp_path / 'store'}"]
    else:
        assert response.json()["error"].endswith("its flags are not those of this version")


def test_what_runs_can_be_stopped(tmp_path: Path) -> None:
    slow = {"slow_test.ts": "export function TestSlow() { for (;;) {} }\n"}
    application = make_application(tmp_path, slow)
    run = application.run("-i", "scripts.demo.slow", "--timeout", "100ms", "-q", "--store", FOLDER)
    assert run.code == 1, run
    with Store(application.root / FOLDER) as store:
        (first,) = store.runs()
    with serving(application.root / FOLDER, application.root, {**application.environment}) as view:
        with Store(application.root / FOLDER) as store:
            assert store.run(first.id).start["flags"] == ["--timeout", "100ms"]
        view.client.post(f"/api/runs/{first.id}/again", json={"keys": []})
        eventually(
            lambda: "Running" in view.get("/api/again")["output"] or view.get("/api/again")["state"] == "ended",
            "it begins",
        )
        view.client.request("DELETE", "/api/again")
        again = eventually(lambda: (found := view.get("/api/again"))["state"] == "ended" and found, "it is stopped")
    assert again["code"] in (1, 130)


def test_changes_of_a_run_come_as_events(tmp_path: Path) -> None:
    made = report([suite("a.jsonl")], [result("a.jsonl", id, input="x", output=id) for id in "abcd"])
    going = KeptRunUnderWay(tmp_path, made)
    going.go_on(2)
    with serving(tmp_path) as view:
        eventually(lambda: view.get("/api/runs", limit=1)["runs"], "the run begins")
        eventually(lambda: len(view.get(f"/api/runs/{going.id}/index")["rows"]) == 2, "two results")
        index = view.get(f"/api/runs/{going.id}/index")
        assert (index["summary"]["status"], index["head"]["status"]) == ("running", "running")
        seen = []
        with view.client.stream("GET", f"/api/runs/{going.id}/events?after={index['revision']}") as stream:
            assert stream.headers["content-type"] == "text/event-stream; charset=utf-8"
            going.end()
            for line in stream.iter_lines():
                if line.startswith("data: "):
                    seen.append(json.loads(line[6:]))
                if seen and seen[-1]["summary"]["status"] != "running":  # the stream stays: it may be resumed
                    break
        assert {at: row["id"] for update in seen for at, row in update["rows"]} == {2: "c", 3: "d"}
        assert seen[-1]["summary"]["status"] == "passed"


def test_a_run_that_was_killed_is_cut_short(tmp_path: Path) -> None:
    going = KeptRunUnderWay(tmp_path, report([suite("a.jsonl")], [result("a.jsonl", id) for id in "ab"]))
    going.go_on(1)
    id = going.break_off()
    with serving(tmp_path) as view:
        (head,) = view.get("/api/runs", limit=1)["runs"]
        assert (head["id"], head["status"], head["counts"]["total"]) == (id, "cut short", 1)
        assert view.get(f"/api/runs/{id}/index")["summary"]["status"] == "cut short"
