"""Names that are attacks, and very many groups: every page shows them as text, and no page drowns."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser

import pytest
from playwright.sync_api import Browser

from curador import Curator
from curador.server.app import PAGES
from tests.server.console.browsing import screen, visitor
from tests.server.served import Served, serving, write_study

EVIL = "\"'><script>alert(1)</script><img src=x onerror=alert(2)>"
"""As the name of a table, of a column, of a key, of an analyst and of a dashboard."""

QUOTED = '"' + EVIL.replace('"', '""') + '"'
FORMULAS = ("=1+1", "+1+cmd", "-2+3|x", "@SUM(1)", "\t=1", " =2", "＝3", "plain")
FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
GROUPS = 1000
NAME, WHO = json.dumps(EVIL), f"{EVIL} ana"

STUDY = f"""
[tables.people]
source = "people.csv"
unit = "row"
[tables.people.columns]
sex = {{ type = "text", keys = {json.dumps(["F", "M", EVIL, *FORMULAS])} }}
age = {{ type = "integer", bounds = [0, {GROUPS - 1}], keys = {list(range(GROUPS))} }}
pay = {{ type = "real", bounds = [0, 5000], step = 0.5 }}

[tables.homes]
source = "homes.csv"
unit = "row"
[tables.homes.columns]
town = {{ type = "text", keys = {json.dumps([f"town {k}" for k in range(GROUPS)])} }}

[tables.{NAME}]
source = "visits.csv"
unit = "row"
[tables.{NAME}.columns]
pid = {{ type = "integer" }}
{NAME} = {{ type = "text", keys = ["a", "b"] }}

[budget]
epsilon = 100
delta = 1e-6

[analysts.{json.dumps(WHO)}]
epsilon = 50
[analysts.ana]
epsilon = 20
[analysts.bea]
epsilon = 20

[server]
tick = "10ms"
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("hostile")
    study = write_study(folder, study=STUDY)
    (folder / "visits.csv").write_text(f"pid,{QUOTED}\n1,a\n2,b\n")
    (folder / "homes.csv").write_text("town\ntown 7\ntown 8\n")
    with serving(study, per_token=10000, per_address=10000) as found:
        furnish(found.curator, QUOTED)
        yield found


def furnish(curator: Curator, quoted: str) -> None:
    """A release and a publication under hostile names, one of formulas, and one of very many groups."""
    named = f'SELECT {quoted}, COUNT(*) AS {quoted[:-1]}2" FROM {quoted} GROUP BY {quoted}'
    curator.ask(named, epsilon=1, analyst=WHO)
    words = {"title": EVIL, "because": EVIL, "questions": {EVIL: {"title": EVIL, "why": EVIL}}}
    asked = {EVIL: f"SELECT COUNT(*) AS n FROM {quoted}", "b": "SELECT COUNT(*) AS n FROM people"}
    curator.publish(curator.batch(asked, epsilon=1, words=words), because=EVIL, analyst=WHO)
    curator.ask("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", epsilon=1, analyst="ana")
    curator.ask("SELECT age, COUNT(*) AS n FROM people GROUP BY age", epsilon=1, analyst="ana")
    curator.ask("SELECT town, COUNT(*) AS n FROM homes GROUP BY town", epsilon=1, analyst="ana")


class Tags(HTMLParser):
    """What a browser would run of a page: scripts, and attributes that are code."""

    def __init__(self) -> None:
        super().__init__()
        self.run: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if tag == "script" and not (named.get("src") or "").startswith("/console/static/"):
            self.run.append(tag)
        self.run += [name for name in named if name.startswith("on")]
        if tag == "img" or (named.get("href") or "").strip().lower().startswith("javascript:"):
            self.run.append(tag)


def runs(text: str) -> list[str]:
    found = Tags()
    found.feed(text)
    return found.run


def test_a_running_name_would_be_seen() -> None:
    assert runs(f"<p>{EVIL}</p>") == ["script", "onerror", "img"]


@pytest.mark.parametrize("language", ["en", "es"])
def test_no_page_runs_a_name(served: Served, language: str) -> None:
    plain = sorted(r.path for r in PAGES if "GET" in (r.methods or ()) and "{" not in r.path)
    board = {"sql-0": EVIL, "name-0": EVIL, "title": EVIL, "title-0": EVIL, "because": EVIL}
    with visitor(served, "curator", **{"Accept-Language": language}) as client:
        handles = re.findall(r'href="(/console/analysts/[^"]+)"', client.get("/console/analysts").text)
        places = [*plain, *handles]
        places += [f"/console/{page}/{k}" for page in ("releases", "ledger") for k in range(1, 5)]
        places += [f"/console/releases/{k}/report" for k in range(1, 5)]
        seen = {path: client.get(path) for path in places}
        seen["ask"] = client.get("/console/ask", params={"table": EVIL, "epsilon": EVIL[:60], "delta": EVIL[:60]})
        seen["sql"] = client.get("/console/ask", params={"sql": f"SELECT COUNT({EVIL}) FROM people"})
        seen["named"] = client.get("/console/releases/1", params={"name-0": EVIL, "name-1": f"{EVIL}2", "sort": EVIL})
        for page in ("fit", "change", "withdraw"):
            seen[page] = client.get(f"/console/tables/{page}", params={"table": EVIL})
        table = {
            "table": EVIL,
            "source": "visits.csv",
            "header": "yes",
            "unit": "row",
            "type-0": "integer",
            "of-1": EVIL,
        }
        seen["changed"] = client.post("/console/tables/change", data={**table, "type-1": "text", "step": "check"})
        seen["mistaken"] = client.post("/console/tables/change", data={**table, "keys-0": EVIL, "low-0": EVIL[:30]})
        bought = client.post(
            "/console/tables/fit", data={"table": EVIL, "column-1": "yes", "epsilon": "1", "do": "pay"}
        )
        seen["fitted"] = client.get(bought.headers["location"])
        seen["upload"] = client.get("/console/tables", params={"withdrawn": EVIL})
        seen["board"] = client.post("/console/dashboards", data=board)
        seen["filter"] = client.get("/console/ledger", params={"who": EVIL, "table": EVIL})
    assert len(handles) == 4  # three analysts, and all tables
    for path, answer in seen.items():
        assert answer.status_code < 500, path
        if "text/html" in answer.headers.get("content-type", ""):
            assert EVIL not in answer.text, path
            assert path.endswith("/report") or runs(answer.text) == [], path
    own = ("fit", "change", "withdraw", "changed", "fitted")
    for path in (
        "/console/overview",
        "/console/tables",
        "/console/ask",
        "/console/releases/1",
        "/console/releases/2",
        *own,
    ):
        assert seen[path].status_code == 200, path
        assert "onerror=alert(2)&gt;" in seen[path].text, path  # it is there, as text


def test_a_browser_runs_no_name(browser: Browser, served: Served) -> None:
    with screen(browser, served, "curator", width=390) as seen:
        seen.page.on("dialog", lambda dialog: pytest.fail(dialog.message))
        for path in ("overview", "tables", "ask", "releases/1", "releases/2", "analysts", "ledger"):
            seen.open(f"/console/{path}")
        seen.look("hostile-ledger")


def test_no_spreadsheet_runs_a_cell(served: Served) -> None:
    with visitor(served, "ana") as ana, visitor(served, "curator") as curator:
        bought = ana.get("/console/releases/3/csv").text
        renamed = ana.get("/console/releases/3/csv", params={"name-0": "=1+1", "name-1": "@x"}).text
        ledger = curator.get("/console/ledger/export").text
    keys = [row[0] for row in csv.reader(io.StringIO(bought))][1:]
    assert {f"'{one}" for one in FORMULAS[:-1]} | {"plain"} <= set(keys)
    assert next(csv.reader(io.StringIO(renamed)))[:2] == ["'=1+1", "'@x"]
    for text in (bought, renamed, ledger):
        for row in csv.reader(io.StringIO(text)):
            for cell in row:
                assert not cell.lstrip().startswith(FORMULA) or re.fullmatch(r"-[\d.]+(e[+-]?\d+)?", cell), cell


def test_a_column_without_bounds_is_explained_in_spanish(served: Served) -> None:
    asked = {"sql": f"SELECT SUM(pid) AS s FROM {QUOTED}", "epsilon": "0.1", "do": "pay", "key": "b"}
    with visitor(served, "ana", **{"Accept-Language": "es"}) as ana:
        said = ana.post("/console/ask", data=asked).text
    assert "La columna pid no tiene límites declarados" in said


@pytest.mark.parametrize(
    ("release", "says"), [(4, "n by age, with 95 % intervals"), (5, "largest of 1,000 noised values")]
)
def test_a_thousand_groups_are_read_in_a_chart_and_a_table(
    browser: Browser, served: Served, release: int, says: str
) -> None:
    with visitor(served, "ana") as ana:
        answer = ana.get(f"/console/releases/{release}")
    assert says in answer.text
    charts = re.findall(r"<svg.*?</svg>", answer.text, re.DOTALL)
    assert answer.text.count('<th scope="row">') == GROUPS
    assert len(answer.content) - sum(map(len, charts)) < 300_000
    assert 0 < sum(map(len, charts)) < 300_000
    with screen(browser, served, "ana", width=390) as seen:
        page = seen.open(f"/console/releases/{release}")
        assert page.evaluate("document.querySelector('.scroll.long').getBoundingClientRect().height") < 600
        assert page.evaluate("document.documentElement.scrollHeight") < 9000
        seen.look(f"groups-1000-{release}")


def test_two_tabs_pay_once_for_one_question_and_twice_for_two(browser: Browser, served: Served) -> None:
    before = len(served.curator.history("bea"))
    with screen(browser, served, "bea") as seen:
        first, second = seen.open("/console/ask"), seen.context.new_page()
        second.goto(served.url + "/console/ask")
        for page, age in ((first, 41), (second, 41), (second, 42)):
            if "/console/ask" not in page.url:
                page.goto(served.url + "/console/ask")
            page.fill("#sql", f"SELECT COUNT(*) AS n FROM people WHERE age > {age}")
            page.fill("#epsilon", "0.1")
            page.click("button[value=pay]")
            page.wait_for_url("**/console/releases/*")
        first.go_back()
        first.wait_for_url("**/console/ask**")
        first.go_forward()
        first.wait_for_url("**/console/releases/*")
        first.reload()
    assert len(served.curator.history("bea")) == before + 2
