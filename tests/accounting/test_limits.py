"""What legal events may cost, and what is refused in our own words: sizes, depths, orders and JSON of any kind."""

import json
import math
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import curador.accounting as acc
from curador.accounting import account, events, optimal, theorems
from curador.accounting.events import Event, event_from_json, made
from curador.accounting.pld import extremes
from curador.accounting.pld.extremes import in_both_orders
from curador.accounting.pld.noise_pairs import log_ndtr, ndtr
from curador.accounting.pld.rules import MANY, bounded, parts
from curador.accounting.rules import renyi_rules
from curador.accounting.rules.renyi_rules import renyi_rule, renyi_values
from curador.errors import CuradorError, InvalidParameter
from curador.privacy import PureDP
from tests.steps import at_most

ev: Any = events  # events read ints, strings and decimals

MANY_OF: dict[str, Callable[[int], Event]] = {
    "laplace": lambda i: ev.LaplaceNoise(100 + Fraction(i, 7), 1),
    "gaussian": lambda i: ev.GaussianNoise(100 + Fraction(i, 7), 1),
    "response": lambda i: ev.RandomizedAnswer(3, Fraction(1, 2) + Fraction(i, 10**6)),
    "integer laplace": lambda i: ev.DiscreteLaplaceNoise(100 + Fraction(i, 7), 3),
    "integer gaussian": lambda i: ev.DiscreteGaussianNoise(10**4 + Fraction(i, 7), 1),
    "pure": lambda i: ev.PureLoss(Fraction(1, 100) + Fraction(i, 10**6)),
    "approximate": lambda i: ev.ApproxLoss(Fraction(1, 100) + Fraction(i, 10**6), Fraction(1, 10**12)),
    "choice": lambda i: ev.ExponentialChoice(Fraction(1, 100) + Fraction(i, 10**6)),
    "sampled gaussian": lambda i: ev.PoissonSampled(ev.GaussianNoise(1 + Fraction(i, 10**4), 1), "0.01"),
    "sampled laplace": lambda i: ev.PoissonSampled(ev.LaplaceNoise(1 + Fraction(i, 10**4), 1), "0.01"),
    "fixed size": lambda i: ev.FixedSizeSampled(ev.GaussianNoise(1 + Fraction(i, 10**4), 1, "replace"), 1, 100),
}
N = 10_000


def many(kind: str, n: int) -> Event:
    return acc.compose(*(MANY_OF[kind](i) for i in range(n)))


@pytest.mark.parametrize("kind", MANY_OF)
def test_ten_thousand_different_events_are_a_few_hundred_evaluations(kind: str) -> None:
    """Stacks of like formulas, or samples bounded together: the work counts, not the clock."""
    for items in in_both_orders(many(kind, N)):
        assert len(items) <= max(N // extremes._ROWS + 1, MANY)
        assert sum(item.total for item in items) in (N, 1)  # all Gaussian noise is one


@pytest.mark.slow
@pytest.mark.parametrize("kind", MANY_OF)
def test_and_little_work(kind: str) -> None:
    with at_most(50_000_000):
        found = acc.epsilon(many(kind, N), 1e-6)
    assert 0 < found.lower <= found.upper < math.inf


@pytest.mark.parametrize("kind", MANY_OF)
def test_events_accounted_together_give_what_they_give_one_by_one(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    event = many(kind, 12) + 3 * MANY_OF[kind](5)
    together = acc.epsilon(event, 1e-6)
    monkeypatch.setattr(extremes, "_gathered", lambda items: items)
    alone = acc.epsilon(event, 1e-6)
    assert together.lower <= alone.upper
    assert alone.lower <= together.upper
    assert together.upper == pytest.approx(alone.upper, rel=2e-4)
    assert together.lower == pytest.approx(alone.lower, rel=2e-4)


def test_many_samples_are_bounded_by_larger_and_smaller_ones() -> None:
    event = many("sampled laplace", 2 * MANY)
    for high, low, _ in bounded(parts(event)):
        assert high.rate >= low.rate  # type: ignore[attr-defined]
        assert high.event.scale <= low.event.scale  # type: ignore[attr-defined]
    found = acc.epsilon(event, 1e-6)
    some = acc.epsilon(2 * many("sampled laplace", MANY), 1e-6)  # less noise in every one of them
    assert found.lower < found.upper < some.upper * 1.001
    assert found.upper - found.lower < 0.01 * found.upper


def test_more_laws_than_can_be_laid_out_are_refused() -> None:
    event = acc.compose(
        *(
            ev.PoissonSampled(ev.RandomizedAnswer(3, Fraction(1, 2) + Fraction(i, 10**4), "add-remove"), "0.1")
            for i in range(600)
        )
    )
    with pytest.raises(InvalidParameter, match="one by one"):
        acc.epsilon(event, 1e-6)


def test_additions_one_by_one_are_linear(monkeypatch: pytest.MonkeyPatch) -> None:
    taken_apart: list[int] = []
    real = made._canonical

    def counting(terms: Any) -> Any:
        taken_apart.append(len(terms))
        return real(terms)

    monkeypatch.setattr(made, "_canonical", counting)
    total: Event = events.NOTHING
    for i in range(2000):
        total = total + ev.LaplaceNoise(i + 1, 1)
    assert taken_apart == []  # nothing is taken apart on the way,
    assert total == acc.compose(*(ev.LaplaceNoise(i + 1, 1) for i in range(2000)))
    assert len(taken_apart) == 2  # and each sum once at the end


def test_shared_sums_are_taken_apart_once() -> None:
    total: Event = ev.LaplaceNoise(1, 1)
    for _ in range(200):
        total = total + total
    assert total == 2**200 * ev.LaplaceNoise(1, 1)


def test_a_curve_of_many_events_is_found_in_doubles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renyi_rules, "renyi_rule", None)  # not one order is evaluated to sixty digits
    for kind in ("laplace", "gaussian", "response", "integer gaussian", "pure", "choice"):
        assert acc.epsilon(many(kind, 50), 1e-6, method="renyi").upper > 0


def test_and_is_never_below_sixty_digits() -> None:
    chance = random.Random(12)
    for _ in range(150):
        x = Fraction(chance.randint(1, 10**6), 10 ** chance.randint(2, 9))
        order = 1 + round(10 ** chance.uniform(-3, 3), 4)
        for event in (
            ev.LaplaceNoise(1, x),
            ev.PureLoss(x),
            ev.ExponentialChoice(x),
            ev.DiscreteLaplaceNoise(1 / x, 1),
            ev.DiscreteLaplaceNoise(1 / x, 2),
            ev.RandomizedAnswer(5, Fraction(1, 5) + min(x, Fraction(7, 10))),
            ev.GaussianNoise(1, x),
            2 * ev.LaplaceNoise(1, x) + ev.PureLoss(x),
        ):
            exact, found = renyi_rule(event, Fraction(str(order))), renyi_values(event, np.array([order]))[0]
            assert exact * (1 - 2e-15) <= found <= exact * (1 + 1e-5), (event, order)


def test_counts_of_the_optimal_theorem_and_points_of_curves_have_a_limit() -> None:
    with pytest.raises(InvalidParameter, match="at most"):
        optimal.optimal_epsilon(PureDP(1), 10**7, 1e-6)
    with pytest.raises(InvalidParameter, match="at most"):
        optimal.optimal_delta(PureDP(1), 10**7, 1)
    with pytest.raises(InvalidParameter, match="at most"):
        optimal.optimal_corners(PureDP(1), 10**5)
    with pytest.raises(InvalidParameter, match="at most"):
        acc.profile(ev.LaplaceNoise(1, 1), range(2000))


def test_a_curve_shares_its_distributions() -> None:
    event = 100 * ev.LaplaceNoise(1, 1)
    curve = acc.profile(event)
    for e, d in list(zip(curve.x, curve.lines[0][1], strict=True))[5::16]:
        found = acc.delta(event, e)
        assert found.lower <= d <= found.upper * 1.01 + 1e-12


def test_normal_probabilities_without_scipy_are_as_good() -> None:
    from scipy import special

    x = np.concatenate([np.linspace(-37, 37, 2001), -np.geomspace(1e-9, 30, 999)])
    assert ndtr(x) == pytest.approx(special.ndtr(x), rel=2.0**-41)
    y = np.append(x, [-30.001, -29.999, -100.0, -1e4])
    assert log_ndtr(y) == pytest.approx(special.log_ndtr(y), rel=2.0**-41, abs=1e-190)


# ---- refused in our own words ----------------------------------------------------------------------------------

STRANGE: dict[str, Callable[[], object]] = {
    "sensitivity beyond words": lambda: acc.epsilon(ev.DiscreteGaussianNoise(Fraction(10) ** 40, 10**40), 1e-6),
    "deviation of 1e50": lambda: acc.profile(ev.DiscreteGaussianNoise(Fraction(10) ** 100, 1), [0, 1]),
    "sensitivity beyond doubles": lambda: acc.epsilon(ev.DiscreteGaussianNoise(10, 2**1100), 1e-6),
    "rate near 0": lambda: acc.epsilon(ev.PoissonSampled(ev.GaussianNoise(1, 1), "1e-400"), 1e-6),
    "rate near 1": lambda: acc.delta(ev.PoissonSampled(ev.LaplaceNoise(1, 1), 1 - Fraction("1e-400")), 1),
    "epsilon of 1e400": lambda: acc.delta(2 * ev.PureLoss("1e400"), 1),
    "epsilon of 1e-400": lambda: acc.epsilon(2 * ev.ExponentialChoice("1e-400"), 1e-6),
    "at an epsilon of 1e400": lambda: acc.delta(ev.GaussianNoise(1, 1), "1e400"),
    "order next to 1": lambda: acc.renyi(ev.LaplaceNoise(1, 1), 1 + Fraction(1, 10**900)),
    "sampled at an order next to 1": lambda: acc.renyi(
        ev.PoissonSampled(ev.GaussianNoise(1, 1), "0.01"), 1 + Fraction(1, 10**900)
    ),
    "tolerance a": lambda: acc.epsilon(2 * ev.LaplaceNoise(1, 1), 1e-6, tolerance="a"),  # type: ignore[arg-type]
    "tolerance None": lambda: acc.epsilon(2 * ev.LaplaceNoise(1, 1), 1e-6, tolerance=None),  # type: ignore[arg-type]
    "batches beyond doubles": lambda: theorems.BallsInBins(ev.GaussianNoise(1, 1), 10**400),
    "shuffled batches beyond doubles": lambda: theorems.ShuffledBatches(ev.GaussianNoise(1, 1), 10**400),
    "units beyond doubles": lambda: acc.epsilon(
        theorems.TruncatedPoissonSampled(ev.GaussianNoise(1, 1), Fraction(1, 100), 10**400, 2 * 10**400), 1e-6
    ),
    "a tree beyond memory": lambda: theorems.tree_encoder(5000),
    "no laws": lambda: theorems.LawPair(None, None),  # type: ignore[arg-type]
    "a point that is no number": lambda: acc.profile(ev.GaussianNoise(1, 1), ["a"]),
}


@pytest.mark.parametrize("case", STRANGE)
def test_strange_numbers_are_answered_or_refused_as_ours(case: str) -> None:
    try:
        STRANGE[case]()
    except CuradorError:
        return
    assert case in ("sensitivity beyond words", "deviation of 1e50")  # which are exact


@pytest.mark.parametrize("data", [None, [], [1], "laplace", 3, {}, {"kind": None}, {"kind": "laplace", 3: 4}])
def test_what_is_no_event_is_refused_as_ours(data: Any) -> None:
    with pytest.raises(InvalidParameter):
        event_from_json(data)


@pytest.mark.parametrize("deep", [33, 400, 5000])
def test_deep_json_is_refused_before_it_is_followed(deep: int) -> None:
    data: Any = ev.LaplaceNoise(1, 1).to_json()
    lists: Any = []
    for _ in range(deep):
        data = {"kind": "poisson-sampled", "event": data, "rate": "1/2"}
        lists = [lists]
    with pytest.raises(InvalidParameter, match="32 deep"):
        event_from_json(data)
    with pytest.raises(InvalidParameter):
        event_from_json({"kind": "composed", "parts": lists})


def test_the_deepest_event_is_read_back_and_accounted() -> None:
    event: Event = ev.LaplaceNoise(1, 1)
    for _ in range(events.DEEPEST):
        event = ev.PoissonSampled(event, "9/10")
    assert event_from_json(event.to_json()) == event
    assert acc.epsilon(event, 1e-6).upper < 0.1
    with pytest.raises(InvalidParameter, match="32 deep"):
        ev.PoissonSampled(event, "9/10")


PIECES: tuple[Any, ...] = (
    None, True, -1, 0, 3, 0.5, 1e308, "1/3", "1e400", "nan", "", "replace", [], [[]], {}, {"kind": "pure"}, "1e9999999",
)  # fmt: skip


def test_mutated_json_is_an_event_or_refused_as_ours() -> None:
    chance = random.Random(2026)
    whole = [json.loads(json.dumps(MANY_OF[kind](3).to_json())) for kind in MANY_OF]
    whole += [
        json.loads(json.dumps(many("laplace", 3).to_json())),
        ev.Parallel((ev.PureLoss(1), ev.PureLoss(2))).to_json(),
    ]

    def mutated(x: Any) -> Any:
        if chance.random() < 0.1:
            return chance.choice((*PIECES, *whole))
        if isinstance(x, dict):
            names = {
                k if chance.random() > 0.03 else chance.choice(("kind", "event", "parts", "x", 7)): v
                for k, v in x.items()
            }
            return {k: mutated(v) for k, v in names.items() if chance.random() > 0.03}
        return [mutated(y) for y in x] if isinstance(x, list) else x

    read = 0
    for _ in range(4000):
        try:
            event = event_from_json(mutated(chance.choice(whole)))
        except CuradorError:
            continue
        assert event_from_json(json.loads(json.dumps(event.to_json()))) == event
        read += 1
    assert read > 400


def test_noises_of_many_kinds_are_not_tried_by_curves_in_decimals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a bracket came out wide: fifty kinds take three seconds, and a free explanation may have thousands."""

    def event(kinds: int) -> Event:
        noises = [(ev.DiscreteLaplaceNoise(2560 + Fraction(i, 7), 256), 1) for i in range(kinds)]
        return events.Composed.of((ev.ExponentialChoice(1), 1), (ev.ExponentialChoice("1/2"), 1), *noises)

    tried = []

    def curve(*given: object) -> Any:
        tried.append(given)
        raise InvalidParameter("", fix="")

    monkeypatch.setitem(account.METHODS, "renyi", curve)
    many, few = (acc.epsilon(event(account.MANY_EXACT + more), "1e-12") for more in (1, 0))
    assert len(tried) == 1
    assert few.lower <= few.upper <= many.upper
