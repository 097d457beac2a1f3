"""A page is one file: no network, no script, every text escaped, the same in both languages."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest

from curador.audit.finding import Finding
from curador.privacy import ApproxDP, PureDP
from curador.show.pages.bars import Bar
from curador.show.pages.charts import Axis, Track
from curador.show.pages.exhibits import Drawing, Exhibit, Listing, Part, floor_drawing, found_text
from curador.show.pages.page import report_html, report_plain, shell, style, table
from curador.show.words.say import LANGUAGES

HOSTILE = "</td><script>alert(1)</script><img src=x onerror=y>"
VOID = {"meta", "br", "line", "circle", "rect", "polyline", "polygon"}


class Outline(HTMLParser):
    """The elements of a page, checked to be closed in the order they were opened."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


EXHIBIT = Exhibit(
    "join",
    {"reach": 3.0, "most": 0.731},
    (
        Part(
            "the-attack",
            ("join-private",),
            (
                Drawing("unique-chart", bars=(Bar(HOSTILE, 0.5, 0.4, 0.6, mark=0.7), Bar("@unique-sex", 0.1))),
                Drawing(
                    "game-tradeoff",
                    "tradeoff",
                    (Track(HOSTILE, (0, 1), (1, 0)),),
                    x=Axis("@game-fpr"),
                    y=Axis("@game-fnr"),
                ),
            ),
            (Listing("join-table", ("join-name", "join-sex"), ((HOSTILE, 3), ("@ill-cancer", 2.5))),),
        ),
    ),
)
FINDINGS = [
    Finding(HOSTILE, PureDP(1), 1.5, 0.99, 1000, violated=True, witness=HOSTILE),
    Finding("a sum", ApproxDP(1, 1e-6), 0.9, 0.99, 30_000, detectable="5 % less noise"),
    Finding("a time", None, 0.2, 0.99, 40, witness="median 3 ms"),
]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_page_is_whole_and_loads_nothing(language: str) -> None:
    page = report_html(HOSTILE, HOSTILE, exhibits=[EXHIBIT], findings=FINDINGS, language=language)
    outline = Outline()
    outline.feed(page)
    outline.close()
    assert outline.open == []
    tags = {tag for tag, _ in outline.seen}
    assert not tags & {"script", "img", "iframe", "link", "object", "embed", "base", "form", "input"}
    attributes = {name for _, attrs in outline.seen for name in attrs}
    assert not {a for a in attributes if a.startswith("on") or a in ("src", "srcset", "style", "action")}
    assert all((attrs.get("href") or "#").startswith("#") for _, attrs in outline.seen)
    assert not re.search(r"https?:|//\w|@import|url\(", page)
    assert (
        "meta",
        {"http-equiv": "Content-Security-Policy", "content": "default-src 'none'; style-src 'unsafe-inline'"},
    ) in outline.seen
    ids = [attrs["id"] for _, attrs in outline.seen if "id" in attrs]
    assert len(ids) == len(set(ids))
    named = {attrs.get("href") for tag, attrs in outline.seen if tag == "a"}
    assert named == {"#findings", "#join"}
    assert outline.seen[0] == ("html", {"lang": language})


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_chart_is_drawn_for_a_page_and_for_a_telephone(language: str) -> None:
    page = report_html("t", "l", exhibits=[EXHIBIT], language=language)
    assert page.count('<div class="wide"><svg') == page.count('<div class="narrow"><svg') == 2


def test_the_same_as_plain_values() -> None:
    plain = json.loads(json.dumps(report_plain("t", "l", exhibits=[EXHIBIT], findings=FINDINGS, language="es")))
    assert plain["findings"][1]["claim"] == {"kind": "approximate", "epsilon": 1.0, "delta": 1e-6}
    assert [f["violated"] for f in plain["findings"]] == [True, False, False]
    (exhibit,) = plain["exhibits"]
    assert exhibit["tables"][0]["rows"] == [[HOSTILE, 3], ["cáncer", 2.5]]
    assert exhibit["charts"][0]["bars"][0]["mark"] == 0.7
    assert exhibit["facts"] == {"reach": 3.0, "most": 0.731}


def test_findings_are_worded_as_they_word_themselves_and_never_verified() -> None:
    assert [found_text(f) for f in FINDINGS[:2]] == [f.sentence() for f in FINDINGS[:2]]
    for language in LANGUAGES:
        said = [found_text(f, language) for f in FINDINGS]
        assert len(set(said)) == 3
        assert not any(re.search("verif|demostrad|proven", text.lower()) for text in said)
    assert "n = 30,000" in found_text(FINDINGS[1], "es")


def test_what_is_violated_comes_first_and_is_marked() -> None:
    page = report_html("t", "l", findings=FINDINGS[::-1])
    body = page[page.index("<tbody>") :]
    assert body.index("alarmed") < body.index("a sum")
    assert page.count('class="alarmed"') == 1


def test_floors_are_drawn_against_claims_and_what_would_have_been_found_is_said() -> None:
    drawing = floor_drawing(FINDINGS)
    assert drawing is not None
    assert [(b.value, b.mark, b.alarm) for b in drawing.bars] == [(1.5, 1.0, True), (0.9, 1.0, False)]
    assert floor_drawing(FINDINGS[2:]) is None  # nothing is claimed of a time
    once = report_html("t", "l", findings=FINDINGS)
    assert "each would have found 5 % less noise" in once.replace("\u00a0", " ")
    other = Finding("a mean", PureDP(1), 0.5, 0.99, 1000, detectable="10 % less noise")
    apart = report_html("t", "l", findings=[*FINDINGS, other])
    assert "<small>would have found 10 % less noise</small>" in apart
    assert "<small>would have found 5 % less noise</small>" in apart
    assert "<small>median 3 ms</small>" in apart


def test_numbers_stand_to_the_right_and_texts_are_escaped() -> None:
    made = table([HOSTILE, "n"], [[HOSTILE, 1234], [None, 0.123456]], caption=HOSTILE)
    assert "<script" not in made
    assert '<td class="n">1,234</td>' in made
    assert '<td class="n">0.1235</td>' in made


def test_the_style_is_one_for_light_dark_print_and_small() -> None:
    assert style().count("{") == style().count("}")
    for media in ("prefers-color-scheme: dark", "print", "max-width"):
        assert media in style()
    assert "<style>" in shell("t", "")
    drawn = set(re.findall(r'class="([\w ]+)"', report_html("t", "l", exhibits=[EXHIBIT], findings=FINDINGS)))
    unstyled = {c for classes in drawn for c in classes.split() if f".{c}" not in style()} - {"label", "key"}
    assert unstyled == set()
