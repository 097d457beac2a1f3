"""A name is an analyst's or a group's for ever, and who asks sees what they received themselves, as a group too."""

from __future__ import annotations

from pathlib import Path

import pyarrow
import pytest

from curador.curator.curator import Curator
from curador.curator.releases.recall import bought_by
from curador.curator.study.file import Analyst
from curador.errors import InvalidParameter
from curador.ledger.contract import Ledger
from curador.ledger.opening import open_ledger
from curador.ledger.stores.memory import MemoryLedger
from curador.privacy import PureDP
from curador.query.tables.table import Table

STUDY = """[budget]
epsilon = 4
[tables.people]
source = "people.csv"
unit = "row"
columns = { age = "integer" }
"""


def opened(folder: Path, people: str, ledger: Ledger) -> Curator:
    (folder / "people.csv").write_text("age\n" + "30\n" * 20)
    (folder / "study.toml").write_text(STUDY + people)
    return Curator(folder / "study.toml", ledger=ledger)


def section(kind: str, name: str, group: str = "") -> str:
    return f"[{kind}.{name}]\nepsilon = 1\n" + (f'group = "{group}"\n' if group else "")


def test_an_analyst_is_nobodys_group_and_a_group_no_analyst(tmp_path: Path) -> None:
    ledger = open_ledger(tmp_path / "ledger.db", keep=tmp_path / "keep")
    curator = opened(tmp_path, section("groups", "lab") + section("analysts", "ana", "lab"), ledger)
    entries = ledger.verify()
    with pytest.raises(InvalidParameter, match="'ana' is an analyst, and no group") as refusal:
        curator.grant("gil", epsilon=1, group="ana")
    assert refusal.value.code == "name-of-another-kind"
    assert "gil" not in ledger
    assert ledger.verify() == entries  # all of it or nothing
    curator.grant("eva", epsilon=1, group="lab")
    for wrong in (section("analysts", "lab"), section("groups", "ana")):  # the file says otherwise than it did
        with pytest.raises(InvalidParameter, match="one kind for ever"):
            opened(tmp_path, wrong, ledger)
    again = opened(tmp_path, section("groups", "lab") + section("analysts", "ana", "lab"), ledger)
    with pytest.raises(InvalidParameter, match="one kind for ever"):
        again.scopes.state_kind("lab", "analyst")


def test_what_was_given_without_a_kind_has_the_one_that_it_is_first_used_as(tmp_path: Path) -> None:
    curator = opened(tmp_path, "", MemoryLedger())
    for name in ("lab", "ana"):
        curator.grant(name, epsilon=1)
    curator.grant("eva", epsilon=1, group="lab")
    curator.scopes.state_kind("ana", "analyst")
    entries = curator.ledger.verify()
    curator.scopes.state_kind("ana", "analyst")
    assert curator.ledger.verify() == entries  # said once
    for name, other in (("lab", "analyst"), ("ana", "group")):
        with pytest.raises(InvalidParameter, match="one kind for ever"):
            curator.scopes.state_kind(name, other)
    curator.renew("people", epsilon=2, because="the survey of 2027")
    curator.grant("ana", epsilon=1, because="for the new survey")
    with pytest.raises(InvalidParameter, match="one kind for ever"):
        curator.scopes.state_kind("ana", "group")  # with a new budget, too


def test_who_asks_sees_what_they_received_themselves() -> None:
    people = {"lab": Analyst(PureDP(9)), "eva": Analyst(PureDP(3), "lab"), "gil": Analyst(PureDP(3), "lab")}
    table = Table(pyarrow.table({"age": range(20)}), columns={"age": {"type": "integer", "bounds": [0, 120]}})
    curator = Curator({"people": table}, PureDP(9), analysts=people)

    def ask(who: str | None, above: int) -> str:
        sql = f"SELECT COUNT(*) AS n FROM people WHERE age > {above}"
        return str(curator.ask(sql, epsilon=0.1, analyst=who).charge)

    charges = {who: [ask(who, 10 * n + k) for k in range(3)] for n, who in enumerate(["eva", "lab", "gil"])}
    assert len(curator.history("lab")) == 9  # what was charged to the group
    for who, own in charges.items():
        assert [one.id for one in curator.received(who)] == own
        assert [one.id for one in curator.received(who, last=2)] == own[1:]
        middle = curator.received(who)[1]
        assert [one.id for one in curator.received(who, last=2, before=middle)] == own[:1]
        for other, theirs in charges.items():
            assert [bought_by(curator, id, who) is not None for id in theirs] == [who == other] * 3
    assert len(curator.received(None)) == 9
    ask("gil", 0)  # eva bought it first
    assert [one.id for one in curator.received("gil")] == [*charges["gil"], "10"]
    assert [one.id for one in curator.received("eva")] == charges["eva"]


def test_a_charge_is_found_by_its_number_and_not_by_reading_the_history(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table(pyarrow.table({"age": range(20)}), columns={"age": {"type": "integer", "bounds": [0, 120]}})
    curator = Curator({"people": table}, PureDP(9), analysts={"eva": Analyst(PureDP(3)), "gil": Analyst(PureDP(3))})
    charges = [
        str(curator.ask(f"SELECT COUNT(*) AS n FROM people WHERE age > {n}", epsilon=0.1, analyst="eva").charge)
        for n in range(3)
    ]
    curator.ask("SELECT COUNT(*) AS n FROM people WHERE age > 0", epsilon=0.1, analyst="gil", because="mine")

    def read(*_: object, **__: object) -> None:
        raise AssertionError("the history was read")

    monkeypatch.setattr(type(curator.ledger), "history", read)
    for id in charges:
        assert (found := bought_by(curator, id, "eva")) is not None
        assert found.charge.receiver == "eva"
    again = bought_by(curator, "4", "gil")
    assert again is not None
    assert (again.because, again.charge.receiver, again.charge.repeated) == ("mine", "gil", True)
    assert [bought_by(curator, id, "gil") for id in (*charges, "99", "0")] == [None] * 5
