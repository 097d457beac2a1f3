"""The ledger's database goes away and comes back under a server: nothing is bought meanwhile, and it goes on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from curador.query.plan.plan import Plan
from tests.real_engines import PostgresServer, own_postgres
from tests.server.served import STUDY, Served, serving, write_study

SQL = "SELECT COUNT(*) AS n FROM people WHERE age > {}"


@pytest.fixture
def database() -> Iterator[PostgresServer]:
    with own_postgres() as server:
        yield server


def _ask(served: Served, age: int) -> tuple[int, dict[str, Any]]:
    with served.client("ana") as client:
        answer = client.post("/v1/ask", json={"sql": SQL.format(age), "epsilon": "0.01"})
        return answer.status_code, {n: x for n, x in answer.json().items() if n != "request"}


def test_a_ledger_that_is_gone_sells_nothing_and_comes_back(
    tmp_path: Path, database: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = f'[ledger]\naddress = "{database.url}"\nkeep = "keep"\n'
    run, read = Plan.run, []

    def watched(plan: Plan, *more: Any) -> bytes:
        read.append(plan)
        return run(plan, *more)

    monkeypatch.setattr(Plan, "run", watched)
    with serving(write_study(tmp_path, study=STUDY + ledger)) as served:
        assert _ask(served, 1)[0] == 200
        database.stop()
        refused = [_ask(served, age) for age in (2, 1, 3)]
        assert all(one == refused[0] for one in refused)  # also what was bought before: nobody can say so
        status, said = refused[0]
        assert (status, said["code"]) == (503, "ledger-unavailable")
        assert str(database.url.split("host=")[1]) not in str(said)  # where the ledger is, is nobody's business
        with served.client() as client:
            assert client.get("/ready").status_code == 503
            assert client.get("/health").status_code == 200
        assert len(read) == 1
        database.start()
        with served.client() as client:
            assert client.get("/ready").status_code == 200
        assert _ask(served, 2)[0] == 200
        database.stop()  # and back before anybody asks: nobody notices
        database.start()
        assert _ask(served, 3)[0] == 200
        assert [c.settled for c in served.curator.history(last=None)] == [True] * 3
        assert len(read) == 3
        served.curator.ledger.verify()


def test_a_ledger_that_goes_while_data_is_read_keeps_the_charge_and_the_answer_in(
    tmp_path: Path, database: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = f'[ledger]\naddress = "{database.url}"\nkeep = "keep"\n'
    run = Plan.run

    def cut(plan: Plan, *more: Any) -> bytes:
        found = run(plan, *more)
        database.stop()
        return found

    with serving(write_study(tmp_path, study=STUDY + ledger)) as served:
        monkeypatch.setattr(Plan, "run", cut)
        status, said = _ask(served, 1)
        assert status in (500, 503)
        assert "columns" not in said
        monkeypatch.setattr(Plan, "run", run)
        database.start()
        (charge,) = served.curator.history(last=None)
        assert not charge.settled
        assert _ask(served, 1)[0] == 200  # a purchase of its own: nobody has seen the first one's answer
        assert [c.settled for c in served.curator.history(last=None)] == [False, True]
        served.curator.ledger.verify()
