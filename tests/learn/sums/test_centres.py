"""Centres: each row's nearest one is its own, what is split and merged follows from sums, and all rounds are paid."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from curador.learn.rows import design
from curador.learn.rows.design import Design
from curador.learn.rows.encoding import SCALE, Encoding, NumberFeature
from curador.learn.sums.centres import Cluster, centred, clusters, grown, growth, merged, nearest
from curador.learn.sums.classes import ClassSums
from curador.mechanisms.gaussian import Gaussian
from curador.mechanisms.laplace import Laplace
from curador.privacy import ZCDP, PureDP
from tests.learn.sums.rows import MIXED, made_up, single

LINE = Encoding((NumberFeature("x", 0, 1), NumberFeature("y", 0, 1)))
LOWEST = np.array([-1.0, -1.0])


def on_line(x: list[float]) -> Design:
    at = np.array([[v * SCALE, 0] for v in x]).reshape(len(x), 2).astype(np.int16)
    return Design(LINE, at, np.zeros((len(x), 0), np.int16))


def test_the_nearest_centre_is_the_rows_own(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = made_up(100, 31)
    some = np.random.default_rng(32).uniform(-1, 1, (7, MIXED.width - 1))
    found = nearest(rows, some)
    dense = np.concatenate([block for _, block in rows.blocks()])[:, :-1]
    away = ((dense[:, None] - np.rint(some * SCALE)) ** 2).sum(axis=2)
    assert (found == away.argmin(axis=1)).all()
    assert [int(nearest(single(rows, i), some)[0]) for i in range(100)] == found.tolist()
    monkeypatch.setattr(design, "PIECE", 7)
    assert (nearest(rows, some) == found).all()
    assert (nearest(rows, np.zeros((3, MIXED.width - 1))) == 0).all()  # of several, the first


def test_clusters_are_what_the_sums_say_and_few_rows_are_none() -> None:
    sums = ClassSums(LINE, 3, 0, ZCDP(10**6))
    rows = on_line([-0.5, -0.25, 0.5, 1.0])
    found = clusters(sums.exact(rows, np.array([0, 0, 1, 1], np.int32)).astype(float), sums)
    assert [c.count for c in found] == [2, 2]
    assert found[0].mean == pytest.approx([-0.375, 0])
    assert found[1].spread == pytest.approx([0.0625, 0], abs=0.01)
    noisy = ClassSums(LINE, 1, 0, PureDP(0.01))
    assert clusters(noisy.exact(rows, np.zeros(4, np.int32)).astype(float), noisy) == []


def test_the_cluster_that_gains_most_is_split_along_its_widest_column() -> None:
    wide = Cluster(100, np.array([0.0, 0.5]), np.array([0.01, 0.25]))
    many = Cluster(1000, np.array([-0.5, 0.0]), np.array([0.001, 0.0]))
    found = grown([many, wide], 3, LOWEST)
    assert found[0] is many
    assert found[1].mean[0] == found[2].mean[0] == 0
    assert found[1].mean[1] < 0.5 < found[2].mean[1] <= 1
    assert found[1].count == 50
    assert found[1].spread[1] < 0.1
    assert len(grown([], 5, LOWEST)) == 5


def test_clusters_that_are_close_are_merged_by_their_counts() -> None:
    at = [(-0.9, 10.0), (-0.8, 30.0), (0.7, 5.0), (0.9, 5.0), (0.0, 100.0)]
    found = merged([Cluster(n, np.array([x, 0.0]), np.zeros(2)) for x, n in at], 3)
    assert sorted(found[:, 0]) == pytest.approx([-0.825, 0, 0.8])


@pytest.mark.parametrize(("guarantee", "kind"), [(PureDP(1), Laplace), (ZCDP(0.5), Gaussian)])
def test_all_rounds_together_keep_the_guarantee(guarantee: Any, kind: Any) -> None:
    noise = ClassSums(LINE, 8, 0, guarantee, rounds=6).noise
    assert isinstance(noise, kind)
    ratio = float(noise.event.sensitivity / (noise.scale if isinstance(noise, Laplace) else noise.sigma))
    spent = 6 * ratio if kind is Laplace else 6 * ratio**2
    assert 0.999 < spent <= 1


def test_every_round_is_one_release(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read is read through the noise, once in each round that is paid."""
    sums = ClassSums(LINE, max(growth(3)), 0, ZCDP(10**6), rounds=5)
    drawn = []
    release = Gaussian.release

    def counted(self: Gaussian, value: Any, **settings: Any) -> Any:
        drawn.append(np.shape(value))
        return release(self, value, **settings)

    monkeypatch.setattr(Gaussian, "release", counted)
    rows = on_line([-0.9, -0.8, 0.0, 0.1, 0.8, 0.9] * 50)
    found = centred(lambda at: sums.exact(rows, nearest(rows, at)), sums, 3)
    assert drawn == [(12, 5)] * 5
    assert sorted(found[:, 0]) == pytest.approx([-0.85, 0.05, 0.85], abs=0.03)


def test_with_no_rows_centres_are_spread_over_the_bounds() -> None:
    rows, sums = on_line([]), ClassSums(LINE, 16, 0, PureDP(0.1), rounds=6)
    found = centred(lambda at: sums.exact(rows, nearest(rows, at)), sums, 4)
    assert found.shape == (4, 2)
    assert np.abs(found).max() <= 1
