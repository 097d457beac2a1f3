"""A browser on a served study: nothing leaves the server's origin, nothing is refused by the page's policy."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page

from curador.server.access.auth import digest
from curador.server.access.sessions import form_token
from curador.server.gate.cookies import SESSION, VISIT
from tests.server.served import Served

NARROW, WIDE = 390, 1280
LOCALES = {"en": "en-GB", "es": "es-CL"}
SHOTS = "CURADOR_SCREENSHOTS"
"""A folder outside the repository where pictures of pages are kept, if this is set."""


def screens(en: str = "light", es: str = "dark") -> pytest.MarkDecorator:
    """Each language in its theme, on a telephone and on a desk; two of these four are left to the slow tests."""
    return pytest.mark.parametrize(
        ("language", "theme", "width"),
        [
            ("en", en, WIDE),
            ("es", es, NARROW),
            pytest.param("en", en, NARROW, marks=pytest.mark.slow),
            pytest.param("es", es, WIDE, marks=pytest.mark.slow),
        ],
    )


def session_of(served: Served, who: str) -> str:
    """A session's cookie for the holder of a token: "curator", "auditor", "reader", or an analyst's name."""
    ledger = served.curator.ledger
    parent = ledger.access(digest(served.tokens[who]))
    assert parent is not None
    return served.service.sessions.begin(ledger, parent)


def visitor(served: Served, who: str | None = None, **headers: str) -> httpx.Client:
    """A client without a browser that holds a session's cookie, or a stranger's, and sends what its forms would."""
    cookie = "ses_stranger" if who is None else session_of(served, who)
    name = served.cookie(VISIT if who is None else SESSION)
    sent = {"X-Form-Token": form_token(cookie), **headers}
    return httpx.Client(base_url=served.url, cookies={name: cookie}, headers=sent, timeout=60)


@dataclass(frozen=True)
class Screen:
    """A page in a browser."""

    page: Page
    context: BrowserContext
    served: Served

    def open(self, path: str) -> Page:
        self.page.goto(self.served.url + path)
        return self.page

    def look(self, name: str = "") -> None:
        """Nothing serious for axe, nothing wider than the window; and a picture, if pictures are kept."""
        if name and SHOTS in os.environ:
            self.page.screenshot(path=Path(os.environ[SHOTS]) / f"{name}.png", full_page=True, caret="initial")
        found = Axe().run(self.page).response["violations"]
        serious = [
            (v["id"], [n["target"] for n in v["nodes"]]) for v in found if v["impact"] in ("serious", "critical")
        ]
        assert serious == []
        wide, window = self.page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        assert wide <= window


@contextmanager
def screen(
    browser: Browser,
    served: Served,
    who: str | None = None,
    *,
    language: str = "en",
    theme: str = "light",
    width: int = 1280,
) -> Iterator[Screen]:
    """A fresh browser profile, signed in where ``who`` is given.

    Fails: at the end, if any request left the server's origin or the browser complained (as about the page's policy).
    """
    context = browser.new_context(
        locale=LOCALES[language],
        color_scheme="dark" if theme == "dark" else "light",
        viewport={"width": width, "height": 900},
    )
    outside: list[str] = []
    complaints: list[str] = []
    context.on("request", lambda r: None if _ours(r.url, served.url) else outside.append(r.url))
    context.on("console", lambda m: complaints.append(m.text) if m.type == "error" and not _expected(m.text) else None)
    context.on("weberror", lambda e: complaints.append(str(e.error)))
    if who is not None:
        context.add_cookies([{"name": served.cookie(SESSION), "value": session_of(served, who), "url": served.url}])
    try:
        yield Screen(context.new_page(), context, served)
    finally:
        context.close()
    assert outside == []
    assert complaints == [], complaints


def _ours(url: str, origin: str) -> bool:
    return url.startswith("data:") or urlsplit(url)[:2] == urlsplit(origin)[:2]


def _expected(text: str) -> bool:
    """What is reported as an error and is none: a refusal's status, and a request given up for a newer one or another
    page.  One that failed is reported as htmx:sendError, too.
    """
    refused = "Failed to load resource: the server responded with a status of 4"
    return text.startswith((refused, "htmx:sendAbort", "htmx:afterRequest"))
