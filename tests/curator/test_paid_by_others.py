"""What another analyst bought is bought again in one's own budget, and nobody is told that it was bought before."""

from __future__ import annotations

import pyarrow

from curador import Curator, PureDP, Table
from curador.curator.releases.recall import recall
from curador.curator.study.file import Analyst

COUNT = "SELECT COUNT(*) AS n FROM people"


def test_who_pays_is_not_told_that_somebody_else_asked() -> None:
    people = Table(pyarrow.table({"age": [30, 40]}), columns={"age": {"type": "integer", "bounds": [0, 100]}})
    analysts = {name: Analyst(PureDP(1)) for name in ("ana", "bea")}
    curator = Curator({"people": people}, PureDP(2), analysts=analysts)
    first = curator.ask(COUNT, epsilon=0.5, analyst="ana")
    other = curator.ask(COUNT, epsilon=0.5, analyst="bea")
    assert other.value == first.value
    assert curator.budget("bea").spent == PureDP(0.5)
    assert not other.repeated
    assert curator.ask(COUNT, epsilon=0.5, analyst="bea").repeated
    assert curator.budget("bea").spent == PureDP(0.5)


def test_all_that_is_said_of_a_purchase_is_the_same_whether_or_not_another_bought_it_before() -> None:
    """But for the answer: number, time, explanation, remarks, history, and the release again."""
    people = Table(pyarrow.table({"age": [30, 40] * 2000}), columns={"age": {"type": "integer", "bounds": [0, 100]}})
    curator = Curator({"people": people}, PureDP(9), analysts={n: Analyst(PureDP(3)) for n in ("ana", "bea", "eva")})
    curator.ask(COUNT, epsilon=0.5, analyst="ana", because="hers")
    seen: list[object] = []
    for who, question in (("bea", COUNT), ("eva", f"{COUNT} WHERE age > 1")):
        start = curator.charge_count()
        asks = [curator.ask(question, epsilon=x, analyst=who, because="mine") for x in (0.5, 0.25, 0.5)]
        told = [curator.explain(question, epsilon=x, analyst=who).shared for x in (0.5, 0.25, 0.125)]
        numbers = [str(int(ask.charge) - start) for ask in asks]
        found = curator.received(who)
        again = [recall(curator, ask.charge, who) for ask in asks]
        assert [one.to_dict()["columns"] for one in again if one] == [one.to_dict()["columns"] for one in asks]
        said = [numbers, [[note["code"] for note in notes] for notes in (*told, *(ask.remarks for ask in asks))]]
        said += [[one.note["because"] for one in found], sorted(found[0].note), [one.settled for one in found]]
        said += [[ask.repeated for ask in asks], [ask.at for ask in asks][:2] == [one.at for one in found]]
        seen.append(said)
    assert seen[0] == seen[1]
