"""Covariances, correlations and lines: values, shared measures, refusals, and how often their intervals cover."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

import curador as cu
from curador.errors import QuestionRefused
from curador.mechanisms.base import AdditiveNoise
from curador.mechanisms.gaussian import Gaussian, IntegerGaussian
from curador.mechanisms.laplace import IntegerLaplace
from curador.query.aggregates.pairs.equations import PairSums
from curador.query.aggregates.pairs.pairs import PairMoments

RNG = np.random.default_rng(6)
ROWS = 4000
X = RNG.integers(0, 121, ROWS)
Y = np.clip((4 * (1.5 * X + RNG.normal(40, 60, ROWS))).round() / 4, 0, 500)
MISSING = RNG.random(ROWS) < 0.1
GONE = RNG.random(ROWS) < 0.2
PEOPLE = pa.table(
    {
        "x": X,
        "y": Y,
        "u": pa.array(X, mask=MISSING),
        "w": pa.array(Y, mask=GONE),
        "one": np.full(ROWS, 7),
        "ok": X > 60,
        "k": np.arange(ROWS) % 2,
        "t": ["a"] * ROWS,
    }
)
WHOLE, REAL = {"type": "integer", "bounds": [0, 120]}, {"type": "real", "bounds": [0, 500], "step": 2**-10}
COLUMNS: dict[str, object] = {
    "x": {**WHOLE, "nullable": False},
    "y": {**REAL, "nullable": False},
    "u": WHOLE,
    "w": REAL,
    "one": {**WHOLE, "nullable": False},
    "ok": {"type": "boolean", "nullable": False},
    "k": {"type": "integer", "keys": [0, 1]},
    "t": "text",
}


@pytest.fixture(scope="module")
def curator() -> Iterator[cu.Curator]:
    made = cu.Curator({"people": cu.Table(PEOPLE, columns=COLUMNS)}, cu.PureDP(10**6))
    yield made
    made.close()


def asked(curator: cu.Curator, text: str, epsilon: float = 10**5) -> cu.Release:
    return curator.sql(text, epsilon=epsilon, because="a test", override=True)


EVERY = (
    "SELECT COVAR_SAMP({a}, {b}) AS c, COVAR_POP({a}, {b}) AS p, CORR({a}, {b}) AS r, REGR_SLOPE({a}, {b}) AS s, "
    "REGR_INTERCEPT({a}, {b}) AS i, REGR_R2({a}, {b}) AS q, REGR_COUNT({a}, {b}) AS n, REGR_AVGX({a}, {b}) AS x, "
    "REGR_AVGY({a}, {b}) AS y FROM people"
)


def truth(y: NDArray[Any], x: NDArray[Any]) -> list[float]:
    at, (s, i), r = np.cov(y, x), np.polyfit(x, y, 1), np.corrcoef(y, x)[0, 1]
    return [at[0, 1], at[0, 1] * (len(x) - 1) / len(x), r, s, i, r * r, len(x), x.mean(), y.mean()]


@pytest.mark.parametrize(("a", "b", "there"), [("y", "x", None), ("w", "x", ~GONE), ("w", "u", ~GONE & ~MISSING)])
def test_values_are_those_of_rows_in_which_neither_is_null(
    curator: cu.Curator, a: str, b: str, there: NDArray[np.bool_] | None
) -> None:
    """With negligible noise, and the intervals around them are as narrow."""
    release = asked(curator, EVERY.format(a=a, b=b))
    y, x = (Y, X) if there is None else (Y[there], X[there])
    for name, true in zip("cprsiqnxy", truth(y, x), strict=True):
        ((low, high),) = release.intervals[name]
        assert release.columns[name][0] == pytest.approx(true, rel=1e-4)
        assert low <= true * (1 + 1e-9)
        assert true * (1 - 1e-9) <= high
        assert high - low <= 1e-3 * abs(true)


def test_all_of_one_pair_share_their_measures(curator: cu.Curator) -> None:
    made = curator.plan(EVERY.format(a="w", b="x"), epsilon=1)
    assert len(made.measures) == 6
    turned = curator.plan("SELECT CORR(x, w) AS r FROM people", epsilon=1)
    plain = curator.plan("SELECT CORR(w, x) AS r FROM people", epsilon=1)
    assert set(turned.measures) == set(plain.measures) == set(made.measures)
    # Beside a mean and a variance of a column whose partner is never NULL, only the product and the other's are new.
    beside = curator.plan("SELECT AVG(x) AS m, VARIANCE(x) AS v, REGR_SLOPE(y, x) AS s FROM people", epsilon=1)
    assert len(beside.measures) == 5


def test_turning_the_columns_around_is_bought_once(curator: cu.Curator) -> None:
    first = asked(curator, "SELECT CORR(x, y) AS r FROM people", 0.5)
    again = asked(curator, "SELECT CORR(y, x) AS s FROM people", 0.5)
    assert again.columns["s"] == first.columns["r"]
    assert again.charge == first.charge


def test_filters_booleans_groups_and_arithmetic(curator: cu.Curator) -> None:
    release = asked(
        curator,
        "SELECT k, CORR(y, x) FILTER (WHERE ok) AS r, CORR(ok, y) AS b, 60 * REGR_SLOPE(y, x) AS hourly"
        " FROM people GROUP BY k HAVING CORR(y, x) > 0 ORDER BY k",
    )
    for k in (0, 1):
        some = np.arange(ROWS) % 2 == k
        y, x = Y[some], X[some]
        found = [release.columns[name][k] for name in ("r", "b", "hourly")]
        true = np.corrcoef(y[x > 60], x[x > 60])[0, 1], np.corrcoef(x > 60, y)[0, 1], 60 * np.polyfit(x, y, 1)[0]
        assert found == pytest.approx(true, rel=1e-3)
        low, high = release.intervals["hourly"][k]
        assert low <= true[2] <= high


def test_nothing_is_claimed_where_a_column_does_not_vary(curator: cu.Curator) -> None:
    """Noise alone: a correlation may be anything, and a line has no ends."""
    release = asked(
        curator, "SELECT CORR(one, y) AS r, REGR_R2(y, one) AS q, REGR_SLOPE(y, one) AS s, "
        "REGR_INTERCEPT(y, one) AS i, COVAR_POP(y, one) AS c FROM people", 1
    )  # fmt: skip
    assert release.intervals["r"] == ((-1.0, 1.0),)
    assert release.intervals["q"] == ((0.0, 1.0),)
    assert release.intervals["s"] == release.intervals["i"] == ((-np.inf, np.inf),)
    low, high = release.intervals["c"][0]
    assert low <= 0 <= high
    nothing = asked(curator, "SELECT REGR_SLOPE(y, x) AS s, CORR(y, x) AS r FROM people WHERE x > 120", 0.01)
    assert nothing.intervals == {"s": ((-np.inf, np.inf),), "r": ((-1.0, 1.0),)}


def test_expected_errors(curator: cu.Curator) -> None:
    c, r = curator.plan("SELECT COVAR_POP(y, x) AS c, CORR(y, x) AS r FROM people", epsilon=1, rows=ROWS).expected
    assert c.value is not None
    assert 0 < c.value < 120 * 500 / 4
    assert r.value is None
    assert r.by_rows == ()
    assert "depends on the answers" in curator.plan("SELECT CORR(y, x) AS r FROM people", epsilon=1).explain()
    with pytest.raises(QuestionRefused, match="depends on the answers"):
        curator.plan("SELECT CORR(y, x) AS r FROM people", accuracy=cu.within(0.1), rows=ROWS)


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("CORR(y, y)", "one column twice"),
        ("CORR(t, y)", "of type text"),
        ("CORR(y)", "missing|expected"),
        ("CORR(y, x, x)", "not in the grammar"),
        ("CORR(y * 1000000000 * 100000, x * 1000000000)", "62 bits|2\\*\\*62"),
        ("AVG(CORR(y, x))", "value of one row"),
    ],
)
def test_what_is_refused(curator: cu.Curator, written: str, why: str) -> None:
    with pytest.raises(QuestionRefused, match=why):
        curator.plan(f"SELECT {written} AS r FROM people", epsilon=1)


def test_a_pair_is_no_value() -> None:
    from curador.query.aggregates.base import Aggregate
    from curador.query.language.expressions import Compare, Literal, Name, ValuePair

    pair = ValuePair(Name("x"), Name("y"))
    with pytest.raises(QuestionRefused):
        Aggregate("sum", pair)
    with pytest.raises(QuestionRefused):
        Aggregate("correlation", Name("x"))
    stage = cu.Curator({"people": cu.Table(PEOPLE, columns=COLUMNS)}, cu.PureDP(1))
    with pytest.raises(QuestionRefused, match="value of one row"):
        stage.table("people").where(Compare(">", pair, Literal(1))).aggregate(n=cu.count()).plan(epsilon=1)
    stage.close()


# ---- how often they cover --------------------------------------------------------------------------------------------


def noised(rng: np.random.Generator, n: int, epsilon: float, law: str, groups: int) -> tuple[PairSums, NDArray[Any]]:
    """The same rows in many groups, each with noise of its own; and the true statistics."""
    x = rng.integers(-60, 61, n)
    y = np.clip((2 * x + rng.normal(0, 60, n)).round(), -250, 250).astype(int)
    sums = [x.sum(), y.sum(), (x * y).sum(), n, (x * x).sum(), (y * y).sum()]
    noisy: list[tuple[NDArray[Any], AdditiveNoise | None]] = []
    for total, moved in zip(sums, (60, 250, 15_000, 1, 3600, 62_500), strict=True):
        scale = round(6 * moved / epsilon)
        made: AdditiveNoise = Gaussian(moved, sigma=scale)
        if law != "gaussian":
            made = IntegerLaplace(moved, scale=scale) if law == "laplace" else IntegerGaussian(moved, sigma=scale)
        drawn = rng.laplace(0, scale, groups).round() if law == "laplace" else rng.normal(0, scale, groups)
        noisy.append((total + (drawn if law == "gaussian" else drawn.round()), made))
    at = np.cov(y, x)[0, 1], np.polyfit(x, y, 1)[0], np.corrcoef(x, y)[0, 1], np.polyval(np.polyfit(x, y, 1), -60)
    sx, sy, sxy, rows, sxx, syy = noisy
    return PairSums(sx, sy, sxy, rows, (rows[0],), (60.0, 250.0), sxx, syy), np.array(at)


def ends(of: PairSums) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    return [of.covariance(1.0, 0.05), of.slope(0.05), of.correlation(0.05), of.intercept(-60.0, 0.05)]


@pytest.mark.parametrize("law", ["laplace", "integer gaussian", "gaussian"])
def test_intervals_cover_and_are_tight(law: str) -> None:
    """Of 2,000 groups 1,870 or more cover with probability 1 - 1e-4 if each does with 0.95."""
    of, true = noised(np.random.default_rng(4), 20_000, 0.5, law, 2000)
    m = PairMoments.of(of)
    values = m.xy, m.slope, m.correlation, m.y + m.slope * (-60 - m.x)
    for (low, high), value, t in zip(ends(of), values, true, strict=True):
        assert ((low <= t) & (t <= high)).sum() >= 1870
        # Half of the interval is near what the estimate is off by in 95 of 100 cases.
        assert np.median(high - low) / 2 < 1.3 * np.quantile(np.abs(value - t), 0.95)


@pytest.mark.parametrize("law", ["laplace", "integer gaussian", "gaussian"])
def test_with_few_rows_intervals_are_wide_and_right(law: str) -> None:
    of, true = noised(np.random.default_rng(5), 150, 0.5, law, 2000)
    for (low, high), t in zip(ends(of), true, strict=True):
        assert ((low <= t) & (t <= high)).sum() >= 1870


GROUPS, EACH = 500, 3000


@pytest.mark.slow
@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
@pytest.mark.parametrize(
    "price", [{"epsilon": 4}, {"epsilon": 3, "delta": 1e-6}, {"rho": 0.1}], ids=["pure", "approx", "rho"]
)
def test_intervals_cover_as_often_as_they_say(neighbors: str, price: dict[str, Any]) -> None:
    """Every function of a pair through the whole of a curator, each at least 94.5 times of 100, and not much more."""
    rng = np.random.default_rng(11)
    x = rng.integers(0, 121, EACH)
    y = np.clip((1.5 * x + rng.normal(40, 60, EACH)).round(), 0, 500).astype(int)
    data = pa.table({"g": np.repeat(np.arange(GROUPS), EACH), "x": np.tile(x, GROUPS), "y": np.tile(y, GROUPS)})
    columns = {
        "g": {"type": "integer", "bounds": [0, GROUPS - 1]},
        "x": {"type": "integer", "bounds": [0, 120], "nullable": False},
        "y": {"type": "integer", "bounds": [0, 500]},
    }
    table = cu.Table(data, columns=columns, neighbors=neighbors)
    stage = cu.Curator({"people": table}, cu.ZCDP(1000, 0.01) if "rho" in price else cu.ApproxDP(1000, 0.01))
    text = EVERY.format(a="y", b="x").replace("SELECT", "SELECT g,") + " GROUP BY g"
    hit = dict.fromkeys("cprsiqnxy", 0)
    for _ in range(8):
        release = stage.sql(text, **price, fresh=True, because="coverage")
        for name, true in zip(hit, truth(y, x), strict=True):
            found = np.array(release.intervals[name], np.float64)
            hit[name] += int(((found[:, 0] <= true + 1e-9) & (true - 1e-9 <= found[:, 1])).sum())
    covered = {name: n / (8 * GROUPS) for name, n in hit.items()}
    assert min(covered.values()) >= 0.945, covered
    assert max(covered[name] for name in "cpsnxy") <= 0.978, covered  # 97 %, and three deviations of 4,000 draws
    assert max(covered.values()) <= 0.99, covered  # what they depend on is not small yet with so few rows
