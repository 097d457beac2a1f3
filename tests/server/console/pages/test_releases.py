"""Releases: seen by whom they belong to, in files that no spreadsheet runs, and by links that end."""

from __future__ import annotations

import html
import io
import re
from typing import Any

import pyarrow.parquet
import pytest
from playwright.sync_api import Browser

from tests.server.console.browsing import WIDTHS, screen, visitor
from tests.server.served import Served

EVERYBODY: set[str | None] = {"curator", "analyst", "auditor", "reader", None}
MEMBERS: set[str | None] = {"curator", "analyst", "auditor", "reader"}
MATRIX: dict[tuple[str, str], tuple[set[str | None], dict[str, Any] | None]] = {
    ("GET", "/console/releases"): (MEMBERS, None),
    ("GET", "/console/releases/{id}"): (MEMBERS, None),
    ("GET", "/console/releases/{id}/{kind}"): (MEMBERS, None),
    ("POST", "/console/releases/{id}/link"): ({"curator"}, {"label": "x"}),
    ("POST", "/console/releases/{id}/end"): ({"curator"}, {"link": "none"}),
    ("GET", "/console/public/{secret}"): (EVERYBODY, None),
    ("GET", "/console/public/{secret}/{kind}"): (EVERYBODY, None),
}


def own(served: Served) -> str:
    """The release that ana has."""
    return served.curator.history("ana")[0].id


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(("language", "theme"), [("en", "light"), ("es", "dark")])
def test_a_release_is_looked_at_again(browser: Browser, served: Served, language: str, theme: str, width: int) -> None:
    with screen(browser, served, "ana", language=language, theme=theme, width=width) as seen:
        page = seen.open("/console/releases")
        seen.look(f"releases-{language}-{theme}-{width}")
        page.click("tbody a")
        page.wait_for_url("**/console/releases/*")
        page.select_option("#sort", "n")
        page.select_option("#confidence", "0.99")
        page.get_by_role("button", name="Show" if language == "en" else "Mostrar", exact=True).click()
        page.wait_for_url("**confidence=0.99**")
        assert "99 %" in page.inner_text("main")
        seen.look(f"release-{language}-{theme}-{width}")


def test_sorting_and_another_confidence_show_the_same_numbers_for_free(served: Served) -> None:
    id, before = own(served), len(served.curator.history())
    with visitor(served, "ana") as ana:
        up, down = (
            re.findall(r'<td class="n">([\d,]+)</td>', ana.get(f"/console/releases/{id}?sort=n&down={way}").text)
            for way in ("", "yes")
        )
    assert up == down[::-1]
    assert len(up) == 2
    assert len(served.curator.history()) == before


def test_columns_are_renamed_for_free_also_in_files(served: Served) -> None:
    id, before = own(served), len(served.curator.history())
    with visitor(served, "ana") as ana:
        page = ana.get(f"/console/releases/{id}?name-0=who&name-1=people&sort=n&down=yes&confidence=0.9").text
        file = ana.get(f"/console/releases/{id}/csv?name-1=people&confidence=0.9").text
        wrong = ana.get(f"/console/releases/{id}?name-1=sex")
        refused = ana.get(f"/console/releases/{id}/csv?name-1=sex")
    assert '<th scope="col">who</th>' in page
    assert f"/releases/{id}/csv?confidence=0.9&amp;sort=n&amp;down=yes&amp;name-0=who&amp;name-1=people" in page
    assert file.startswith("sex,people,people_lower")
    assert wrong.status_code == 200
    assert "Two columns would have one name" in wrong.text
    assert refused.status_code == 422
    assert len(served.curator.history()) == before


def test_what_is_asked_again_from_its_page_is_free_with_its_delta(served: Served) -> None:
    sql = "SELECT sex, COUNT(*) AS n FROM people WHERE age > 66 GROUP BY sex"
    bought = served.curator.ask(sql, epsilon="0.3", delta="1e-9", analyst="ana")
    with visitor(served, "ana") as ana:
        page = ana.get(f"/console/releases/{bought.charge}?name-1=people").text
        again = re.search(r'href="(/console/ask[^"]+)"', page)
        assert again is not None
        asked = ana.get(html.unescape(again[1])).text
    assert 'value="1e-09"' in asked
    assert "AS people" in asked
    assert "You bought this before" in asked


def test_another_analysts_release_is_not_there(served: Served) -> None:
    with visitor(served, "bea") as bea, visitor(served, "reader") as reader:
        for path in ("", "/csv", "/report"):
            assert bea.get(f"/console/releases/{own(served)}{path}").status_code == 404
            assert reader.get(f"/console/releases/{own(served)}{path}").status_code == 404
        assert "Nothing was bought yet" in bea.get("/console/releases").text


def test_files(served: Served) -> None:
    base = f"/console/releases/{own(served)}"
    with visitor(served, "ana") as ana:
        found = {kind: ana.get(f"{base}/{kind}") for kind in ("report", "json", "csv", "parquet")}
    assert all("attachment" in answer.headers["content-disposition"] for answer in found.values())
    assert found["csv"].text.splitlines()[0] == "sex,n,n_lower,n_upper"
    assert pyarrow.parquet.read_table(io.BytesIO(found["parquet"].content)).column_names[:2] == ["sex", "n"]
    assert found["json"].json()["groups"] == ["sex"]
    assert found["report"].text.startswith("<!doctype html>")
    assert not re.search(r'(src|href)="(https?:)?//', found["report"].text)


def test_a_public_link_opens_one_release_until_it_ends(served: Served) -> None:
    id = own(served)
    with visitor(served, "curator") as curator, visitor(served) as stranger, visitor(served, "reader") as reader:
        made = curator.post(f"/console/releases/{id}/link", data={"label": "<b>press</b>"}).text
        found = re.search(r'href="[^"]*(/console/public/[^"]+)"', made)
        assert found is not None
        assert "<b>press" not in made
        assert made.index(found[1]) < made.index("<svg")  # where whoever made it looks first
        assert stranger.get(found[1]).status_code == 200
        assert stranger.get(f"{found[1]}/csv").text.startswith("sex,n")
        assert reader.get(f"/console/releases/{id}").status_code == 200
        assert found[1] not in curator.get(f"/console/releases/{id}").text  # shown once
        ended = re.search(r'name="link" value="([^"]+)"', made)
        assert ended is not None
        assert curator.post(f"/console/releases/{id}/end", data={"link": ended[1]}).status_code == 303
        assert stranger.get(found[1]).status_code == 404
        assert reader.get(f"/console/releases/{id}").status_code == 404


def test_what_another_bought_first_is_shown_to_whoever_pays_for_it_too(served: Served) -> None:
    asked = {"sql": "SELECT COUNT(*) AS n FROM people WHERE age > 77", "epsilon": "0.1", "do": "pay"}
    with visitor(served, "ana") as ana, visitor(served, "bea") as bea:
        places = [who.post("/console/ask", data={**asked, "key": "both"}).headers["location"] for who in (ana, bea)]
        answer = bea.get(places[1])
    assert places[0].partition("?")[0] == places[1].partition("?")[0]
    assert answer.status_code == 200
    assert "charge" in answer.text
