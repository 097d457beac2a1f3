"""`curador budget`, `grant`, `revoke`, `history`, `ledger verify`, `ledger restore`."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from curador.curator.curator import Curator
from curador.errors import BudgetExceeded, CuradorError, InvalidParameter, LedgerBroken
from tests.cli import test_cli
from tests.cli.test_cli import Invoke

invoke = test_cli.invoke  # the fixture

STUDY = """
[budget]
epsilon = 2
delta = 1e-6

[tables.people]
source = "people.csv"
unit = "row"
columns = { age = { type = "integer", bounds = [0, 120] } }

[groups.health]
epsilon = 1

[analysts.ana]
epsilon = 0.5
group = "health"
"""
COUNT = "SELECT COUNT(*) AS n FROM people"


@pytest.fixture
def study(invoke: Invoke) -> Invoke:
    Path("study.toml").write_text(STUDY)
    Path("people.csv").write_text("age\n" + "30\n" * 100)
    return invoke


def balances(call: Invoke) -> dict[str, Any]:
    return {b["scope"]: b for b in json.loads(call("budget", "--json"))}


def test_budgets_are_shown_as_a_tree(study: Invoke) -> None:
    study("ask", COUNT, "--epsilon", "0.25", "--analyst", "ana")
    shown = [line.rstrip() for line in study("budget").splitlines()]
    depth = {m[2]: len(m[1]) for line in shown if (m := re.match(r"( +)(\w+) +epsilon", line))}
    assert depth["population"] < depth["health"] < depth["ana"]
    assert depth["people"] == depth["health"]
    found = balances(study)
    assert {name: b["spent"]["epsilon"] for name, b in found.items()} == dict.fromkeys(found, 0.25)
    assert found["ana"]["remaining"]["epsilon"] == 0.25
    assert found["ana"]["parent"] == "health"
    assert json.loads(study("budget", "ana", "--json")) == [found["ana"]]


def test_a_new_analyst_is_granted_a_budget_and_raised(study: Invoke) -> None:
    shown = study("grant", "bea", "--epsilon", "0.3", "--group", "health")
    assert "may state" not in shown  # she stands in the ledger alone
    assert balances(study)["bea"]["parent"] == "health"
    study("ask", COUNT, "--epsilon", "0.3", "--analyst", "bea")
    with pytest.raises(BudgetExceeded, match="'bea'"):
        study("ask", COUNT, "--epsilon", "0.1", "--analyst", "bea")
    study("grant", "bea", "--epsilon", "0.1", "--because", "another year")
    study("ask", COUNT, "--epsilon", "0.1", "--analyst", "bea")
    with pytest.raises(CuradorError, match="No budget is called 'cyn'"):
        study("ask", COUNT, "--epsilon", "0.1", "--analyst", "cyn")


BOTH = "epsilon = 2\ndelta = 1e-6", "epsilon = 3\ndelta = 2e-6"


@pytest.mark.parametrize(
    ("scope", "amount", "old", "new", "section"),
    [
        ("population", ["--epsilon", "1", "--delta", "1e-6"], *BOTH, "budget"),
        ("ana", ["--epsilon", "0.25"], "epsilon = 0.5", "epsilon = 0.75", "analysts.ana"),
        ("health", ["--epsilon", "1"], "epsilon = 1\n", "epsilon = 2\n", "groups.health"),
    ],
)
def test_after_a_grant_the_study_opens_with_the_old_number_and_with_the_new(
    study: Invoke, scope: str, amount: list[str], old: str, new: str, section: str
) -> None:
    shown = re.sub(r"\s+", " ", study("grant", scope, *amount, "--because", "another year"))
    assert f"under [{section}]" in shown
    for line in new.strip().splitlines():
        name, value = line.split(" = ")
        assert re.search(rf"{name} = {float(value)!r}", shown)
    for text in (STUDY, STUDY.replace(old, new, 1)):
        Path("study.toml").write_text(text)
        assert balances(study)[scope]["budget"]["epsilon"] == float(new.split()[2])
        study("ask", COUNT, "--epsilon", "0.1", "--analyst", "ana")
    for other in (old.replace(old.split()[2], "0.4", 1), old.replace(old.split()[2], "9", 1)):
        Path("study.toml").write_text(STUDY.replace(old, other, 1))
        with pytest.raises(InvalidParameter, match="The ledger holds") as refused:
            study("budget")
        assert "State what the ledger holds" in refused.value.fix


def test_a_number_that_the_budget_had_between_two_grants_is_no_reason_to_stop(study: Invoke) -> None:
    for stated in ("epsilon = 0.5", "epsilon = 0.6"):
        Path("study.toml").write_text(STUDY.replace("epsilon = 0.5", stated))
        study("grant", "ana", "--epsilon", "0.1")
    assert balances(study)["ana"]["budget"]["epsilon"] == 0.7
    Path("study.toml").write_text(STUDY.replace("epsilon = 0.5", "epsilon = 0.65"))
    with pytest.raises(InvalidParameter, match="The ledger holds"):
        study("budget")


def test_a_table_that_comes_after_a_grant_has_all_that_the_population_has(study: Invoke) -> None:
    study("grant", "population", "--epsilon", "1", "--delta", "1e-6")
    more = '[tables.others]\nsource = "others.csv"\nunit = "row"\ncolumns = { age = "integer" }\n'
    Path("others.csv").write_text("age\n30\n")
    Path("study.toml").write_text(STUDY + more)
    assert balances(study)["others"]["budget"]["epsilon"] == 3


def test_a_grant_to_somebody_who_has_a_budget_changes_neither_group_nor_end(study: Invoke) -> None:
    for option in (["--group", "health"], ["--expires", "2100-01-01"]):
        with pytest.raises(InvalidParameter, match="has a budget already"):
            study("grant", "ana", "--epsilon", "0.1", *option)
    assert balances(study)["ana"]["budget"]["epsilon"] == 0.5


def test_a_raised_population_raises_its_tables_with_it(study: Invoke) -> None:
    study("ask", COUNT, "--epsilon", "2", "--because", "all of it")
    study("grant", "population", "--epsilon", "1", "--delta", "1e-6")
    study("ask", COUNT, "--epsilon", "1")
    with pytest.raises(InvalidParameter, match="shares the budget"):
        study("grant", "people", "--epsilon", "1", "--delta", "1e-6")
    assert balances(study)["people"]["remaining"]["epsilon"] == 0


def test_tables_with_budgets_of_their_own(study: Invoke) -> None:
    apart = STUDY.split("[groups")[0].replace("[budget]", "[budget.people]")
    Path("study.toml").write_text(apart)
    study("ask", COUNT, "--epsilon", "0.5")
    assert "Remaining: people epsilon 1.5" in study("ask", COUNT, "--epsilon", "0.5")
    assert "[budget.people]" in study("grant", "people", "--epsilon", "1", "--delta", "1e-6")
    Path("study.toml").write_text(apart.replace(*BOTH))
    assert balances(study)["people"]["remaining"]["epsilon"] == 2.5


def test_what_is_granted_is_of_the_budgets_kind(study: Invoke) -> None:
    study("grant", "population", "--epsilon", "1")
    assert balances(study)["people"]["budget"] == {"kind": "approximate", "epsilon": 3, "delta": 1e-6}
    for scope, amount, counts in (
        ("population", ["--rho", "1"], "epsilon and delta"),
        ("ana", ["--rho", "1"], "epsilon"),
    ):
        with pytest.raises(InvalidParameter, match=f"'{scope}' counts {counts}\\."):
            study("grant", scope, *amount)
    assert balances(study)["people"]["budget"]["epsilon"] == 3


def test_a_delta_is_granted_with_a_reason(study: Invoke) -> None:
    with pytest.raises(InvalidParameter, match="needs a reason"):
        study("grant", "ana", "--delta", "1e-7")
    shown = study("grant", "ana", "--delta", "1e-7", "--because", "agreed")
    assert "delta 1e-07" in shown
    assert "delta = 1e-07 under [analysts.ana]" in " ".join(shown.split())


def test_a_grant_says_how_much(study: Invoke) -> None:
    for command in (["grant", "ana"], ["renew", "people", "--because", "x", "--delta", "1e-7"]):
        with pytest.raises(InvalidParameter, match="No amount"):
            study(*command)


def test_a_ledger_is_a_file(study: Invoke) -> None:
    for place in (".", "", ".."):
        Path("study.toml").write_text(STUDY + f'[ledger]\naddress = "{place}"\n')
        with pytest.raises(InvalidParameter, match="is a folder"):
            study("budget")


def test_a_budget_for_a_time_says_what_it_promises_and_ends(study: Invoke) -> None:
    shown = re.sub(r"\s+", " ", study("grant", "bea", "--epsilon", "0.5", "--expires", "2100-12-31"))
    assert "until 2100-12-31" in shown
    assert "a person in the data of several periods loses the sum" in shown
    with pytest.raises(InvalidParameter, match="ended already"):
        study("grant", "cyn", "--epsilon", "0.5", "--expires", "2020-12-31")
    assert "cyn" not in balances(study)
    study("revoke", "bea", "--because", "over")
    with pytest.raises(BudgetExceeded, match="'bea' was closed") as closed:
        study("ask", COUNT, "--epsilon", "0.1", "--analyst", "bea")
    assert closed.value.__notes__ == ["population epsilon 2, delta 1e-06"]
    Path("study.toml").write_text(STUDY + "[analysts.old]\nepsilon = 1\nexpires = 2020-12-31\n")
    with pytest.raises(BudgetExceeded, match="'old' ended before 2021-01-01, UTC"):
        study("ask", COUNT, "--epsilon", "0.1", "--analyst", "old")


def test_a_closed_budget_buys_nothing_and_stays_spent(study: Invoke) -> None:
    study("ask", COUNT, "--epsilon", "0.25", "--analyst", "ana")
    assert "closed" in study("revoke", "ana", "--because", "she left")
    with pytest.raises(CuradorError):
        study("ask", COUNT, "--epsilon", "0.1", "--analyst", "ana")
    found = balances(study)
    assert found["ana"]["closed"]
    assert found["ana"]["remaining"]["epsilon"] == 0
    assert found["population"]["spent"]["epsilon"] == 0.25


def test_history_says_when_for_whom_what_and_at_what_cost(study: Invoke) -> None:
    study("ask", COUNT + " WHERE age > 17", "--epsilon", "0.25", "--analyst", "ana")
    study("ask", "SELECT AVG(age) AS a FROM people", "--epsilon", "0.5", "--delta", "1e-7")
    shown = re.sub(r"\s+", " ", study("history"))
    for said in ("1 20", "ana epsilon 0.25 count() of people where age > 17", "mean(age) of people"):
        assert said in shown
    found = json.loads(study("history", "--json"))["charges"]
    assert [(c["charge"], c["receiver"], c["cost"]["epsilon"]) for c in found] == [("1", "ana", 0.25), ("2", None, 0.5)]
    assert all(c["event"] and c["settled"] for c in found)
    assert [c["charge"] for c in json.loads(study("history", "ana", "--json"))["charges"]] == ["1"]


def test_history_says_what_was_decided_and_why(study: Invoke) -> None:
    study("grant", "bea", "--epsilon", "0.3", "--because", "the labour report")
    study("grant", "bea", "--epsilon", "0.1", "--because", "another year")
    study("revoke", "bea", "--because", "she left")
    found = json.loads(study("history", "bea", "--json"))["decisions"]
    assert [(d["decided"], d["because"]) for d in found] == [
        ("opened", "the labour report"),
        ("raised", "another year"),
        ("closed", "she left"),
    ]
    assert [d["budget"] and d["budget"]["epsilon"] for d in found] == [0.3, 0.4, None]
    shown = re.sub(r"\s+", " ", study("history"))
    for said in ("opened population", "opened bea", "the labour report", "raised bea", "closed bea she left"):
        assert said in shown
    assert "opened people" not in shown  # it shares the population's
    everything = json.loads(study("history", "--json"))["decisions"]
    assert [d["scope"] for d in everything] == ["population", "people", "health", "ana", "bea", "bea", "bea"]


def test_verify_finds_what_other_hands_changed(study: Invoke) -> None:
    with pytest.raises(InvalidParameter, match="no ledger yet"):
        study("ledger", "verify")
    study("ask", COUNT, "--epsilon", "0.25")
    assert "all as they were written" in study("ledger", "verify")
    assert json.loads(study("ledger", "verify", "--json"))["entries"] > 3
    with sqlite3.connect("study.ledger") as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        (answers,) = [name for name in tables if "answer" in name]
        columns = [row[1] for row in database.execute(f"PRAGMA table_info({answers})")]
        for (guard,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            database.execute(f"DROP TRIGGER {guard}")
        database.execute(f"UPDATE {answers} SET {columns[-1]} = x'00'")
    database.close()
    with pytest.raises(LedgerBroken):
        study("ledger", "verify")


def test_a_ledger_of_which_no_copy_is_left_is_restored_into_an_empty_place(study: Invoke) -> None:
    study("ask", COUNT, "--epsilon", "0.25")
    for file in Path().glob("study.ledger*"):
        if file.is_file():
            file.unlink()
    assert "in use again" in study("ledger", "restore", "--because", "the disk failed")
    assert balances(study)["population"]["spent"]["epsilon"] >= 0.25


def test_a_restored_copy_pays_for_what_it_forgot(study: Invoke) -> None:
    study("ask", COUNT, "--epsilon", "0.25")
    shutil.copy("study.ledger", "backup")
    study("ask", COUNT, "--epsilon", "0.5")
    shutil.copy("backup", "study.ledger")
    for command in (["budget"], ["ask", COUNT, "--epsilon", "0.1"], ["ledger", "verify"]):
        with pytest.raises(LedgerBroken, match="older copy"):
            study(*command)
    shown = study("ledger", "restore", "--because", "the disk failed")
    assert "in use again" in shown
    assert balances(study)["population"]["spent"]["epsilon"] == 0.75
    study("ledger", "verify")
    with pytest.raises(InvalidParameter, match="not older"):
        study("ledger", "restore", "--because", "again")


@pytest.mark.parametrize("as_json", [False, True])
def test_budgets_that_a_restored_copy_does_not_know_come_back(study: Invoke, as_json: bool) -> None:
    study("ask", COUNT, "--epsilon", "0.25")
    shutil.copy("study.ledger", "backup")
    study("grant", "bea", "--epsilon", "0.5")
    before = balances(study)
    shutil.copy("backup", "study.ledger")
    shown = study("ledger", "restore", "--because", "the disk failed", *["--json"] * as_json)
    if as_json:
        assert json.loads(shown)["closed"] == []
    assert balances(study) == before
    study("ask", COUNT, "--epsilon", "0.5", "--analyst", "bea")
    study("ledger", "verify")


def test_a_study_opened_by_two_at_once_is_opened_by_both(study: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other makes the budget after this one has seen that there is none."""
    from curador.ledger.book import Book

    seen = Book.scopes
    calls = []

    def late(self: Book) -> tuple[str, ...]:
        calls.append(seen(self))
        if len(calls) == 1:
            monkeypatch.setattr(Book, "scopes", seen)
            Curator("study.toml").close()
            monkeypatch.setattr(Book, "scopes", late)
        return calls[-1]

    monkeypatch.setattr(Book, "scopes", late)
    assert balances(study)["population"]["spent"]["epsilon"] == 0
    assert calls[0] == ()
