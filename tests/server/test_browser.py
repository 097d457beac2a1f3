"""The web page of docs/how-to/ask-people.md in a real browser, sending to a real server."""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, Route, sync_playwright

from curador.local import KRR
from curador.local.collect.collector import Collector
from curador.local.devices.clients import source
from tests.server.served import STUDY, Served, serving, write_study

TEXT = (Path(__file__).parents[2] / "docs" / "how-to" / "ask-people.md").read_text()
TASK = KRR(keys=["tea", "coffee", "water"], epsilon=1).named("drinks")
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]


@contextmanager
def website(folder: Path) -> Iterator[str]:
    """Hands the files of a folder out, at an origin of its own."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *parts: object) -> None:
            pass

    with ThreadingHTTPServer(("localhost", 0), partial(Quiet, directory=folder)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://localhost:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str, str]]:
    """The folder of a page, and two origins that hand it out: one that the study names, and one that it does not."""
    folder = tmp_path_factory.mktemp("site")
    with website(folder) as named, website(folder) as stranger:
        yield folder, named, stranger


@pytest.fixture(scope="module")
def served(sites: tuple[Path, str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("study")
    Collector.create(folder / "store", TASK)
    stated = f'{STUDY}collect = {{ drinks = "store" }}\norigins = ["{sites[1]}"]\n'
    with serving(write_study(folder, study=stated)) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("no Chromium is installed")
    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=program, args=OPTIONS) as found:
        yield found


@pytest.fixture
def person(browser: Browser) -> Iterator[BrowserContext]:
    """A browser that was never here before."""
    with browser.new_context() as context:
        yield context


@pytest.fixture
def page_html(sites: tuple[Path, str, str], served: Served) -> dict[str, str]:
    """The page of the how-to with the server's addresses, where both origins hand it out."""
    (page,) = re.findall(r"^```html\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    stated, at = 'const TASK = "task.json", REPORTS = "reports";', f"{served.url}/v1/collect/drinks"
    assert stated in page
    files = {"page.html": page.replace(stated, f'const TASK = "{at}", REPORTS = "{at}";')}
    files["curador_device.js"] = source("js")
    for name, text in files.items():
        (sites[0] / name).write_text(text)
    return files


def opened(person: BrowserContext, origin: str) -> tuple[Page, list[Request]]:
    """The page at an origin, and what it sends to the server."""
    sent: list[Request] = []
    person.set_default_timeout(300_000)  # a busy machine is no failure
    found = person.new_page()
    found.on("request", lambda request: sent.append(request) if "/v1/" in request.url else None)
    found.goto(f"{origin}/page.html")
    return found, sent


def told(page: Page) -> str:
    """What the page says after a button was pressed."""
    said = page.locator("#told")
    said.filter(has_text=re.compile("[.]")).wait_for()
    return str(said.text_content())


def accepted(served: Served) -> int:
    return Collector.open(served.study.parent / "store").totals().accepted


@pytest.mark.parametrize("elsewhere", [False, True], ids=["same origin", "another origin"])
def test_a_page_sends_one_report_of_each_person(
    browser: Browser, served: Served, sites: tuple[Path, str, str], page_html: dict[str, str], elsewhere: bool
) -> None:
    before = accepted(served)
    for number, drink in enumerate(("Tea", "Coffee", "Water"), 1):
        with browser.new_context() as person:
            for name, text in page_html.items():  # on the server's own origin, as behind a proxy that serves both
                kind = "text/html" if name.endswith("html") else "text/javascript"
                person.route(f"{served.url}/{name}", partial(Route.fulfill, body=text, content_type=kind))
            page, sent = opened(person, sites[1] if elsewhere else served.url)
            page.get_by_role("button", name=drink).click()
            assert told(page) == "Thank you."
            assert accepted(served) == before + number
            page.evaluate("document.getElementById('told').textContent = ''")
            page.get_by_role("button", name=drink).click()  # a device answers a task once
            assert told(page).startswith("Not answered: ")
            assert [r.method for r in sent] == ["GET", "POST", "GET"]
            assert not any("cookie" in r.all_headers() for r in sent)
            assert person.cookies() == []
    assert accepted(served) == before + 3


@pytest.mark.usefixtures("page_html")
def test_a_report_that_was_lost_is_sent_again_and_counts_once(
    person: BrowserContext, served: Served, sites: tuple[Path, str, str]
) -> None:
    before = accepted(served)
    page, sent = opened(person, sites[1])
    lost: list[str | None] = []

    def lose(route: Route) -> None:
        if route.request.method == "POST" and not lost:
            lost.append(route.request.post_data)
            route.abort()
        else:
            route.continue_()

    page.route(f"{served.url}/v1/collect/drinks", lose)
    page.get_by_role("button", name="Tea").click()
    assert told(page).startswith("Not sent: ")
    page.evaluate("document.getElementById('told').textContent = ''")
    page.get_by_role("button", name="Coffee").click()
    assert told(page) == "Thank you."
    assert [r.post_data for r in sent if r.method == "POST"] == lost * 2
    assert accepted(served) == before + 1


@pytest.mark.usefixtures("page_html")
def test_a_page_that_the_study_does_not_name_reads_and_sends_nothing(
    person: BrowserContext, served: Served, sites: tuple[Path, str, str]
) -> None:
    before = accepted(served)
    page, _ = opened(person, sites[2])
    page.get_by_role("button", name="Tea").click()
    assert told(page).startswith("Not sent: ")  # the task itself is not given out
    assert accepted(served) == before


@pytest.mark.usefixtures("page_html")
@pytest.mark.parametrize(("site", "may"), [(1, True), (2, False)], ids=["named", "stranger"])
def test_a_browser_asks_first_where_a_request_is_not_simple(
    person: BrowserContext, served: Served, sites: tuple[Path, str, str], site: int, may: bool
) -> None:
    page, _ = opened(person, str(sites[site]))
    sends = """async (at) => {
      const packed = new Response(new Blob(["no report"]).stream().pipeThrough(new CompressionStream("gzip")));
      const body = await packed.arrayBuffer();
      const headers = { "Content-Encoding": "gzip", "Content-Type": "application/json" };
      return fetch(at, { method: "POST", body, headers }).then((r) => r.status, () => "refused");
    }"""
    assert page.evaluate(sends, f"{served.url}/v1/collect/drinks") == (204 if may else "refused")
