"""How often intervals cover: every aggregate with noise, in every currency, under both kinds of neighbours."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

import curador as cu

GROUPS, ROWS = 1000, 1500
ASKED = ("n", "s", "m", "v", "d", "w", "r")
STATEMENT = (
    "SELECT g, COUNT(*) AS n, SUM(x) AS s, AVG(x) AS m, VAR_SAMP(x) AS v, STDDEV_POP(x) AS d, COUNT(y) AS w, "
    "COUNT(y) / COUNT(*) AS r "
    "FROM people GROUP BY g"
)


def _people(values: NDArray[np.int64]) -> pa.Table:
    """Every group holds the same rows, so that one question draws its noise a thousand times."""
    x = np.tile(values, GROUPS)
    missing = np.tile(np.arange(ROWS) % 4 == 0, GROUPS)
    return pa.table({"g": np.repeat(np.arange(GROUPS), ROWS), "x": x, "y": pa.array(x, mask=missing)})


def _curator(data: pa.Table, neighbors: str, rho: bool, most: int = 100) -> cu.Curator:
    columns = {
        "g": {"type": "integer", "bounds": [0, GROUPS - 1]},
        "x": {"type": "integer", "bounds": [0, most], "nullable": False},
        "y": {"type": "integer", "bounds": [0, most]},
    }
    table = cu.Table(data, columns=columns, neighbors=neighbors)
    return cu.Curator({"people": table}, budget=cu.ZCDP(1000, 0.01) if rho else cu.ApproxDP(1000, 0.01))


@pytest.mark.slow
@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
@pytest.mark.parametrize(
    "price", [{"epsilon": 1.5}, {"epsilon": 1, "delta": 1e-6}, {"rho": 0.02}], ids=["pure", "approx", "rho"]
)
@pytest.mark.parametrize("values", ["even", "skew"])
def test_intervals_cover_as_often_as_they_say(neighbors: str, price: dict[str, Any], values: str) -> None:
    rng = np.random.default_rng(8)
    drawn = rng.integers(0, 101, ROWS) if values == "even" else np.minimum(rng.geometric(0.08, ROWS), 100)
    curator = _curator(_people(drawn), neighbors, "rho" in price)
    truth = {
        "n": ROWS,
        "s": drawn.sum(),
        "m": drawn.mean(),
        "v": drawn.var(ddof=1),
        "d": drawn.std(),
        "w": ROWS * 3 // 4,
        "r": 0.75,
    }
    hit = dict.fromkeys(ASKED, 0)
    times = 8
    for _ in range(times):
        release = curator.sql(STATEMENT, **price, fresh=True, because="coverage")
        for name in ASKED:
            ends = np.array(release.intervals[name], np.float64)
            hit[name] += int(((ends[:, 0] <= truth[name] + 1e-9) & (truth[name] - 1e-9 <= ends[:, 1])).sum())
    covered = {name: n / (times * GROUPS) for name, n in hit.items()}
    assert min(covered.values()) >= 0.945
    assert max(covered.values()) <= 0.97


@pytest.mark.slow
@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": 0.02}], ids=["pure", "rho"])
def test_variances_of_totals_cover_as_often_as_they_say(price: dict[str, Any]) -> None:
    """Over grouping sets, whose numbers are sums of noised ones."""
    rng = np.random.default_rng(9)
    x = np.tile(rng.integers(0, 101, 300), 200)
    a, b = np.repeat(np.arange(40), 1500), np.tile(np.repeat(np.arange(5), 300), 40)
    keys = {name: {"type": "integer", "bounds": [0, n - 1]} for name, n in (("a", 40), ("b", 5))}
    columns = {**keys, "x": {"type": "integer", "bounds": [0, 100], "nullable": False}}
    table = cu.Table(pa.table({"a": a, "b": b, "x": x}), columns=columns)
    curator = cu.Curator({"people": table}, budget=cu.ZCDP(1000) if "rho" in price else cu.PureDP(1000))
    truth, hit, times = x[:1500].var(ddof=1), 0, 60
    for _ in range(times):
        release = curator.sql(
            "SELECT a, b, VARIANCE(x) AS v FROM people GROUP BY GROUPING SETS ((a, b), (a)) HAVING GROUPING(b) = 1",
            **price,
            fresh=True,
            because="coverage",
        )
        ends = np.array(release.intervals["v"], np.float64)
        assert len(ends) == 40
        hit += int(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).sum())
    assert 0.94 <= hit / (40 * times) <= 0.97


QUANTILES = {"low": 0.01, "lower": 0.25, "m": 0.5, "upper": 0.75, "high": 0.99}
RANKED = (
    "SELECT g, MIN(x) AS low, QUANTILE(x, 0.25) AS lower, MEDIAN(x) AS m, QUANTILE(x, 0.75) AS upper, MAX(x) AS high "
    "FROM people GROUP BY g"
)


@pytest.mark.slow
@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
@pytest.mark.parametrize(
    "price",
    [{"epsilon": 5}, {"epsilon": 5, "delta": 1e-6, "noise": "gaussian"}, {"rho": 0.5}],
    ids=["pure", "gaussian", "rho"],
)
@pytest.mark.parametrize("values", ["even", "skew", "ties"])
def test_intervals_of_quantiles_cover_whatever_the_values_are(
    neighbors: str, price: dict[str, Any], values: str
) -> None:
    """At least 95 %; more where many share a value, since ends are rounded out to cells (docs/decisions/0009)."""
    rng = np.random.default_rng(9)
    drawn = {
        "even": rng.integers(0, 60_001, ROWS),
        "skew": np.where(rng.random(ROWS) < 0.3, 0, np.minimum(rng.lognormal(8, 1, ROWS), 60_000)).astype(np.int64),
        "ties": rng.choice([0, 10, 500, 20_000, 60_000], ROWS),
    }[values]
    curator = _curator(_people(drawn), neighbors, "rho" in price, 60_000)
    release = curator.sql(RANKED, **price, because="coverage")
    ranked = np.sort(drawn)
    covered = {}
    for name, q in QUANTILES.items():
        true = ranked[int(np.ceil(q * ROWS)) - 1]
        ends: np.ndarray = np.array(release.intervals[name])
        covered[name] = float(((ends[:, 0] <= true) & (true <= ends[:, 1])).mean())
    assert min(covered.values()) >= 0.945
    if values == "even":
        assert min(covered.values()) <= 0.975
