"""The pictures of the README: starts the demonstration in a folder of its own and looks at it in Chromium.

Run it from the repository: python examples/pictures.py [folder], by default docs/pictures.  It needs the packages of
the tests (playwright) and Debian's chromium; nothing leaves the machine.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Error, Page, sync_playwright

LARGEST = 200_000
"""Bytes of a picture, at most."""

PASSWORD = "four words not together"
NAMES = {"en": ("console.png", "report.png"), "es": ("consola.png", "informe.png")}
LOCALES = {"en": "en-GB", "es": "es-CL"}
QUESTION = "SELECT sector, AVG(pay) AS mean_pay\nFROM staff\nGROUP BY sector"
CHROMIUM = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-dev-shm-usage"]


@contextmanager
def demonstration() -> Iterator[tuple[str, str]]:
    """A served demonstration: its address, and the link that makes its curator."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    with tempfile.TemporaryDirectory() as folder:
        command = [str(Path(sys.executable).with_name("curador")), "serve", "demo", "--port", port, "--json"]
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout is not None
                said = next(line for line in server.stdout if '"link"' in line)
                yield f"http://127.0.0.1:{port}", said.split('"')[3]
            finally:
                server.terminate()


def become_curator(page: Page, link: str) -> None:
    """Use the link that works once; it is said a few seconds before the server listens."""
    for _ in range(100):
        try:
            page.goto(link)
            break
        except Error:
            page.wait_for_timeout(300)
    page.fill("#login", "carla")
    page.fill("#password", PASSWORD)
    page.fill("#again", PASSWORD)
    page.click("main button")
    page.wait_for_url("**/overview")


def look_at_asking(page: Page, address: str, path: Path) -> None:
    """A question with its price and its expected error, before it is paid."""
    page.goto(f"{address}/console/ask?table=staff")
    page.fill("#sql", QUESTION)
    page.evaluate("document.getElementById('rows').value = '1000'")  # its part of the form is closed
    with page.expect_response("**/ask/rehearsal"):
        page.fill("#epsilon", "0.2")
        page.press("#epsilon", "Tab")
    page.wait_for_timeout(3000)  # for the choices to follow, and the chart to be drawn
    page.screenshot(path=path, clip={"x": 0, "y": 0, "width": 1280, "height": 1060}, full_page=True)


def look_at_the_report(page: Page, address: str, language: str, path: Path) -> None:
    """The top of the report of the demonstration's dashboard."""
    liked = {"Accept-Language": LOCALES[language]}
    html = page.request.get(f"{address}/console/releases/1/report", headers=liked).text()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.html"
        file.write_text(html, encoding="utf-8")
        page.goto(file.as_uri())
        page.screenshot(path=path, clip={"x": 0, "y": 0, "width": 1280, "height": 1000}, full_page=True)


def pictures(browser: Browser, address: str, link: str, folder: Path) -> None:
    """Both pictures in both languages."""
    signed_in = None
    for language, (asking, report) in NAMES.items():
        context = browser.new_context(
            locale=LOCALES[language], viewport={"width": 1280, "height": 1060}, storage_state=signed_in
        )
        page = context.new_page()
        if signed_in is None:
            become_curator(page, link)
            signed_in = context.storage_state()
        look_at_asking(page, address, folder / asking)
        look_at_the_report(page, address, language, folder / report)
        context.close()
        for name in (asking, report):
            size = (folder / name).stat().st_size
            print(f"{folder / name}: {size:,} bytes")
            if size >= LARGEST:
                raise SystemExit(f"{name} is larger than {LARGEST:,} bytes.")


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with (
        demonstration() as (address, link),
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=shutil.which("chromium"), args=CHROMIUM) as browser,
    ):
        pictures(browser, address, link, folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs" / "pictures")
