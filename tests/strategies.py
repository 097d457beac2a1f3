"""Hypothesis strategies that any test may use: exact numbers, every guarantee, every event."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import Any

from hypothesis import strategies as st

from curador.accounting import events as ev
from curador.privacy import ZCDP, ApproxDP, Guarantee, Neighbors, PureDP, RenyiDP

neighbors = st.sampled_from(Neighbors)
fractions = st.fractions(max_denominator=10**9)
positives = st.fractions(min_value=Fraction(1, 10**9), max_value=10**9)
probabilities = st.fractions(min_value=0, max_value=1)

# ---- guarantees ----------------------------------------------------------------------------------------------

losses: st.SearchStrategy[Any] = st.floats(min_value=0, allow_nan=False) | positives
deltas = st.floats(min_value=0, max_value=1) | probabilities
orders = st.floats(min_value=1, exclude_min=True, allow_nan=False)

guarantees_by_kind: dict[type[Guarantee], st.SearchStrategy[Guarantee]] = {
    PureDP: st.builds(PureDP, losses),
    ApproxDP: st.builds(ApproxDP, losses, deltas),
    ZCDP: st.builds(ZCDP, losses, deltas),
    RenyiDP: st.dictionaries(orders, losses, min_size=1, max_size=5).map(RenyiDP),
}
guarantees = st.one_of(*guarantees_by_kind.values())


def guarantees_of_one_kind(count: int) -> st.SearchStrategy[tuple[Guarantee, ...]]:
    """Tuples of ``count`` guarantees that may be added and compared; Rényi curves share their orders."""

    def curves(at: list[float]) -> st.SearchStrategy[tuple[Guarantee, ...]]:
        return st.tuples(*[st.fixed_dictionaries(dict.fromkeys(at, losses)).map(RenyiDP)] * count)

    plain = [st.tuples(*[s] * count) for kind, s in guarantees_by_kind.items() if kind is not RenyiDP]
    return st.one_of(*plain, st.lists(orders, min_size=1, max_size=4, unique=True).flatmap(curves))


# ---- events --------------------------------------------------------------------------------------------------

Events = dict[type[ev.Event], st.SearchStrategy[ev.Event]]
_whole = st.integers(min_value=1, max_value=10**6)


def simple_events(about: Neighbors) -> Events:
    """One strategy for each class of event that is not made of events."""
    kind = st.just(about)
    return {
        ev.LaplaceNoise: st.builds(ev.LaplaceNoise, positives, positives, kind),
        ev.DiscreteLaplaceNoise: st.builds(ev.DiscreteLaplaceNoise, positives, _whole, kind),
        ev.TruncatedLaplaceNoise: st.builds(ev.TruncatedLaplaceNoise, positives, positives, positives, kind),
        ev.GaussianNoise: st.builds(ev.GaussianNoise, positives, positives, kind),
        ev.DiscreteGaussianNoise: st.builds(ev.DiscreteGaussianNoise, positives, _whole, _whole, kind),
        ev.ExponentialChoice: st.builds(ev.ExponentialChoice, positives, kind),
        ev.RandomizedAnswer: st.builds(ev.RandomizedAnswer, st.integers(2, 10**6), probabilities, kind),
        ev.PureLoss: st.builds(ev.PureLoss, positives, kind),
        ev.ApproxLoss: st.builds(ev.ApproxLoss, st.just(Fraction(0)) | positives, probabilities, kind),
        ev.ZCDPLoss: st.builds(ev.ZCDPLoss, positives, kind),
    }


def events_made_of(inner: st.SearchStrategy[ev.Event]) -> Events:
    """One strategy for each class of event that is made of other events."""
    sizes = st.tuples(_whole, _whole).map(sorted)
    counted = st.lists(st.tuples(inner, st.integers(1, 5)), max_size=3)
    free = inner.filter(lambda e: "FixedSizeSampled" not in repr(e))  # of these there are samples and parts
    return {
        ev.PoissonSampled: st.builds(ev.PoissonSampled, free, probabilities),
        ev.FixedSizeSampled: st.builds(lambda e, s: ev.FixedSizeSampled(e, *s), free, sizes),
        ev.Parallel: st.lists(free, max_size=3).map(lambda es: ev.Parallel(tuple(es))),
        ev.Composed: counted.map(lambda parts: ev.Composed.of(*parts)),
    }


@cache
def events_about(about: Neighbors) -> st.SearchStrategy[ev.Event]:
    """Any event, a few deep, about one kind of neighbours: such events may be put together."""
    # Nothing at all (an empty composition) is about add-remove, so under replace it may not stand inside Parallel.
    return st.recursive(
        st.one_of(*simple_events(about).values()),
        lambda inner: st.one_of(*events_made_of(inner).values()).filter(lambda e: e.neighbors is about),
        max_leaves=4,
    )


events = neighbors.flatmap(events_about)


@cache
def events_by_class(about: Neighbors) -> Events:
    """One strategy for each class of event there is."""
    return simple_events(about) | events_made_of(events_about(about))


# ---- what no parameter may be --------------------------------------------------------------------------------

NOT_NUMBERS: tuple[object, ...] = (math.nan, math.inf, -math.inf, True, False, None, "one", "", [], (), {}, 1j, b"1")
NOT_POSITIVE: tuple[object, ...] = (*NOT_NUMBERS, 0, -1, -0.5, Fraction(-1, 3), "-1", "0")
NEGATIVE: tuple[object, ...] = (*NOT_NUMBERS, -1, -0.5, Fraction(-1, 3), "-1")
NOT_COUNTS: tuple[object, ...] = (*NOT_NUMBERS, 0, -1, 0.5, Fraction(1, 2), "1/2")
NOT_PROBABILITIES: tuple[object, ...] = (*NOT_NUMBERS, -0.1, 1.1, 2, Fraction(-1, 3), "3/2")
