"""A browser for the tests of pages."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

CHROMIUM = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
    "--disable-dev-shm-usage",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One for each file: while it is there, the thread has a running event loop, which other tests must not find."""
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("no Chromium is installed")
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=program, args=list(CHROMIUM)) as found,
    ):
        yield found
