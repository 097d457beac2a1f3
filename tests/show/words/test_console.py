"""The texts of the console: in both languages, with the same blanks; and templates hold no text of their own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from curador.show.words.say import LANGUAGES, knows, pages
from curador.show.words.say import texts as words
from tests.show.test_words import blanks

PAGES = pages()
SERVER = Path(__file__).parents[3] / "src" / "curador" / "server" / "console"
TEMPLATES = sorted((SERVER / "templates").glob("*.html"))
ATTRIBUTES = ("alt", "title", "aria-label", "placeholder", "label", "value", "data-of")
SAID = re.compile(r'"((?:[a-z_]+)\.[a-z0-9-]+)"')


def texts(page: str) -> dict[str, tuple[str, ...]]:
    return {code: tuple(said[language] for language in LANGUAGES) for code, said in words(f"console/{page}").items()}


@pytest.mark.parametrize("page", PAGES)
def test_the_languages_say_the_same_things(page: str) -> None:
    for code, said in texts(page).items():
        assert re.fullmatch(r"[A-Za-z0-9_-]+", code)  # also with the name of a class or of its parameter
        assert len(said) == len(LANGUAGES), code
        assert all(text.strip() for text in said), code
        assert len({frozenset(blanks(text)) for text in said}) == 1, code
        words = re.findall("[a-z]+", re.sub(r"\{[^}]*\}", "", said[0]))
        assert len(words) <= 2 or len(set(said)) == len(said), f"{code} was not translated"


def test_every_code_that_a_page_says_has_a_text() -> None:
    found = {code for file in [*TEMPLATES, *SERVER.rglob("*.py")] for code in SAID.findall(file.read_text())}
    found = {code for code in found if code.partition(".")[0] in PAGES and not code.endswith((".html", ".js"))}
    assert {"frame.sign-in", "overview.title"} <= found
    assert {code for code in found if not code.endswith("-") and not knows(code)} == set()


def prose(template: str) -> set[str]:
    """What a template says itself, between tags and in attributes that people read or hear."""
    bare = re.sub(r"\{#.*?#\}|\{%.*?%\}", " ", template, flags=re.DOTALL)
    bare = re.sub(r"\{\{.*?\}\}", "", bare, flags=re.DOTALL)
    read = [value for name, value in re.findall(r'([\w-]+)="([^"]*)"', bare) if name in ATTRIBUTES]
    between = re.sub(r"<(script|style)\b.*?</\1>|<[^>]*>", " ", bare, flags=re.DOTALL)
    return {word for text in [between, *read] for word in re.findall(r"[^\W\d_]{2,}", text)}


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda file: file.name)
def test_templates_hold_no_text_no_script_and_no_style(file: Path) -> None:
    template = file.read_text()
    assert prose(template) == set()
    assert not re.search(r"\sstyle=|\son[a-z]+=|<style|javascript:|\|\s*safe", template)
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", template))


@pytest.mark.parametrize("template", ["<p>Hello</p>", '<img alt="A chart">', "{% if x %}Yes{% endif %}"])
def test_a_text_in_a_template_is_seen(template: str) -> None:
    assert prose(template)
