"""Rules that hold whatever is left of the budget."""

from __future__ import annotations

from typing import Any

import pytest

from curador.curator.policy import Policy, as_epsilon_delta, require_reason, required_notes
from curador.errors import InvalidParameter, QuestionRefused
from curador.mechanisms.base import KINDS
from curador.privacy import ZCDP, ApproxDP, Guarantee, PureDP
from curador.query.aggregates.counts import count
from curador.query.aggregates.quantiles.ranks import median
from curador.query.aggregates.top import top_k
from curador.query.ask.question import Group, Output, Question
from curador.query.language.expressions import Name
from curador.query.plan.checked import check
from curador.query.plan.plan import Plan
from curador.query.plan.planner import plan
from curador.query.tables.table import Table
from curador.show.explain import note_text

AGE = {"type": "integer", "bounds": [17, 90]}


def planned(
    budget: Guarantee, size: int | None = 1000, keys: bool = True, aggregate: Any = None, noise: str | None = None
) -> Plan:
    town: dict[str, Any] = {"type": "text", **({"keys": ["a", "b"]} if keys else {})}
    table = Table("no-such.csv", columns={"age": AGE, "town": town}, size=size)
    question = Question("people", (Output("n", aggregate or count()),), group_by=(Group("town", Name("town")),))
    return plan(check(question, {"people": table}), budget, noise=noise)


def test_small_epsilons_need_no_words() -> None:
    Policy().review(planned(PureDP(1)))
    assert required_notes(PureDP(1)) == ()


def test_more_than_one_needs_a_reason_and_ten_an_override() -> None:
    with pytest.raises(QuestionRefused, match="needs a reason"):
        Policy().review(planned(PureDP(1.5)))
    with pytest.raises(QuestionRefused, match="needs a reason"):
        Policy().review(planned(PureDP(1.5)), because="  ")
    Policy().review(planned(PureDP(1.5)), because="agreed with the board")
    (reason,) = required_notes(PureDP(1.5), because=" agreed with the board ")
    assert reason == {"code": "reason", "epsilon": "1.5", "limit": "1", "because": "agreed with the board"}
    assert "agreed with the board" in note_text(reason)
    with pytest.raises(QuestionRefused, match="override"):
        Policy().review(planned(PureDP(10)), because="x")
    with pytest.raises(QuestionRefused, match="needs a reason"):
        Policy().review(planned(PureDP(10)), override=True)
    Policy().review(planned(PureDP(10)), because="x", override=True)
    notes = required_notes(PureDP(10), because="x")
    assert [note["code"] for note in notes] == ["reason", "override"]
    assert any("OVERRIDE" in note_text(note) for note in notes)


def test_rho_is_read_as_an_epsilon() -> None:
    assert 0.85 < as_epsilon_delta(ZCDP(0.02))[0] < 1  # 0.02 + 2 sqrt(0.02 ln 1e6) is 1.07
    with pytest.raises(QuestionRefused, match="needs a reason"):
        require_reason(ZCDP(1))
    assert required_notes(ZCDP(1), because="x") != ()
    assert sum(as_epsilon_delta(ZCDP(0))) == 0


@pytest.mark.parametrize(("size", "refused"), [(100, True), (101, True), (None, False), (99, False)])
def test_a_delta_of_one_over_the_public_size_is_refused(size: int | None, refused: bool) -> None:
    asked = planned(ApproxDP(0.5, 0.01), size=size, keys=False)
    if refused:
        with pytest.raises(QuestionRefused, match="public size"):
            Policy().review(asked)
    else:
        Policy().review(asked)


def test_the_curators_own_limits() -> None:
    with pytest.raises(QuestionRefused, match=r"allows epsilon 0\.1"):
        Policy(largest_epsilon=0.1).review(planned(PureDP(0.2)))
    with pytest.raises(QuestionRefused, match="allows delta"):
        Policy(largest_delta=1e-9).review(planned(ApproxDP(0.2, 1e-6), keys=False))
    with pytest.raises(QuestionRefused, match="does not allow the mechanism 'gaussian'"):
        Policy(mechanisms=("integer-laplace",)).review(planned(ApproxDP(0.2, 1e-6), noise="gaussian"))
    with pytest.raises(QuestionRefused, match="does not allow the mechanism 'exponential-quantiles'") as refused:
        Policy(mechanisms=("integer-laplace",)).review(planned(PureDP(0.2), aggregate=median("age")))
    assert refused.value.code == "mechanism-not-allowed"
    assert refused.value.facts == {"kind": "exponential-quantiles"}
    Policy(mechanisms=("integer-laplace",)).review(planned(PureDP(0.2)))


def test_a_policy_from_a_file() -> None:
    assert Policy.from_dict({"largest_epsilon": 0.5, "mechanisms": ["gaussian"]}).mechanisms == ("gaussian",)
    for wrong in (
        {"largest": 1},
        {"mechanisms": ["x"]},
        {"mechanisms": ["integer Laplace"]},
        {"mechanisms": "gaussian"},
        {"mechanisms": 3},
        {"largest_epsilon": -1},
    ):
        with pytest.raises(InvalidParameter):
            Policy.from_dict(wrong)


PLANS: dict[str, dict[str, Any]] = {
    "integer-laplace": {"budget": PureDP(0.2)},
    "gaussian": {"budget": ApproxDP(0.2, 1e-6), "noise": "gaussian"},
    "integer-gaussian": {"budget": ZCDP(0.001)},
    "exponential-quantiles": {"budget": PureDP(0.2), "aggregate": median("age")},
    "exponential-top-k": {"budget": PureDP(0.2), "aggregate": top_k(1)},
    "optimal-keys": {"budget": ApproxDP(0.2, 1e-6), "keys": False, "aggregate": median("age")},
    "thresholded-laplace": {"budget": ApproxDP(0.2, 1e-6), "keys": False},
    "thresholded-gaussian": {"budget": ZCDP(0.001, 1e-6), "keys": False},
}
"""Plans that between them run every mechanism that a question can be answered by."""


@pytest.mark.parametrize("kind", PLANS)
def test_every_mechanism_of_plans_can_be_forbidden(kind: str) -> None:
    """By the kind it has, whatever it is called where it is shown; and every kind of a plan is one that is known."""
    asked = planned(**PLANS[kind])
    assert kind in asked.kinds <= KINDS
    Policy().review(asked)
    Policy(mechanisms=tuple(asked.kinds)).review(asked)
    with pytest.raises(QuestionRefused, match=f"'{kind}'"):
        Policy(mechanisms=tuple(KINDS - {kind})).review(asked)
