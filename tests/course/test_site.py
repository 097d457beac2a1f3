"""The site is built without a warning, asks no other host for anything, and reads well in both languages."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.course.page import COURSE, ROOT
from tests.course.page import Page as Page_
from tests.server.conftest import browser  # noqa: F401  a fixture

pytestmark = pytest.mark.xdist_group("site")  # built once, for the whole file


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    into = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(into)]
    settings = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=settings)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout + done.stderr == ""
    return into


@contextmanager
def opened(browser: Browser, site: Path, path: str, *, theme: str = "light", width: int = 1280) -> Iterator[Page]:  # noqa: F811
    """A page as a file, in a fresh profile.

    Fails: at the end, if anything but a file was asked for, or was not there, or the browser complained.
    """
    context = browser.new_context(
        color_scheme="dark" if theme == "dark" else "light", viewport={"width": width, "height": 900}
    )
    outside: list[str] = []
    complaints: list[str] = []
    context.on("request", lambda r: None if r.url.startswith(("file:", "data:", "blob:")) else outside.append(r.url))
    context.on("requestfailed", lambda r: complaints.append(f"{r.url} is not there"))
    context.on("console", lambda m: complaints.append(m.text) if m.type in ("error", "warning") else None)
    context.on("weberror", lambda e: complaints.append(str(e.error)))
    try:
        page = context.new_page()
        page.goto((site / path).as_uri())
        yield page
    finally:
        context.close()
    assert outside == []
    assert complaints == []


def look(page: Page) -> None:
    """Nothing serious for axe, and nothing wider than the window."""
    found = Axe().run(page, options={"preload": False}).response["violations"]  # it would read the styles again
    serious = [(v["id"], [n["target"] for n in v["nodes"]]) for v in found if v["impact"] in ("serious", "critical")]
    assert serious == []
    wide, window = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert wide <= window


# ---- in a browser


def test_the_first_page_leads_everybody_somewhere(site: Path, browser: Browser) -> None:  # noqa: F811
    with opened(browser, site, "index.html") as page:
        look(page)
        assert page.locator("html").get_attribute("lang") == "en"
        rows = page.locator("article tbody tr")
        assert rows.count() == 8  # curator, analyst, engineer, telemetry, student, teacher, auditor, developer
        for i in range(rows.count()):
            assert rows.nth(i).locator("td:nth-child(3) a").count() >= 1
        # Search works without a server.
        page.get_by_role("textbox", name="Search").fill("reconstruction")
        page.locator(".md-search-result__item").first.wait_for()


def test_the_spanish_page_is_spanish_on_a_telephone_in_the_dark(site: Path, browser: Browser) -> None:  # noqa: F811
    with opened(browser, site, "es/index.html", theme="dark", width=390) as page:
        look(page)
        assert page.locator("html").get_attribute("lang") == "es"
        assert page.evaluate("document.body.dataset.mdColorScheme") == "slate"
        page.get_by_role("link", name="English", exact=True).click()
        assert page.locator("html").get_attribute("lang") == "en"
        assert page.url.endswith("/index.html")


def test_a_page_of_the_course_has_its_formulas_and_figures(site: Path, browser: Browser) -> None:  # noqa: F811
    """And it leads to itself in the other language."""
    source = Page_.read(COURSE / "es" / "07-laplace.md")
    drawn = [target for picture, _, target in source.links if picture and target.endswith(".svg")]
    with opened(browser, site, "course/es/07-laplace.html") as page:
        look(page)
        assert page.locator("article math").count() >= source.prose.count("$$") // 2 > 0
        assert page.locator("article svg.chart").count() == len(drawn)
        page.get_by_role("link", name="English", exact=True).click()
        assert page.url.endswith("/course/en/07-laplace.html")
        assert page.locator("html").get_attribute("lang") == "en"


def test_a_wide_table_scrolls_without_a_mouse(site: Path, browser: Browser) -> None:  # noqa: F811
    with opened(browser, site, "benchmarks.html") as page:
        look(page)
        assert page.locator(".md-typeset__scrollwrap").first.get_attribute("tabindex") == "0"


# ---- in its text


def test_no_page_asks_another_host(site: Path) -> None:
    asks = re.compile(r"""(?:src=["']?|<link(?![^>]*rel="?(?:canonical|alternate))[^>]*href=["']?)(?:https?:)?//""")
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 80
    assert [page.name for page in pages if asks.search(page.read_text())] == []
    assert [page.name for page in pages if 'class="mermaid"' in page.read_text()] == []  # it would be fetched
    styles = "".join(file.read_text() for file in site.rglob("*.css"))
    assert not re.search(r"@import|url\(['\"]?(?:https?:)?//", styles)


def test_every_public_name_is_shown(site: Path) -> None:
    import importlib

    for room in ("curador", "curador.accounting", "curador.local", "curador.learn", "curador.audit"):
        shown = set(re.findall(r'id="([\w.]+)"', (site / "api" / f"{room}.html").read_text()))
        names = {f"{room}.{name}" for name in importlib.import_module(room).__all__} - {f"{room}.{r}" for r in ROOMS}
        assert names - shown == set()


ROOMS = ("accounting", "local")
"""Names of ``curador`` that are rooms, with pages of their own."""


def test_links_out_of_docs_lead_to_pages(site: Path) -> None:
    text = (site / "index.html").read_text()
    assert 'href="project/security.html#what-is-not-promised"' in text
    assert 'href="api/curador.learn.html"' in text
    assert "tests/seeded.py" in (site / "source" / "tests" / "seeded.py.html").read_text()


# ---- its parts


@pytest.fixture
def part(monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    """Imports a file of website/, where they import each other as MkDocs lets them."""
    import importlib

    before = set(sys.modules)
    monkeypatch.syspath_prepend(ROOT / "website")
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if (file := getattr(sys.modules[name], "__file__", None)) and Path(file).parent == ROOT / "website":
            del sys.modules[name]


def test_a_formula_is_typeset_and_one_that_is_not_understood_stops_the_build(part: object) -> None:
    formulas: ModuleType = part("formulas")  # type: ignore[operator]
    made = formulas.typeset('<span class="arithmatex">\\(e^{\\varepsilon} &lt; 2\\)</span>', "a.md")
    assert made.startswith("<math")
    assert "<mo>&#x0003C;</mo>" in made
    for tex in (r"\(\nonsense{x}\)", r"\(\frac{1\)"):
        with pytest.raises(ValueError, match=r"a\.md: the formula .* not understood"):
            formulas.typeset(f'<span class="arithmatex">{tex}</span>', "a.md")


def test_a_list_right_below_a_text_is_a_list(part: object) -> None:
    repository: ModuleType = part("repository")  # type: ignore[operator]
    assert repository.spaced("So:\n* a\n* b\n") == "So:\n\n* a\n* b\n"
    assert repository.spaced("* a\n* b\n\n```\nx\n* y\n```\n") == "* a\n* b\n\n```\nx\n* y\n```\n"


def test_links_are_led_to_what_the_site_has(part: object) -> None:
    repository: ModuleType = part("repository")  # type: ignore[operator]
    text = "[a](../SECURITY.md#reporting) `[b](../SECURITY.md)` [c](audit.md) [d](https://example.org)"
    led = repository.relinked(text, "index.md")
    assert led == text.replace("(../SECURITY.md#reporting)", "(project/security.md#reporting)")
    assert repository.relinked("[a](../../deploy)", "how-to/x.md") == "[a](../source/deploy.md)"
    assert repository.relinked("[a](docs/audit.md)", "project/readme.md") == "[a](../audit.md)"
    assert (
        repository.relinked("[a](../../src/curador/local/__init__.pyi)", "how-to/x.md")
        == "[a](../api/curador.local.md)"
    )


def test_a_docstring_reads_as_markdown(part: object) -> None:
    docstrings: ModuleType = part("docstrings")  # type: ignore[operator]
    text = "One.\n\nGuarantee: odds\n    move by ``e``.\nFails: see :meth:`~curador.Curator.ask`.\n\n>>> f(1)\n    2"
    assert docstrings.rewritten(text) == (
        "One.\n\n**Guarantee.** odds\nmove by `e`.\n\n**Fails.** see `ask`.\n\n```pycon\n>>> f(1)\n    2\n```"
    )


@pytest.mark.parametrize("name", [file.stem for file in (ROOT / "website").glob("*.py")])
def test_examples_of_a_part_run(part: object, name: str) -> None:
    assert doctest.testmod(part(name)).failed == 0  # type: ignore[operator]


def test_keys_of_papers_are_links(part: object) -> None:
    citations: ModuleType = part("citations")  # type: ignore[operator]
    link, unknown = "[DMNS06](../references.md#dmns06)", "Nobody99"
    assert citations.linked("*Laplace* [DMNS06]: noise", "proofs/x.md") == f"*Laplace* \\[{link}\\]: noise"
    assert citations.linked(f"[DMNS06 Thm 1,\n{unknown}]", "proofs/x.md") == f"\\[{link} Thm 1,\n{unknown}\\]"
    for text in ("[DMNS06](x.md)", "`[DMNS06]`", "[DMNS06]: x.md", f"[{unknown}]"):
        assert citations.linked(text, "proofs/x.md") == text
    assert all(f'id="{key.lower()}"' in citations.page() for key in ("DMNS06", "Mir17"))


def test_only_our_charts_stand_inside_a_page(part: object) -> None:
    figures: ModuleType = part("figures")  # type: ignore[operator]
    image = '<img alt="four &lt;peaks&gt;" src="../figures/en/laplace-mu.svg" />'
    made = figures.inlined(f"<p>{image}</p>", "course/en/07-laplace.md")
    assert 'aria-label="four &lt;peaks&gt;"' in made
    assert "<style" not in made
    assert "<img" not in made
    other = '<img alt="a" src="../../../website/theme/assets/favicon.svg" />'
    assert figures.inlined(other, "course/en/07-laplace.md") == other


def test_long_names_in_tables_say_where_they_break(part: object) -> None:
    tables: ModuleType = part("tables")  # type: ignore[operator]
    made = tables.breakable("<p><code>a.b</code></p><td><code>tests/x_y.py::z</code></td>")
    assert made == "<p><code>a.b</code></p><td><code>tests/<wbr>x_<wbr>y.<wbr>py::<wbr>z</code></td>"


def test_the_same_page_in_the_other_language(part: object) -> None:
    languages: ModuleType = part("languages")  # type: ignore[operator]
    for there, here in (
        ("index.md", "es/index.md"),
        ("course/en/07-laplace.md", "course/es/07-laplace.md"),
        ("project/readme.md", "es/readme.md"),
    ):
        assert languages.counterpart(there) == here
        assert languages.counterpart(here) == there
        assert (languages.language(there), languages.language(here)) == ("en", "es")


def test_the_course_is_in_the_menu_in_its_order(part: object) -> None:
    tree: ModuleType = part("tree")  # type: ignore[operator]
    for language in ("en", "es"):
        assert tree.course(language) == sorted(f"course/{language}/{f.name}" for f in (COURSE / language).glob("*.md"))
