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
