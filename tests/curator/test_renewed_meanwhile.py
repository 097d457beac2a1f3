"""Another process renews or reloads a table between two steps of a purchase: scripted, on both databases."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from curador.curator.curator import Curator
from curador.errors import BudgetExceeded, InvalidParameter
from curador.ledger.opening import open_ledger
from curador.privacy import PureDP
from curador.query.tables.table import Table

COUNT = "SELECT COUNT(*) AS n FROM t"
MUCH: dict[str, Any] = {"epsilon": 9, "because": "an exact enough answer"}
Pair = tuple[Curator, Curator]


@pytest.fixture(params=["sqlite", "postgresql"])
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Pair]:
    """Two curators of one study, as in two processes: each with a ledger of its own over the same database."""
    write(tmp_path, 100)
    if request.param == "sqlite":
        address: dict[str, Any] = {"address": tmp_path / "ledger.db"}
    else:
        schema = f"c{uuid.uuid4().hex[:12]}"
        address = {"address": request.getfixturevalue("postgres_url"), "schema": schema, "keep": tmp_path / "keep"}

    def opened() -> Curator:
        table = Table(tmp_path / "t.csv", columns={"day": "date"})
        return Curator({"t": table}, budget=PureDP(100), ledger=open_ledger(**address))

    made = opened(), opened()
    yield made
    for curator in made:
        curator.close()
        curator.ledger.close()


def write(folder: Path, rows: int) -> None:
    (folder / "t.csv").write_text("day\n" + "2026-01-01\n" * rows)


def interrupted(
    monkeypatch: pytest.MonkeyPatch, owner: object, method: str, by: Callable[[], object], times: int
) -> None:
    """Let something happen right before a method runs, so many times."""
    plain, left = getattr(owner, method), [times]

    def run(*given: Any, **named: Any) -> Any:
        if left[0]:
            left[0] -= 1
            by()
        return plain(*given, **named)

    monkeypatch.setattr(owner, method, run)


def renewed(curator: Curator, folder: Path) -> Callable[[], object]:
    def renew() -> None:
        write(folder, 10)
        curator.renew("t", epsilon=100, because="a new cohort")

    return renew


def spent(curator: Curator, scope: str) -> float:
    budget = curator.ledger.balance(scope).spent
    assert isinstance(budget, PureDP)
    return budget.epsilon


def test_a_renewal_before_the_charge_is_charged_to_the_new_people(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = pair
    interrupted(monkeypatch, one.ledger, "reserve", renewed(other, tmp_path), 1)
    assert abs(one.sql(COUNT, **MUCH).numbers("n")[0] - 10) < 10
    assert spent(one, "population") == 0
    assert spent(one, "t, renewed 1") == 9
    assert len(one.ledger.history()) == 1


def test_a_table_that_is_renewed_again_and_again_is_refused_at_no_cost(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = pair
    interrupted(monkeypatch, one.ledger, "reserve", renewed(other, tmp_path), 3)
    with pytest.raises(InvalidParameter) as refused:
        one.sql(COUNT, **MUCH)
    assert refused.value.code == "planned-for-other-data"
    assert one.ledger.history() == ()


def test_a_renewal_while_rows_are_read_releases_nothing(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = pair
    one.sql(COUNT, epsilon=1)
    interrupted(monkeypatch, one._engines.of({"t"}), "run", renewed(other, tmp_path), 1)
    with pytest.raises(InvalidParameter) as refused:
        one.sql(COUNT, **MUCH)
    assert refused.value.code == "data-changed-while-read"
    assert "charge 2 is kept" in refused.value.cost
    assert spent(one, "population") == 10
    assert spent(one, "t, renewed 1") == 0
    assert one.ledger.answer("2") is None
    assert abs(one.sql(COUNT, **MUCH).numbers("n")[0] - 10) < 10


def test_a_reload_before_the_charge_gives_an_answer_about_the_new_rows(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = pair
    first = one.sql(COUNT, **MUCH)

    def reload() -> None:
        write(tmp_path, 50)
        other.reload("t")

    interrupted(monkeypatch, one.ledger, "reserve", reload, 1)
    again = one.sql(COUNT, **MUCH)
    assert not again.repeated
    assert abs(again.numbers("n")[0] - 50) < 10
    assert abs(first.numbers("n")[0] - 100) < 10


def test_an_exhausted_budget_is_not_replaced_by_a_renewal_that_comes_after_the_charge(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = pair
    one.sql(COUNT, epsilon=100, because="all of it", override=True)
    with pytest.raises(BudgetExceeded):
        one.sql(COUNT, **MUCH)
    interrupted(monkeypatch, one.ledger, "reserve", renewed(other, tmp_path), 1)
    one.sql(COUNT, epsilon=8, because="the new people")
    assert spent(one, "t, renewed 1") == 8


def test_a_running_count_stops_at_a_renewal_while_a_day_is_counted(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = pair
    stream = one.running_count(one.table("t"), "day", date(2026, 1, 1), 5, epsilon=1)
    interrupted(monkeypatch, one._engines.of({"t"}), "run", renewed(other, tmp_path), 1)
    with pytest.raises(InvalidParameter) as refused:
        stream.next()
    assert refused.value.code == "data-changed"


def test_a_running_count_reads_no_rows_of_people_who_did_not_pay(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = pair
    stream = one.running_count(one.table("t"), "day", date(2026, 1, 1), 5, epsilon=1)
    stream.next()
    renewed(other, tmp_path)()
    read: list[object] = []
    interrupted(monkeypatch, one._engines.of({"t"}), "run", lambda: read.append(1), 1)
    with pytest.raises(InvalidParameter) as refused:
        stream.next()
    assert refused.value.code == "data-changed"
    assert read == []


def test_a_running_count_is_opened_for_the_people_who_paid(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = pair
    interrupted(monkeypatch, one.ledger, "settle", renewed(other, tmp_path), 1)
    with pytest.raises(InvalidParameter) as refused:
        one.running_count(one.table("t"), "day", date(2026, 1, 1), 5, epsilon=1)
    assert refused.value.code == "data-changed-while-read"
