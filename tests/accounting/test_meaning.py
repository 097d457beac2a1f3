"""What guarantees mean, against the exact game on finite mechanisms."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curador.accounting.meaning import decision, detection, group_promise, participation, posterior
from curador.accounting.rules.tradeoffs import Curve, mu_tradeoff
from curador.errors import InvalidParameter, NotPromised
from curador.privacy import ApproxDP, PureDP

laws = st.lists(st.integers(1, 9), min_size=3, max_size=3)
priors = st.fractions(Fraction(1, 100), Fraction(99, 100))


def normal(weights: list[int]) -> list[Fraction]:
    return [Fraction(w, sum(weights)) for w in weights]


@given(laws, laws, priors)
def test_bayes_on_every_output_stays_inside(a: list[int], b: list[int], prior: Fraction) -> None:
    p, q = normal(a), normal(b)
    epsilon = max(abs(math.log(x / y)) for x, y in zip(p, q, strict=True))
    told = posterior(epsilon * (1 + 1e-12), prior)
    for x, y in zip(p, q, strict=True):
        after = float(prior * x / (prior * x + (1 - prior) * y))
        assert told.lower <= after * (1 + 1e-9)
        assert after <= told.upper * (1 + 1e-9)


def test_the_course_bounds_are_attained() -> None:
    told = posterior(math.log(3))
    assert told.lower == pytest.approx(1 / 4)
    assert told.upper == pytest.approx(3 / 4)
    assert told.failure == 0
    assert decision(math.log(3)).error == pytest.approx(1 / 4)
    # The misprint in the course, 1/(1 + Pr(R|D)/Pr(R|D')), would give the other end of the interval.
    assert told.upper != pytest.approx(1 / (1 + 3))


@given(laws, laws, priors, st.sampled_from([1.01, 2.0, 10.0]))
def test_beliefs_under_approximate_promises_fail_as_rarely_as_said(
    a: list[int], b: list[int], prior: Fraction, factor: float
) -> None:
    """delta(eps) at a third of the real epsilon: outputs beyond the bound have together at most the stated chance."""
    p, q = normal(a), normal(b)
    epsilon = max(abs(math.log(x / y)) for x, y in zip(p, q, strict=True)) / 3
    e = math.exp(epsilon)
    delta = max(
        sum(max(0.0, float(x) - e * float(y)) for x, y in zip(p, q, strict=True)),
        sum(max(0.0, float(y) - e * float(x)) for x, y in zip(p, q, strict=True)),
    )
    if not 0 < delta * factor < 1:
        return
    told = posterior(ApproxDP(epsilon, delta), prior, failure=delta * factor)
    after = [float(prior * x / (prior * x + (1 - prior) * y)) for x, y in zip(p, q, strict=True)]
    for law in (p, q):
        assert sum(float(x) for x, z in zip(law, after, strict=True) if z > told.upper * (1 + 1e-9)) <= told.failure
        assert sum(float(x) for x, z in zip(law, after, strict=True) if z < told.lower * (1 - 1e-9)) <= told.failure


def test_beliefs_need_room_for_delta() -> None:
    assert posterior(ApproxDP(1, 1e-6)).failure == 2e-6
    assert posterior(ApproxDP(1, 1e-6)).epsilon == pytest.approx(1 + math.log(2))
    assert posterior([ApproxDP(5, 0), ApproxDP(1, 1e-6)]).epsilon == 5
    assert posterior([ApproxDP(5, 0), ApproxDP(1, 1e-6)], failure=1e-5).epsilon < 1.2
    with pytest.raises(NotPromised, match="failure"):
        posterior(ApproxDP(1, 1e-6), failure=1e-6)


@given(laws, laws, st.lists(st.integers(0, 100), min_size=3, max_size=3))
def test_expected_harm_grows_no_more_than_said(a: list[int], b: list[int], harms: list[int]) -> None:
    p, q = normal(a), normal(b)
    for epsilon in (0.0, 0.3, 1.0):
        e = math.exp(epsilon)
        delta = max(
            sum(max(0.0, float(x) - e * float(y)) for x, y in zip(p, q, strict=True)),
            sum(max(0.0, float(y) - e * float(x)) for x, y in zip(p, q, strict=True)),
        )
        without = sum(float(y) * h for y, h in zip(q, harms, strict=True))
        with_data = sum(float(x) * h for x, h in zip(p, harms, strict=True))
        told = participation(ApproxDP(epsilon, min(1.0, delta)), without, worst=100)
        assert told.least <= with_data + 1e-9
        assert with_data <= told.most + 1e-9


def test_harm_in_numbers() -> None:
    assert participation(1, 10).most == pytest.approx(10 * math.e)
    assert participation(1, 10).least == pytest.approx(10 / math.e)
    assert participation(ApproxDP(1, 1e-6), 10, worst=1e5).most == pytest.approx(10 * math.e + 0.1)
    assert participation(5, 10, worst=100).most == 100
    with pytest.raises(NotPromised, match="worst"):
        participation(ApproxDP(1, 1e-6), 10)
    with pytest.raises(InvalidParameter):
        participation(1, 10, worst=5)


def test_groups() -> None:
    told = group_promise(0.1, 5)
    assert told.guarantee == PureDP(0.5)
    assert told.advantage == pytest.approx(math.tanh(0.25))
    curve = told.curve()
    assert curve.lines[0][1] == tuple(sorted(curve.lines[0][1]))
    assert curve.lines[0][1][-1] == told.advantage
    approx = group_promise(ApproxDP(0.1, 1e-6), 3).guarantee
    assert isinstance(approx, ApproxDP)
    assert approx.delta > 3e-6
    with pytest.raises(InvalidParameter):
        group_promise([ApproxDP(1, 0), ApproxDP(0, 0.5)], 2)  # type: ignore[arg-type]


SENTENCES: dict[str, Callable[[str], str]] = {
    "posterior": lambda lang: posterior(ApproxDP(1, 1e-6), 0.2).sentence(lang),
    "decision": lambda lang: decision(1, 0.3).sentence(lang),
    "detection": lambda lang: detection(1, 0.01).sentence(lang),
    "participation": lambda lang: participation(1, 10, worst=1000).sentence(lang),
    "group": lambda lang: group_promise(1, 3).sentence(lang),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_sentences_in_both_languages(name: str) -> None:
    en, es = SENTENCES[name]("en"), SENTENCES[name]("es")
    assert en.endswith(".")
    assert es.endswith(".")
    assert en != es
    figures = [
        sorted(word.strip(".,;()") for word in text.split() if any(c.isdigit() for c in word)) for text in (en, es)
    ]
    assert figures[0] == figures[1]  # the same numbers, whatever the language
    with pytest.raises(InvalidParameter, match="sentences"):
        SENTENCES[name]("fr")


def test_figures_in_sentences_round_against_us() -> None:
    """0.2689414 and 0.7310586 are called 26.8% and 73.2%, never 26.9% and 73.1%."""
    assert "26.8%" in posterior(1).sentence()
    assert "73.2%" in posterior(1).sentence()
    assert "is wrong at least 26.8%" in decision(1).sentence()
    assert "at most 2.72%" in detection(1, 0.01).sentence()
    assert "∞" in participation(1, 10).sentence()


@pytest.mark.parametrize(
    "curve",
    [
        posterior(1).curve(),
        decision(ApproxDP(1, 1e-3)).curve(),
        detection(1, 0.1).curve(),
        participation(1, 10, worst=100).curve(),
        participation(1, 10).curve(),
        group_promise(0.5, 4).curve(),
    ],
)
def test_curves_are_ready_to_plot(curve: Curve) -> None:
    assert list(curve.x) == sorted(curve.x)
    for name, y in curve.lines:
        assert name
        assert len(y) == len(curve.x)
        assert all(math.isfinite(v) for v in y)


def test_the_decision_never_beats_the_prior() -> None:
    curve = decision(2).curve(51)
    (_, with_release), (_, guessing) = curve.lines
    assert all(a <= b for a, b in zip(with_release, guessing, strict=True))
    assert decision(0).error == pytest.approx(0.5)
    assert decision(800).error == 0


@pytest.mark.parametrize(
    ("prior", "epsilon"),
    [
        (0.99999, 18),
        (0.99999999, 18),
        (0.9999999999999999, 37),
        ("0.99999999999999999", 50),
        ("1e-400", 1000),
        (1e-300, 700),
    ],
)
def test_beliefs_next_to_certainty_are_bounded_from_the_safe_side(prior: float | str, epsilon: int) -> None:
    with localcontext() as context:
        context.prec = 500
        p, small = Decimal(str(prior)), Decimal(-epsilon).exp()
        low, high = p * small / (p * small + 1 - p), p / (p + (1 - p) * small)
        said = posterior(epsilon, prior=prior)
        assert Decimal(said.lower) <= low
        assert Decimal(said.upper) >= high
        if str(prior) not in ("0.99999999999999999", "1e-400"):  # which a double cannot tell from 1 or 0
            assert float(said.lower) == pytest.approx(float(low), rel=1e-9)
            assert float(said.upper) == pytest.approx(float(high), rel=1e-9)


def test_the_gaussian_curve_holds_next_to_one() -> None:
    """ndtr(ndtri(1e-16) - 1), worked out with 40 digits."""
    assert 1.4569295e-20 * (1 - 1e-7) < mu_tradeoff(1, 0.9999999999999999) <= 1.456929530997379e-20
