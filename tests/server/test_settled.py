"""What tells whether an analyst's own purchase was answered is read at a tick, so that asking often tells no more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from curador.server.gate.clock import TickClock
from tests.server.served import SQL, Served, serving, write_study


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(write_study(tmp_path_factory.mktemp("study"))) as found:
        yield found


class Noted(TickClock):
    """A clock that notes when it is waited for."""

    async def leave(self) -> None:
        order.append("tick")


order: list[str] = []


def test_an_analyst_reads_their_purchases_as_they_were_at_a_tick(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served.client("ana") as client:
        charge = client.post("/v1/ask", json={"sql": SQL, "epsilon": "0.01"}).json()["charge"]
    monkeypatch.setattr(served.service, "clock", Noted(1.0))
    history, answer = served.curator.history, served.curator.ledger.answer

    def read(*given: Any, **more: Any) -> Any:
        order.append("read")
        return history(*given, **more)

    def answered(charge: str) -> bytes | None:
        order.append("read")
        return answer(charge)

    monkeypatch.setattr(served.curator, "history", read)
    monkeypatch.setattr(served.curator.ledger, "answer", answered)
    paths = ("/v1/history", "/v1/releases", f"/v1/releases/{charge}", f"/v1/models/{charge}")
    for who, waits in (("ana", True), ("curator", False), ("auditor", False)):
        with served.client(who) as client:
            for path in paths:
                order.clear()
                assert client.get(path).status_code in (200, 422)
                assert (order[0] == "tick") is waits, (who, path)
                assert order.count("tick") == waits


def test_what_another_bought_before_looks_like_any_purchase(served: Served) -> None:
    """In the answer, the explanation, the history and the list of releases: but for the numbers released."""
    bought, new = (f"SELECT COUNT(*) AS n FROM people WHERE age > {age}" for age in (41, 42))
    with served.client("ana") as client:
        first = client.post("/v1/ask", json={"sql": bought, "epsilon": "0.02"}).json()["charge"]
    seen = []
    with served.client("bea") as client:
        assert client.get(f"/v1/releases/{first}").status_code == 404
        for sql in (bought, new):
            start = served.curator.charge_count()
            asked = {"sql": sql, "epsilon": "0.02"}
            answers = [client.post("/v1/ask", json=asked).json() for _ in range(2)]
            numbers = [int(one["charge"]) - start for one in answers]
            repeated = [one["repeated"] for one in answers]
            explained = [note["code"] for note in client.post("/v1/explain", json=asked).json()["shared"]]
            [listed], [released] = (
                [one for one in client.get(path).json()[name] if one["id"] == answers[0]["charge"]]
                for path, name in (("/v1/history", "charges"), ("/v1/releases", "releases"))
            )
            assert listed == released
            again = client.get(f"/v1/releases/{listed['id']}").json()
            assert again["columns"] == answers[0]["columns"]
            said = {name: listed[name] for name in ("scopes", "receiver", "settled", "repeated", "because")}
            seen.append((numbers, repeated, explained, said, sorted(listed), sorted(answers[0])))
        charges = client.get("/v1/history").json()["charges"]
    assert seen[0] == seen[1]
    assert (seen[0][:3], seen[0][3]["scopes"]) == (([1, 1], [False, True], ["bought-before"]), ["bea"])
    assert [one["at"] for one in charges] == sorted(one["at"] for one in charges)
