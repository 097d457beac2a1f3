"""Events are exact, compose like a commutative monoid, survive being written down, and refuse nonsense."""

from __future__ import annotations

import importlib
import json
import math
import pickle
import pkgutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import FrozenInstanceError, fields
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from curador import accounting
from curador.accounting import events as ev
from curador.accounting.events import NOTHING, Composed, Event, Parallel, compose, event_from_json
from curador.errors import InvalidParameter
from curador.privacy import Neighbors
from tests.strategies import (
    NEGATIVE,
    NOT_COUNTS,
    NOT_POSITIVE,
    NOT_PROBABILITIES,
    events,
    events_about,
    events_by_class,
    neighbors,
)

EVERY_EVENT = list(events_by_class(Neighbors.ADD_REMOVE))
SAMPLE = ev.LaplaceNoise(2, 1)  # type: ignore[arg-type]


def alike(count: int) -> st.SearchStrategy[tuple[Event, ...]]:
    """Events about the same neighbours."""
    return neighbors.flatmap(lambda kind: st.tuples(*[events_about(kind)] * count))


def test_the_strategies_know_every_event() -> None:
    here = {c for c in vars(ev).values() if isinstance(c, type) and issubclass(c, Event)} - {Event}
    assert set(EVERY_EVENT) == here
    assert len({c.kind for c in here}) == len(here)


# ---- what is known does not depend on what is loaded ---------------------------------------------------------


def test_an_event_of_a_theorem_is_read_where_no_theorem_is_loaded() -> None:
    """Theorems are loaded when first needed; a ledger that holds their events is read by a process that has none."""
    code = (
        "import sys; from curador.accounting.events import event_from_json\n"
        "none = not any('theorems' in name for name in sys.modules)\n"
        "inside = {'kind': 'pure', 'epsilon': '1', 'neighbors': 'add-remove'}\n"
        "body = {'kind': 'repeat-and-select', 'event': inside, 'shape': '1', 'gamma': '1/2'}\n"
        "print(none, type(event_from_json(body)).__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.split(), done.stderr) == (["True", "RepeatAndSelect"], "")


def test_every_rule_is_loaded_with_its_event_or_with_its_account() -> None:
    """A rule in a third file would hold or not hold by what else a process has loaded."""
    for module in pkgutil.walk_packages(accounting.__path__, "curador.accounting."):
        importlib.import_module(module.name)
    known = {id(f): f for name, m in [*sys.modules.items()] if name.startswith("curador") for f in vars(m).values()}
    accounts: list[Any] = [f for f in known.values() if hasattr(f, "registry") and hasattr(f, "dispatch")]
    apart = [
        (account.__name__, kind.__name__, rule.__module__)
        for account in accounts
        for kind, rule in account.registry.items()
        if rule.__module__ not in (account.__module__, kind.__module__)
    ]
    assert len(accounts) > 10
    assert apart == []


# ---- written down and read back ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", EVERY_EVENT)
@given(data=st.data(), about=neighbors)
def test_survives_json(kind: type[Event], data: st.DataObject, about: Neighbors) -> None:
    event = data.draw(events_by_class(about)[kind])
    assert type(event) is kind
    back = event_from_json(json.loads(json.dumps(event.to_json(), allow_nan=False)))
    assert back == event
    assert hash(back) == hash(event)
    assert repr(back) == repr(event)
    assert back.neighbors is event.neighbors


@given(events)
def test_survives_pickling(event: Event) -> None:
    assert pickle.loads(pickle.dumps(event)) == event


@given(events)
def test_parameters_are_exact(event: Event) -> None:
    for f in fields(event):  # type: ignore[arg-type]
        assert not isinstance(getattr(event, f.name), float)


def test_a_float_is_the_decimal_it_prints_as() -> None:
    assert ev.LaplaceNoise(0.1, 1).scale == Fraction(1, 10)  # type: ignore[arg-type]
    assert ev.LaplaceNoise(0.1, 1) == ev.LaplaceNoise("1/10", "1", "add-remove")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"kind": "magic"},
        {"kind": ["laplace"]},
        {"kind": "laplace"},
        {"kind": "laplace", "scale": "1", "sensitivity": "1", "colour": "red"},
        {"kind": "laplace", "scale": "much", "sensitivity": "1"},
        {"kind": "laplace", "scale": "1", "sensitivity": "1", "neighbors": "friends"},
        {"kind": "laplace", "scale": "1", "sensitivity": "1", "neighbors": None},
        {"kind": "laplace", "scale": ["1"], "sensitivity": "1"},
        {"kind": "poisson-sampled", "event": "laplace", "rate": "1/2"},
        {"kind": "poisson-sampled", "event": {"kind": "magic"}, "rate": "1/2"},
        {"kind": "fixed-size-sampled", "event": None, "batch": 1, "population": 2},
        {"kind": "parallel", "parts": 5},
        {"kind": "parallel", "parts": [5]},
        {"kind": "composed", "parts": [5]},
        {"kind": "composed", "parts": [[SAMPLE.to_json()]]},
        {"kind": "composed", "parts": [[SAMPLE.to_json(), 1, 1]]},
        {"kind": "composed", "parts": [[SAMPLE.to_json(), 0]]},
        {"kind": "composed", "parts": [[SAMPLE.to_json(), -1]]},
        {"kind": "composed", "parts": [["laplace", 1]]},
    ],
)
def test_refuses_damaged_json(data: dict[str, object]) -> None:
    with pytest.raises(InvalidParameter):
        event_from_json(data)


# ---- composition ---------------------------------------------------------------------------------------------


@given(events, st.integers(0, 6))
def test_n_times_is_repeating(event: Event, n: int) -> None:
    assert n * event == event * n == compose(*[event] * n)


@given(events, st.integers(0, 6), st.integers(0, 6))
def test_counts_add_and_multiply(event: Event, m: int, n: int) -> None:
    assert m * event + n * event == (m + n) * event
    assert m * (n * event) == (m * n) * event


@given(alike(3))
def test_order_and_grouping_do_not_matter(triple: tuple[Event, Event, Event]) -> None:
    a, b, c = triple
    assert a + b == b + a
    assert (a + b) + c == a + (b + c) == compose(c, a, b)
    assert hash(a + b) == hash(b + a)


@given(events)
def test_nothing_adds_nothing(event: Event) -> None:
    assert event + NOTHING == NOTHING + event == 1 * event
    assert 0 * event == NOTHING


@given(alike(3))
def test_the_canonical_form_is_flat_and_counts_everything(triple: tuple[Event, ...]) -> None:
    whole = compose(*triple)
    assert isinstance(whole, Composed)
    assert not any(isinstance(e, Composed) for e, _ in whole.parts)
    assert len({e for e, _ in whole.parts}) == len(whole.parts)
    runs = sum(sum(n for _, n in e.parts) if isinstance(e, Composed) else 1 for e in triple)
    assert sum(n for _, n in whole.parts) == runs


@pytest.mark.parametrize("count", [-1, 0.5, True, False, None, "two", math.nan, math.inf])
def test_repeats_only_whole_times(count: Any) -> None:
    with pytest.raises(InvalidParameter, match="count"):
        count * SAMPLE
    with pytest.raises(InvalidParameter, match="count"):
        Composed.of((SAMPLE, count))


def test_a_debt_cannot_be_cancelled() -> None:
    with pytest.raises(InvalidParameter, match="count"):
        Composed.of((SAMPLE, 2), (SAMPLE, -1))


@given(events_about(Neighbors.ADD_REMOVE), events_about(Neighbors.REPLACE))
def test_neighbours_do_not_mix(a: Event, b: Event) -> None:
    assume(a != NOTHING)  # which is about nobody, and may stand beside anything
    attempts: list[Callable[[], Event]] = [
        lambda: a + b,
        lambda: compose(b, a),
        lambda: Composed(((a, 1), (b, 1))),
        lambda: Parallel((a, b)),
        lambda: 2 * a + 3 * b,
    ]
    for together in attempts:
        with pytest.raises(InvalidParameter, match="different neighbours"):
            together()


@pytest.mark.parametrize("about", Neighbors)
def test_events_made_of_events_are_about_the_same_neighbours(about: Neighbors) -> None:
    inner = ev.PureLoss(Fraction(1), about)
    for outer in (
        ev.PoissonSampled(inner, Fraction(1, 2)),
        ev.FixedSizeSampled(inner, 1, 2),
        Parallel((inner, inner)),
        2 * inner,
    ):
        assert outer.neighbors is about


@pytest.mark.parametrize("other", [1, None, "laplace", [SAMPLE]])
def test_only_events_are_put_together(other: Any) -> None:
    with pytest.raises(TypeError):
        SAMPLE + other
    attempts: list[Callable[[], Event]] = [
        lambda: compose(SAMPLE, other),
        lambda: Parallel((SAMPLE, other)),
        lambda: Composed(((other, 1),)),
        lambda: ev.PoissonSampled(other, Fraction(1, 2)),
        lambda: ev.FixedSizeSampled(other, 1, 2),
    ]
    for together in attempts:
        with pytest.raises(InvalidParameter, match="Only events"):
            together()


# ---- parameters ----------------------------------------------------------------------------------------------

GOOD: dict[type[Event], dict[str, Any]] = {
    ev.LaplaceNoise: {"scale": 2, "sensitivity": 1},
    ev.DiscreteLaplaceNoise: {"scale": 2, "sensitivity": 1},
    ev.TruncatedLaplaceNoise: {"scale": 2, "sensitivity": 1, "bound": 1000},
    ev.GaussianNoise: {"sigma": 2, "sensitivity": 1},
    ev.DiscreteGaussianNoise: {"variance": 4, "sensitivity_squared": 1, "dimension": 1},
    ev.ExponentialChoice: {"epsilon": 1},
    ev.RandomizedAnswer: {"categories": 2, "truth": "3/4"},
    ev.PureLoss: {"epsilon": 1},
    ev.ApproxLoss: {"epsilon": 1, "delta": 1e-6},
    ev.ZCDPLoss: {"rho": 1},
    ev.PoissonSampled: {"event": SAMPLE, "rate": 0.5},
    ev.FixedSizeSampled: {"event": SAMPLE, "batch": 1, "population": 2},
    ev.Parallel: {"parts": (SAMPLE,)},
    ev.Composed: {"parts": ((SAMPLE, 1),)},
}
BAD: dict[str, tuple[object, ...]] = {
    "scale": NOT_POSITIVE,
    "sensitivity": NOT_POSITIVE,
    "bound": NOT_POSITIVE,
    "sigma": NOT_POSITIVE,
    "variance": NOT_POSITIVE,
    "sensitivity_squared": NOT_COUNTS,
    "dimension": NOT_COUNTS,
    "epsilon": NOT_POSITIVE,
    "rho": NOT_POSITIVE,
    "categories": (*NOT_COUNTS, 1),
    "truth": NOT_PROBABILITIES,
    "delta": NOT_PROBABILITIES,
    "rate": NOT_PROBABILITIES,
    "batch": (*NOT_COUNTS, 3),  # more than the population
    "population": NOT_COUNTS,
    "neighbors": (None, 1, True, "", "friends", "REPLACE"),
}
MORE: dict[tuple[type[Event], str], tuple[object, ...]] = {
    (ev.DiscreteLaplaceNoise, "sensitivity"): NOT_COUNTS,
    (ev.ApproxLoss, "epsilon"): NEGATIVE,
}


def bad_parameters() -> Iterator[tuple[type[Event], str, object]]:
    for kind, good in GOOD.items():
        made_of_events = {"event", "parts"}
        about = {"neighbors"} if not made_of_events & set(good) else set()
        for name in sorted((set(good) | about) - made_of_events):
            for bad in MORE.get((kind, name), BAD[name]):
                yield kind, name, bad


def test_every_event_has_good_parameters() -> None:
    assert set(GOOD) == set(EVERY_EVENT)
    for kind, good in GOOD.items():
        assert kind(**good).kind == kind.kind
        given_names = {f.name for f in fields(kind) if f.init} - {"neighbors"}  # type: ignore[arg-type]
        assert set(good) == given_names


@pytest.mark.parametrize(("kind", "name", "bad"), list(bad_parameters()))
def test_refuses_bad_parameters(kind: type[Event], name: str, bad: object) -> None:
    with pytest.raises(InvalidParameter):
        kind(**{**GOOD[kind], name: bad})


@pytest.mark.parametrize("kind", EVERY_EVENT)
def test_is_frozen(kind: type[Event]) -> None:
    event = kind(**GOOD[kind])
    for f in fields(event):  # type: ignore[arg-type]
        with pytest.raises(FrozenInstanceError):
            setattr(event, f.name, 1)


def test_epsilon_is_exact() -> None:
    assert ev.LaplaceNoise(0.3, 0.1).epsilon == Fraction(1, 3)  # type: ignore[arg-type]
    assert ev.DiscreteLaplaceNoise("2/3", 3).epsilon == Fraction(9, 2)  # type: ignore[arg-type]
