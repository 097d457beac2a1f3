"""Arithmetic on answers, as it is written in SQL: what it means, what it measures, what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from curador.curator.curator import Curator
from curador.errors import QuestionRefused
from curador.privacy import PureDP
from curador.query.aggregates.moments import mean
from curador.query.aggregates.sums import sum_ as total
from curador.query.ask.question import Question
from curador.query.ask.sql.read import parse
from curador.query.plan.checked import check
from curador.query.tables.table import Table

DRAWN = np.random.default_rng(7)
SIZE = 4000
FRAME = pd.DataFrame(
    {
        "id": np.arange(SIZE),
        "town": DRAWN.choice(["Lugo", "Vigo", "Lorca", "Soria"], SIZE, p=[0.4, 0.3, 0.2, 0.1]),
        "coast": DRAWN.random(SIZE) < 0.5,
        "spend": (DRAWN.integers(0, 500 * 64, SIZE) / 64),
        "minutes": DRAWN.integers(0, 121, SIZE),
    }
)
FRAME.loc[DRAWN.random(SIZE) < 0.2, "spend"] = np.nan
COLUMNS: Mapping[str, object] = {
    "id": "integer",
    "town": {"type": "text", "keys": ["Lugo", "Vigo", "Lorca", "Soria"]},
    "coast": {"type": "boolean", "nullable": False},
    "spend": {"type": "real", "bounds": [0, 500], "step": 1 / 64},
    "minutes": {"type": "integer", "bounds": [0, 120], "nullable": False},
    "device": "text",
}
TABLES = {
    "visits": Table("no-such.csv", unit="id", contribution=(1, 1), columns=COLUMNS),
    "other": Table("no-such.csv", unit="id", contribution=(1, 1), columns=COLUMNS),
}


def asked(text: str) -> Question:
    return parse(text, TABLES)


def refused(text: str) -> QuestionRefused:
    with pytest.raises(QuestionRefused) as caught:
        asked(text)
    assert caught.value.fix
    return caught.value


# ---- what DuckDB says ----------------------------------------------------------------------------------------------

SAME = [
    "SELECT SUM(spend) / COUNT(*) AS a, SUM(spend) / COUNT(spend) AS b, AVG(spend) AS c FROM visits",
    "SELECT 100.0 * COUNT(*) AS a, SUM(spend) / COUNT(DISTINCT id) AS b FROM visits",
    "SELECT ROUND(AVG(spend), 2) AS a, ROUND(SUM(minutes) / 60.0) AS b, FLOOR(AVG(minutes)) AS c FROM visits",
    "SELECT SUM(minutes * spend) / SUM(minutes) AS a, 2 * SUM(spend * minutes) / SUM(spend) - 1 AS b FROM visits",
    "SELECT town, CORR(spend + minutes, minutes) AS r, COVAR_POP(minutes, spend + minutes) AS c,"
    " REGR_COUNT(spend, minutes) AS n, REGR_SLOPE(minutes * 2 + spend, minutes) AS s,"
    " REGR_INTERCEPT(spend + minutes, minutes) AS i FROM visits GROUP BY town ORDER BY town",
    "SELECT COUNT(DISTINCT minutes * 1000000) AS a, COUNT(DISTINCT spend) FILTER (WHERE coast) AS b FROM visits",
    "SELECT COUNT(*) FILTER (WHERE minutes > 60) AS a, SUM(spend) FILTER (WHERE coast) AS b, COUNT_IF(coast) AS c,"
    " AVG(minutes) FILTER (WHERE town = 'Lugo') AS d, COUNT(spend) FILTER (WHERE coast) AS e FROM visits",
    "SELECT AVG(CAST(coast AS INTEGER)) AS a, SUM(CAST(coast AS INTEGER)) AS b FROM visits",
    "SELECT AVG(minutes) FILTER (WHERE coast) - AVG(minutes) FILTER (WHERE NOT coast) AS a,"
    " COUNT(*) FILTER (WHERE coast) / NULLIF(COUNT(*), 0) AS b FROM visits",
    "SELECT town, COUNT(*) * 1.0 / SUM(COUNT(*)) OVER () AS share FROM visits GROUP BY town ORDER BY town",
    "SELECT town, coast, COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY town) AS share FROM visits GROUP BY town, coast"
    " ORDER BY town, coast",
    "SELECT town, COUNT(*) AS n, ROW_NUMBER() OVER (ORDER BY COUNT(*) DESC) AS r FROM visits GROUP BY town ORDER BY r",
    "SELECT town, COUNT(*) AS n, n * 2 AS twice FROM visits GROUP BY town ORDER BY COUNT(*) / 2 DESC LIMIT 2 OFFSET 1",
    "SELECT town, AVG(minutes) AS m FROM visits GROUP BY town HAVING COUNT(*) * 2 > 900 AND SUM(spend) / COUNT(*) > 1"
    " ORDER BY town",
    "SELECT minutes // 60 AS h, h * 60 AS from_minute, COUNT(*) AS n FROM visits GROUP BY h ORDER BY h",
    "SELECT town, CASE WHEN COUNT(*) > 1000 THEN 'many' ELSE 'few' END AS size, COUNT(*) > 500 AS large,"
    " GREATEST(COUNT(*) - 1000, 0) AS beyond FROM visits GROUP BY town ORDER BY town",
    "WITH a AS (SELECT town, COUNT(*) AS n FROM visits GROUP BY town) SELECT town, n FROM a ORDER BY town",
    "SELECT t.town, t.n * 100.0 / SUM(t.n) OVER () AS share FROM (SELECT town, COUNT(*) AS n FROM visits GROUP BY town)"
    " AS t WHERE n > 500 ORDER BY share DESC",
    "WITH r AS (SELECT * FROM visits WHERE minutes > 30), a AS (SELECT town, SUM(minutes) AS s, COUNT(*) AS n FROM r"
    " GROUP BY town), b AS (SELECT town, s / n AS m FROM a) SELECT town, ROUND(m, 1) AS m FROM b ORDER BY 1",
    "SELECT town, COUNT(*) AS n, MAX(COUNT(*)) OVER () - COUNT(*) AS behind FROM visits GROUP BY town ORDER BY town",
]


@pytest.fixture(scope="module")
def curator() -> Curator:
    table = Table(FRAME, unit="id", contribution=(1, 1), columns={k: v for k, v in COLUMNS.items() if k != "device"})
    return Curator(tables={"visits": table}, budget=PureDP(10**6))


@pytest.mark.parametrize("text", SAME)
def test_with_hardly_any_noise_the_answers_are_those_of_duckdb(curator: Curator, text: str) -> None:
    visits = FRAME  # found by DuckDB under its name
    there = duckdb.execute(text).df()
    assert len(visits) == SIZE
    ours = text.replace("CAST(coast AS INTEGER)", "coast")
    found = curator.sql(ours, epsilon=5 * 10**4, because="a test", override=True).to_pandas()
    for name in there.columns:
        assert len(found) == len(there)
        for a, b in zip(found[name], there[name], strict=True):
            assert a == b if isinstance(b, str | bool | np.bool_) else a == pytest.approx(b, rel=1e-4, abs=1e-3)


# ---- what is measured ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("SELECT SUM(minutes) / COUNT(*) AS m FROM visits", ["minutes"]),
        ("SELECT SUM(spend) / COUNT(spend) AS m FROM visits", ["spend"]),
        ("SELECT 100.0 * SUM(spend) / COUNT(spend) AS m FROM visits", ["spend"]),
        ("SELECT SUM(spend) / COUNT(*) AS m FROM visits", ["COALESCE(spend, 0)"]),
        (
            "SELECT SUM(spend) / NULLIF(COUNT(*), 0) AS m, AVG(COALESCE(spend, 0)) AS n FROM visits",
            ["COALESCE(spend, 0)"],
        ),
    ],
)
def test_a_ratio_that_is_a_mean_is_measured_as_one(text: str, meant: list[str]) -> None:
    found = check(asked(text), TABLES).question
    assert [o.aggregate for o in found.aggregates] == [mean(_expr(x)) for x in meant]
    assert check(found, TABLES).question == found


@pytest.mark.parametrize(
    ("text", "centred"),
    [
        ("SELECT SUM(spend * minutes) / SUM(spend) AS m FROM visits", "(minutes - 60) * spend"),
        ("SELECT 100 * SUM(minutes * spend) / SUM(minutes) AS m FROM visits", "(COALESCE(spend, 0) - 250) * minutes"),
        (
            "SELECT SUM(minutes * spend) / SUM(spend) AS m, SUM(spend * minutes) AS s FROM visits",
            "(minutes - 60) * spend",
        ),
    ],
)
def test_a_weighted_mean_is_measured_centred(text: str, centred: str) -> None:
    found = check(asked(text), TABLES).question
    assert total(_expr(centred)) in [o.aggregate for o in found.aggregates]
    assert check(found, TABLES).question == found


def test_a_weighted_sum_that_is_shown_is_measured_as_it_is() -> None:
    text = "SELECT SUM(minutes * spend) / SUM(spend) AS m, SUM(minutes * spend) AS s FROM visits"
    assert [str(o.aggregate.column) for o in asked(text).aggregates] == ["minutes * spend", "spend"]


def _expr(text: str) -> Any:
    from curador.query.ask.sql.expressions import parse_expression

    return parse_expression(text)


def test_a_sum_that_is_shown_is_measured_once() -> None:
    """Where NULL makes SUM(x) / COUNT(*) another mean, and the sum is wanted too, the sum serves for both."""
    found = check(asked("SELECT SUM(spend) AS s, SUM(spend) / COUNT(*) AS m FROM visits"), TABLES).question
    assert [o.aggregate.function for o in found.aggregates] == ["sum", "count"]
    both = check(asked("SELECT SUM(minutes) AS s, SUM(minutes) / COUNT(*) AS m FROM visits"), TABLES).question
    assert [o.aggregate.function for o in both.aggregates] == ["sum", "mean"]  # one centred sum, and a count, for both


def test_what_is_not_selected_is_measured_and_not_shown() -> None:
    found = asked("SELECT town, AVG(minutes) AS m FROM visits GROUP BY town HAVING COUNT(*) > 5 ORDER BY SUM(spend)")
    assert found.outputs == ("town", "m")
    assert found.columns == ("town", "m", "count", "sum_spend")
    assert asked("SELECT COUNT(*) AS count, SUM(spend) + COUNT(*) AS x FROM visits").columns == (
        "count",
        "sum_spend",
        "x",
    )
    assert asked("SELECT AVG(spend) + 1 AS count, COUNT(*) + 1 AS y FROM visits").columns[1] == "count_2"


# ---- what is refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "what", "fix"),
    [
        ("SELECT town, minutes FROM visits GROUP BY town HAVING COUNT(*) > 1", "neither grouped", "GROUP BY"),
        ("SELECT SUM(spend) / minutes AS x FROM visits", "'minutes' is not a column of the answer", "Group by it"),
        ("SELECT town, SUM(COUNT(*)) OVER (PARTITION BY minutes) AS x FROM visits GROUP BY town", "not a column", ""),
        ("SELECT town, SUM(COUNT(*)) OVER (PARTITION BY COUNT(*)) AS x FROM visits GROUP BY town", "PARTITION BY", ""),
        (
            "SELECT town, SUM(COUNT(*)) OVER (ORDER BY town) AS x FROM visits GROUP BY town",
            "Running totals",
            "ORDER BY",
        ),
        ("SELECT town, SUM(COUNT(*)) OVER (ROWS 2 PRECEDING) AS x FROM visits GROUP BY town", "SPEC", ""),
        ("SELECT town, RANK() OVER () AS r, COUNT(*) FROM visits GROUP BY town", "needs ORDER BY", "ORDER BY"),
        ("SELECT town, LAG(COUNT(*)) OVER (ORDER BY town) AS x FROM visits GROUP BY town", "LAG", "RANK"),
        ("SELECT SUM(COUNT(*) OVER ()) AS x FROM visits", "", ""),
        ("SELECT town, COUNT(*) AS n FROM visits GROUP BY town HAVING SUM(COUNT(*)) OVER () > 5", "window", "HAVING"),
        (
            "SELECT town, COUNT(*) / SUM(COUNT(*)) OVER () AS s FROM visits GROUP BY town HAVING s > 1",
            "window",
            "HAVING",
        ),
        ("SELECT COUNT(*) + 'x' AS y FROM visits", "computes with", "numbers"),
        ("SELECT town, town + COUNT(*) AS y FROM visits GROUP BY town", "computes with town", "numbers"),
        ("SELECT town, COUNT(*) AS n FROM visits GROUP BY town HAVING COUNT(*)", "no condition", "Compare"),
        ("SELECT town, COUNT(*) AS n FROM visits GROUP BY town HAVING town > 'L'", "orders", "="),
        ("SELECT QUANTILE(spend, [0.1, 0.9]) + 1 AS q FROM visits", "several columns", "_p10"),
        ("SELECT town, TOP_K(2) + 1 AS n FROM visits GROUP BY town", "stands alone", "by itself"),
        ("SELECT COUNT(DISTINCT id) FILTER (WHERE coast) FROM visits", "FILTER", "WHERE"),
        ("SELECT CAST(COUNT(*) AS DECIMAL(5, 2)) AS n FROM visits", "", ""),
        ("SELECT CAST(COUNT(*) AS TEXT) AS n FROM visits", "CAST", ""),
        ("SELECT ROUND(AVG(spend), 99) AS m FROM visits", "ROUND", ""),
        ("SELECT COUNT(*) FROM visits WHERE COUNT(*) > 5", "one row", "rows are filtered"),
        ("SELECT COUNT(*) FROM visits OFFSET 'x'", "", ""),
        ("SELECT SIN(COUNT(*)) AS x FROM visits", "SIN", ""),
        ("SELECT COUNT(*) AS n, n + 1 AS n FROM visits", "", ""),
        ("SELECT town, COUNT(*) FROM visits GROUP BY town ORDER BY 5 + 1", "column of the answer", ""),
        ("SELECT SUM(town) / COUNT(*) AS x FROM visits", "type text", "Count it"),
    ],
)
def test_refusals_say_what_and_what_instead(text: str, what: str, fix: str) -> None:
    error = refused(text)
    assert what in error.what
    assert fix in error.fix


def test_nothing_grows_without_limit() -> None:
    """Columns that are twice the one before are written out, so their size is limited; nothing is worked out twice."""
    columns = ", ".join(f"c{i} + c{i} AS c{i + 1}" for i in range(60))
    assert "parts" in refused(f"SELECT COUNT(*) AS c0, {columns} FROM visits").what
