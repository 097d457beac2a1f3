"""Collect: a task is planned and made in a form, answered by the program that the page shows, and watched."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from curador.curator.study.file import read_study
from curador.local import KRR, SquareWave
from curador.local.collect.collector import Collector
from curador.local.collect.wire import messages
from tests.server.console.browsing import screen, screens, visitor
from tests.server.served import STUDY, Served, serving, write_study

MATRIX: dict[tuple[str, str], tuple[set[str | None], dict[str, Any] | None]] = {
    ("GET", "/console/collect"): ({"curator", "auditor"}, None),
    ("POST", "/console/collect"): ({"curator"}, {}),
    ("GET", "/console/collect/{name}"): ({"curator", "auditor"}, None),
    ("GET", "/console/collect/client/{file}"): ({"curator", "auditor"}, None),
}

DRINKS = KRR(keys=["tea", "<b>coffee</b>", "water"], epsilon=3).named("drinks")
WAVE = SquareWave(low=0, high=10, epsilon=2).named("wave")
FORM = {"name": "sport", "mechanism": "krr", "epsilon": "1", "keys": "run\nswim\nnone", "users": "1000", "step": "make"}


@pytest.fixture(scope="module")
def collecting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("collecting")
    first = Collector.create(folder / "drinks", DRINKS)
    first.collect(messages(DRINKS, DRINKS.randomize(["tea"] * 300 + ["water"] * 100)))
    Collector.create(folder / "wave", WAVE).collect(messages(WAVE, WAVE.randomize([2.5] * 200)))
    stated = f'{STUDY}collect = {{ drinks = "drinks", wave = "wave" }}\n'
    with serving(write_study(folder, study=stated), per_token=10000, per_address=10000) as found:
        yield found


@screens()
def test_estimates_are_watched(browser: Browser, collecting: Served, language: str, theme: str, width: int) -> None:
    with screen(browser, collecting, "curator", language=language, theme=theme, width=width) as seen:
        page = seen.open("/console/collect")
        page.locator("details.card > summary").press("Enter")
        seen.look(f"collect-{language}-{theme}-{width}")
        seen.open("/console/collect/drinks")
        assert page.locator("figure svg:visible").count() == 1
        assert "400" in page.inner_text("main")
        seen.look(f"collected-{language}-{theme}-{width}")


def test_what_devices_run_says_that_it_reaches_this_computer_alone(collecting: Served) -> None:
    with visitor(collecting, "curator") as client:
        assert "opens on this computer only" in client.get("/console/collect/drinks").text


def test_the_page_looks_again_by_itself_and_intervals_tighten(collecting: Served) -> None:
    collector = collecting.service.collected["drinks"].collector
    with visitor(collecting, "auditor") as client:
        before = client.get("/console/collect/drinks", headers={"HX-Request": "true"}).text
        collector.collect(messages(DRINKS, DRINKS.randomize(["tea"] * 1200)))
        after = client.get("/console/collect/drinks", headers={"HX-Request": "true"}).text
        whole = client.get("/console/collect/drinks").text
    assert "<html" not in before
    assert 'hx-trigger="every 5s"' in whole
    halves = [float(re.search(r"± ([\d.]+) percentage points", said)[1]) for said in (before, after)]  # type: ignore[index]
    assert halves[1] < halves[0]
    assert "<b>coffee" not in whole


def test_a_distribution_is_drawn(collecting: Served) -> None:
    with visitor(collecting, "curator") as client:
        assert "<svg" in client.get("/console/collect/wave").text


def test_a_task_is_planned_then_made_and_its_program_answers(collecting: Served, tmp_path: Path) -> None:
    with visitor(collecting, "curator") as client:
        planned = client.post("/console/collect", data={**FORM, "step": "plan"})
        assert re.search(r"From 1000 people every estimate will be within ± [\d.]+ percentage points", planned.text)
        assert "sport" not in collecting.service.collected
        made = client.post("/console/collect", data=FORM)
        assert made.headers["location"] == "/console/collect/sport"
        page = client.get("/console/collect/sport").text
        assert "No report has come yet" in page
        program = re.findall(r"<pre[^>]*>(.*?)</pre>", page, re.DOTALL)[0]
        device = client.get("/console/collect/client/curador_device.py")
    (tmp_path / "curador_device.py").write_text(device.text)
    (tmp_path / "answer.py").write_text(program.replace("&#34;", '"').replace("&lt;", "<").replace("&gt;", ">"))
    subprocess.run([sys.executable, "answer.py"], cwd=tmp_path, check=True)
    assert collecting.service.collected["sport"].collector.totals().accepted == 1
    stated = read_study(collecting.study).server["collect"]
    assert stated == {"drinks": "drinks", "wave": "wave", "sport": "sport-reports"}
    with visitor(collecting, "curator") as client:
        assert client.post("/console/collect", data=FORM).status_code == 422


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"name": "../x"}, "name-wrong"),
        ({"name": "drinks"}, "name-wrong"),
        ({"epsilon": "much"}, "epsilon-wrong"),
        ({"keys": ""}, "keys-wrong"),
        ({"keys": "one"}, "keys-wrong"),
        ({"mechanism": "best", "users": ""}, "users-wrong"),
        ({"users": "many"}, "users-wrong"),
        ({"mechanism": "duchi", "low": "", "high": ""}, "low-wrong"),
        ({"mechanism": "duchi", "low": "5", "high": "1"}, "low-wrong"),
        ({"mechanism": "duchi", "low": "5", "high": "many"}, "high-wrong"),
        ({"keys": "run\nswim\nrun"}, "keys-wrong"),
        ({"mechanism": "nothing"}, "mechanism-wrong"),
    ],
)
def test_what_is_wrong_stands_next_to_its_field(collecting: Served, changes: dict[str, str], place: str) -> None:
    before, study = set(collecting.service.collected), collecting.study.read_text()
    form = {**FORM, "name": "other", **changes}
    with visitor(collecting, "curator") as client:
        answer = client.post("/console/collect", data=form)
        spanish = client.post("/console/collect", data=form, headers={"Accept-Language": "es"})
    assert answer.status_code == 422
    said = set(re.findall(r'class="refusal"[^>]*lang="(\w+)"', spanish.text))
    assert said == {"es"}  # every refusal of the form is said in the language of its page
    assert f'id="{place}"' in answer.text
    assert (set(collecting.service.collected), collecting.study.read_text()) == (before, study)


def test_all_that_is_wrong_is_said_at_once(collecting: Served) -> None:
    with visitor(collecting, "curator") as client:
        said = client.post(
            "/console/collect", data={"name": "A b", "mechanism": "best", "epsilon": "x", "users": ""}
        ).text
    assert re.findall(r'id="(\w+)-wrong"', said) == ["name", "epsilon", "users", "keys"]


def test_a_plain_question_has_two_answers_and_its_page_says_what_a_developer_does(collecting: Served) -> None:
    form = {"name": "smokes", "mechanism": "yes-no", "epsilon": "1", "step": "make"}
    with visitor(collecting, "curator", **{"Accept-Language": "es"}) as client:
        place = client.post("/console/collect", data=form).headers["location"]
        said = client.get(place).text
    task: Any = collecting.service.collected["smokes"].collector.task
    assert list(task.keys) == ["sí", "no"]
    assert "origins = [" in said
    assert "ninguna página web puede enviar" in said


def test_a_spanish_page_promises_in_spanish(collecting: Served) -> None:
    with visitor(collecting, "curator", **{"Accept-Language": "es"}) as client:
        for path in ("/console/collect/drinks", "/console/collect/wave"):
            said = client.get(path).text.partition("<main")[2].partition("</main>")[0]
            assert "Sea cual sea el valor de una persona" in said
            assert "Whatever" not in said
            assert 'lang="en"' not in said
        assert "puntos porcentuales" in client.get("/console/collect/drinks").text


def test_answers_stand_in_the_program_as_they_were_typed(collecting: Served) -> None:
    with visitor(collecting, "curator") as client:
        form = {**FORM, "name": "spanish", "keys": "sí, no</script>"}
        assert client.post("/console/collect", data=form).status_code == 303
        said = client.get("/console/collect/spanish").text
    assert "sí" in said
    assert "u00ed" not in said


def test_only_fields_of_what_people_tell_are_shown(browser: Browser, collecting: Served) -> None:
    with screen(browser, collecting, "curator") as seen:
        page = seen.open("/console/collect")
        page.locator("details.card > summary").press("Enter")
        assert (page.is_visible("#keys"), page.is_visible("#low")) == (False, False)  # yes or no is all there is
        page.select_option("#mechanism", "best")
        assert (page.is_visible("#keys"), page.is_visible("#low")) == (True, False)
        page.select_option("#mechanism", "duchi")
        assert (page.is_visible("#keys"), page.is_visible("#low")) == (False, True)
