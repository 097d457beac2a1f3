"""`curador serve demo`: everything is there, once, however often it is started; and its pages are light and fast."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from curador.cli.screen import decide_language
from curador.cli.serving import _announce, named_study
from curador.server.app import PAGES
from curador.server.console.playground.lessons import LESSONS
from curador.server.furnished import ANALYST, PEOPLE, QUESTIONS, furnish
from curador.show.words.say import LANGUAGES, say
from tests.server.console.browsing import visitor
from tests.server.served import Served, serving
from tests.steps import in_threads

ROOT = Path(__file__).parents[2]
MODEL = 1 + len(QUESTIONS) + 1
HEAVIEST, LONGEST = 300_000, 500_000
"""Bytes of a page, and steps of the server for it (tests/steps.py): seconds are another machine's."""

FILES = {
    "/console/static/{version}/{name}",
    "/console/releases/{id}/{kind}",
    "/console/public/{secret}/{kind}",
    "/console/ledger/export",
    "/console/collect/client/{file}",
    "/console/models/{id}/json",
}
BEGUN = {"/console/ledger/verified/{job}", "/console/models/jobs/{job}", "/console/audit/{job}"}
"""Files, which are as large as what is in them; and pages of work that somebody began, which say how far it is."""

NAMED = dict.fromkeys((f"/console/tables/{step}" for step in ("change", "fit", "withdraw")), "?table=staff")
"""Pages about one table, which their address names."""

FILLED = {
    "/console/releases/{id}": ["/console/releases/1", "/console/releases/2"],
    "/console/public/{secret}": [],  # its link is known to whoever made it: see below
    "/console/analysts/{handle}": [],
    "/console/ledger/{id}": ["/console/ledger/1"],
    "/console/collect/{name}": ["/console/collect/drinks"],
    "/console/models/{id}": [f"/console/models/{MODEL}"],
    "/console/playground/{name}": [f"/console/playground/{name}" for name in LESSONS],
}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory, steps: Callable[[], int]) -> Iterator[Served]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("demo"))
        study = named_study(Path("demo"))
        assert study == furnish("curador-demo")
        with serving(study, tokens=False, tick="10ms", per_token=10000, per_address=10000) as served:
            yield served


@pytest.fixture(scope="module")
def steps() -> Iterator[Callable[[], int]]:
    """How much the server has done so far."""
    with in_threads() as taken:
        yield taken


def test_the_demonstration_is_furnished_once(demo: Served) -> None:
    curator = demo.curator
    assert curator.charge_count() == MODEL
    assert curator.charge_count(ANALYST) == len(QUESTIONS)
    with demo.client("reader") as reader:
        assert reader.get("/v1/public").json()["releases"] == ["1"]
        assert reader.get("/v1/releases/1").status_code == 200
    assert demo.service.collected["drinks"].collector.totals().accepted == PEOPLE
    with visitor(demo, "curator") as client:
        assert "staff: age, years, sector → pay" in client.get("/console/models").text


def places(client: httpx.Client) -> list[str]:
    """An address of every page there is; a route without one fails."""
    routes = {route.path for route in PAGES if "GET" in (route.methods or ())} - FILES - BEGUN
    assert {path for path in routes if "{" in path} == set(FILLED)
    plain = sorted(path + NAMED.get(path, "") for path in routes if "{" not in path)
    made = client.post("/console/releases/1/link", data={"label": "a walk"}).text
    public = re.findall(r'href="[^"]*(/console/public/[^"]+)"', made)[:1]
    analyst = re.findall(r'href="(/console/analysts/[^"]+)"', client.get("/console/analysts").text)[:1]
    assert public
    assert analyst
    return [*plain, *(one for path in sorted(FILLED) for one in FILLED[path]), *public, *analyst]


def test_every_page_is_light_and_little_work(demo: Served, steps: Callable[[], int]) -> None:
    heavy, long = {}, {}
    with visitor(demo, "curator") as client:
        for path in places(client):
            before = steps()
            answer = client.get(path)
            taken = steps() - before
            assert answer.status_code in (200, 303), path
            charts = sum(map(len, re.findall(r"<svg.*?</svg>", answer.text, re.DOTALL)))
            if len(answer.content) - charts > HEAVIEST:
                heavy[path] = len(answer.content) - charts
            if taken > LONGEST:
                long[path] = taken
    assert heavy == {}
    assert long == {}


def test_a_folder_stands_for_its_study_file(tmp_path: Path) -> None:
    assert named_study(tmp_path) == tmp_path / "study.toml"
    assert named_study(tmp_path / "other.toml") == tmp_path / "other.toml"


PUBLICATION = "/console/releases/1"
"""The demonstration's dashboard, whose page has most to work out."""

FIRST_VIEWS = """
import json, sys
from pathlib import Path
from tests.server.console.browsing import visitor
from tests.server.served import serving
from tests.steps import in_threads

settings = {"tick": "10ms", "per_token": 10000, "per_address": 10000}
with in_threads() as steps, serving(Path(sys.argv[1]), tokens=False, **settings) as served:
    from curador.server.console.rendering import ENVIRONMENT
    with visitor(served, "curator", **{"Accept-Language": sys.argv[2]}) as client:
        client.get("/v1/health")
        found = {}
        for path in sys.argv[3:]:
            known, began = set(sys.modules), steps()
            before = len(ENVIRONMENT.cache)
            assert client.get(path).status_code in (200, 303), path
            found[path] = steps() - began, sorted(set(sys.modules) - known), len(ENVIRONMENT.cache) - before
print(json.dumps(found))
"""


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_first_view_after_a_start_is_as_little_work(demo: Served, language: str) -> None:
    """Nothing is loaded or compiled for it any more; each view is the first one of its page in a new process."""
    with visitor(demo, "curator") as client:
        paths = [path for path in places(client) if "/public/" not in path]
    paths.sort(key=lambda path: path != PUBLICATION)  # of it nothing was made by another page before
    run = [sys.executable, "-c", FIRST_VIEWS, str(demo.study.resolve()), language, *paths]
    found = json.loads(subprocess.run(run, cwd=ROOT, check=True, capture_output=True, timeout=600).stdout)
    assert {path: (modules, n) for path, (_, modules, n) in found.items() if modules or n} == {}
    assert {path: taken for path, (taken, _, _) in found.items() if taken > LONGEST} == {}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_demonstration_says_what_to_try(capsys: pytest.CaptureFixture[str], language: str) -> None:
    """Whoever starts it is told how to become its analyst; another study says nothing of one."""
    decide_language(language)
    try:
        _announce("http://127.0.0.1:8000/console/start#cur_code", demo=True)
        said = " ".join(capsys.readouterr().out.split())
        _announce("http://127.0.0.1:8000")
        later = " ".join(capsys.readouterr().out.split())
    finally:
        decide_language("en")
    for shown in (ANALYST, say("analysts.make-link", language), say("releases.make-link", language), "drinks"):
        assert shown in said
    assert "/console/start#cur_code" in said
    assert "http://127.0.0.1:8000/console/sign-in" in later
    assert ANALYST not in later.split()
