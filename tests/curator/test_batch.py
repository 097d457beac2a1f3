"""Several questions for one charge: how the budget is split, and what they promise together."""

from __future__ import annotations

from contextlib import closing
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curador.accounting.account import epsilon
from curador.curator.curator import Curator
from curador.curator.purchases.batch import Batch, split
from curador.errors import InvalidParameter, QuestionRefused
from curador.numbers import rational
from curador.privacy import ZCDP, ApproxDP, Guarantee, PureDP
from curador.query.aggregates.base import Aggregate
from curador.query.aggregates.counts import count
from curador.query.aggregates.moments import mean
from curador.query.ask.question import Output, Question
from curador.query.plan.checked import check
from curador.query.plan.expected import within
from curador.query.plan.planner import Planner
from curador.query.tables.table import Table
from curador.show.words.say import refusal

PEOPLE = Table("no-such.csv", columns={"age": {"type": "integer", "bounds": [17, 90]}}, size=10_000)
MOVED = Table("no-such.csv", columns={"age": "integer"}, neighbors="replace", size=10)


def planner(aggregate: Aggregate, table: Table = PEOPLE) -> Planner:
    return Planner(check(Question("people", (Output("x", aggregate),)), {"people": table}))


PLANNERS = {"n": planner(count()), "age": planner(mean("age")), "again": planner(count())}


@given(st.lists(st.fractions(Fraction(1, 100), 100), min_size=3, max_size=3), st.sampled_from([0.1, 0.3, 1.0, 7.5]))
@settings(max_examples=40)
def test_shares_follow_the_weights_and_never_exceed_the_budget(weights: list[Fraction], total: float) -> None:
    plans = split(PLANNERS, PureDP(total), dict(zip(PLANNERS, weights, strict=True)))
    got = [rational(p.guarantee.epsilon) for p in plans.values() if isinstance(p.guarantee, PureDP)]
    assert sum(got) <= rational(total)
    for share, weight in zip(got, weights, strict=True):
        assert float(share) == pytest.approx(float(rational(total) * weight / sum(weights)), rel=1e-12)


@pytest.mark.parametrize("budget", [PureDP(1), ApproxDP(1, 1e-6), ZCDP(0.5)])
def test_the_promises_of_a_batch_add_up(budget: Guarantee) -> None:
    batch = Batch(split(PLANNERS, budget))
    assert batch.guarantee <= (budget if not isinstance(batch.guarantee, ApproxDP) else ApproxDP(1, 1e-6))
    assert list(batch.plans) == list(PLANNERS)
    assert batch.tables == ("people",)


def test_accuracies_come_first_and_the_rest_is_shared() -> None:
    plans = split(PLANNERS, PureDP(1), accuracies={"n": within(20)})
    wanted = plans["n"].expected[0].value
    assert wanted is not None
    assert wanted <= 20
    spent = [rational(p.guarantee.epsilon) for p in plans.values() if isinstance(p.guarantee, PureDP)]
    assert spent[1] == spent[2]
    assert Fraction(999, 1000) < sum(spent) <= 1
    alone = split({"n": PLANNERS["n"]}, None, accuracies={"n": within(20)})
    assert alone["n"].guarantee == plans["n"].guarantee


def test_what_cannot_be_split() -> None:
    with pytest.raises(QuestionRefused, match="together"):
        split(PLANNERS, PureDP(0.01), accuracies={"n": within(1)})
    with pytest.raises(InvalidParameter, match="no budget to share"):
        split(PLANNERS, None, accuracies={"n": within(20)})
    with pytest.raises(InvalidParameter, match="called 'x'"):
        split(PLANNERS, PureDP(1), {"x": 1})
    with pytest.raises(InvalidParameter, match="not a rho"):
        split(PLANNERS, ZCDP(1), accuracies={"n": within(20)})
    with pytest.raises(InvalidParameter, match="at least one"):
        Batch({})
    mixed = {**split(PLANNERS, PureDP(1)), **split({"moved": planner(count(), MOVED)}, PureDP(1))}
    with pytest.raises(QuestionRefused, match="different neighbours"):
        Batch(mixed)


def test_the_tight_promise_is_of_all_together_and_below_the_sum() -> None:
    many = {f"q{i}": planner(count()) for i in range(40)}
    batch = Batch(split(many, PureDP(2)), delta="1e-6")
    assert batch.tight == ApproxDP(epsilon(batch.event, "1e-6").upper, 1e-6)
    assert batch.tight.epsilon < 1.7 < 2
    assert batch.guarantee == PureDP(2)
    assert Batch(batch.plans, "1e-6", charged_tight=True).guarantee == batch.tight
    assert "costs" in str(batch)
    assert "tightly" in str(batch)


@pytest.mark.parametrize("budget", [PureDP(0.6), ApproxDP(0.6, 1e-8)])
def test_the_tight_promise_is_never_above_the_sum(budget: Guarantee) -> None:
    """The distribution of a few large losses, on its grid, is a hair above what adding them up promises."""
    batch = Batch(split(PLANNERS, budget), delta="1e-6")
    assert epsilon(batch.event, "1e-6").upper == 0.6
    assert batch.tight == ApproxDP(0.6, 1e-6)


def test_a_refusal_names_its_question_and_its_column() -> None:
    """Found by a newcomer: one of six questions was refused, and neither it nor its column was named."""
    table = Table("no-such.csv", columns={"sex": {"type": "text", "keys": ["F", "M"]}, "occ": "text"})
    asked = {"all": "SELECT COUNT(*) AS n FROM t", "by_job": "SELECT sex, occ, COUNT(*) AS n FROM t GROUP BY sex, occ"}
    with closing(Curator({"t": table}, budget=ApproxDP(1, 1e-6))) as curator:
        with pytest.raises(QuestionRefused, match=r"In the question 'by_job': Groups by occ have no public") as refused:
            curator.batch(asked, epsilon=1)
        assert refused.value.code == "needs-delta"
        assert dict(refused.value.facts) == {"groups": "occ", "question": "by_job"}
        assert "list the keys of occ" in refused.value.fix
        spanish = refusal(refused.value, "es")
        assert spanish is not None
        assert spanish[0].startswith("En la pregunta 'by_job': Los grupos por occ no tienen claves públicas")
        with pytest.raises(QuestionRefused, match=r"'all': Line 1, column 12: There is no column 'ag'") as unknown:
            curator.batch({"all": "SELECT SUM(ag) AS n FROM t"}, epsilon=1)
        assert unknown.value.code == "no-such-column"
        with pytest.raises(QuestionRefused, match=r"^Groups by occ have no public keys"):
            curator.explain(asked["by_job"], epsilon=1)
    with closing(Curator({"t": table}, budget=PureDP(1))) as curator:
        with pytest.raises(QuestionRefused, match="counts epsilon alone") as refused:
            curator.batch(asked, epsilon=1)
        assert refused.value.facts["question"] == "by_job"
