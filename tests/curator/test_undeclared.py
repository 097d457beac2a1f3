"""Values that no declaration allows are refused before the charge by whatever buys, and are no part of the identity."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

import pyarrow as pa
import pytest

import curador as cu
from curador.curator.purchase import Request
from curador.errors import NOTHING, InvalidParameter, QuestionRefused

COLUMNS = {
    "origin": {"type": "text", "keys": ["EWR", "JFK"]},
    "month": {"type": "integer", "bounds": [1, 12]},
    "day": {"type": "date", "bounds": ["2013-01-01", "2013-12-31"]},
}
ODD = "SELECT COUNT(*) AS n FROM flights WHERE origin = 'ewr'"


@pytest.fixture
def curator() -> cu.Curator:
    rows = {"origin": ["EWR", "JFK"] * 60, "month": list(range(1, 13)) * 10, "day": [date(2013, 1, 1)] * 120}
    analysts = {"ana": cu.Analyst(cu.PureDP(5)), "bea": cu.Analyst(cu.PureDP(5))}
    return cu.Curator({"flights": cu.Table(pa.table(rows), columns=COLUMNS)}, budget=cu.PureDP(9), analysts=analysts)


def refused(buy: Callable[[], object]) -> QuestionRefused:
    with pytest.raises(QuestionRefused) as error:
        buy()
    assert error.value.cost == NOTHING
    return error.value


def test_whatever_buys_refuses_before_the_charge_and_names_what_is_meant(curator: cu.Curator) -> None:
    rows = curator.table("flights").where("month = 13")
    batch = curator.batch({"fine": "SELECT COUNT(*) AS n FROM flights", "odd": ODD}, epsilon=1)
    found = {
        "ask": refused(lambda: curator.ask(ODD, epsilon=1)),
        "built": refused(lambda: rows.aggregate(n=cu.count()).ask(epsilon=1)),
        "planned": refused(lambda: curator.release(curator.plan(ODD, epsilon=1))),
        "batch": refused(lambda: curator.publish(batch)),
        "running": refused(lambda: curator.running_count(rows, "day", date(2013, 1, 1), 5, epsilon=1)),
    }
    assert str(found["ask"]).startswith("origin has no declared value 'ewr', so probably no row has it")
    assert "Did you mean 'EWR'? To buy it as it stands, ask with anyway=True." in found["ask"].fix
    assert found["built"].facts["range"] == "1 … 12"
    assert found["batch"].facts["question"] == "odd"
    assert [e.code for e in found.values()] == [f"undeclared-{x}" for x in ("near", "range", "near", "near", "range")]
    assert curator.budget().spent == cu.PureDP(0)
    assert not curator.history()
    curator.running_count(rows, "day", date(2013, 1, 1), 5, epsilon=1, anyway=True).close()
    assert len(curator.publish(batch, anyway=True)) == 2


def test_what_was_bought_anyway_is_the_same_purchase_and_shown_again_to_its_buyer(curator: cu.Curator) -> None:
    first = curator.ask(ODD, epsilon=1, analyst="ana", anyway=True, key="monday")
    for again in ({}, {"anyway": True}, {"key": "monday"}):
        same = curator.ask(ODD, epsilon=1, analyst="ana", **again)
        assert (same.repeated, same.charge, same.columns) == (True, first.charge, first.columns)
    assert curator.ask(ODD, epsilon=1, anyway=True).repeated  # the holder of the budget, which was charged for ana
    refused(lambda: curator.ask(ODD, epsilon=1, analyst="ana", fresh=True))  # another purchase
    refused(lambda: curator.ask(ODD, epsilon=1, analyst="bea"))  # who learns nothing of what ana bought
    assert not curator.ask(ODD, epsilon=1, analyst="bea", anyway=True).repeated
    assert curator.ask(ODD, epsilon=1, analyst="bea").repeated
    assert [curator.budget(who).spent for who in (None, "ana", "bea")] == [cu.PureDP(1)] * 3
    assert "no declared value 'ewr'" in " ".join(first.notes)
    assert "no declared value 'ewr'" in str(first)


def test_an_explanation_says_it_first_and_that_it_is_refused(curator: cu.Curator) -> None:
    notes = curator.explain(ODD, epsilon=1).to_dict()["notes"]
    assert notes[0] == {"code": "undeclared-near", "column": "origin", "value": "ewr", "near": "EWR"}
    said = " ".join(str(curator.explain(ODD, epsilon=1, language="es")).split())
    assert "¿Quiso decir 'EWR'?" in said
    assert "salvo que se haga de todos modos" in said
    assert "no declared" not in str(curator.explain(ODD.replace("ewr", "EWR"), epsilon=1))


def test_anyway_is_true_or_false() -> None:
    with pytest.raises(InvalidParameter):
        Request(anyway="yes")  # type: ignore[arg-type]
