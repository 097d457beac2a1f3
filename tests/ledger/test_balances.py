"""Balances as people read them: every digit, spent never rounded down, remaining never rounded up."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curador.accounting.filters import charge_cost, open_filter
from curador.accounting.rules.costs import DELTA_UNIT, LOSS_UNIT
from curador.ledger.pricing import LARGEST, exact_text
from curador.ledger.records import Balance
from curador.privacy import ZCDP, ApproxDP, Guarantee, PureDP, RenyiDP


@given(st.integers(-LARGEST, LARGEST), st.sampled_from([LOSS_UNIT, DELTA_UNIT]))
def test_an_amount_is_printed_exactly(amount: int, unit: int) -> None:
    text = exact_text(amount, unit)
    assert Fraction(text) == Fraction(amount, unit)
    assert Decimal(text) == Decimal(amount) / unit


@pytest.mark.parametrize(
    ("budget", "options", "cost", "text"),
    [
        (PureDP(1), {}, (2 * 10**11,), "epsilon 0.2 spent of 1, 0.8 remaining"),
        (PureDP(1), {}, (121_262_500_000,), "epsilon 0.1212625 spent of 1, 0.8787375 remaining"),
        (PureDP(1), {}, (333_333_333_334,), "epsilon 0.333333333334 spent of 1, 0.666666666666 remaining"),
        (
            ApproxDP(1, 1e-6),
            {},
            (10**11, 10**11),
            "epsilon 0.1 spent of 1, 0.9 remaining; delta 1e-07 spent of 1e-06, 9e-07 remaining",
        ),
        (ZCDP(1), {}, (10**11, 0), "rho 0.1 spent of 1, 0.9 remaining; delta 0 spent of 0, 0 remaining"),
        (
            RenyiDP({2: 1, 8: 2}),
            {},
            (10**12, 10**12),
            "order 2: 1 spent of 1, 0 remaining; order 8: 1 spent of 2, 1 remaining",
        ),
        (
            ApproxDP(1, 1e-6),
            {"rule": "renyi-any", "orders": [2, 16, 64]},  # at order 2 nothing can be bought
            (10**12, 255_102_912_845, 1),
            "order 16: 0.255102912845 spent of 0.255102912844, 0 remaining; "
            "order 64: 1e-12 spent of 0.845030265487, 0.845030265486 remaining",
        ),
    ],
)
def test_a_balance_as_text(budget: Guarantee, options: dict[str, Any], cost: tuple[int, ...], text: str) -> None:
    shown = str(Balance("people", charge_cost(open_filter(budget, **options), cost)))
    assert shown == f"people: {text}"


def test_what_remains_is_bounded_above_and_nothing_where_it_is_closed() -> None:
    top = Balance("people", charge_cost(open_filter(PureDP(1)), (3 * 10**11,)))
    assert str(Balance("ana", open_filter(PureDP(5)), top)) == "ana: epsilon 0 spent of 5, 0.7 remaining"
    shut = Balance("ana", open_filter(PureDP(5)), top, closed=True, expires=datetime(2026, 1, 1, tzinfo=UTC))
    assert repr(shut) == "<Balance ana: epsilon 0 spent of 5, 0 remaining (closed)>"
    assert shut.remaining == PureDP(0)


def test_what_remains_is_bounded_by_budgets_that_count_more() -> None:
    """As after a delta was granted to everybody; a delta of another rule is another number."""
    top = Balance("people", charge_cost(open_filter(ApproxDP(1, 1e-6)), (9 * 10**11, 0)))
    assert Balance("ana", open_filter(PureDP(1)), top).remaining == PureDP(0.1)
    below = Balance("ana", open_filter(PureDP(1)), Balance("team", open_filter(ZCDP(1, 1e-9)), top))
    assert below.remaining == PureDP(0.1)
    assert Balance("team", open_filter(ZCDP(1, 1e-3)), top).remaining == ZCDP(1, 1e-3)
    some, all_ = (charge_cost(open_filter(RenyiDP(c)), (10**11,) * len(c)) for c in ({2: 1}, {2: 0.5, 8: 1}))
    assert Balance("ana", some, Balance("people", all_)).remaining == RenyiDP({2: 0.4})


def test_a_balance_in_a_notebook() -> None:
    page = Balance("<people>", charge_cost(open_filter(PureDP(1)), (2 * 10**11,)))._repr_html_()
    assert "&lt;people&gt;" in page
    assert "<td>0.2</td><td>1</td><td>0.8</td>" in page
    assert 'value="0.200"' in page
