"""The level is kept on laws that use up their claim, whatever the shape of the output; and what is wrong is found."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from curador.audit.tester import distinguish as tested
from curador.audit.tester.distinguish import compare, distinguish
from curador.errors import InvalidParameter
from curador.privacy import ZCDP, ApproxDP, PureDP, RenyiDP
from tests.mutants.fault import Rng, gaussian, laplace, on_grid
from tests.mutants.sparse_vector import watched

E = math.e


def geometric(value: int, n: int, rng: Rng) -> Any:
    return value + rng.geometric(1 - 1 / E, n) - rng.geometric(1 - 1 / E, n)


def answered(value: int, n: int, rng: Rng) -> Any:
    return np.where(rng.random(n) < E / (E + 3), value, (value + rng.integers(1, 4, n)) % 4)


def pair(value: int, n: int, rng: Rng) -> Any:
    return np.array([value, 0]) + laplace(rng, 1.0, (n, 2))


def texts(value: int, n: int, rng: Rng) -> Any:
    return np.array(["abcd"[x] for x in answered(value, n, rng)]).tolist()


def bits(value: int, n: int, rng: Rng) -> Any:
    own = np.arange(8) == value
    return np.packbits(rng.random((n, 8)) < np.where(own, 0.5, 1 / (1 + E)), axis=1)


def choice(value: int, n: int, rng: Rng) -> Any:
    scores = np.array([2.0 * value, 0, 0]) - value
    return (scores + on_grid(rng.exponential(2.0, (n, 3)))).argmax(axis=1)


def shown(value: int, n: int, rng: Rng) -> Any:
    """A group of one unit, shown with the whole delta of 0.2."""
    noisy = value + laplace(rng, 1.0, n)
    return np.where((noisy >= 1 + math.log(2.5)) & (value > 0), noisy, np.nan)


def sparse(value: int, n: int, rng: Rng) -> Any:
    values = [value, -value, value, -value]
    return watched(values, n, rng, threshold=2.0, question=4.0, cutoff=1)


SOUND: dict[str, tuple[Any, Any]] = {
    "laplace": (lambda v, n, rng: v + laplace(rng, 1.0, n), PureDP(1)),
    "geometric": (geometric, PureDP(1)),
    "answers": (answered, PureDP(1)),
    "texts": (texts, PureDP(1)),
    "a pair": (pair, PureDP(1)),
    "bits": (bits, PureDP(1)),
    "a choice": (choice, PureDP(1)),
    "a group": (shown, ApproxDP(1, 0.2)),
    "sparse vector": (sparse, PureDP(1)),
    "gaussian": (lambda v, n, rng: v + gaussian(rng, 1.0, n), ZCDP(0.5)),
    "gaussian, by orders": (lambda v, n, rng: v + gaussian(rng, 1.0, n), RenyiDP({2: 1, 16: 8})),
    "gaussian, at a delta": (lambda v, n, rng: v + gaussian(rng, 1.0, n), ApproxDP(1, 0.12694)),  # [BW18]: its own
}


def alarms(name: str, runs: int, n: int, confidence: float) -> int:
    run, claim = SOUND[name]
    found = 0
    for seed in range(runs):
        rng = np.random.default_rng([seed, n])
        found += compare(run(0, n, rng), run(1, n, rng), claim, confidence=confidence).violated
    return found


@pytest.mark.parametrize("name", SOUND)
def test_sound_laws_are_not_called_violated(name: str) -> None:
    assert alarms(name, 20, 2000, 0.999) == 0


@pytest.mark.slow
def test_false_alarms_are_rarer_than_one_in_a_thousand() -> None:
    """At the level of 0.999: none in 3,600 runs, so that the rate is below 1 in 1,000 but for a chance of 3 %."""
    assert 0.999**3600 < 0.03
    assert {name: count for name in SOUND if (count := alarms(name, 300, 1000, 0.999))} == {}


@pytest.mark.slow
def test_at_a_level_that_is_used_up_false_alarms_keep_to_it() -> None:
    """At 0.5, one claim in two may be refuted wrongly: the limits of four events are paid for, so far fewer are."""
    counts = {name: alarms(name, 100, 600, 0.5) for name in SOUND}
    assert max(counts.values()) <= 50 - 3 * 5  # three deviations below what is allowed
    assert sum(counts.values()) > 0  # and the level means something


def test_judging_by_the_runs_that_chose_would_raise_false_alarms(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the split is for: judged by the half that chose them, chance differences pass for real ones."""

    def called_violated() -> int:
        found = 0
        for seed in range(40):
            rng = np.random.default_rng(seed)
            found += compare(laplace(rng, 1.0, 600), laplace(rng, 1.0, 600), PureDP(0.001), confidence=0.5).violated
        return found

    assert called_violated() <= 20 - 3 * 3
    seen: list[Any] = []
    choose, judged = tested.choose, tested._judged  # type: ignore[attr-defined]

    def remembered(first: Any, second: Any, *rest: Any) -> Any:
        seen[:] = first, second
        return choose(first, second, *rest)

    monkeypatch.setattr(tested, "choose", remembered)
    monkeypatch.setattr(tested, "_judged", lambda event, judges, *rest: judged(event, seen, *rest))
    assert called_violated() > 20 + 3 * 3


@pytest.mark.parametrize("name", [name for name in SOUND if name not in ("sparse vector", "a group")])
def test_half_the_claim_is_refuted(name: str) -> None:
    run, claim = SOUND[name]
    half = claim.share("1/4") if isinstance(claim, ZCDP | RenyiDP) else PureDP(0.5)
    rng = np.random.default_rng(3)
    found = compare(run(0, 30_000, rng), run(1, 30_000, rng), half)
    assert found.violated
    assert found.witness


def test_a_finding_says_what_was_done() -> None:
    rng = np.random.default_rng(1)
    found = distinguish(lambda n: laplace(rng, 1.0, n), lambda n: 1 + laplace(rng, 1.0, n), PureDP(1), n=5000)
    assert found.samples == 5000
    assert found.sentence().startswith("the mechanism: no violation found with n = 5,000; would have found a scale")
    assert 0.7 < found.floor < 1
    assert found.details["of"] == 2500
    with pytest.raises(InvalidParameter):
        distinguish(lambda n: laplace(rng, 1.0, n), lambda n: laplace(rng, 1.0, n), PureDP(1), n=100)
    with pytest.raises(InvalidParameter):
        compare(np.zeros(500), np.zeros(500), PureDP(1), confidence=1.0)


def test_sides_that_agree_show_nothing() -> None:
    for same in (np.zeros(500), ["a"] * 500, np.full((500, 3), np.nan), [None] * 500, np.zeros((500, 2), np.uint8)):
        assert compare(same, same, PureDP(1)).floor == 0


def test_a_rare_output_of_another_type_on_one_side_is_no_alarm() -> None:
    rng = np.random.default_rng(1)
    first, second = ([(int(a), int(b)) for a, b in rng.integers(0, 3, (4000, 2))] for _ in range(2))
    for odd in ((0.5, 0), (2**63 + 1, 0), None, (1,)):
        for place in (0, 3999):
            second[place] = odd  # type: ignore[assignment]
            assert not compare(first, second, PureDP(1)).violated
            assert not compare(second, first, PureDP(1)).violated
    alone = rng.integers(0, 9, (2, 4000)).tolist()
    assert not compare(np.array(alone[0]), np.array([*alone[1][:-1], None]), PureDP(1)).violated
