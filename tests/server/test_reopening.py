"""A study that changes while it is served: all processes serve what its file says now; a bad file changes nothing."""

from __future__ import annotations

import gc
import logging
import threading
from pathlib import Path
from weakref import ref

import pytest

from curador import Curator, Ledger
from curador.curator.study.edit import rewrite, with_entry
from curador.server.reopening import ServedStudy
from tests.server.served import SQL, Served, serving, write_study

COSTS = {"source": "costs.csv", "unit": "row", "columns": {"cost": {"type": "integer", "bounds": [0, 50]}}}
ASKED = {"sql": "SELECT SUM(cost) AS total FROM costs", "epsilon": "0.5"}


def declare(study: Path, name: str = "costs", **changes: object) -> None:
    was = study.read_text()
    rewrite(study, was, with_entry(was, ("tables", name), {**COSTS, **changes}))


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "costs.csv").write_text("cost\n12\n30\n")
    return write_study(tmp_path)


def status(served: Served, who: str = "ana") -> int:
    with served.client(who) as client:
        return client.post("/v1/ask", json=ASKED).status_code


def test_all_processes_serve_a_new_table_from_the_next_request_on(study: Path) -> None:
    with serving(study) as one, serving(study, tokens=False) as other:
        other.tokens.update(one.tokens)
        assert (status(one), status(other)) == (422, 422)
        declare(study)
        assert (status(one), status(other)) == (200, 200)
        with one.client("ana") as client:
            tables = client.get("/v1/tables").json()
            spent = client.get("/v1/budget").json()
            assert client.post("/v1/ask", json={**ASKED, "key": "again"}).status_code == 200
            assert client.get("/v1/budget").json() == spent  # both bought it from one ledger
        assert "costs" in str(tables)


def test_what_runs_goes_on_with_what_it_was_planned_by(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A purchase that waits while the study changes is bought as it was planned."""
    with serving(study) as served:
        first = served.curator
        waits, goes_on, real = threading.Event(), threading.Event(), first.buy

        def slow(*given: object) -> object:
            waits.set()
            assert goes_on.wait(60)
            return real(*given)  # type: ignore[arg-type]

        monkeypatch.setattr(first, "buy", slow)
        found: list[int] = []

        def ask() -> None:
            with served.client("ana") as client:
                found.append(client.post("/v1/ask", json={"sql": SQL, "epsilon": "0.1"}).status_code)

        asking = threading.Thread(target=ask)
        asking.start()
        assert waits.wait(60)
        declare(study)
        assert status(served, "bea") == 200
        assert served.curator is not first
        goes_on.set()
        asking.join()
        assert found == [200]


def test_a_file_that_would_not_open_changes_nothing_and_is_logged_once(
    study: Path, caplog: pytest.LogCaptureFixture
) -> None:
    good = study.read_text()
    with serving(study) as served, caplog.at_level(logging.ERROR, "curador.server"):
        first = served.curator
        for bad in ("[tables", good.replace("epsilon = 20", "epsilon = -1"), good + "[ledger]\naddress = 'other'\n"):
            study.write_text(bad)
            for _ in range(2):
                with served.client("ana") as client:
                    assert client.post("/v1/ask", json={"sql": SQL, "epsilon": "0.1"}).status_code == 200
            assert served.curator is first
        assert len([one for one in caplog.records if "not reopened" in one.getMessage()]) == 3
        study.unlink()
        assert status(served) == 422
        study.write_text(good)
        declare(study)
        assert status(served) == 200


STRANGE = {
    "nested": "x = " + "[" * 5000 + "]" * 5000,
    "a long number": f"x = 1{'0' * 5000}",
    "no mechanism": "[policy]\nmechanisms = [[1]]\n",
}


@pytest.mark.parametrize("name", STRANGE)
def test_whatever_a_file_holds_what_was_declared_before_is_served(
    study: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Found by attack: errors that are not ours failed every request until the file was mended."""
    good = study.read_text()
    with serving(study) as served, caplog.at_level(logging.ERROR, "curador.server"):
        first = served.curator
        study.write_text(good + STRANGE[name])
        for _ in range(2):
            with served.client("ana") as client:
                assert client.post("/v1/ask", json={"sql": SQL, "epsilon": "0.1"}).status_code == 200
        assert served.curator is first
        assert len([one for one in caplog.records if "not reopened" in one.getMessage()]) == 1


def test_a_file_that_changes_while_it_is_first_opened_is_looked_at_again(study: Path) -> None:
    """Found by attack: what was declared in that instant was never served, until the file changed once more."""

    def opened(ledger: Ledger | None) -> Curator:
        made = Curator(study, ledger=ledger)
        if ledger is None:
            declare(study)
        return made

    served = ServedStudy(opened)
    try:
        assert "costs" not in served.curator.tables
        assert served.changed()
        assert "costs" in served.reopened().tables
        assert not served.changed()
    finally:
        served.close()


def test_how_a_study_is_served_takes_a_restart_and_opens_nothing(study: Path) -> None:
    with serving(study) as served:
        first = served.curator
        was = study.read_text()
        study.write_text(was.replace('tick = "10ms"', 'tick = "20ms"'))
        assert status(served) == 422
        assert served.curator is first


def test_a_curator_that_nobody_holds_any_more_closes_what_it_opened(study: Path) -> None:
    with serving(study) as served:
        declare(study)
        assert status(served) == 200
        second = ref(served.curator)
        pool = served.curator._engines
        declare(study, "more", source="people.csv", columns={"age": {"type": "integer", "bounds": [0, 99]}})
        with served.client("ana") as client:
            assert client.get("/v1/tables").status_code == 200
        gc.collect()
        assert second() is None
        assert pool._closed


def test_a_table_whose_file_comes_back_is_served_without_a_restart(study: Path, tmp_path: Path) -> None:
    declare(study)
    (tmp_path / "costs.csv").rename(tmp_path / "away.csv")
    with serving(study) as served:
        with served.client("ana") as client:
            refused = client.post("/v1/ask", json=ASKED)
            assert refused.status_code == 422
            assert refused.json()["code"] == "file-missing"
            assert client.post("/v1/ask", json={"sql": SQL, "epsilon": "0.1"}).status_code == 200
        first = served.service.study.curator
        (tmp_path / "away.csv").rename(tmp_path / "costs.csv")
        assert status(served) == 200
        assert served.service.study.curator is not first
        second = served.service.study.curator
        assert status(served) == 200
        assert served.service.study.curator is second


def test_a_file_that_comes_back_and_would_not_open_is_tried_once(study: Path, caplog: pytest.LogCaptureFixture) -> None:
    """As a link to another table's rows, where each has a budget of its own: what was served goes on."""
    text = study.read_text().replace("[budget]\nepsilon = 20\ndelta = 1e-6", "").partition("[analysts.ana]")[0]
    text = text.replace('unit = "pid"', 'unit = "row"')
    apart = "".join(f"[budget.{name}]\nepsilon = 2\n" for name in ("people", "visits"))
    study.write_text(text + apart)
    visits = study.with_name("visits.csv")
    visits.unlink()
    with serving(study, tokens=False) as served, caplog.at_level(logging.ERROR), served.client("curator") as client:
        asked = {"sql": SQL, "epsilon": "0.1"}
        assert client.post("/v1/ask", json=asked).status_code == 200
        visits.hardlink_to(study.with_name("people.csv"))
        asked["sql"] = "SELECT COUNT(*) AS n FROM visits"
        for _ in range(3):
            assert client.post("/v1/ask", json=asked).json()["code"] == "file-back"
        assert client.get("/v1/tables").status_code == 200
    assert caplog.text.count("not reopened") == 1
