"""Who sees the pages of `yao-test view` in a real browser, and that texts of results do nothing there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from html_reports import NASTY, assertion, report, result, suite
from kept_runs import keep
from playwright.sync_api import expect
from view_server import View, ids, serving

from runner.store.places import Revision

SHOWN = (
    "</script><script>window.broken=1</script><img src=x onerror=window.broken=1> ␀␛[31m ⟨U+2028⟩ ⟨U+202E⟩gnp.exe <!--"
)


def test_hostile_texts_stay_texts(tmp_path: Path, look: Any) -> None:
    tool = {"name": NASTY, "args": {NASTY: NASTY}, "server": NASTY, "result": NASTY}
    markdown = "[x](javascript:window.broken=1) ![x](http://evil.example/x.png) <iframe srcdoc=x>"
    step = {"kind": "model", "role": NASTY, "agent": NASTY, "duration_ms": 1, "messages": [{"role": NASTY, "content": NASTY}], "answer": {NASTY: NASTY}}  # fmt: skip
    cases = [
        result(
            NASTY, NASTY, "failed", input=NASTY, output=f"{NASTY}{markdown}{at}", error=NASTY, tags=[NASTY], tools=[tool], logs=[NASTY],
            attachments=[{"type": NASTY, "name": NASTY, "media_type": "image/png", "source": f"file://{NASTY}"}],
            assertions=[assertion("agent", False, NASTY, None, NASTY, judge=NASTY)],
            trace={"totals": {NASTY: {"model_calls": 1, "tool_calls": 0, "duration_ms": 1}}, "steps": [step]},
        )
        for at in (1,)
    ]  # fmt: skip
    odd = {**suite(NASTY), "label": NASTY, "file": NASTY.replace("\0", ""), "agent": NASTY, "connector": NASTY}
    for day in (1, 2):
        cases[0]["output"] += str(day)
        made = report([odd], cases, errors=[NASTY], warnings=[NASTY], timestamp=f"2099-01-0{day}T09:00:00Z")
        keep(tmp_path, made, Revision(branch=NASTY, commit=NASTY))
    with serving(tmp_path) as view:
        newest, oldest = ids(view)
        key = view.get("/api/tests")["tests"][0]
        pages = [
            ("/", {}, ".run"), ("/run", {"run": newest}, ".row"), ("/tests", {}, "td"), ("/compare", {"run": [oldest, newest]}, ".row"),
            ("/test", {"suite": key["suite"], "test": key["test"]}, "td"),
        ]  # fmt: skip
        for path, values, there in pages:
            page = look(view, path, **values)
            page.locator(there).first.wait_for()
            page.evaluate(
                "document.querySelectorAll('.row-head, .variants .link[aria-expanded=false]').forEach((head) => head.click())"
            )
            expect(page.locator(".loading")).to_have_count(0)
            page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
            if path == "/run":
                question = page.get_by_role("group").filter(has=page.get_by_role("button", name="Yes")).last
                question.get_by_role("button", name="Yes").click()
                expect(question.get_by_role("button", name="Yes")).to_have_attribute("aria-pressed", "true")
            assert SHOWN in page.evaluate("document.querySelector('#app').textContent"), path
            assert page.evaluate("window.broken") is None
            assert page.evaluate("document.querySelectorAll('#app img, iframe, object, #app script').length") == 0


def test_only_the_script_of_the_page_runs(elsewhere: View, browser: Any) -> None:
    page = browser.new_page()
    page.goto(elsewhere.page())
    page.locator(".run").first.wait_for()
    refused = page.evaluate(
        """async () => {
            const said = [];
            addEventListener('securitypolicyviolation', (event) => said.push(event.effectiveDirective));
            const script = document.createElement('script');
            script.textContent = 'window.broken = 1';
            document.body.append(script);
            const image = document.createElement('img');
            image.src = 'http://127.0.0.1:1/x.png';
            document.body.append(image);
            await fetch('http://127.0.0.1:1/').catch(() => {});
            while (said.length < 3) await new Promise((resume) => setTimeout(resume, 10));
            return said.sort();
        }"""
    )
    assert refused == ["connect-src", "img-src", "script-src-elem"]
    assert page.evaluate("[window.broken ?? null, document.cookie]") == [None, ""]
    page.close()


NEEDED = "Open the link that yao-test view printed: it has the token that this page needs."


def test_the_token_leaves_the_address_and_serves_on(elsewhere: View, browser: Any) -> None:
    tabs = browser.new_context()
    page = tabs.new_page()
    asked: list[str] = []
    tabs.on("request", lambda request: asked.append(request.url))
    page.goto(elsewhere.page())
    expect(page.locator(".run")).to_have_count(3)
    assert page.url == f"{elsewhere.origin}/"
    page.reload()
    with tabs.expect_page() as opened:
        page.locator(".run-title").first.click(modifiers=["Control"])
    other = opened.value
    expect(other.locator(".row")).to_have_count(2)
    assert other.url == f"{elsewhere.origin}/run?run={ids(elsewhere)[0]}"
    other.get_by_role("link", name="Tests").click()
    other.go_back()
    expect(other.locator(".row")).to_have_count(2)
    other.goto(f"{elsewhere.origin}/#token=of-somebody-else")
    expect(other.get_by_role("alert")).to_have_text(NEEDED)
    page.reload()  # what others link to changes nothing
    expect(page.locator(".run")).to_have_count(3)
    other.evaluate("token => { location.hash = token }", f"token={elsewhere.token}")
    expect(other.locator(".run")).to_have_count(3)
    assert other.url == f"{elsewhere.origin}/"
    assert not [url for url in asked if elsewhere.token in url.partition("#")[0]]
    assert page.evaluate("document.cookie") == ""
    assert not page.evaluate("token => document.documentElement.outerHTML.includes(token)", elsewhere.token)
    tabs.close()


def test_who_has_no_token_sees_nothing(elsewhere: View, browser: Any) -> None:
    page = browser.new_page()
    for path in ("/", f"/run?run={ids(elsewhere)[0]}", "/tests", "/test?suite=x&test=late", "/compare"):
        page.goto(elsewhere.origin + path)
        expect(page.get_by_role("alert")).to_have_text(NEEDED)
        expect(page.locator(".run, .row, td")).to_have_count(0)
    page.close()


def test_a_browser_that_keeps_nothing_shows_the_page_of_the_link(elsewhere: View, browser: Any) -> None:
    page = browser.new_page()
    page.add_init_script("Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no') } })")
    page.goto(elsewhere.page("/run", run=ids(elsewhere)[0]))
    expect(page.locator(".row")).to_have_count(2)
    page.close()
