"""What another analyst bought is bought again in one's own budget, and nobody is told that it was bought before."""

from __future__ import annotations

import pyarrow

from curador import Curator, PureDP, Table
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
