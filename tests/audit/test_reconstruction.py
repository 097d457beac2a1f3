"""Reconstruction: exact answers give all away, a budget does not, and the budget really ends."""

from __future__ import annotations

import pytest

from curador.audit import reconstruction
from curador.audit.reconstruction import SWEEP, reconstruct, recovered
from curador.errors import InvalidParameter
from curador.privacy import PureDP
from curador.show.words.say import LANGUAGES

BITS, COUNTS = 30, 400


def test_exact_and_unbudgeted_counts_give_the_bits_away_and_a_budget_does_not() -> None:
    found = reconstruct(BITS, COUNTS, epsilon=1)
    assert found.exact == 1
    assert found.unbudgeted > 0.95
    assert found.refused
    # Right on each bit with a chance of at most 0.731: 29 of 30 would be a wonder (1e-3), and bytes are the same.
    assert found.private < 0.95
    assert found.ceiling == pytest.approx(0.731, abs=1e-3)
    assert [total for total, *_ in found.sweep] == list(SWEEP)
    assert found.sweep[-1][1] > 0.95
    assert all(low <= mean <= high for _, mean, low, high in found.sweep)
    assert found.error == pytest.approx(1198, abs=5)  # 95 % of Laplace noise of scale 400: 400 ln 20


def test_the_people_follow_the_seed_and_the_noise_does_not() -> None:
    one, two = (reconstruct(12, 50, seed=5) for _ in range(2))
    assert (one.guess, one.exact) == (two.guess, two.exact)
    assert one.sweep != two.sweep


def test_a_curator_that_goes_on_selling_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconstruction, "PureDP", lambda epsilon: PureDP(2 * epsilon))
    found = reconstruct(20, 60)
    assert not found.refused
    for language, words in zip(LANGUAGES, ("did NOT refuse", "NO rechazó"), strict=True):
        assert any(words in text for text in found.exhibit().sentences(language))


def test_an_attack_that_cannot_be_is_refused() -> None:
    for bits, counts in ((50, 40), (1009, 2000), (1, 10)):
        with pytest.raises(InvalidParameter):
            reconstruct(bits, counts)


@pytest.mark.slow
def test_the_figures_of_the_notes() -> None:
    """200 bits from 1,000 counts; at epsilon 1 about half, since the noise is a thousand times a count's."""
    found = reconstruct()
    assert (found.exact, found.unbudgeted, found.refused) == (1, 1, True)
    assert 0.4 < found.private < 0.65


def test_the_short_form_attacks_the_same_bits() -> None:
    short, long = recovered(bits=20, counts=60, seed=3), reconstruct(bits=20, counts=60, seed=3)
    assert (short.exact, short.guess, short.ceiling) == (long.exact, long.guess, long.ceiling)
    with pytest.raises(InvalidParameter, match="no such attack"):
        recovered(bits=20, counts=10)
