"""How a study stands in a ledger: budgets that begin anew for new people, and names that nobody can take over."""

from __future__ import annotations

import json
import re
import shutil
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow
import pytest

from curador.accounting.events import PureLoss
from curador.curator.curator import Curator
from curador.curator.study.file import Analyst
from curador.errors import BudgetExceeded, CuradorError, InvalidParameter, NotPromised, QuestionRefused
from curador.ledger.opening import open_ledger
from curador.ledger.stores.memory import MemoryLedger
from curador.privacy import ApproxDP, PureDP
from curador.query.aggregates.counts import count
from curador.query.tables.table import Table
from tests.cli import test_cli
from tests.cli.test_cli import Invoke

invoke = test_cli.invoke  # the fixture

STUDY = """
[budget]
epsilon = 1

[groups.health]
epsilon = 1

[analysts.ana]
epsilon = 0.5
group = "health"

[tables.people]
source = "people.csv"
unit = "row"
columns = { age = { type = "integer", bounds = [0, 120] } }
"""
VISITS = '[tables.visits]\nsource = "visits.csv"\nunit = "row"\ncolumns = { age = "integer" }\n'
COUNT = "SELECT COUNT(*) AS n FROM people"
WHO = "the survey of 2027"
NEW = "people, renewed 1"


@pytest.fixture
def study(invoke: Invoke) -> Invoke:
    Path("study.toml").write_text(STUDY)
    for name in ("people", "visits"):
        Path(f"{name}.csv").write_text("age\n" + "30\n" * 100)
    return invoke


def spent(call: Invoke) -> dict[str, float]:
    return {b["scope"]: b["spent"]["epsilon"] for b in json.loads(call("budget", "--json"))}


def frame(name: str = "people", **more: Any) -> dict[str, Table]:
    return {name: Table(pyarrow.table({"age": [30, 40]}), columns={"age": "integer"}, **more)}


# ---- new people ----------------------------------------------------------------------------------------------------


def test_a_table_of_new_people_begins_a_budget_of_its_own(study: Invoke) -> None:
    first = json.loads(study("ask", COUNT, "--epsilon", "1", "--json"))
    with pytest.raises(BudgetExceeded):
        study("ask", COUNT, "--epsilon", "0.5")
    shown = re.sub(r"\s+", " ", study("renew", "people", "--epsilon", "0.75", "--because", WHO))
    assert f"{NEW} epsilon 0.75 epsilon 0 epsilon 0.75" in shown
    assert "lose both" in shown
    second = json.loads(study("ask", COUNT, "--epsilon", "0.5", "--json"))
    assert second["remaining"] == {NEW: {"kind": "pure", "epsilon": 0.25}}
    assert spent(study) == {"population": 1, "people": 1, "health": 0, "ana": 0, NEW: 0.5}
    with pytest.raises(BudgetExceeded, match=NEW):
        study("ask", COUNT, "--epsilon", "0.5", "--fresh")
    assert first["charge"] != second["charge"]
    assert json.loads(study("budget", "people", "--json"))[0]["scope"] == NEW
    study("ledger", "verify")


def test_an_answer_about_the_old_people_is_not_given_for_the_new(study: Invoke) -> None:
    asked = ("ask", COUNT, "--epsilon", "0.25", "--json")
    study(*asked)
    assert json.loads(study(*asked))["repeated"]
    study("renew", "people", "--epsilon", "0.75", "--because", WHO)
    assert not json.loads(study(*asked))["repeated"]


def test_a_renewal_is_a_decision_that_history_shows(study: Invoke) -> None:
    study("ask", COUNT, "--epsilon", "0.25")
    study("renew", "people", "--epsilon", "0.75", "--because", WHO)
    study("ask", COUNT, "--epsilon", "0.5")
    assert re.search("renewed +people, renewed.* the survey", study("history"))
    found = json.loads(study("history", "people", "--json"))
    assert [c["charge"] for c in found["charges"]] == ["1", "2"]
    assert [(d["decided"], d["scope"], d["because"]) for d in found["decisions"]] == [
        ("opened", "people", ""),
        ("opened", NEW, ""),
        ("renewed", NEW, WHO),
    ]


def test_renewed_again_and_raised(study: Invoke) -> None:
    for _ in range(2):
        found = json.loads(study("renew", "people", "--epsilon", "0.5", "--because", WHO, "--json"))
    assert (found["scope"], found["tables"], found["parent"]) == ("people, renewed 2", ["people"], None)
    study("grant", "people", "--epsilon", "0.25")
    assert json.loads(study("budget", "people", "--json"))[0]["budget"]["epsilon"] == 0.75
    study("grant", "population", "--epsilon", "1")  # the old people's; the new ones' stays
    assert json.loads(study("budget", "people", "--json"))[0]["budget"]["epsilon"] == 0.75
    study("revoke", "people", "--because", "over")
    with pytest.raises(BudgetExceeded):
        study("ask", COUNT, "--epsilon", "0.1")
    assert len(json.loads(study("history", "people", "--json"))["decisions"]) == 7


@pytest.mark.parametrize(
    "given",
    [
        ["people", "--epsilon", "1", "--because", " "],
        ["nobody", "--epsilon", "1", "--because", WHO],
        ["people", "nobody", "--epsilon", "1", "--because", WHO],
        ["people", "--because", WHO],
        ["people", "--epsilon", "-1", "--because", WHO],
        ["ana", "--epsilon", "1", "--because", WHO],
    ],
)
def test_a_renewal_that_is_refused_leaves_nothing(study: Invoke, given: list[str]) -> None:
    before = spent(study)
    with pytest.raises(CuradorError):
        study("renew", *given)
    assert spent(study) == before


def test_tables_renewed_together_share_a_budget_and_others_keep_theirs(study: Invoke) -> None:
    Path("study.toml").write_text(STUDY + VISITS)
    study("renew", "visits", "--epsilon", "0.5", "--because", WHO)
    for table in ("people", "visits"):
        study("ask", f"SELECT COUNT(*) AS n FROM {table}", "--epsilon", "0.25")
    found = spent(study)
    assert (found["population"], found["people"], found["visits"], found["visits, renewed 1"]) == (0.25, 0.25, 0, 0.25)
    curator = Curator("study.toml")
    with pytest.raises(InvalidParameter, match="budgets of their own"):
        curator.budget()
    curator.close()
    study("renew", "people", "visits", "--epsilon", "0.5", "--because", WHO)
    for table in ("people", "visits"):
        study("ask", f"SELECT COUNT(*) AS n FROM {table}", "--epsilon", "0.25")
    assert spent(study)[NEW] == 0.5
    assert "for visits" in study("history", "visits")
    assert "for visits" not in study("history", "population")


def test_a_file_that_two_tables_read_is_renewed_for_both(study: Invoke) -> None:
    Path("study.toml").write_text(STUDY + VISITS.replace("visits.csv", "people.csv"))
    found = json.loads(study("renew", "visits", "--epsilon", "0.5", "--because", WHO, "--json"))
    assert found["tables"] == ["people", "visits"]


def test_a_budget_of_a_tables_own_may_go_on_being_stated(study: Invoke) -> None:
    apart = STUDY.split("[groups")[0].replace("[budget]", "[budget.people]") + "[tables" + STUDY.split("[tables")[1]
    Path("study.toml").write_text(apart)
    study("ask", COUNT, "--epsilon", "1")
    study("renew", "people", "--epsilon", "0.5", "--because", WHO)
    for stated in ("epsilon = 1", "epsilon = 0.5"):
        Path("study.toml").write_text(apart.replace("epsilon = 1", stated))
        assert spent(study) == {"people": 1, NEW: 0}
    Path("study.toml").write_text(apart.replace("epsilon = 1", "epsilon = 2"))
    with pytest.raises(InvalidParameter, match="The ledger holds"):
        study("budget")


def test_a_curator_that_is_open_sees_a_renewal_by_another(study: Invoke) -> None:
    open_before = Curator("study.toml")
    study("renew", "people", "--epsilon", "0.5", "--because", WHO)
    open_before.sql(COUNT, epsilon=0.25)
    assert open_before.budget().spent == PureDP(0.25)
    open_before.close()
    assert spent(study) == {"population": 0, "people": 0, "health": 0, "ana": 0, NEW: 0.25}


def test_copies_of_the_old_people_are_gone(study: Invoke) -> None:
    unit = STUDY.replace('"row"', '"pid"').replace("columns = {", 'columns = { pid = "integer",')
    Path("study.toml").write_text(unit)
    Path("people.csv").write_text("pid,age\n" + "".join(f"{i},30\n" for i in range(50)))
    study("prepare", "people")
    (copy,) = Path().glob("*.prepared")
    assert json.loads(study("renew", "people", "--epsilon", "1", "--because", WHO, "--json"))["no_longer_used"] == [
        copy.name
    ]
    assert not copy.exists()


def test_analysts_of_the_old_people_get_a_budget_for_the_new_by_decision(study: Invoke) -> None:
    study("ask", COUNT, "--epsilon", "0.5", "--analyst", "ana")
    study("renew", "people", "--epsilon", "1", "--because", WHO)
    with pytest.raises(InvalidParameter, match="below 'population', and this is about 'people, renewed 1'"):
        study("ask", COUNT, "--epsilon", "0.1", "--analyst", "ana")
    with pytest.raises(InvalidParameter, match="no table is about") as refused:
        study("grant", "ana", "--epsilon", "0.25")
    assert "'health'" in refused.value.fix
    study("grant", "health", "--epsilon", "0.5", "--because", WHO)
    study("grant", "ana", "--epsilon", "0.25", "--because", "she stays")
    study("ask", COUNT, "--epsilon", "0.25", "--analyst", "ana")  # the study states her old budget
    after = {"health, renewed 1": 0.25, "ana, renewed 1": 0.25, NEW: 0.25}
    assert spent(study) == {"population": 0.5, "people": 0.5, "health": 0.5, "ana": 0.5, **after}
    with pytest.raises(BudgetExceeded, match="ana, renewed 1"):
        study("ask", COUNT, "--epsilon", "0.1", "--analyst", "ana")
    study("grant", "ana", "--epsilon", "0.1")
    study("ask", COUNT, "--epsilon", "0.1", "--analyst", "ana")
    study("grant", "bea", "--epsilon", "0.1")
    (bea,) = json.loads(study("budget", "bea", "--json"))
    assert bea["parent"] == NEW
    assert "she stays" in study("history", "ana")


def test_a_new_analyst_is_below_people_that_are_asked_about(study: Invoke) -> None:
    Path("study.toml").write_text(STUDY + VISITS)
    for table in ("people", "visits"):
        study("renew", table, "--epsilon", "1", "--because", WHO)
    for group in ([], ["--group", "health"]):
        with pytest.raises(InvalidParameter, match="no table is about those people") as refused:
            study("grant", "bea", "--epsilon", "0.5", *group)
        assert "'people, renewed 1', 'visits, renewed 1'" in refused.value.fix
    study("grant", "bea", "--epsilon", "0.5", "--group", NEW)
    study("ask", COUNT, "--epsilon", "0.25", "--analyst", "bea")
    with pytest.raises(InvalidParameter, match="about 'visits, renewed 1'"):
        study("ask", "SELECT COUNT(*) AS n FROM visits", "--epsilon", "0.25", "--analyst", "bea")


@pytest.mark.parametrize("renewed", [False, True])
def test_budgets_of_the_tables_own_do_not_become_one_for_all(study: Invoke, renewed: bool) -> None:
    bare = STUDY.replace(STUDY[STUDY.index("[groups") : STUDY.index("[tables")], "")
    Path("study.toml").write_text(bare.replace("[budget]", "[budget.people]"))
    study("budget")
    if renewed:
        study("renew", "people", "--epsilon", "1", "--because", WHO)
    before = spent(study)
    Path("study.toml").write_text(bare)
    for _ in range(2):  # the first time leaves nothing that would let the second pass
        with pytest.raises(InvalidParameter, match="elsewhere in the ledger's tree"):
            study("budget")
    Path("study.toml").write_text(bare.replace("[budget]", "[budget.people]"))
    assert spent(study) == before


# ---- names ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", ["0.3", "1"])
@pytest.mark.parametrize("asks", [False, True])
def test_a_table_does_not_take_over_the_budget_of_an_analyst(study: Invoke, budget: str, asks: bool) -> None:
    study("grant", "visits", "--epsilon", budget)
    if asks:
        study("ask", COUNT, "--epsilon", "0.1", "--analyst", "visits")
    before = spent(study)
    Path("study.toml").write_text(STUDY + VISITS)
    with pytest.raises(InvalidParameter, match="'visits' that does not belong to this table"):
        study("ask", "SELECT COUNT(*) AS n FROM visits", "--epsilon", "0.1")
    Path("study.toml").write_text(STUDY)
    assert spent(study) == before


def test_an_analyst_does_not_take_over_the_budget_of_a_table(study: Invoke) -> None:
    Path("study.toml").write_text(STUDY + VISITS)
    study("budget")
    renamed = VISITS.replace("[tables.visits]", "[tables.others]")
    for after in (renamed, ""):
        Path("study.toml").write_text(STUDY + after + "[analysts.visits]\nepsilon = 1\n")
        with pytest.raises(InvalidParameter, match="'visits' is a table"):
            study("budget")


@pytest.mark.parametrize("name", ["people", "population", NEW])
def test_a_table_is_no_analyst(study: Invoke, name: str) -> None:
    study("renew", "people", "--epsilon", "1", "--because", WHO)
    with pytest.raises(InvalidParameter, match=f"'{name}' is not an analyst"):
        study("ask", COUNT, "--epsilon", "0.1", "--analyst", name)
    assert not any(spent(study).values())


@pytest.mark.parametrize("name", ["people, renewed 1", "analyst:ana"])
def test_names_that_the_ledger_gives_are_nobody_elses(name: str) -> None:
    with pytest.raises(InvalidParameter, match="only the ledger gives"):
        Curator(frame(name), PureDP(1))
    with pytest.raises(InvalidParameter, match="only the ledger gives"):
        Curator(frame(), PureDP(1), analysts={name: Analyst(PureDP(1))})


def test_an_opening_that_was_cut_off_is_taken_up_again() -> None:
    ledger = MemoryLedger()
    ledger.open("population", PureDP(1))
    ledger.open("people", PureDP(1), parent="population")
    assert Curator(frame(), PureDP(1), ledger=ledger).budget("people").spent == PureDP(0)


def test_analysts_of_a_ledger_from_before_names_were_tied_keep_their_budgets() -> None:
    """Such a ledger knows an analyst by nothing but a scope of that name."""
    ledger = MemoryLedger()
    ledger.open("population", PureDP(1))
    ledger.open("people", PureDP(1), parent="population")
    ledger.register("people", "frame:people", scope="people")
    ledger.open("ana", PureDP(0.5), parent="population")
    ledger.reserve("people", PureLoss(Fraction(1, 4)), receiver="ana")
    with pytest.raises(InvalidParameter, match="does not belong to this table"):
        Curator({**frame(), **frame("ana")}, PureDP(1), ledger=ledger)
    curator = Curator(frame(), PureDP(1), ledger=ledger, analysts={"ana": Analyst(PureDP(0.5))})
    assert curator.budget("ana").spent == PureDP(0.25)
    again = Curator(frame(), PureDP(1), ledger=ledger, analysts={"ana": Analyst(PureDP(0.5))})
    with pytest.raises(BudgetExceeded, match="'ana'"):
        again.sql(COUNT, epsilon=0.3, analyst="ana")


def test_a_frame_under_another_name_begins_no_budget_of_its_own() -> None:
    ledger = MemoryLedger()
    Curator(frame(), {"people": PureDP(1)}, ledger=ledger).sql(COUNT, epsilon=1)
    with pytest.raises(InvalidParameter, match="'persons' is new here and 'people' is gone"):
        Curator(frame("persons"), {"persons": PureDP(1)}, ledger=ledger)
    both = Curator({**frame(), **frame("persons")}, {"people": PureDP(1), "persons": PureDP(1)}, ledger=ledger)
    assert both.budget("people").remaining == PureDP(0)
    shared = MemoryLedger()  # under one budget for all, a new name changes nothing
    Curator(frame(), PureDP(1), ledger=shared).sql(COUNT, epsilon=1)
    assert Curator(frame("persons"), PureDP(1), ledger=shared).budget("persons").remaining == PureDP(0)


# ---- what a refusal tells ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("left", ["1", "0.01"])
def test_whoever_cannot_pay_learns_from_no_refusal_what_others_asked(left: str, closed: bool) -> None:
    """Also where the population is spent: a new question would be refused there, one that was asked before here."""
    analysts = {
        "rich": Analyst(PureDP(1)),
        "team": Analyst(PureDP(0.01)),
        "poor": Analyst(PureDP(float(left)), group="team"),
    }
    curator = Curator(frame(), PureDP(1), analysts=analysts)
    if closed:
        curator.revoke("poor")
    curator.sql(COUNT, epsilon=0.9, analyst="rich")
    told = []
    for question in (COUNT, COUNT + " WHERE age > 30"):
        with pytest.raises(BudgetExceeded) as caught:
            curator.sql(question, epsilon=0.9, analyst="poor")
        told.append((str(caught.value), caught.value.__context__))
    assert told[0] == told[1]
    assert told[0][1] is None
    assert "'population'" not in told[0][0]


def test_a_name_too_long_for_the_ledger_opens_nothing(study: Invoke) -> None:
    for length in (181, 193, 200, 201):
        with pytest.raises(InvalidParameter, match="at most 180 characters"):
            study("grant", "a" * length, "--epsilon", "0.1")
    study("grant", "a" * 180, "--epsilon", "0.1")
    assert set(spent(study)) == {"population", "people", "health", "ana", "a" * 180}


def test_a_renewal_lost_with_a_backup_is_back_and_the_new_people_pay_for_themselves(study: Invoke) -> None:
    """Also a table that was declared after the copy: it does not begin anew."""
    study("ask", COUNT, "--epsilon", "0.1")
    shutil.copy("study.ledger", "backup")
    study("renew", "people", "--epsilon", "1", "--because", WHO)
    study("ask", COUNT, "--epsilon", "1")
    before = spent(study)
    assert before[NEW] == 1
    for _ in range(2):
        shutil.copy("backup", "study.ledger")
        study("ledger", "restore", "--because", "the disk failed")
        assert spent(study) == before
        with pytest.raises(BudgetExceeded):
            study("ask", COUNT, "--epsilon", "0.1")


def test_a_question_that_needs_delta_meets_one_fix_that_works(tmp_path: Path) -> None:
    """Not "give delta", which a budget of epsilon alone refuses: list keys, or have it granted a delta."""
    (tmp_path / "people.csv").write_text("town\n" + "Lugo\n" * 300)
    study = tmp_path / "study.toml"
    study.write_text(
        '[budget]\nepsilon = 1\n[tables.people]\nsource = "people.csv"\nunit = "row"\ncolumns.town = "text"\n'
    )
    text = "SELECT town, COUNT(*) AS n FROM people GROUP BY town"
    curator = Curator(study)
    curator.sql("SELECT COUNT(*) AS n FROM people", epsilon=0.25)
    with pytest.raises(QuestionRefused, match="counts epsilon alone") as refused:
        curator.sql(text, epsilon=0.25)
    assert refused.value.code == "delta-not-granted"
    assert "List the keys" in refused.value.fix
    with pytest.raises(NotPromised) as unpayable:
        curator.sql(text, epsilon=0.25, delta=1e-7)
    assert unpayable.value.code == "delta-not-granted"
    # The first fix.
    keyed = curator.table("people").group_by("town", keys={"town": ["Lugo"]}).aggregate(n=count())
    assert len(keyed.ask(epsilon=0.25)) == 1
    # The second.
    with pytest.raises(InvalidParameter, match="needs a reason"):
        curator.grant("population", delta=1e-6)
    curator.grant("population", delta=1e-6, because="the board agreed before any answer")
    assert curator.sql(text, epsilon=0.25, delta=1e-7)["town"] == ("Lugo",)
    assert curator.budget().spent == ApproxDP(0.75, 1e-7)
    with pytest.raises(InvalidParameter, match="a delta alone is none"):
        curator.grant("ana", delta=1e-6, because="new")
    curator.close()
    for budget in ("epsilon = 1", "epsilon = 1\ndelta = 1e-6"):  # as it was at first, or as it is
        study.write_text(study.read_text().replace("epsilon = 1", budget, 1))
        again = Curator(study)
        assert again.budget().budget == ApproxDP(1, 1e-6)
        again.close()


def test_tables_that_only_others_declare_are_raised_with_the_population(tmp_path: Path) -> None:
    """Else their own budgets, which are never below it, end what the population could still pay."""
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("x\n" + "1\n" * 100)
    tables = {n: Table(str(tmp_path / f"{n}.csv"), columns={"x": {"type": "integer", "bounds": [0, 1]}}) for n in "ab"}
    ledger = open_ledger(tmp_path / "l.db")
    one = Curator({"a": tables["a"]}, PureDP(1), ledger=ledger)
    two = Curator(tables, PureDP(1), ledger=ledger)
    two.ask("SELECT COUNT(*) AS n FROM b", epsilon=1)
    one.grant("population", epsilon=2, because="more")
    two.ask("SELECT COUNT(*) AS n FROM b WHERE x = 1", epsilon=1)
    assert [two.budget(name).budget for name in ("population", "a", "b")] == [PureDP(3)] * 3


def test_the_end_of_an_analysts_budget_stays_where_the_people_are_new(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("x\n" + "1\n" * 100)
    now = [datetime.now(UTC)]
    ledger = open_ledger(tmp_path / "l.db", clock=lambda: now[0])
    table = Table(str(tmp_path / "p.csv"), columns={"x": {"type": "integer", "bounds": [0, 1]}})
    curator = Curator({"p": table}, PureDP(10), ledger=ledger)
    end = now[0] + timedelta(days=30)
    for name in ("ana", "bea", "eva"):
        curator.grant(name, epsilon=1, expires=end, because="the project ends then")
    curator.revoke("eva", because="left")
    curator.renew("p", epsilon=10, because="new people")
    was = curator.budget("ana").mark
    assert curator.grant("ana", epsilon=1, because="go on", seen=was).expires == end
    for name, seen in (("ana", was), ("nobody yet", was)):  # sent twice, and about another
        with pytest.raises(InvalidParameter) as again:
            curator.grant(name, epsilon=1, because="go on", seen=seen)
        assert again.value.code == "raised-since"
    assert curator.grant("bea", epsilon=1, because="longer", expires=end + timedelta(days=9)).expires != end
    with pytest.raises(InvalidParameter) as refused:
        curator.grant("eva", epsilon=1, because="again")
    assert refused.value.code == "analyst-ended"
    now[0] = end
    with pytest.raises(InvalidParameter) as refused:  # also after its end
        curator.grant("eva", epsilon=1, because="again", expires=end + timedelta(days=9))
    assert refused.value.code == "analyst-ended"
    with pytest.raises(BudgetExceeded):
        curator.ask("SELECT COUNT(*) AS n FROM p", epsilon=0.5, analyst="ana")
    curator.ask("SELECT COUNT(*) AS n FROM p", epsilon=0.5, analyst="bea")


def test_who_was_revoked_meanwhile_is_given_nothing_anew(study: Invoke) -> None:
    """Between the look at a budget and the transaction that gives one below new people."""
    curator, other = Curator("study.toml"), Curator("study.toml")
    curator.grant("eva", epsilon="0.1", because="first")
    curator.renew("people", epsilon="0.5", because=WHO)
    ledger: Any = curator.scopes.ledger
    at_once = ledger.at_once

    def late(work: Any) -> Any:
        ledger.at_once = at_once
        other.revoke("eva", because="dismissed")
        return at_once(work)

    for seen in (None, curator.budget("eva").mark):
        ledger.at_once = late
        with pytest.raises(InvalidParameter) as refused:
            curator.grant("eva", epsilon="0.1", because="second", seen=seen)
        assert refused.value.code in ("analyst-ended", "raised-since")
    assert curator.budget("eva").closed
    for one in (curator, other):
        one.close()
