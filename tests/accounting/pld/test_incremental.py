"""A growing distribution that starts from a kept history, and events that no window holds."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from curador import accounting as acc
from curador.accounting import events
from curador.accounting.pld import IncrementalPLD
from curador.accounting.pld.incremental import History
from curador.accounting.pld.profile import Profile
from curador.accounting.pld.solve import followed, worst
from curador.errors import InvalidParameter
from tests.steps import at_most

ev: Any = events  # every parameter may be an int, a float, text or a fraction


def test_a_kept_history_is_planned_from_its_counts() -> None:
    event, other = ev.LaplaceNoise(1, 1), ev.GaussianNoise(5, 1)
    kept, true = IncrementalPLD(1e-6, 1e-4, {event: 100}), acc.epsilon(100 * event, 1e-6)
    assert kept.epsilon().upper >= true.lower > 71
    assert kept.epsilon() == IncrementalPLD(1e-6, 1e-4).add(event, 100).epsilon()
    grown, whole = kept.add(other, 3).epsilon(), acc.epsilon(100 * event + 3 * other, 1e-6)
    assert whole.lower <= grown.upper <= whole.upper * 1.001
    assert IncrementalPLD(1e-6, 1e-4, {event: 0}).epsilon().upper == 0 == IncrementalPLD(1e-6).epsilon().upper


def test_a_kept_history_is_checked() -> None:
    one, two = ev.LaplaceNoise(1, 1), ev.LaplaceNoise(1, 1, "replace")
    wrong: list[Any] = [{one: 1, two: 1}, {one: -1}, {"laplace": 1}]
    for counts in wrong:
        with pytest.raises(InvalidParameter):
            IncrementalPLD(1e-6, 1e-4, counts)
    with pytest.raises(InvalidParameter, match="neighbours"):
        IncrementalPLD().add(one).add(two)


def test_no_order_at_all_is_not_a_loss_of_0() -> None:
    with pytest.raises(ValueError, match="none was given"):
        worst([])


@pytest.mark.parametrize(
    "event",
    [
        ev.ExponentialChoice("1e100"),
        ev.LaplaceNoise(1, 10**30),
        ev.DiscreteGaussianNoise(1, 10**20),
        ev.PoissonSampled(ev.GaussianNoise(1, 2000), "0.1"),
    ],
)
def test_losses_beyond_all_windows_take_no_search(event: Any) -> None:
    with at_most(1_000_000):  # it was 28 seconds, or an overflow
        found = IncrementalPLD(1e-6).add(event).epsilon()
    assert found.upper > 1e6


def test_more_steps_than_machine_words_count() -> None:
    """10**20 steps of integer Laplace noise, sampled: nearly continuous noise."""
    wide = ev.PoissonSampled(ev.DiscreteLaplaceNoise(10**20, 10**20), "0.5")
    smooth = ev.PoissonSampled(ev.LaplaceNoise(1, 1), "0.5")
    for found, known in (
        (acc.epsilon(wide, 0.01), acc.epsilon(smooth, 0.01)),
        (acc.delta(wide, 0.1), acc.delta(smooth, 0.1)),
    ):
        assert found.lower <= known.upper * (1 + 1e-9)
        assert known.lower * (1 - 1e-9) <= found.upper < known.upper * 1.01


# ---- what one more event costs, however long the history is ------------------------------------------------------


def mixed(n: int) -> Iterator[Any]:
    """Different events, half Laplace and half Gaussian noise."""
    for i in range(n // 2):
        yield ev.LaplaceNoise(1, Fraction(1, 1000) + Fraction(9 * i, 499 * n))
        yield ev.GaussianNoise(1, Fraction(1, 500) + Fraction(18 * i, 499 * n))


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often a plan was made, of how many events, and how often a bound was evaluated."""
    seen: Counter[str] = Counter()
    planned, upper, lower = IncrementalPLD._planned, Profile.upper, Profile.lower

    def planning(self: Any, counts: Any, room: int) -> Any:
        seen.update(plans=1, planned=len(counts))
        return planned(self, counts, room)

    def bounding(bound: Any) -> Any:
        def evaluating(self: Any, epsilon: float) -> float:
            seen.update(evaluations=1)
            return float(bound(self, epsilon))

        return evaluating

    monkeypatch.setattr(IncrementalPLD, "_planned", planning)
    monkeypatch.setattr(Profile, "upper", bounding(upper))
    monkeypatch.setattr(Profile, "lower", bounding(lower))
    return seen


def test_one_more_event_and_a_report_cost_the_same_after_a_hundred_and_after_3000(work: Counter[str]) -> None:
    book, known, spent = IncrementalPLD(1e-6), [], []
    for i, event in enumerate(mixed(3000), 1):
        known.append(event)
        book = book.add(event)
        found = book.epsilon()
        assert found.width <= 10 * book.tolerance * max(1.0, found.upper)
        if i in (100, 1000, 3000):
            spent.append(work["evaluations"] / i)
            whole = acc.pld.epsilon(acc.compose(*known), 1e-6)
            work["evaluations"] = round(spent[-1] * i)  # without those of the comparison
            assert whole.lower <= found.upper
            assert found.lower <= whole.upper
    assert work["plans"] <= 8  # each for a history some four times as long
    assert work["planned"] <= 3000
    assert spent[0] < 8
    assert spent[2] <= spent[1] <= spent[0] + 1
    assert spent[2] < 4.5


@pytest.mark.parametrize(
    ("event", "wide"),
    [
        (lambda i: ev.ExponentialChoice(Fraction(1, 100 + i)), 0.04),
        (lambda i: ev.PoissonSampled(ev.LaplaceNoise(1 + Fraction(i, 1000), 1), "0.01"), 0.002),
        (lambda i: ev.RandomizedAnswer(2, Fraction(1, 2) + Fraction(1, 100 + i)), 0.001),
    ],
)
def test_laws_that_stay_loose_are_planned_anew_when_the_history_is_half_as_long_again(
    event: Any, wide: float, work: Counter[str]
) -> None:
    book, n = IncrementalPLD(1e-6), 150
    for i in range(n):
        book = book.add(event(i))
        found = book.epsilon()
        assert found.width <= wide
        assert book.epsilon() == found or book.epsilon().width <= wide
    assert work["plans"] <= 30
    assert work["planned"] <= 4 * n
    whole = acc.pld.epsilon(acc.compose(*(event(i) for i in range(n))), 1e-6)
    assert whole.lower <= book.epsilon().upper
    assert book.epsilon().lower <= whole.upper


def test_one_large_event_after_many_small_ones_is_planned_for_at_once() -> None:
    book = IncrementalPLD(1e-6, 1e-4, {ev.LaplaceNoise(1000 + i, 1): 1 for i in range(200)})
    for large in (ev.PureLoss(1), ev.RandomizedAnswer(2, "0.9", "add-remove"), ev.LaplaceNoise("0.5", 1)):
        found = book.add(large).epsilon()
        whole = acc.pld.epsilon(acc.compose(*book.counts, large), 1e-6)
        assert whole.lower <= found.upper
        assert found.lower <= whole.upper
        assert found.width <= 0.01 * max(1.0, found.upper)


def test_a_history_is_shared_by_what_is_added_to_it() -> None:
    history, exact, copies, moved = History({}), Counter[Any](), 0, 0
    for i, event in enumerate([*mixed(1000), *list(mixed(1000))[:600]]):
        longer = history.plus(event, 1 + i % 3)
        exact[event] += 1 + i % 3
        copies += longer._counted is not history._counted
        moved += sum(len(x) for x in longer._recent if all(x is not y for y in history._recent))
        history = longer
    assert history == exact
    assert list(history) == list(exact)
    assert len(history) == 1000
    assert copies <= 6
    assert moved <= 1600 * 11
    sizes = [len(x) for x in history._recent]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(sizes) <= 2 * 1000
    assert pickle.loads(pickle.dumps(history)) == exact
    left, right = history.plus(ev.PureLoss(1), 1), history.plus(ev.PureLoss(2), 2)
    assert (left[ev.PureLoss(1)], right[ev.PureLoss(2)]) == (1, 2)
    assert ev.PureLoss(2) not in left
    assert ev.PureLoss(1) not in history
    assert repr(History({})) == "{}"
    assert not History({})


def test_two_books_of_one_history_do_not_see_each_other() -> None:
    base = IncrementalPLD(1e-6).add(ev.LaplaceNoise(10, 1), 5)
    one, two = base.add(ev.PureLoss("0.1")), base.add(ev.PureLoss("0.2"), 3)
    for book, event in (
        (base, 5 * ev.LaplaceNoise(10, 1)),
        (one, 5 * ev.LaplaceNoise(10, 1) + ev.PureLoss("0.1")),
        (two, 5 * ev.LaplaceNoise(10, 1) + 3 * ev.PureLoss("0.2")),
    ):
        whole, found = acc.pld.epsilon(event, 1e-6), pickle.loads(pickle.dumps(book)).epsilon()
        assert whole.lower <= found.upper
        assert found.lower <= whole.upper


def test_nothing_says_nothing_about_neighbours() -> None:
    """It came first, and every later event was only compared with the first."""
    book = IncrementalPLD().add(acc.NOTHING).add(ev.LaplaceNoise(1, 1))
    with pytest.raises(InvalidParameter, match="neighbours"):
        book.add(ev.LaplaceNoise(1, 1, "replace"))
    with pytest.raises(InvalidParameter, match="neighbours"):
        IncrementalPLD(1e-6, 1e-4, {acc.NOTHING: 1, ev.LaplaceNoise(1, 1): 1}).add(ev.LaplaceNoise(1, 1, "replace"))
    assert IncrementalPLD().add(acc.NOTHING).epsilon().upper == 0
    with pytest.raises(InvalidParameter):
        IncrementalPLD().add("laplace")  # type: ignore[arg-type]


def test_what_is_followed_is_certified_or_given_up() -> None:
    for f, start, rate in (
        (lambda x: 3.0 - x**3, 1.4, 6.0),
        (lambda x: 3.0 - x**3, 1.0, 1.0),
        (lambda x: 1.0 - x, 50.0, 1.0),
        (lambda x: 1.0 if x < 2 else -1.0, 1.9, 5.0),  # a jump has no rate
        (lambda x: -1.0, 1.0, 1.0),
        (lambda x: float("nan"), 1.0, 1.0),
    ):
        for above in (True, False):
            found = followed(f, start, rate, 1e-6, above)
            if found:
                assert (f(found[0]) > 0) is above
                assert abs(f(found[0])) < 1e-4
    assert followed(lambda x: 1 - x, 0.9, 1.1, 1e-6, above=False) is not None
    assert followed(lambda x: 1 - x, -0.1, 1.0, 1e-6, above=True) is None
    assert followed(lambda x: 1.0, 1.0, 1.0, 1e-6, above=False) is None


@pytest.mark.parametrize("delta", [1e-6, 1e-9, 1e-15])
@pytest.mark.parametrize("sigma", [1, 3.5, 20])
def test_a_short_history_is_bracketed_as_one_that_has_no_future(delta: float, sigma: float) -> None:
    """A plan with room for more was kept for it: 7 percent wide at 1e-15."""
    found, exact = (
        IncrementalPLD(delta).add(ev.GaussianNoise(sigma, 1)).epsilon(),
        acc.epsilon(ev.GaussianNoise(sigma, 1), delta),
    )
    assert found.lower <= exact.upper
    assert exact.lower <= found.upper
    assert found.width <= 1e-3 * max(1.0, found.upper)
