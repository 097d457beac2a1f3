"""A page of the course as tests read it: its title, its blocks, its pictures and links, its questions and answers.

How a page is written:

* a first line ``# Title``, in the language of its folder;
* blocks of ```` ```python ````: those with ``>>>`` must print what they show, the others must run; all of a page share
  one namespace and one empty folder, in the page's order.  Lines of ```` ```console ```` that begin with ``$ curador``
  are run there too, and must succeed.  Blocks in other languages are only shown;
* pictures ``![what it shows](../figures/en/NAME.svg)``, with a text for who cannot see them;
* at the end three questions, numbered, under ``## Questions`` or ``## Preguntas``, and their answers: numbered under
  ``## Answers`` or ``## Respuestas``, or each in a ``<details>`` below its question.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
COURSE = ROOT / "docs" / "course"
LANGUAGES = ("en", "es")
LIST: dict[str, Any] = tomllib.loads((COURSE / "pages.toml").read_text())
HEAVIEST = 100_000  # bytes of a picture

FENCE = re.compile(r"^( *)(```+|~~~+)(\w*)[^\n]*\n(.*?)^\1\2 *$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(<?([^)\s>]+)>?(?: \"[^\"]*\")?\)")
QUESTIONS, ANSWERS = r"(?:questions|preguntas)", r"(?:answers|respuestas)"
NUMBERED = re.compile(r"^(?:#{3,} |\*\*)?([1-9])\.", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and the line of the page on which that begins."""

    language: str
    text: str
    line: int


@dataclass(frozen=True)
class Page:
    """The text of a page, and where it stands."""

    file: Path
    text: str

    @classmethod
    def read(cls, file: Path) -> Page:
        return cls(file, file.read_text())

    @cached_property
    def blocks(self) -> list[Block]:
        found = []
        for fence in FENCE.finditer(self.text):
            indent, _, language, body = fence.groups()
            text = re.sub(rf"^{indent}", "", body, flags=re.MULTILINE)
            found.append(Block(language, text, self.text.count("\n", 0, fence.start(4)) + 1))
        return found

    @cached_property
    def prose(self) -> str:
        """Without its blocks and what stands between backquotes."""
        return re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "``", FENCE.sub("", self.text))

    @property
    def headings(self) -> list[tuple[int, str]]:
        return [(len(marks), text.strip()) for marks, text in re.findall(r"^(#+) +(.+)$", self.prose, re.MULTILINE)]

    @property
    def links(self) -> Iterator[tuple[bool, str, str]]:
        """Whether it is a picture, its text, its target."""
        return ((bang == "!", text, target) for bang, text, target in LINK.findall(self.prose))

    def section(self, heading: str) -> str:
        """What stands below the last heading of second level that says so."""
        parts = re.split(r"^## +(.*)$", self.prose, flags=re.MULTILINE)
        found = [body for name, body in zip(parts[1::2], parts[2::2], strict=True) if re.search(heading, name, re.I)]
        return found[-1] if found else ""


def slug(heading: str) -> str:
    """The anchor of a heading, as code hosts and the site make it."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", heading)
    text = unicodedata.normalize("NFC", text).lower()
    return re.sub(r"[^\w\- ]", "", text).strip().replace(" ", "-")


def anchors(file: Path) -> set[str]:
    text = FENCE.sub("", file.read_text())
    headings = {slug(heading) for heading in re.findall(r"^#+ +(.+)$", text, re.MULTILINE)}
    return headings | set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text))


def dead_links(page: Page) -> list[str]:
    """Links to files that are not there, or to headings that no page has; pictures without words, or too heavy."""
    dead = []
    for picture, text, target in page.links:
        if re.match(r"[a-z]+:", target):
            continue
        place, _, anchor = target.partition("#")
        file = (page.file.parent / place).resolve() if place else page.file
        if not file.exists() or not file.is_relative_to(ROOT):
            dead.append(f"{target} is not there")
        elif picture and not text.strip():
            dead.append(f"{target} has no text that says what it shows")
        elif picture and file.stat().st_size > HEAVIEST:
            dead.append(f"{target} has more than {HEAVIEST:,} bytes")
        elif anchor and file.suffix == ".md" and anchor not in anchors(file):
            dead.append(f"{target}: no such heading")
    return dead


def unfinished(page: Page) -> list[str]:
    """What a page of the course still lacks: its title, three questions, three answers."""
    lacks = []
    if not page.text.startswith("# ") or [level for level, _ in page.headings].count(1) != 1:
        lacks.append("one title, on its first line")
    asked = page.section(QUESTIONS)
    told = page.section(ANSWERS)
    if [*dict.fromkeys(NUMBERED.findall(asked))] != ["1", "2", "3"]:
        lacks.append("three numbered questions under '## Questions' or '## Preguntas'")
    answers = NUMBERED.findall(told) if told else re.findall(r"<details", asked)
    if len(answers) < 3:
        lacks.append("three answers, numbered under '## Answers' or '## Respuestas', or in <details>")
    return lacks


def pages() -> list[Path]:
    """Those that are there, whatever their names."""
    return sorted(file for language in LANGUAGES for file in (COURSE / language).glob("*.md"))
