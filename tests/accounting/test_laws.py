"""The laws of accounting, for every event and every accountant, against oracles that share no code with them.

Each law runs briefly with the other tests and at length under ``make test-slow``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial, singledispatch
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curador import Gaussian, Laplace
from curador.accounting import account, convert, optimal, pld
from curador.accounting import calibration as calibrate
from curador.accounting import events as ev
from curador.accounting.events import Event
from curador.accounting.pld import rules
from curador.accounting.rules import costs, gaussian
from curador.accounting.rules.costs import Currency, Rule
from curador.accounting.rules.profiles import delta, log_delta_rule, pure_epsilon
from curador.accounting.rules.renyi import renyi, renyi_curve
from curador.accounting.rules.renyi_rules import renyi_rule
from curador.accounting.rules.tradeoffs import mu_for
from curador.errors import CuradorError, NotPromised
from curador.numbers import rational
from curador.privacy import ZCDP, ApproxDP, Neighbors, PureDP
from tests import strategies
from tests.accounting.oracles import (
    ANY,
    COUNTS,
    DELTAS,
    EPSILONS,
    MP,
    ORDERS,
    RATES,
    Real,
    at_most,
    between,
    continuous,
    discrete,
    exact_delta,
    exact_renyi,
    made,
    one_of,
    powers,
    real,
    simple,
)

Check = Callable[..., None]
AT_LENGTH: dict[str, Check] = {}


def law(*drawn: st.SearchStrategy[Any], quick: int, slow: int) -> Callable[[Check], Check]:
    """A test of ``quick`` examples, and one of ``slow`` examples for ``make test-slow``."""

    def decorate(check: Check) -> Check:
        AT_LENGTH[check.__name__] = settings(max_examples=slow)(given(*drawn)(check))
        return settings(max_examples=quick)(given(*drawn)(check))

    return decorate


# ---- every event, every accountant ------------------------------------------------------------------------------

ALL_CURRENCIES = [Currency(rule, (2.0, 8.0) if "renyi" in rule.value else ()) for rule in Rule]
PAID, COUNTED = Currency(Rule.APPROXIMATE), Currency(Rule.ZCDP)

ACCOUNTANTS: dict[str, Callable[[Event], Any]] = {
    "profile.delta": lambda e: delta(e, "0.5"),
    "pure_epsilon": pure_epsilon,
    "renyi": lambda e: renyi(e, "2.5"),
    "renyi near 1": lambda e: renyi(e, "1.0001"),
    "pld.epsilon": lambda e: pld.epsilon(e, "1e-6"),
    "pld.delta": lambda e: pld.delta(e, "0.5"),
    "cost at delta": lambda e: costs.cost(e, PAID, "1e-6"),
    **{f"cost {c.rule.value}": partial(costs.cost, currency=c) for c in ALL_CURRENCIES},
}

RULES: Mapping[str, Any] = {"profile": log_delta_rule, "pure": pure_epsilon, "renyi": renyi_rule, "pld": rules.orders}
REFUSED = {("pld", ev.ZCDPLoss)}  # no pair of laws dominates every zCDP mechanism and is itself zCDP


def every_event(root: type[Event] = Event) -> set[type[Event]]:
    """The events of one's own theorem are in tests/accounting/theorems."""
    below = {c for c in root.__subclasses__() if c.__module__.startswith(ev.__name__)}
    return below.union(*map(every_event, below))


def without_rule(kinds: set[type[Event]]) -> set[tuple[str, type[Event]]]:
    """Events that an accountant knows nothing about, but for its refusal of whatever is unknown."""
    return {(name, c) for name, rule in RULES.items() for c in kinds if rule.dispatch(c) is rule.dispatch(Event)}


def numbers(answer: Any) -> list[float]:
    """The numbers of a bracket, a cost or a plain answer."""
    if isinstance(answer, tuple):
        return list(answer)
    return [answer.lower, answer.upper] if hasattr(answer, "lower") else [answer]


def test_every_event_has_a_rule_in_every_accountant() -> None:
    assert without_rule(every_event()) == REFUSED
    for about in Neighbors:
        assert set(simple(about) | made(about)) == every_event()  # and the laws below are about all of them


def test_a_new_event_is_seen_and_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ev.base, "KINDS", dict(ev.KINDS))

    class New(Event, kind="new"):
        neighbors = Neighbors.ADD_REMOVE

    assert without_rule({New}) == {(name, New) for name in RULES}
    for accountant in ACCOUNTANTS.values():
        with pytest.raises(NotPromised):
            accountant(New())


@law(strategies.events, quick=40, slow=1500)
def test_whatever_was_run_is_answered_or_refused(event: Event) -> None:
    """Parameters from 1e-9 to 1e9: a number, infinity or one of our errors, and never NaN."""
    for name, accountant in ACCOUNTANTS.items():
        try:
            found = numbers(accountant(event))
        except CuradorError:
            continue
        assert all(x >= 0 for x in found), (name, found)  # NaN is not
        assert found[0] <= found[-1] or "cost" in name, (name, found)
        assert found[-1] <= 1 or name not in ("profile.delta", "pld.delta"), (name, found)


# ---- repeating, and order ----------------------------------------------------------------------------------------


def otherwise(event: Event, n: int) -> Event:
    """n times an event, written so that no two are equal: alone, as the only part, as the only part of that, ..."""
    ways = [event]
    for _ in range(n - 1):
        ways.append(ev.Parallel((ways[-1],)))
    return ev.compose(*ways)


def agree(one: Event, two: Event) -> None:
    """No accountant tells two events apart, save a distribution by its tolerance."""
    for name, accountant in ACCOUNTANTS.items():
        try:
            a = numbers(accountant(one))
        except NotPromised:
            with pytest.raises(NotPromised):
                accountant(two)
            continue
        b = numbers(accountant(two))
        if name.startswith("pld"):
            assert a[0] <= b[1], (name, a, b)
            assert b[0] <= a[1], (name, a, b)
        elif name.startswith("cost"):
            assert all(abs(x - y) <= 8 for x, y in zip(a, b, strict=True)), (name, a, b)  # units, each rounded up
        else:
            assert a == b, (name, a, b)


@law(one_of(simple), COUNTS, quick=20, slow=400)
def test_n_times_is_repeating(event: Event, n: int) -> None:
    assert n * event == ev.compose(*[event] * n)
    agree(n * event, otherwise(event, n))


def test_a_lost_repetition_would_be_seen() -> None:
    for event in (ev.LaplaceNoise(Fraction(1), Fraction(1)), ev.GaussianNoise(Fraction(3), Fraction(1))):
        with pytest.raises(AssertionError):
            agree(4 * event, otherwise(event, 5))


@law(one_of(simple), quick=20, slow=500)
def test_a_sample_of_everything_is_everything(event: Event) -> None:
    for name in ("profile.delta", "pure_epsilon", "renyi", "pld.epsilon"):
        samples: list[Event] = [ev.PoissonSampled(event, Fraction(1))]
        if event.neighbors is Neighbors.REPLACE:
            samples.append(ev.FixedSizeSampled(event, 7, 7))
        for sample in samples:
            try:
                found = numbers(ACCOUNTANTS[name](sample))
            except NotPromised:
                with pytest.raises(NotPromised):
                    ACCOUNTANTS[name](event)
            else:
                assert found == pytest.approx(numbers(ACCOUNTANTS[name](event)), rel=1e-11, abs=1e-30)


SEVERAL = strategies.neighbors.flatmap(lambda a: st.lists(st.one_of(*simple(a).values()), min_size=2, max_size=3))


@law(SEVERAL, st.randoms(), quick=15, slow=300)
def test_order_does_not_matter(events: list[Event], random: Any) -> None:
    parts = [(e, 1 + i) for i, e in enumerate(events)]
    mixed_up = random.sample(parts, len(parts))
    assert ev.Composed.of(*parts) == ev.Composed.of(*mixed_up)
    agree(ev.Composed(tuple(parts)), ev.Composed(tuple(mixed_up)))


# ---- more noise ---------------------------------------------------------------------------------------------------


@singledispatch
def noisier(event: Event, by: Fraction) -> Event:
    """The same event, less revealing by a factor ``by`` > 1; post-processing of it, or a smaller shift."""
    raise NotImplementedError(event.kind)


@noisier.register
def _(event: ev.LaplaceNoise, by: Fraction) -> Event:
    return ev.LaplaceNoise(event.scale * by, event.sensitivity, event.neighbors)


@noisier.register
def _(event: ev.DiscreteLaplaceNoise, by: Fraction) -> Event:
    return ev.DiscreteLaplaceNoise(event.scale * by, event.sensitivity, event.neighbors)


@noisier.register
def _(event: ev.TruncatedLaplaceNoise, by: Fraction) -> Event:
    return ev.TruncatedLaplaceNoise(event.scale * by, event.sensitivity, event.bound * by, event.neighbors)


@noisier.register
def _(event: ev.GaussianNoise, by: Fraction) -> Event:
    return ev.GaussianNoise(event.sigma * by, event.sensitivity, event.neighbors)


@noisier.register
def _(event: ev.DiscreteGaussianNoise, by: Fraction) -> Event:
    # On the integers a larger variance may cost more at one epsilon; a smaller shift does not.
    less = max(1, math.floor(event.sensitivity_squared / by))
    return ev.DiscreteGaussianNoise(event.variance, less, event.dimension, event.neighbors)


@noisier.register
def _(event: ev.RandomizedAnswer, by: Fraction) -> Event:
    even = Fraction(1, event.categories)
    return ev.RandomizedAnswer(event.categories, even + (event.truth - even) / by, event.neighbors)


@noisier.register(ev.ExponentialChoice)
@noisier.register(ev.PureLoss)
def _(event: ev.ExponentialChoice | ev.PureLoss, by: Fraction) -> Event:
    return type(event)(event.epsilon / by, event.neighbors)


@noisier.register
def _(event: ev.ApproxLoss, by: Fraction) -> Event:
    return ev.ApproxLoss(event.epsilon / by, event.delta / by, event.neighbors)


@noisier.register
def _(event: ev.ZCDPLoss, by: Fraction) -> Event:
    return ev.ZCDPLoss(event.rho / by, event.neighbors)


@noisier.register
def _(event: ev.PoissonSampled, by: Fraction) -> Event:
    return ev.PoissonSampled(event.event, event.rate / by)


@noisier.register
def _(event: ev.FixedSizeSampled, by: Fraction) -> Event:
    return ev.FixedSizeSampled(event.event, event.batch, math.floor(event.population * by))


@noisier.register
def _(event: ev.Parallel, by: Fraction) -> Event:
    return ev.Parallel(tuple(noisier(part, by) for part in event.parts))


@noisier.register
def _(event: ev.Composed, by: Fraction) -> Event:
    return ev.Composed.of(*((noisier(part, by), count) for part, count in event.parts))


ROUNDING = 1 + 2.0**-36
"""Upper bounds of equal things may differ by what accountants round up."""


@law(ANY, between("21/20", 4), quick=40, slow=1500)
def test_more_noise_never_costs_more(event: Event, by: Fraction) -> None:
    less = noisier(event, by)
    for name, accountant in ACCOUNTANTS.items():
        try:
            most, least = numbers(accountant(event)), numbers(accountant(less))
        except NotPromised:
            continue
        if name.startswith("cost"):  # every balance, to the unit
            assert all(a <= b * ROUNDING + 1 for a, b in zip(least, most, strict=True)), (name, most, least)
        else:
            assert least[0] <= most[-1] * ROUNDING, (name, most, least)


# ---- lower ends below all upper bounds, exact answers in between ---------------------------------------------------


def upper_bounds(event: Event, d: str) -> dict[str, float]:
    """Every epsilon that some theorem here gives at a delta."""
    found: dict[str, float] = {}
    for method in account.METHODS:
        try:
            found[method] = account.epsilon(event, d, method).upper
        except NotPromised:
            continue
    for name, currency, at in (("pair", PAID, None), ("profile", PAID, d), ("zcdp", COUNTED, None)):
        try:
            loss, lost = (Fraction(x, u) for x, u in zip(costs.cost(event, currency, at), currency.units, strict=True))
        except NotPromised:
            continue
        if name == "zcdp" and loss and lost < rational(d):
            found[name] = convert.zcdp_epsilon(loss, rational(d) - lost).value
        elif name != "zcdp" and lost <= rational(d):
            found[name] = float(loss) * ROUNDING
    return found


@law(ANY, DELTAS, quick=20, slow=400)
def test_the_lower_end_is_below_every_upper_bound(event: Event, d: str) -> None:
    bounds = upper_bounds(event, d)
    if "pld" in bounds:
        low = account.epsilon(event, d).lower
        assert all(low <= bound for bound in bounds.values()), (low, bounds)


@law(ANY, EPSILONS, quick=30, slow=1500)
def test_the_lower_delta_is_below_the_profile(event: Event, e: Fraction) -> None:
    try:
        closed, bracket = delta(event, e), pld.delta(event, e)
    except NotPromised:
        return
    assert bracket.lower <= closed


KNOWN = one_of(lambda about: discrete(about) | continuous(about))


def made_of(kinds: strategies.Events) -> st.SearchStrategy[Event]:
    return st.builds(ev.PoissonSampled, st.one_of(*kinds.values()), RATES)


SAMPLED = strategies.neighbors.flatmap(lambda about: made_of(discrete(about) | continuous(about))) | st.builds(
    ev.FixedSizeSampled,
    st.one_of(*(discrete(Neighbors.REPLACE) | continuous(Neighbors.REPLACE)).values()),
    st.integers(1, 50),
    st.just(50),
)


def lost_below(low: float, d: str, exact: Callable[[float], Real]) -> bool:
    """Whether delta is at least ``d`` just below ``low``; for infinity, at any epsilon worth naming."""
    return low == 0 or at_most(real(Fraction(d)), exact(min(low * (1 - 1e-12), 500.0)))


@law(KNOWN | SAMPLED, EPSILONS, quick=40, slow=1000)
def test_profiles_of_single_events_are_exact(event: Event, e: Fraction) -> None:
    exact, closed, bracket = exact_delta(event, e), real(delta(event, e)), pld.delta(event, e)
    assert at_most(exact, closed)
    assert at_most(closed, exact * (1 + MP.mpf(10) ** -9))
    assert at_most(real(bracket.lower), exact)
    assert at_most(exact, real(bracket.upper))


@law(KNOWN | SAMPLED, DELTAS, quick=12, slow=300)
def test_epsilons_of_single_events_are_not_below_the_exact_one(event: Event, d: str) -> None:
    for name, bound in upper_bounds(event, d).items():
        assert at_most(exact_delta(event, bound), real(Fraction(d))), (name, bound)
    assert lost_below(account.epsilon(event, d).lower, d, partial(exact_delta, event))


@law(
    one_of(discrete) | one_of(lambda about: {ev.PoissonSampled: made_of(discrete(about))}), ORDERS, quick=40, slow=1500
)
def test_divergences_of_atoms_are_not_below_the_exact_one(event: Event, order: Fraction) -> None:
    assert at_most(exact_renyi(event, order), real(renyi(event, order)))


@law(one_of(continuous) | SAMPLED, ORDERS, quick=5, slow=100)
def test_divergences_of_noise_are_not_below_the_exact_one(event: Event, order: Fraction) -> None:
    bound = renyi(event, order)
    if bound < math.inf:
        assert exact_renyi(event, order) <= real(bound) + MP.mpf(10) ** -15  # as far as the quadrature can tell


COMPOSED = strategies.neighbors.flatmap(
    lambda about: st.lists(st.tuples(st.one_of(*discrete(about).values()), COUNTS), min_size=1, max_size=2)
).map(lambda parts: ev.Composed.of(*parts)) | st.builds(
    lambda e, n: n * e, made_of(discrete(Neighbors.ADD_REMOVE)), st.integers(2, 5)
)


@law(COMPOSED, DELTAS, EPSILONS, quick=12, slow=300)
def test_compositions_of_atoms_against_enumeration(event: Event, d: str, e: Fraction) -> None:
    for name, bound in upper_bounds(event, d).items():
        assert at_most(exact_delta(event, bound), real(Fraction(d))), (name, bound)
    assert lost_below(account.epsilon(event, d).lower, d, partial(exact_delta, event))
    bracket, exact = pld.delta(event, e), exact_delta(event, e)
    assert at_most(real(bracket.lower), exact)
    assert at_most(exact, real(bracket.upper))
    for order in (Fraction(3, 2), Fraction(8)):
        assert at_most(exact_renyi(event, order), real(renyi(event, order)))


GAUSSIANS = st.lists(
    st.tuples(continuous(Neighbors.ADD_REMOVE)[ev.GaussianNoise], st.integers(1, 300)), min_size=1, max_size=3
)


@law(GAUSSIANS, DELTAS, quick=15, slow=300)
def test_compositions_of_gaussians_against_the_closed_form(parts: list[tuple[ev.GaussianNoise, int]], d: str) -> None:
    event = ev.Composed.of(*parts)
    mu = MP.sqrt(MP.fsum(n * real(e.sensitivity / e.sigma) ** 2 for e, n in parts))

    def exact(x: float) -> Real:
        return MP.ncdf(mu / 2 - real(x) / mu) - MP.exp(real(x)) * MP.ncdf(-mu / 2 - real(x) / mu)

    for name, bound in upper_bounds(event, d).items():
        assert at_most(exact(bound), real(Fraction(d))), (name, bound)
    assert lost_below(account.epsilon(event, d).lower, d, exact)


@law(st.sampled_from(["0.01", "0.3", "1"]), st.integers(1, 400), DELTAS, quick=8, slow=100)
def test_compositions_of_responses_against_the_binomial(epsilon: str, n: int, d: str) -> None:
    event, e = n * ev.PureLoss(Fraction(epsilon)), real(Fraction(epsilon))
    truth = MP.exp(e) / (1 + MP.exp(e))
    terms = [(MP.binomial(n, j) * truth ** (n - j) * (1 - truth) ** j, (n - 2 * j) * e) for j in range(n + 1)]

    def exact(x: float) -> Real:
        return MP.fsum(p * (1 - MP.exp(real(x) - loss)) for p, loss in terms if loss > real(x))

    bounds = upper_bounds(event, d)
    bounds["optimal"] = optimal.optimal_epsilon(PureDP(float(Fraction(epsilon))), n, d)
    for name, bound in bounds.items():
        assert at_most(exact(bound), real(Fraction(d))), (name, bound)
    low = account.epsilon(event, d).lower
    assert lost_below(low, d, exact)
    assert low <= bounds["optimal"]


def test_a_bound_below_the_exact_answer_would_be_seen() -> None:
    event, d = 4 * ev.DiscreteLaplaceNoise(Fraction(3), 2), "1e-3"
    bracket = pld.epsilon(event, d)
    assert bracket.width < 1e-3
    assert not at_most(exact_delta(event, bracket.upper - 2e-3), real(Fraction(d)))
    assert not at_most(real(Fraction(d)), exact_delta(event, bracket.lower + 2e-3))


NARROW = KNOWN | made_of(discrete(Neighbors.ADD_REMOVE) | continuous(Neighbors.ADD_REMOVE))


@law(NARROW, st.sampled_from([1, 2, 7, 100]), DELTAS, quick=30, slow=1000)
def test_brackets_are_about_as_narrow_as_asked(event: Event, n: int, d: str) -> None:
    """Bounds from 0 to infinity would pass every law above."""
    bracket = pld.epsilon(n * event, d, tolerance=1e-3)
    assert bracket.width <= 2e-3 * max(1.0, bracket.upper)


@law(KNOWN, st.integers(1, 20), quick=6, slow=200)
def test_nothing_is_lost_beyond_the_pure_epsilon(event: Event, n: int) -> None:
    pure = pure_epsilon(n * event)
    if pure < math.inf:
        assert pld.epsilon(n * event, 0).upper == pytest.approx(float(pure), rel=1e-9)
        assert pld.delta(n * event, Fraction(pure)).upper <= 1e-9
        assert pld.delta(n * event, Fraction(pure) + Fraction(1, 100)).upper == 0


@pytest.mark.parametrize("about", Neighbors)
def test_a_unit_is_in_one_part_and_a_replaced_one_in_two(about: Neighbors) -> None:
    one, two, three = (ev.PureLoss(Fraction(1, k), about) for k in (1, 2, 3))
    worst = one if about is Neighbors.ADD_REMOVE else one + two
    bracket, exact = pld.delta(ev.Parallel((three, one, two)), Fraction(1, 5)), exact_delta(worst, Fraction(1, 5))
    assert bracket.lower <= exact <= bracket.upper
    assert bracket.width < 1e-4
    assert renyi(ev.Parallel((three, one, two)), 2) == pytest.approx(float(exact_renyi(worst, Fraction(2))), rel=1e-12)


# ---- where only a bound is known -----------------------------------------------------------------------------------

SCORES = st.lists(st.tuples(between(-3, 3), between(-1, 1)), min_size=2, max_size=4)


@law(between("1/20", 4), SCORES, EPSILONS, st.integers(1, 3), ORDERS, quick=30, slow=1500)
def test_no_exponential_mechanism_loses_more_than_its_event(
    epsilon: Fraction, scores: list[tuple[Fraction, Fraction]], e: Fraction, n: int, order: Fraction
) -> None:
    """Real choices: scores that move by at most 1 between neighbours, weights exp(epsilon score / 2)."""
    here = [MP.exp(real(epsilon * s / 2)) for s, _ in scores]
    there = [MP.exp(real(epsilon * (s + t) / 2)) for s, t in scores]
    atoms = [(p / MP.fsum(here), q / MP.fsum(there)) for p, q in zip(here, there, strict=True)]
    event, many = ev.ExponentialChoice(epsilon), powers([(atoms, n)])
    real_delta = MP.fsum(max(MP.zero, p - MP.exp(real(e)) * q) for p, q in many)
    real_renyi = MP.log(MP.fsum(p ** real(order) * q ** (1 - real(order)) for p, q in many)) / (real(order) - 1)
    assert at_most(real_delta, real(pld.delta(n * event, e).upper))
    assert at_most(real_renyi, real(renyi(n * event, order)))
    rho = costs.cost(n * event, COUNTED)[0]
    assert at_most(real_renyi, real(order) * rho / costs.LOSS_UNIT)
    if n == 1:
        assert at_most(real_delta, real(delta(event, e)))


@law(between("1/10", 5), EPSILONS, DELTAS, ORDERS, quick=10, slow=200)
def test_conversions_never_understate(size: Fraction, e: Fraction, d: str, order: Fraction) -> None:
    """Pure, zero-concentrated and Rényi promises, against mechanisms that are exactly so private."""
    response, bell = ev.PureLoss(size), ev.GaussianNoise(1 / size, Fraction(1))  # epsilon = size, rho = size**2 / 2
    for form in (convert.pure_to_zcdp, convert.pure_to_zcdp_tight):
        assert at_most(exact_renyi(response, order), real(order) * real(form(size)))
    rho = size**2 / 2
    assert at_most(exact_delta(bell, e), real(convert.zcdp_delta(rho, e).value))
    assert at_most(exact_delta(bell, convert.zcdp_epsilon(rho, d).value), real(Fraction(d)))
    for event in (response, bell):
        zeta = renyi(event, order)
        chain = [f(order, zeta, d) for f in (convert.thesis_epsilon, convert.improved_epsilon, convert.optimal_epsilon)]
        assert all(tight <= loose * ROUNDING for loose, tight in pairwise(chain)), chain
        assert at_most(exact_delta(event, chain[-1]), real(Fraction(d)))
        assert at_most(exact_delta(event, e), real(convert.optimal_delta(order, zeta, e)))
        curve = renyi_curve(event, [2, 4, 16, 64])
        assert at_most(exact_delta(event, convert.renyi_epsilon(curve, d).value), real(Fraction(d)))
        assert at_most(exact_delta(event, e), real(convert.renyi_delta(curve, e).value))


@law(between("1/100", "99/100", 100), between("1/100", "99/100", 100), EPSILONS, ORDERS, quick=40, slow=2000)
def test_the_optimal_conversion_holds_for_every_pair_of_coins(
    p: Fraction, q: Fraction, e: Fraction, order: Fraction
) -> None:
    a, b, r = real(p), real(q), real(order)
    zeta = MP.log(a**r * b ** (1 - r) + (1 - a) ** r * (1 - b) ** (1 - r)) / (r - 1)
    exact = max(MP.zero, a - MP.exp(real(e)) * b) + max(MP.zero, (1 - a) - MP.exp(real(e)) * (1 - b))
    assert at_most(exact, real(convert.optimal_delta(order, float(zeta) * ROUNDING, e)))


# ---- calibration ---------------------------------------------------------------------------------------------------


@law(between("1/20", 5), DELTAS, between("1/10", 10), quick=10, slow=300)
def test_calibrated_noise_keeps_its_promise_and_little_less_noise_does_not(e: Fraction, d: str, size: Fraction) -> None:
    less = 1 - Fraction(1, 10**9)
    assert pure_epsilon(Laplace(size, e).event) <= e
    assert pure_epsilon(Laplace(size, e).event) > e * less
    sigma = gaussian.gaussian_sigma(e, d, size)
    assert at_most(exact_delta(ev.GaussianNoise(sigma, size), e), real(Fraction(d)))
    assert not at_most(exact_delta(ev.GaussianNoise(sigma * less, size), e), real(Fraction(d)))
    assert delta(Gaussian(size, e, d).event, e) <= Fraction(d)
    variance, shift = gaussian.discrete_gaussian_variance(e, d, 2), 2
    assert delta(ev.DiscreteGaussianNoise(variance, shift**2), e) <= Fraction(d)
    vector = gaussian.discrete_gaussian_variance_vector(e, d, 3)
    assert delta(ev.DiscreteGaussianNoise(vector, 3, 2), e) <= Fraction(d)
    rho = convert.zcdp_rho(e, d)
    assert convert.zcdp_delta(rho, e).value <= Fraction(d) < convert.zcdp_delta(rho / less, e).value
    assert gaussian.gaussian_delta(1, mu_for(e, d), e) <= Fraction(d)


TARGETS = (
    st.builds(PureDP, between("1/10", 3))
    | st.builds(ZCDP, between("1/10", 2))
    | st.builds(ApproxDP, between("1/10", 3), st.sampled_from([1e-3, 1e-6]))
)


@law(TARGETS, st.sampled_from([Laplace, Gaussian]), st.integers(1, 20), quick=8, slow=100)
def test_calibrating_and_accounting_is_the_identity_from_the_safe_side(target: Any, kind: Any, count: int) -> None:
    try:
        mechanism = calibrate.calibrate(kind, target, sensitivity=1, count=count)
    except NotPromised:
        assert (kind, type(target)) == (Gaussian, PureDP)
        return
    assert calibrate.keeps(count * mechanism.event, target)
    assert not calibrate.keeps(count * noisier(mechanism.event, Fraction(99, 100)), target)
    assert calibrate.how_many(mechanism.event, target) in (count, count + 1)


# ---- at length -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(AT_LENGTH))
def test_at_length(name: str) -> None:
    AT_LENGTH[name]()
