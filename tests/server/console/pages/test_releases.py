"""Releases: seen by whom they belong to, in files that no spreadsheet runs, and by links that end."""

from __future__ import annotations

import html
import io
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow.parquet
import pytest
from playwright.sync_api import Browser

from curador.server.app import STRANGERS
from curador.server.console import rendering, visit
from curador.server.console.pages import releases
from tests.server.console.browsing import screen, screens, visitor
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


@screens()
def test_a_release_is_looked_at_again(browser: Browser, served: Served, language: str, theme: str, width: int) -> None:
    with screen(browser, served, "ana", language=language, theme=theme, width=width) as seen:
        page = seen.open("/console/releases")
        seen.look(f"releases-{language}-{theme}-{width}")
        page.click("tbody a")
        page.wait_for_url("**/console/releases/*")
        assert not page.is_visible("#sort")
        page.click("#other")
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


def test_a_group_with_another_name_leaves_the_question_and_the_way_to_ask_it_again(served: Served) -> None:
    bought = served.curator.ask("SELECT sex, COUNT(*) AS n FROM people WHERE age > 67 GROUP BY sex", epsilon="0.3")
    with visitor(served, "curator") as curator:
        page = html.unescape(curator.get(f"/console/releases/{bought.charge}?name-0=Sex&sort=n&down=yes").text)
    assert "SELECT sex, COUNT(*) AS n" in page
    assert "/console/ask?sql=SELECT" in page


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


def test_what_is_public_is_seen_by_analysts_too(served: Served) -> None:
    made = served.curator.ask("SELECT COUNT(*) AS n FROM people WHERE age > 91", epsilon="0.1")
    address = f"/console/releases/{made.charge}"
    with visitor(served, "bea") as bea, visitor(served, "curator") as curator:
        assert bea.get(address).status_code == 404
        link = curator.post(f"{address}/link", data={"label": "all"}).text
        listed = bea.get("/console/releases").text
        assert f'href="{address}"' in listed
        assert "made public by the curator" in listed
        assert bea.get(address).status_code == 200
        assert bea.get(f"{address}/csv").text.startswith("n,")
        found = re.search(r'name="link" value="([^"]+)"', link)
        assert found is not None
        curator.post(f"{address}/end", data={"link": found[1]})
        assert bea.get(address).status_code == 404


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
        for shown in (found[1], f"{found[1]}/report"):  # readers are told what the number means
            assert "Epsilon measures how much answers tell about any one person" in stranger.get(shown).text
        assert stranger.get(f"{found[1]}/csv").text.startswith("sex,n")
        assert reader.get(f"/console/releases/{id}").status_code == 200
        assert found[1] not in curator.get(f"/console/releases/{id}").text  # shown once
        ended = re.search(r'name="link" value="([^"]+)"', made)
        assert ended is not None
        assert curator.post(f"/console/releases/{id}/end", data={"link": ended[1]}).status_code == 303
        assert stranger.get(found[1]).status_code == 404
        assert reader.get(f"/console/releases/{id}").status_code == 404


def test_a_page_for_strangers_is_made_in_a_thread_and_few_at_a_time(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    charge = own(served)
    with served.client("curator") as client:
        secret = client.post(f"/v1/releases/{charge}/link", json={}).json()["link"].rpartition("/")[2]
    makers: list[str] = []
    at_once: list[int] = []
    shown, written = releases._shown, rendering.rendered

    def counted(*how: Any) -> Any:
        makers.append(threading.current_thread().name)
        at_once.append(served.service.strangers.borrowed_tokens)
        time.sleep(0.05)
        return shown(*how)

    def rendered(*how: Any) -> str:
        makers.append(threading.current_thread().name)
        return written(*how)

    monkeypatch.setattr(releases, "_shown", counted)
    monkeypatch.setattr(visit, "rendered", rendered)
    with served.client() as client, ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda _: client.get(f"/console/public/{secret}"), range(6)))
    assert {one.status_code for one in found} == {200}
    assert all(int(one.headers["content-length"]) == len(one.content) > 2000 for one in found)
    assert len(makers) == 12
    assert all("worker" in name for name in makers), makers
    assert max(at_once) <= STRANGERS


def test_what_another_bought_first_is_shown_to_whoever_pays_for_it_too(served: Served) -> None:
    asked = {"sql": "SELECT COUNT(*) AS n FROM people WHERE age > 77", "epsilon": "0.1", "do": "pay"}
    with visitor(served, "ana") as ana, visitor(served, "bea") as bea:
        places = [who.post("/console/ask", data={**asked, "key": "both"}).headers["location"] for who in (ana, bea)]
        answer = bea.get(places[1])
    assert places[0].partition("?")[0] != places[1].partition("?")[0]  # each has a charge of their own
    assert answer.status_code == 200
    assert "charge" in answer.text


def test_a_link_to_what_a_restored_ledger_has_forgotten_costs_readers_nothing(served: Served) -> None:
    charge = own(served)
    kept = served.give("reader", label="a link", charge=charge)
    lost = served.give("reader", label="made since the backup", charge="123456")
    with visitor(served, "reader") as client:
        shown = client.get("/console/releases")
        assert (shown.status_code, f'releases/{charge}"' in shown.text) == (200, True)
        assert client.get("/console/overview").status_code == 200
    with served.client("reader") as client:
        assert "123456" not in client.get("/v1/public").json()["releases"]
        assert charge in client.get("/v1/public").json()["releases"]
        assert [client.get(f"/v1/public/{link}").status_code for link in (kept, lost)] == [200, 404]


def test_the_answer_comes_first_then_its_files_and_one_number_has_one_name(served: Served) -> None:
    id = own(served)
    with visitor(served, "ana") as ana:
        page, listed = ana.get(f"/console/releases/{id}").text, ana.get("/console/releases").text
        spanish = ana.get(f"/console/releases/{id}", headers={"Accept-Language": "es"}).text
    places = [page.index(part) for part in ("<figure", 'id="files"', 'id="promise"', "What an attacker")]
    assert places == sorted(places)
    assert "<h1>Number of rows by sex · people</h1>" in page
    assert "<h1>Número de filas por sex · people</h1>" in spanish
    assert "SELECT sex, COUNT(*) AS n" in page
    assert f">Release {id}<" not in page + listed
    assert f"charge {id}" in page
    assert f'<a href="/console/releases/{id}">Number of rows by sex · people</a>' in listed
    assert "Public link" not in listed  # an analyst makes none


def test_who_pays_is_told_what_it_cost_and_what_remains(served: Served) -> None:
    asked = {"sql": "SELECT COUNT(*) AS n FROM people WHERE age > 81", "epsilon": "0.13", "do": "pay", "key": "told"}
    with visitor(served, "ana") as ana:
        answer = ana.get(ana.post("/console/ask", data=asked).headers["location"]).text
        other = ana.get(f"/console/releases/{own(served)}").text
    assert "Paid epsilon 0.13, and answered." in answer
    assert "Remaining now, ana: epsilon" in answer
    assert "Remaining now" not in other


def test_a_new_link_stands_first_and_can_be_copied(browser: Browser, served: Served) -> None:
    with screen(browser, served, "curator") as seen:
        page = seen.open(f"/console/releases/{own(served)}")
        page.fill("#label", "readers")
        page.click(".field button")
        page.wait_for_selector("#public-link")
        box = page.locator("#public-link").bounding_box()
        assert box is not None
        assert box["y"] < 900  # in sight, without scrolling
        assert page.is_visible("button[data-copy=public-link]")
        link = page.input_value("#public-link")
        seen.look("release-linked")
        page.goto(link)
        assert "from: people." in page.inner_text("main")
        assert "Every number is off by chance" in page.inner_text("main")
        seen.look("public")


def test_links_that_open_on_this_computer_alone_say_so(served: Served) -> None:
    """Also an analyst's link; not those of a server that others reach by its name."""
    said, door = "opens on this computer only", {"role": "auditor", "shape": "link"}
    with visitor(served, "curator") as client:
        assert said in client.post(f"/console/releases/{own(served)}/link", data={"label": "x"}).text
        assert said in client.post("/console/analysts/doors", data=door).text
        assert said not in client.post("/console/analysts/doors", data={**door, "shape": "token"}).text
        assert said not in client.get(f"/console/releases/{own(served)}").text
    with visitor(served, "curator", Host="data.example.org") as client:
        found = client.post(f"/console/releases/{own(served)}/link", data={"label": "x"}).text
        assert "http://data.example.org/console/public/" in found
        assert said not in found


def test_a_report_names_its_file_date_and_tables_as_the_page_does(served: Served) -> None:
    id = own(served)
    with visitor(served, "ana") as ana:
        report = ana.get(f"/console/releases/{id}/report").text
        file = ana.get(f"/console/releases/{id}/json").headers["content-disposition"]
    assert f"release-{id}.json" in file
    assert f"curador ledger verify release-{id}.json" in report
    assert re.search(r"Answered on \d{4}-\d\d-\d\d, from: people\.", report)


def test_files_of_a_part_have_its_name(served: Served) -> None:
    sql = {"Q 0": "SELECT COUNT(*) AS n FROM people", "Q 1": "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"}
    board = {
        f"{x}-{k}": text for k, one in enumerate(sql.items()) for x, text in zip(("name", "sql"), one, strict=True)
    }
    sent = {**board, "places": "2", "epsilon": "0.5", "confidence": "0.95", "do": "pay", "key": "board"}
    with visitor(served, "ana") as ana:
        place = ana.post("/console/dashboards", data=sent).headers["location"].partition("?")[0]
        part = ana.get(f"{place}/csv?name=Q 1").headers["content-disposition"]
    assert part.endswith('-q-1.csv"')
