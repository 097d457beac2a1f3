"""Releases: seen by whom they belong to, in files that no spreadsheet runs, and by links that end."""

from __future__ import annotations

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
        assert stranger.get(found[1]).status_code == 200
        assert stranger.get(f"{found[1]}/csv").text.startswith("sex,n")
        assert reader.get(f"/console/releases/{id}").status_code == 200
        assert found[1] not in curator.get(f"/console/releases/{id}").text  # shown once
        ended = re.search(r'name="link" value="([^"]+)"', made)
        assert ended is not None
        assert curator.post(f"/console/releases/{id}/end", data={"link": ended[1]}).status_code == 303
        assert stranger.get(found[1]).status_code == 404
        assert reader.get(f"/console/releases/{id}").status_code == 404
