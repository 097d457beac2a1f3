"""A report is one whole file that loads and runs nothing, says what holds and no more, and carries its release."""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any

import pytest

from curador.curator.releases.publication import Publication
from curador.curator.releases.release import Release
from curador.privacy import ZCDP, ApproxDP, Guarantee, Neighbors, PureDP, RenyiDP
from curador.query.aggregates.counts import count
from curador.query.ask.question import Output, Question
from curador.show.pages.page import style
from curador.show.words.say import LANGUAGES, say

HOSTILE = "</title></script><script>alert('x')</script>\"' onload=\"y\" \x1b[31m\u202e=1+1"
VOID = {"meta", "rect", "circle", "line", "polyline", "polygon", "br"}
POLICY = {"http-equiv": "Content-Security-Policy", "content": "default-src 'none'; style-src 'unsafe-inline'"}
SEAL = "0123456789abcdef" + "f" * 48


class Outline(HTMLParser):
    """Tags with their attributes, and whether each is closed where it should be."""

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


def outline(page: str) -> Outline:
    found = Outline()
    found.feed(page)
    found.close()
    assert found.open == []
    return found


def made(**other: Any) -> Release:
    facts: dict[str, Any] = {
        "columns": {"sex": ("F", "M"), "n": (120, -3)},
        "groups": ("sex",),
        "intervals": {"n": ((110.0, 130.0), (-13.0, 7.0))},
        "ranks": {},
        "confidence": 0.95,
        "guarantee": PureDP(1),
        "charge": "7",
        "seal": SEAL,
    }
    return Release(**{**facts, **other})


def hostile() -> Release:
    return made(
        columns={HOSTILE: (HOSTILE, None, "b"), "n": (1, 2, 3)},
        groups=(HOSTILE,),
        intervals={"n": ((0.0, 2.0), (1.0, math.inf), (2.0, 4.0))},
        unit=HOSTILE,
        charge=HOSTILE,
        remarks=({"code": "reason", "epsilon": "2", "limit": "1", "because": HOSTILE},),
    )


def published(release: Release, **words: Any) -> Publication:
    return Publication({"a": release}, PureDP(1), None, "7", words=words, seal=SEAL)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_report_is_whole_loads_nothing_and_escapes_all(language: str) -> None:
    words = {
        "title": HOSTILE,
        "because": HOSTILE,
        "questions": {"a": {"title": HOSTILE, "why": HOSTILE, "sql": HOSTILE}},
    }
    for page in (
        hostile().report(title=HOSTILE, language=language).html,
        published(hostile(), **words).report(language=language).html,
    ):
        found = outline(page)
        assert not {tag for tag, _ in found.seen} & {
            "script",
            "img",
            "iframe",
            "link",
            "object",
            "embed",
            "base",
            "form",
        }
        attributes = {name for _, attrs in found.seen for name in attrs}
        assert not {a for a in attributes if a.startswith("on") or a in ("src", "srcset", "style", "action")}
        for tag, attrs in found.seen:
            assert (attrs.get("href") or "#").startswith(("#", "data:application/json;", "data:text/csv;")), tag
        assert not re.search(r"https?:|@import|url\(", page)
        assert ("meta", POLICY) in found.seen
        ids = [attrs["id"] for _, attrs in found.seen if "id" in attrs]
        assert len(ids) == len(set(ids))
        assert {str(a["href"])[1:] for t, a in found.seen if t == "a" and str(a["href"]).startswith("#")} <= set(ids)
        assert found.seen[0] == ("html", {"lang": language})
        assert "\u202e" not in page
        assert "\x1b" not in page


def test_every_class_has_a_look() -> None:
    page = made(rehearsal=True).report().html + made(facts=None).report().html
    looks = re.search("<style>(.*?)</style>", page, re.DOTALL)[1]  # type: ignore[index]
    assert style() in looks
    used = {c for classes in re.findall(r'class="([\w -]+)"', page) for c in classes.split()}
    assert {c for c in used if f".{c}" not in looks} <= {"label", "key"}


def test_figures_tables_and_the_page_have_names() -> None:
    found = outline(made().report(title="People").html)
    tags = [tag for tag, _ in found.seen]
    assert tags.count("figure") == tags.count("figcaption") == 2
    assert tags.count("h1") == 1
    assert all(a.get("scope") in ("col", "row") for t, a in found.seen if t == "th")
    assert all(a.get("aria-labelledby") and a.get("role") == "img" for t, a in found.seen if t == "svg")
    assert all(a.get("aria-label") for _, a in found.seen if a.get("role") == "region")


def inside(page: str) -> dict[str, bytes]:
    """The files that a page carries."""
    found = re.findall(r'<a download="([^"]+)" href="data:[^,]+,([^"]+)"', page)
    return {name: base64.b64decode(content) for name, content in found}


def test_it_carries_the_release_as_it_was_sealed_whatever_its_language() -> None:
    release = made()
    files = inside(release.report(language="es").html)
    assert files["release.json"].decode() == release.to_json() + "\n"
    assert Release.from_dict(json.loads(files["release.json"])).content == release.content
    assert files["release.csv"].decode() == release.to_csv()
    whole = published(release)
    page = whole.report(language="es").html
    assert Publication.from_dict(json.loads(inside(page)["publication.json"])).content == whole.content
    assert f"{SEAL}</dd>" in page
    assert f"{SEAL[:16]}</dd>" in page
    assert "curador ledger verify publication.json" in page


def test_a_language_changes_words_and_no_number() -> None:
    english, spanish = (made().report(language=language).html for language in LANGUAGES)
    for code in ("report-meaning", "report-method", "report-sheet", "report-receipt", "sheet-trust", "sheet-not"):
        assert say(code, "en") in english
        assert say(code, "es") in spanish
        assert say(code, "en") not in spanish
    assert re.findall(r'<td class="n[^"]*">([^<]+)', english) == re.findall(r'<td class="n[^"]*">([^<]+)', spanish)


def test_the_sheet_is_in_the_order_of_the_pyramid() -> None:
    page = made().report().html
    codes = ("loss", "algorithms", "utility", "trust", "security", "collection", "not")
    places = [page.index(f"<h3>{say(f'sheet-{code}')}</h3>") for code in codes]
    assert places == sorted(places)


def test_what_may_be_missing_is_said_and_so_is_how_a_large_loss_was_allowed() -> None:
    cut = {"code": "rows-left-out", "unit": "id", "rows": 10, "groups": 6}
    override: Mapping[str, Any] = {"code": "override", "epsilon": "12"}
    page = made(remarks=({"code": "covers"}, cut, override), unit="id", guarantee=PureDP(12)).report().html
    said = "At most 10 rows of each &#x27;id&#x27; in each of 6 groups count (contribution)."
    assert page.count(said) == 2  # beside; on the sheet
    loss, rest = page[page.index(say("sheet-loss")) :].split(say("sheet-algorithms"), 1)
    assert "OVERRIDE: epsilon 12" in loss
    assert say("covers") in rest
    assert say("odds-nothing") in page


@pytest.mark.parametrize(
    ("guarantee", "said"),
    [
        (PureDP(1), "26.8 %"),
        (ApproxDP(1, 1e-6), "Each of these bounds fails with a chance of at most 2e-06."),
        (ZCDP(0.02), "It holds for a whole curve"),
        (RenyiDP({2: 0.1, 8: 0.4}), "It holds for a whole curve"),
        (ApproxDP(1, 1.0), say("odds-unknown")),
    ],
)
def test_odds_of_every_guarantee(guarantee: Guarantee, said: str) -> None:
    page = made(guarantee=guarantee).report().html.replace("\u00a0", " ")
    assert said in page


def test_odds_are_the_courses_bounds_rounded_against_us() -> None:
    page = made(guarantee=PureDP(math.log(3))).report().html.replace("\u00a0", " ")
    cells = re.findall(r'<td class="n">([\d.]+) %</td>', page[page.index('id="meaning"') :])
    rows = [tuple(map(float, cells[k : k + 3])) for k in range(0, 12, 3)]
    for prior, least, most in rows:
        p = prior / 100
        low, high = 100 * p / (p + 3 * (1 - p)), 100 * 3 * p / (3 * p + 1 - p)
        assert least <= low <= least * 1.01
        assert most * 0.99 <= high <= most + 1e-9


@pytest.mark.parametrize("neighbors", Neighbors)
def test_what_is_promised_depends_on_neighbours_and_unit(neighbors: Neighbors) -> None:
    row = made(neighbors=neighbors, unit=None).report().html
    unit = made(neighbors=neighbors, unit="pid").report().html
    assert say("sheet-unit-row") in row
    assert say("sheet-unit-row") not in unit
    assert (say("sheet-unit-replace") in row) == (neighbors is Neighbors.REPLACE)
    assert ("which of two contents" in unit) == (neighbors is Neighbors.REPLACE)


def test_a_rehearsal_is_marked_everywhere_and_has_no_receipt() -> None:
    page = made(rehearsal=True).report().html
    assert page.count(say("report-made-up-says")) == 2
    assert page.count('class="stamp"') == 2
    assert say("receipt-rehearsal") in page
    assert inside(page) == {}
    for false in (say("method-paid"), "ledger verify", SEAL):
        assert false not in page
    assert 'class="stamp"' not in made().report().html


def test_a_ledger_in_memory_promises_no_verification() -> None:
    page = made(seal="").report().html
    assert say("receipt-unsealed") in page
    assert "ledger verify" not in page


def test_one_row_is_told_large_and_an_empty_answer_says_so() -> None:
    one = made(columns={"n": (1203,)}, groups=(), intervals={"n": ((1180.0, 1226.0),)}).report().html
    assert "<dd>1,203<small>95 % interval: 1,180 … 1,226</small></dd>" in one
    empty = made(columns={"k": (), "n": ()}, groups=("k",), intervals={"n": ()}).report().html
    assert say("report-no-rows") in empty
    assert outline(empty)


def test_many_rows_are_all_listed_up_to_a_limit() -> None:
    n = 1000
    cells = {"town": tuple(f"t{i}" for i in range(n)), "n": tuple(range(n))}
    page = made(columns=cells, groups=("town",), intervals={}).report().html
    assert page.count('<th scope="row">t') == n
    assert "30 largest of 1,000" in page
    assert len(page) < 300_000
    many = {"town": tuple(f"t{i}" for i in range(6000)), "n": tuple(range(6000))}
    large = made(columns=many, groups=("town",), intervals={}).report().html
    assert large.count('<th scope="row">t') == 5000
    assert "and 1000 more rows" in large
    assert inside(large) == {}


def test_a_page_is_saved_whole(tmp_path: Any) -> None:
    made_page = made().report()
    assert made_page.save(tmp_path / "r.html").read_text() == made_page.html == str(made_page)
    assert "save" in repr(made_page)


def test_a_reader_is_told_first_that_numbers_are_off_on_purpose_when_and_of_what() -> None:
    question = Question("visits", (Output("n", count()),)).to_json()
    page = made(question=question, at="2026-11-17T10:00:00", unit="pid").report().html
    head = page.partition("<main>")[0]
    assert "<h1>Number of rows · visits</h1>" in head
    assert "Every number here is off by chance, on purpose" in head
    assert "Answered on 2026-11-17, from: visits." in head
    assert made().report().html.partition("<main>")[0].count("Answered") == 0


def test_numbers_have_the_digits_that_their_intervals_leave() -> None:
    one = made(columns={"sex": ("F",), "m": (5.76415,)}, intervals={"m": ((1.0, 30.0),)})
    assert "5.8" in one.report().html.partition('id="method"')[0]
    assert "5.76415" in str(one)  # programs and terminals have all of them
    assert "5.76415" in one.to_csv()


def test_what_several_answers_share_is_said_once() -> None:
    cut = {"code": "rows-left-out", "unit": "pid", "rows": 3, "groups": None}
    both = {"a": made(remarks=(cut,)), "b": made(remarks=(cut, {"code": "below-zero", "outputs": "n"}))}
    page = Publication(both, PureDP(1), None, "7").report().html
    answers = page.partition('id="meaning"')[0]
    assert answers.count("What was cut is in no number") == 1
    assert answers.count("a count below zero") == 1
    assert answers.index("a count below zero") < answers.index('id="notes"') < answers.index("What was cut")
