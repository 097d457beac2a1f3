"""The game: no attacker above the curve, one that reaches it, and noise that is cut off."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from curador.accounting.rules.tradeoffs import tradeoff
from curador.audit.chances import at_least, at_most, epsilon_floor
from curador.audit.game import BOUNDS, CURVE, attacked, certain, game_exhibits, play, truncated
from curador.errors import InvalidParameter
from curador.privacy import PureDP
from curador.show.words.say import LANGUAGES


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
def test_the_attacker_reaches_the_bound_and_not_more(epsilon: str) -> None:
    """The limits hold at 99 %, and the bytes are the same every time."""
    game = play(epsilon, plays=20_000)
    assert game.most == pytest.approx(1 / (1 + math.exp(-float(epsilon))))
    assert game.low < game.most < game.high


def test_no_test_lies_below_the_promise_but_by_chance() -> None:
    """Each of eight tests has two rates of 20,000 runs: four deviations of 0.35 % are exceeded in 1e-3 of all bytes."""
    curve = tradeoff(PureDP(1))
    game = play(1, plays=40_000)
    assert all(fnr >= curve.fnr(fpr) - 0.02 for fpr, fnr in game.tests)
    wrong = play(2, plays=40_000)  # twice the loss: below the curve of epsilon 1
    assert any(fnr < curve.fnr(fpr) - 0.02 for fpr, fnr in wrong.tests)


def test_half_the_noise_is_found() -> None:
    assert not attacked(play(1, plays=20_000)).violated
    claims_less = replace(play(2, plays=20_000), epsilon=1.0)
    found = attacked(claims_less)
    assert found.violated
    assert 1 < found.floor < 2
    assert "violated" in found.sentence()


def test_cut_off_noise_promises_no_epsilon_and_a_small_delta() -> None:
    found = truncated()
    assert [t.bound for t in found] == list(BOUNDS)
    assert {t.epsilon for t in found} == {math.inf}
    assert [t.log_delta for t in found] == sorted((t.log_delta for t in found), reverse=True)
    # The course's: e**-1000 / 2, times 1 - e**-1 of answers that the other database cannot give, is 10**-434.4
    assert found[-1].log_delta == pytest.approx(-434.36, abs=0.01)


def test_the_curve_of_delta_has_no_corners() -> None:
    """Log delta falls by about one bound for each bound, so it bends on a logarithmic axis: seven points showed."""
    drawing = game_exhibits(plays=200)[1].parts[0].drawings[0]
    (curve,) = drawing.series
    assert set(CURVE) <= set(curve.x)
    assert max(b / a for a, b in zip(curve.x, curve.x[1:], strict=False)) <= 1.5


def test_answers_that_tell_for_sure_come_as_often_as_they_should() -> None:
    """P(1 + noise > 2 | noise within 2) for Laplace noise: (e**-1 - e**-2) / 2 / (1 - e**-2) = 0.134."""
    chance = (math.exp(-1) - math.exp(-2)) / 2 / (1 - math.exp(-2))
    seen = certain(2, 20_000)
    assert at_least(seen, 20_000, 1e-4) < chance < at_most(seen, 20_000, 1e-4)
    assert certain(1000, 20_000) == 0
    with pytest.raises(InvalidParameter):
        certain(0, 10)


def test_limits_of_chances_are_exact() -> None:
    assert at_least(10, 10, 0.005) == pytest.approx(0.005**0.1)
    assert at_most(0, 10, 0.005) == pytest.approx(1 - 0.005**0.1)
    assert epsilon_floor(1000, 1000, 0, 1000, 0.99) > 5
    assert epsilon_floor(0, 10, 0, 10, 0.99) == 0
    assert epsilon_floor(60, 100, 40, 100, 0.99, delta=0.5) == 0


def test_a_floor_is_the_better_of_what_happens_and_what_does_not() -> None:
    """Both from the same two limits; it never passes the true epsilon more often than it may."""
    assert epsilon_floor(900, 1000, 200, 1000, 0.99) == pytest.approx(1.797, abs=1e-3)  # by the first alone 1.31
    assert epsilon_floor(800, 1000, 100, 1000, 0.99) == pytest.approx(1.797, abs=1e-3)
    assert epsilon_floor(700, 1000, 310, 1000, 0.99) == pytest.approx(0.653, abs=1e-3)  # 0.639
    rng, runs = np.random.default_rng(5), 20_000
    told = math.e / (1 + math.e)  # a coin that uses up an epsilon of 1 in both inequalities
    yes, other = rng.binomial(200, told, runs), rng.binomial(200, 1 - told, runs)
    counts, times = np.unique(np.column_stack([yes, other]), axis=0, return_counts=True)
    above = sum(
        int(k) for (a, b), k in zip(counts.tolist(), times, strict=True) if epsilon_floor(a, 200, b, 200, 0.9) > 1
    )
    assert above <= 0.1 * runs


def test_the_pictures_are_told_in_both_languages() -> None:
    game, cut = game_exhibits("0.5", plays=500)
    assert game.facts["epsilon"] == 0.5
    for exhibit in (game, cut):
        said = [list(exhibit.sentences(language)) for language in LANGUAGES]
        assert len(said[0]) == len(said[1])
        assert not set(said[0]) & set(said[1])
        for part in exhibit.parts:
            for drawing in part.drawings:
                assert drawing.svg("en") != drawing.svg("es")
