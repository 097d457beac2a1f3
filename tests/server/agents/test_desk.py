"""A desk at hand: bought once however often it is tried, on the clock, one constant error for what nobody foresaw."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import anyio
import pyarrow as pa
import pytest
from mcp import Client

from curador import Curator, PureDP, Table
from curador.curator.study.file import Analyst
from curador.errors import CuradorError, InvalidParameter
from curador.remote.curator import connect
from curador.server.agents.desk import Desk
from curador.server.agents.run import agent_server
from curador.server.agents.tools import TOOLS, called
from curador.server.gate.clock import TickClock
from curador.server.gate.settings import Settings
from tests.server.served import SQL, serving, too_long, write_study

ANA = {"ana": Analyst(PureDP(1))}
ASKED = {"sql": SQL, "epsilon": "0.1", "because": "a trial of the desk"}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with closing(Curator(write_study(tmp_path))) as curator:
        yield Desk(curator, "ana", Settings(tick=0.0))


def never(kind: str) -> None:
    pytest.fail(kind)


def test_every_tool_teaches_and_only_ask_pays(desk: Desk) -> None:
    assert [tool.name for tool in TOOLS.values() if tool.pays] == ["ask"]
    assert all(len(tool.teaches) > 80 for tool in TOOLS.values())
    count = desk.curator.ledger.count(None)  # type: ignore[union-attr]
    for name, arguments in (("explain", {"sql": SQL, "epsilon": 1}), ("how_many", {"sql": SQL, "epsilon": 1}),
                            ("list_tables", {}), ("budget", {}), ("history", {"last": 3})):  # fmt: skip
        assert not called(desk, name, arguments, never).failed
    assert desk.curator.ledger.count(None) == count  # type: ignore[union-attr]


def test_what_is_tried_again_is_bought_once_though_nothing_names_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the measurement has no identity, so that the ledger would not find it again by itself."""
    monkeypatch.setattr("curador.query.plan.plan.Plan.identity", None)
    first, second = (called(desk, "ask", ASKED, never) for _ in range(2))
    assert first.values["columns"] == second.values["columns"]
    assert len(desk.history(10)) == 1
    keyed = [called(desk, "ask", {**ASKED, "epsilon": "0.2", "key": "mine"}, never).values for _ in range(2)]
    assert keyed[0]["charge"] == keyed[1]["charge"]
    assert len(desk.history(10)) == 2


def test_a_value_that_no_declaration_allows_is_corrected_or_sent_anyway(desk: Desk) -> None:
    odd = {**ASKED, "sql": "SELECT COUNT(*) AS n FROM people WHERE sex = 'f'"}
    explained = called(desk, "explain", {"sql": odd["sql"], "epsilon": "0.1"}, never)
    assert "Did you mean 'F'?" in explained.text
    refused = called(desk, "ask", odd, never)
    assert (refused.failed, refused.values["error"]["code"]) == (True, "undeclared-near")
    assert refused.values["error"]["facts"]["near"] == "F"
    assert not desk.history(10)
    assert not called(desk, "ask", {**odd, "anyway": True}, never).failed
    assert called(desk, "ask", odd, never).values["repeated"]
    assert len(desk.history(10)) == 1


def test_rows_that_changed_are_asked_about_anew(desk: Desk) -> None:
    first = called(desk, "ask", ASKED, never).values
    assert isinstance(desk.curator, Curator)
    desk.curator.reload("people")
    second = called(desk, "ask", ASKED, never)
    assert not second.failed
    assert second.values["charge"] != first["charge"]
    reused = (
        called(desk, "ask", {**ASKED, "epsilon": "0.3", "key": "k"}, never),
        called(desk, "ask", {**ASKED, "epsilon": 1, "key": "k"}, never),
    )
    assert [one.failed for one in reused] == [False, True]
    assert reused[1].values["error"]["code"] == "key-reused"


def test_all_keys_are_in_the_text_up_to_a_number_of_them(tmp_path: Path) -> None:
    def typed(keys: list[Any]) -> dict[str, Any]:
        return {"type": "text" if isinstance(keys[0], str) else "integer", "keys": keys}

    carriers = ["9E", "AA", "O'Hare", "DL", "EV", "F9, or not"]
    flights = pa.table({"carrier": carriers, "plane": range(6), "day": [date(2026, 1, 1)] * 6})
    columns = {"carrier": typed(carriers), "plane": typed(list(range(1300))), "day": "date"}
    with closing(Curator({"flights": Table(flights, columns=columns)}, PureDP(1), analysts=ANA)) as curator:
        desk = Desk(curator, "ana", Settings(tick=0.0))
        text = called(desk, "list_tables", {}, never).text
        assert "The 6 keys of flights.carrier: '9E', 'AA', 'O''Hare', 'DL', 'EV', 'F9, or not'." in text
        assert "Keys 1 to 200 of the 1,300 of flights.plane: 0, 1, 2," in text
        assert "198, 199. For more: list_tables with table flights, column plane, start 200." in text
        place = {"table": "flights", "column": "plane"}
        rest = called(desk, "list_tables", {**place, "start": 200}, never)
        assert rest.values["keys"] == [str(n) for n in range(200, 1200)]
        assert rest.text.endswith("column plane, start 1200.")
        last = called(desk, "list_tables", {**place, "start": 1200}, never)
        assert last.text.endswith("1298, 1299.")
        for wrong, said in (
            ({"table": "flights"}, "table and column"),
            ({"table": "flights", "column": "day"}, "carrier, plane"),
            ({"table": "flight", "column": "day"}, "The tables are flights"),
            ({**place, "start": -1}, "`start` must be at least 0"),
        ):
            refused = called(desk, "list_tables", wrong, never)
            assert refused.failed
            assert said in refused.text


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("explain", {"sql": SQL, "accuracy": 0.5}, "`accuracy` must be an object with the fields error, confidence"),
        ("explain", {"sq": SQL, "epsilon": 1}, "there is no field `sq`. To do: Did you mean `sql`?"),
        ("explain", {"sql": "", "epsilon": True}, '`sql` must not be empty; `epsilon` must be a number, or one as a'),
        ("explain", {"sql": SQL, "accuracy": {"eror": 1}}, "there is no field `accuracy.eror`. To do: Did you"),
        ("explain", {"sql": SQL, "contribution": {"groups": 0}}, "`contribution.groups` must be at least 1"),
        ("explain", {"sql": SQL, "accuracy": {"error": 1, "unit": "rows"}}, "`accuracy.unit` must be 'ranks'"),
        ("ask", {"sql": SQL, "because": ""}, "`because` must have at least 3 characters"),
        ("show_release", {"charge": "one"}, "`charge` must match the pattern ^[0-9]+$"),
        ("history", {"last": 1.5}, "`last` must be a whole number"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_arguments_is_a_sentence(
    desk: Desk, tool: str, arguments: dict[str, Any], said: str
) -> None:
    refused = called(desk, tool, arguments, never)
    assert refused.values["error"]["code"] == "malformed"
    words = refused.text.replace("\n", " ")
    assert all(part in words for part in said.split("; ")), words
    assert "_" not in refused.values["error"]["what"]


def test_what_nobody_foresaw_is_one_constant_error(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("the row of Eva, 41, Lugo")

    monkeypatch.setattr(desk.curator, "explain", fail)
    told: list[str] = []
    found = called(desk, "explain", {"sql": SQL, "epsilon": 1}, told.append)
    assert (found.failed, found.values["error"]["code"], told) == (True, "server-failed", ["RuntimeError"])
    assert "Eva" not in found.text + str(found.values)


def test_a_ledger_that_is_gone_is_a_refusal_without_a_balance(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise CuradorError("The ledger is away.", fix="Wait.")

    monkeypatch.setattr(Desk, "balance", fail)
    found = called(desk, "budget", {}, never)
    assert found.failed
    assert found.values["remaining"] == {}


class Counted(TickClock):
    """A clock that counts what waits for it."""

    async def leave(self) -> None:
        waited.append(self.tick)


waited: list[float] = []


def test_only_what_may_read_data_waits_for_the_clock(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("curador.server.agents.desk.TickClock", Counted)
    desk.settings = Settings(tick=3.0)

    async def main() -> None:
        async with Client(agent_server(desk)) as client:
            await client.call_tool("explain", {"sql": SQL, "epsilon": 1})
            await client.call_tool("budget", {})
            assert waited == []
            await client.call_tool("ask", ASKED)
            await client.call_tool("ask", {**ASKED, "epsilon": 99})
            assert waited == [3.0, 3.0]
            await client.call_tool("history", {})
            await client.call_tool("show_release", {"charge": "1"})
            assert waited == [3.0] * 4

    waited.clear()
    anyio.run(main)


def test_an_agent_has_an_analysts_budget_and_no_other(desk: Desk, tmp_path: Path) -> None:
    curator: Any = desk.curator
    for name in ("nobody", "people", "population"):
        with pytest.raises(CuradorError):
            Desk(curator, name, Settings())
    folder = tmp_path / "served"
    folder.mkdir()
    with serving(write_study(folder)) as served:
        for token in ("ana", "curator"):
            with closing(connect(served.url, served.tokens[token])) as far, pytest.raises(InvalidParameter) as refused:
                Desk(far, "bea", Settings())
            assert refused.value.code == "token-of-another"


def test_what_a_question_decides_is_bounded_and_what_was_bought_is_shown(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    bought = called(desk, "ask", ASKED, never).values["charge"]
    monkeypatch.setattr("curador.server.agents.desk.bounded", too_long)
    monkeypatch.setattr("curador.server.agents.tools.bounded", too_long)
    asked = {"sql": SQL, "epsilon": "0.7"}
    for name, arguments in (
        ("explain", asked),
        ("how_many", asked),
        ("ask", {**asked, "because": "a trial of the desk"}),
    ):
        refused = called(desk, name, arguments, never)
        assert refused.values["error"]["code"] == "planning-too-long", name
    assert len(desk.history(10)) == 1
    others: tuple[tuple[str, dict[str, Any]], ...] = (
        ("show_release", {"charge": bought}),
        ("history", {}),
        ("list_tables", {}),
        ("budget", {}),
    )
    for name, arguments in others:
        assert not called(desk, name, arguments, never).failed, name
