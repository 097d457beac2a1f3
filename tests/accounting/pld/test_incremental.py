"""A growing distribution that starts from a kept history, and events that no window holds."""

from __future__ import annotations

import time
from typing import Any

import pytest

from curador import accounting as acc
from curador.accounting import events
from curador.accounting.pld import IncrementalPLD
from curador.accounting.pld.solve import worst
from curador.errors import InvalidParameter

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
    start = time.process_time()
    found = IncrementalPLD(1e-6).add(event).epsilon()
    assert time.process_time() - start < 5  # it was 28 seconds, or an overflow
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
