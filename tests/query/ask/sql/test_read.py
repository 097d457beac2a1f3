"""SQL in, a question out or a refusal that says where, why and what instead; nothing dropped, nothing forwarded."""

from __future__ import annotations

import json
import logging
import re
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp
from sqlglot.parsers.duckdb import DuckDBParser

from curador.curator.study.tables import tables_from
from curador.errors import CuradorError, QuestionRefused
from curador.query.aggregates.counts import count, count_distinct
from curador.query.aggregates.moments import mean, std, variance
from curador.query.aggregates.pairs.pairs import (
    correlation,
    covariance,
    intercept,
    pair_count,
    pair_mean,
    r_squared,
    slope,
)
from curador.query.aggregates.quantiles.ranks import bounds, maximum, median, minimum, quantiles
from curador.query.aggregates.sums import sum_ as total
from curador.query.aggregates.top import top_k
from curador.query.ask.builder import TableQuery
from curador.query.ask.public_keys import MOST_PUBLIC_GROUPS
from curador.query.ask.question import MOST_OUTPUTS, MOST_PARTS, Group, Join, Order, Output, Question
from curador.query.ask.sql import read as door
from curador.query.ask.sql import relations
from curador.query.ask.sql import text as limits
from curador.query.ask.sql.read import parse, parse_expression
from curador.query.ask.sql.text import FEWEST_STEPS, LONGEST_SQL, MOST_TOKENS, STEPS_PER_TOKEN, statement
from curador.query.ask.typed import scope_of
from curador.query.language.bounds import typecheck
from curador.query.language.expressions import DEEPEST, LARGEST, Name
from curador.query.language.intervals import QUOTIENT_BITS
from curador.query.language.trees import expr_from_json
from curador.query.language.types import MOST_KEYS, SIGNIFICANT
from curador.query.plan.checked import check
from curador.query.tables.names import distinct
from curador.query.tables.table import Table, Tree
from tests.seeded import examples
from tests.steps import at_most

VISITS = Table(
    "visits.parquet",
    unit="pid",
    columns={
        "pid": "integer",
        "region": "text",
        "town": "text",
        "age": {"type": "integer", "bounds": [0, 120]},
        "income": {"type": "real", "bounds": [0, 200_000]},
        "sex": {"type": "text", "keys": ["F", "M"]},
        "d": {"type": "date", "bounds": ["2020-01-01", "2024-12-31"]},
        "ok": "boolean",
        "wild": "real",
        "order": "integer",
        "odd name; --": "integer",
    },
    trees={"place": Tree(("region", "town"), {"Galicia": ["Lugo", "Vigo"]})},
)
DOSES = Table(
    "doses.parquet",
    unit="person",
    columns={"person": "integer", "age": "integer", "dose": {"type": "real", "bounds": [0, 10]}},
)
REGIONS = Table("regions.csv", public=True, columns={"region": "text", "code": "text", "people": "integer"})
TABLES = {"visits": VISITS, "doses": DOSES, "regions": REGIONS}


def asked(text: str) -> Question:
    return parse(text, TABLES)


def refused(text: str) -> QuestionRefused:
    with pytest.raises(QuestionRefused) as caught:
        parse(text, TABLES)
    assert caught.value.what
    assert caught.value.fix
    assert caught.value.cost == "nothing was drawn, nothing was spent"
    return caught.value


# ---- what may be asked ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("COUNT(*)", count()),
        ("COUNT(1)", count()),
        ("COUNT(income)", count("income")),
        ("COUNT(DISTINCT pid)", count_distinct()),
        ("COUNT(DISTINCT sex)", count_distinct("sex")),
        ("SUM(income)", total("income")),
        ("AVG(income)", mean("income")),
        ("MEAN(income)", mean("income")),
        ("VARIANCE(income)", variance("income")),
        ("VAR_SAMP(income)", variance("income")),
        ("VAR_POP(income)", variance("income", population=True)),
        ("STDDEV(income)", std("income")),
        ("STDDEV_SAMP(income)", std("income")),
        ("STDDEV_POP(income)", std("income", population=True)),
        ("CORR(income, age)", correlation("income", "age")),
        ("COVAR_SAMP(income, age)", covariance("income", "age")),
        ("COVAR_POP(income, age)", covariance("income", "age", population=True)),
        ("REGR_SLOPE(income, age)", slope("income", "age")),
        ("REGR_INTERCEPT(income, age)", intercept("income", "age")),
        ("REGR_R2(income, age)", r_squared("income", "age")),
        ("REGR_COUNT(income, age)", pair_count("income", "age")),
        ("REGR_AVGX(income, age)", pair_mean("income", "age", of_x=True)),
        ("REGR_AVGY(income, age)", pair_mean("income", "age", of_x=False)),
        ("MEDIAN(income)", median("income")),
        ("QUANTILE(income, 0.9)", quantiles("income", [0.9])),
        ("QUANTILE_CONT(income, [0.9, 0.1])", quantiles("income", [0.1, 0.9])),
        ("PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY income)", quantiles("income", ["9/10"])),
        ("PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY income)", quantiles("income", ["9/10"])),
        ("APPROX_QUANTILE(income, 0.9)", quantiles("income", ["9/10"], interval=False)),
        ("APPROX_COUNT_DISTINCT(pid)", count_distinct()),
        ("MIN(income)", minimum("income")),
        ("MAX(income)", maximum("income")),
        ("BOUNDS(wild)", bounds("wild")),
        ("SUM(income * 2)", total(parse_expression("income * 2"))),
        ("sum(CASE WHEN sex = 'F' THEN 1 ELSE 0 END)", total(parse_expression("IF(sex = 'F', 1, 0)"))),
    ],
)
def test_aggregates(written: str, meant: object) -> None:
    question = asked(f"SELECT {written} AS answer FROM visits")
    assert question.aggregates == (Output("answer", meant),)  # type: ignore[arg-type]


def test_the_whole_of_a_statement() -> None:
    question = asked(
        """
        SELECT v.sex, age // 10 AS decade, COUNT(*) AS n, AVG(income) -- what the clinic earns
        FROM visits AS v
        WHERE v.age >= 18 AND (ok OR region IN ('Galicia', 'Murcia'))
            AND d BETWEEN DATE '2021-01-01' AND DATE '2021-12-31'
        GROUP BY sex, 2
        HAVING COUNT(*) > 10 AND sex = 'F'
        ORDER BY n DESC, 1
        LIMIT 5;
        """
    )
    where = (
        "age >= 18 AND (ok OR region IN ('Murcia', 'Galicia')) AND d >= DATE '2021-01-01' AND d <= DATE '2021-12-31'"
    )
    assert question == Question(
        table="visits",
        where=parse_expression(where),
        group_by=(Group("sex", Name("sex")), Group("decade", parse_expression("age // 10"))),
        aggregates=(Output("n", count()), Output("mean_income", mean("income"))),
        having=parse_expression("n > 10 AND sex = 'F'"),
        order_by=(Order("n", descending=True), Order("sex")),
        limit=5,
    )
    assert question.outputs == ("sex", "decade", "n", "mean_income")
    assert Question.from_json(json.loads(json.dumps(question.to_json()))) == question


@pytest.mark.parametrize(
    "text",
    [
        "WITH a AS (SELECT *, income / 12 AS monthly FROM visits WHERE age > 17) SELECT sex, AVG(monthly) AS m FROM a"
        " WHERE ok GROUP BY sex",
        "SELECT s.sex, AVG(s.monthly) AS m FROM (SELECT sex, income / 12 AS monthly, ok FROM visits WHERE age > 17) s"
        " WHERE s.ok GROUP BY s.sex",
        "WITH a AS (SELECT * FROM visits WHERE ok), b AS (SELECT a.*, income AS i FROM a)"
        " SELECT sex, AVG(i / 12) m FROM b WHERE age > 17 GROUP BY 1",
        'select SEX, avg("income" / 12) as m from VISITS where ok and AGE > 17 group by Sex',
    ],
)
def test_row_by_row_queries_are_written_out(text: str) -> None:
    plain = "SELECT sex, AVG(income / 12) AS m FROM visits WHERE age > 17 AND ok GROUP BY sex"
    found = asked(text)
    if text.startswith("select SEX"):  # an answer's column is called as SELECT calls it
        assert found.group_by[0].expr == Name("sex")
        found = replace(found, group_by=asked(plain).group_by)
    assert found == asked(plain)
    assert hash(found) == hash(asked(plain))
    assert found.to_json() == asked(plain).to_json()


def test_a_redefined_column_drops_its_bounds() -> None:
    """Bug 31 of the notes: the age of the inner query reaches 120,000, whatever the column is called."""
    question = asked("SELECT SUM(age) AS s FROM (SELECT age * 1000 AS age FROM visits)")
    column = question.aggregates[0].aggregate.column
    assert column is not None
    assert typecheck(column, scope_of(question, TABLES)).bounds == (Fraction(0), Fraction(120_000))
    twice = asked(
        "WITH a AS (SELECT age * 2 AS age FROM visits), b AS (SELECT age * 2 AS age FROM a) SELECT SUM(age) FROM b"
    )
    assert str(twice.aggregates[0].aggregate.column) == "(age * 2) * 2"


def test_joins() -> None:
    public = asked("SELECT r.code, COUNT(*) FROM visits v LEFT JOIN regions r ON v.region = r.region GROUP BY r.code")
    assert public.joins == (Join("public", "regions", ((Name("region"), "region"),), outer=True),)
    assert public.group_by == (Group("code", Name("code", "regions")),)
    assert scope_of(public, TABLES)[Name("code", "regions")].nullable
    using = asked("SELECT code, COUNT(*) FROM visits LEFT JOIN regions USING (region) GROUP BY code")
    assert using == public
    turned = asked("SELECT code, COUNT(*) FROM visits JOIN regions ON (regions.region = visits.region) GROUP BY code")
    assert turned.joins[0].on == public.joins[0].on
    units = asked("SELECT AVG(dose) AS d FROM visits JOIN doses ON pid = person AND visits.age = doses.age")
    assert units.joins == (Join("unit", "doses", ((Name("age"), "age"), (Name("pid"), "person"))),)
    star = asked(
        "SELECT COUNT(*) FROM (SELECT * FROM visits JOIN regions USING (region)) WHERE people > 5 AND region = 'a'"
    )
    assert star.where == parse_expression("regions.people > 5 AND region = 'a'")


def test_a_tree_by_rollup() -> None:
    question = asked("SELECT region, town, COUNT(*) AS n FROM visits GROUP BY ROLLUP (region, town)")
    assert question.tree == "place"
    assert check(question, TABLES).keys == (("Galicia", "Lugo"), ("Galicia", "Vigo"))
    assert "public keys" in refused("SELECT sex, COUNT(*) FROM visits GROUP BY ROLLUP (sex, town)").what
    assert "public keys" in refused("SELECT sex, COUNT(*) FROM visits GROUP BY sex, ROLLUP (region, town)").what


def test_histograms_bins_and_top_k() -> None:
    histogram = asked("SELECT HISTOGRAM(age, 0, 18, 65) AS h FROM visits")
    by_hand = asked("SELECT BIN(age, 0, 18, 65) AS h_bin, COUNT(*) AS h FROM visits GROUP BY h_bin")
    assert histogram == by_hand
    assert check(histogram, TABLES).keys == ((0,), (1,))
    top = asked("SELECT sex, TOP_K(1) AS n FROM visits GROUP BY sex")
    assert top.aggregates == (Output("n", top_k(1)),)
    shown = asked("SELECT town, TOP_K(2) AS n FROM visits GROUP BY town")  # no public keys: the largest that are shown
    assert shown == asked("SELECT town, COUNT(*) AS n FROM visits GROUP BY town ORDER BY n DESC LIMIT 2")
    for written in ("TOP_K(sex, 1)", "APPROX_TOP_K(sex, 1)", "MODE(sex)", "MODE() WITHIN GROUP (ORDER BY sex)"):
        found = asked(f"SELECT {written} AS s FROM visits")
        grouped = asked("SELECT sex AS s, TOP_K(1) AS s_count FROM visits WHERE sex IS NOT NULL GROUP BY s")
        assert found == grouped
        assert found.outputs == ("s", "s_count")
    assert asked("SELECT MODE(sex) FROM visits").outputs == ("mode_sex", "mode_sex_count")


def test_names_of_our_own_making_do_not_clash() -> None:
    question = asked("SELECT COUNT(*), COUNT(*) AS count_2, COUNT(*), AVG(age), AVG(age) FROM visits")
    assert question.outputs == ("count", "count_2", "count_3", "mean_age", "mean_age_2")


@pytest.mark.parametrize(
    ("text", "outputs"),
    [
        ("SELECT g, COUNT(*) FROM (SELECT sex AS g FROM visits) s GROUP BY g", ("g", "count")),
        ("SELECT s.g, COUNT(*) AS n FROM (SELECT age + 1 AS g FROM visits) s GROUP BY s.g ORDER BY g", ("g", "n")),
        ("WITH s AS (SELECT age + 1 AS g FROM visits) SELECT G, COUNT(*) FROM s GROUP BY 1", ("g", "count")),
        ("SELECT COUNT(*) FROM (SELECT sex AS g FROM visits) s GROUP BY g", ("g", "count")),
        ("SELECT g AS h, COUNT(*) FROM (SELECT sex AS g FROM visits) s GROUP BY h", ("h", "count")),
    ],
)
def test_a_group_is_called_as_the_inner_query_calls_it(text: str, outputs: tuple[str, ...]) -> None:
    assert parse(text, TABLES).outputs == outputs


def test_quoted_names() -> None:
    question = asked('SELECT COUNT("odd name; --") AS n FROM "visits" WHERE "order" = 1')
    assert question.where == parse_expression('"order" = 1')
    assert "no column 'AGE'" in refused('SELECT COUNT("AGE") FROM visits').what


# ---- what may not --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "what", "fix"),
    [
        # S4: sets, windows, values, inner aggregates
        ("SELECT COUNT(*) FROM visits INTERSECT SELECT 1", "INTERSECT", "two questions"),
        ("SELECT COUNT(*) OVER () FROM visits", "OVER", "GROUP BY"),
        ("SELECT SUM(x) FROM (SELECT ROW_NUMBER() OVER () AS x FROM visits)", "inner query", ""),
        ("SELECT COUNT(*) FROM (VALUES (1)) t", "tables of the study", "visits"),
        ("SELECT COUNT(*) FROM visits, LATERAL (SELECT 1) l", "", ""),
        ("SELECT COUNT(*) FROM visits CROSS JOIN regions", "CROSS", "JOIN"),
        ("SELECT COUNT(*) FROM visits, regions", "without ON", "ON a = b"),
        ("SELECT COUNT(*) FROM visits JOIN regions ON visits.age > 5", "=", "WHERE"),
        ("SELECT COUNT(*) FROM visits v JOIN doses d ON v.age = v.pid", "of each table", "this.column"),
        ("SELECT COUNT(*) FROM visits v JOIN doses d ON d.age = d.person", "of each table", "this.column"),
        ("SELECT COUNT(*) FROM (SELECT age AS pid FROM visits) v JOIN doses ON pid = person", "unit's id", "id = id"),
        ("SELECT COUNT(*) FROM (SELECT pid + 1 AS p FROM visits) v JOIN doses ON p = person", "computed", ""),
        ("SELECT COUNT(*) FROM visits FULL JOIN regions USING (region)", "FULL", "LEFT JOIN"),
        ("SELECT COUNT(*) FROM visits RIGHT JOIN regions USING (region)", "RIGHT", "LEFT JOIN"),
        (
            "SELECT COUNT(*) FROM (SELECT pid AS p FROM visits) v NATURAL JOIN doses",
            "NATURAL JOIN finds no",
            "ON a = b",
        ),
        ("SELECT COUNT(*) FROM visits a JOIN visits b ON a.pid = b.pid", "already", "another table"),
        ("SELECT COUNT(*) FROM visits JOIN doses ON visits.age = doses.age", "unit's id", "id = id"),
        (
            "SELECT COUNT(*) FROM visits LEFT JOIN (SELECT person FROM doses WHERE age > 3) d ON pid = person",
            "several rows per unit is not joined by LEFT JOIN",
            "LEFT JOIN the table itself, and filter it in what is measured",
        ),
        (
            "SELECT COUNT(*) FROM visits LEFT JOIN (SELECT region, MAX(people) AS p FROM regions GROUP BY region) r "
            "USING (region)",
            "over the public table 'regions'",
            "Join regions itself",
        ),
        ("SELECT COUNT(*) FROM visits JOIN (SELECT region AS r FROM regions) r ON visits.region = r.r", "public", ""),
        (
            "WITH r AS (SELECT * FROM visits) SELECT COUNT(*) FROM visits JOIN r ON visits.pid = r.pid",
            "already",
            "",
        ),
        ("WITH RECURSIVE a AS (SELECT 1 AS x) SELECT COUNT(*) FROM a", "RECURSIVE", "without RECURSIVE"),
        ("WITH a(b) AS (SELECT age FROM visits) SELECT COUNT(*) FROM a", "A list of column names", ""),
        ("WITH a AS (SELECT age FROM visits), A AS (SELECT 1 AS x FROM visits) SELECT COUNT(*) FROM a", "twice", ""),
        ("SELECT COUNT(*) FROM (SELECT sex, COUNT(*) AS n FROM visits GROUP BY sex)", "inner query", "the unit's id"),
        ("SELECT COUNT(*) FROM (SELECT pid, age, COUNT(*) AS n FROM visits GROUP BY pid)", "may differ", "GROUP BY"),
        ("SELECT COUNT(*) FROM (SELECT pid, MEDIAN(age) AS n FROM visits GROUP BY pid)", "MEDIAN", "COUNT, SUM"),
        ("SELECT COUNT(*) FROM (SELECT pid, COUNT(*) FROM visits GROUP BY pid)", "no name", "AS name"),
        ("SELECT COUNT(*) FROM (SELECT age FROM visits UNION SELECT age FROM doses)", "UNION", "UNION ALL"),
        ("SELECT COUNT(*) FROM (SELECT age FROM visits UNION ALL SELECT age, person FROM doses)", "numbers", ""),
        ("SELECT COUNT(*) FROM (SELECT region FROM visits UNION ALL SELECT region FROM regions)", "public", ""),
        ("SELECT COUNT(*) FROM visits WHERE pid IN (SELECT age FROM doses)", "other units", "id IN"),
        ("SELECT COUNT(*) FROM visits WHERE age IN (SELECT person FROM doses)", "other units", "id IN"),
        ("SELECT COUNT(*) FROM visits WHERE pid IN (SELECT person FROM doses LIMIT 1)", "LIMIT", ""),
        ("SELECT COUNT(*) FROM (SELECT AVG(age) AS a FROM visits)", "inner query", "outer"),
        ("SELECT COUNT(*) FROM (SELECT age FROM visits ORDER BY income LIMIT 1)", "inner query", "outer"),
        ("SELECT COUNT(*) FROM (SELECT DISTINCT age FROM visits)", "inner query", "outer"),
        ("SELECT COUNT(*) FROM visits WHERE age IN (SELECT age FROM visits)", "other units' rows", "id IN"),
        ("SELECT COUNT(*) FROM visits WHERE EXISTS (SELECT 1 FROM regions)", "EXISTS", "id IN (SELECT id"),
        ("SELECT COUNT(*) FROM visits WHERE age = (SELECT MAX(age) FROM visits)", "subquery", "GROUP BY id"),
        ("SELECT COUNT(*) FROM visits WHERE age = ANY (SELECT 1)", "ANY", ""),
        # P3 and P4: raw order, raw aggregates
        ("SELECT income FROM visits ORDER BY income DESC LIMIT 1", "show rows", "COUNT"),
        ("SELECT sex, COUNT(*) FROM visits GROUP BY sex ORDER BY income", "noised answers only", "sex"),
        ("SELECT sex, AVG(age) FROM visits GROUP BY sex HAVING age = 1", "noised answers only", "mean_age"),
        ("SELECT COUNT(*) FROM visits WHERE COUNT(*) > 1", "value of one row", "HAVING"),
        ("SELECT COUNT(*) FROM visits QUALIFY 1 = 1", "QUALIFY", ""),
        ("SELECT COUNT(*) FROM visits LIMIT 0", "LIMIT", "LIMIT >= 1"),
        ("SELECT COUNT(*) FROM visits LIMIT age", "number", ""),
        ("SELECT COUNT(*) AS n FROM visits ORDER BY n NULLS FIRST", "NULLS FIRST", ""),
        ("SELECT COUNT(*) AS n FROM visits ORDER BY ALL", "", ""),
        # P7: aggregates that would show a row
        ("SELECT STRING_AGG(town) FROM visits", "STRING_AGG", "COUNT"),
        ("SELECT ARRAY_AGG(town) FROM visits", "ARRAY_AGG", "COUNT"),
        ("SELECT sex, MODE(town) AS m FROM visits GROUP BY sex", "beside something else", "GROUP BY both"),
        ("SELECT MODE(town) AS m, COUNT(*) AS n FROM visits", "beside something else", "alone"),
        ("SELECT MODE(age) WITHIN GROUP (ORDER BY age) FROM visits", "", ""),
        ("SELECT TOP_K(town, 0) AS t FROM visits", "k", ""),
        ("SELECT town, TOP_K(2) AS n FROM visits GROUP BY town ORDER BY town", "have an order", "ORDER BY and LIMIT"),
        ("SELECT ANY_VALUE(town) FROM visits", "", ""),
        ("SELECT FIRST(town) FROM visits", "FIRST", ""),
        ("SELECT ARG_MAX(town, age) FROM visits", "ARG_MAX", ""),
        ("SELECT SUM(DISTINCT age) FROM visits", "DISTINCT", ""),
        ("SELECT COUNT(DISTINCT age, sex) FROM visits", "one column", ""),
        ("SELECT SUM(age) WITHIN GROUP (ORDER BY age) FROM visits", "PERCENTILE_CONT", "QUANTILE"),
        ("SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY age DESC) FROM visits", "DESC", ""),
        ("SELECT QUANTILE(age, 1.5) FROM visits", "[0, 1]", ""),
        ("SELECT QUANTILE(age) FROM visits", "", ""),
        ("SELECT DISTINCT town FROM visits", "DISTINCT", "GROUP BY"),
        ("SELECT * FROM visits", "*", "COUNT"),
        ("SELECT AVG(town) FROM visits", "type text", "Count"),
        ("SELECT AVG(d) FROM visits", "type date", "days"),
        ("SELECT SUM(SUM(age)) FROM visits", "one row", ""),
        ("SELECT age, COUNT(*) FROM visits", "neither grouped", "GROUP BY"),
        ("SELECT age, age AS b, COUNT(*) FROM visits GROUP BY age", "twice", "once"),
        ("SELECT COUNT(*) FROM visits GROUP BY age, age", "twice", "once"),
        ("SELECT COUNT(*) FROM visits GROUP BY age + 1", "no name", "AS name"),
        ("SELECT income, COUNT(*) FROM visits GROUP BY income", "real number", "BIN(income"),
        ("SELECT COUNT(*) AS n FROM visits GROUP BY 1", "from aggregates", ""),
        ("SELECT COUNT(*) AS n FROM visits GROUP BY 3", "no column number 3", "1"),
        ("SELECT age AS sex, COUNT(*) FROM visits GROUP BY sex", "another column's alias", "Rename"),
        ("SELECT sex, COUNT(*) FROM visits GROUP BY ALL sex", "ALL", "List the columns"),
        ("SELECT COUNT(*) FROM visits GROUP BY CUBE (sex, town)", "public keys", "Declare keys"),
        ("SELECT COUNT(*) FROM visits GROUP BY GROUPING SETS ((sex), (town))", "public keys", "Declare keys"),
        # functions that cannot be total and equal everywhere
        ("SELECT COUNT(*) FROM visits WHERE CBRT(78 - age) > 1", "CBRT", "declare a column"),
        ("SELECT COUNT(*) FROM visits WHERE LN(income) > 1", "LN", "LN(ROUND(income))"),
        ("SELECT COUNT(*) FROM visits WHERE LOG(3, age) > 1", "base 2, 10 or e", "LOG2"),
        ("SELECT COUNT(*) FROM visits WHERE age ** 2.5 > 1", "POWER", "Multiply"),
        ("SELECT COUNT(*) FROM visits WHERE town LIKE 'L%o'", "engines fold", "LIKE 'a%'"),
        ("SELECT COUNT(*) FROM visits WHERE town || 'a' = 'b'", "longer than an engine holds", "Declare keys"),
        ("SELECT COUNT(*) FROM visits WHERE SUBSTRING(town, 1, 2) = 'Lu'", "SUBSTRING", ""),
        ("SELECT COUNT(*) FROM visits WHERE REGEXP_MATCHES(town, '(a+)+$')", "REGEXP", ""),
        ("SELECT COUNT(*) FROM visits WHERE REPEAT('x', age) = 'x'", "REPEAT", ""),
        ("SELECT COUNT(*) FROM visits WHERE CAST(town AS INT) = 1", "CAST", "Declare the column with the type"),
        (
            "SELECT COUNT(*) FROM visits WHERE town::DATE = DATE '2020-01-01'",
            "CAST",
            "Declare the column with the type",
        ),
        ("SELECT COUNT(*) FROM visits WHERE d = DATE '2020-02-30'", "Not a date", "2020-01-31"),
        ("SELECT COUNT(*) FROM visits WHERE d < CURRENT_DATE", "CURRENT_DATE", "DATE"),
        ("SELECT COUNT(*) FROM visits WHERE RANDOM() < 0.5", "", ""),
        ("SELECT COUNT(*) FROM visits WHERE d + INTERVAL 1 CENTURY > d", "whole days, weeks, months", "DAY"),
        ("SELECT COUNT(*) FROM visits WHERE EXTRACT(CENTURY FROM d) = 1", "CENTURY", "ISODOW"),
        ("SELECT COUNT(*) FROM visits WHERE age IS 5", "", ""),
        ("SELECT COUNT(*) FROM visits WHERE age BETWEEN SYMMETRIC 5 AND 1", "SYMMETRIC", "lower bound first"),
        ("SELECT COUNT(*) FROM visits WHERE age IN (5, pid)", "not a constant", "OR"),
        ("SELECT COUNT(*) FROM visits WHERE age & 1 = 1", "&", ""),
        ("SELECT COUNT(*) FROM visits WHERE age = ?", "placeholder", "value"),
        ("SELECT COUNT(*) FROM visits WHERE my_function(age) = 1", "MY_FUNCTION", ""),
        ("SELECT SUM(wild + 1) FROM visits", "'wild' has no declared bounds", "bounds for wild"),
        ("SELECT SUM(income * income * income * income) FROM visits", "62 bits", "Narrow"),
        # words as they are written, not as the parser calls them
        ("SELECT COUNT(*) FROM visits WHERE STRPTIME(town, '%Y') = d", "STRPTIME", ""),
        ("SELECT COUNT(*) FROM visits WHERE EPOCH(d) = 1", "EPOCH", ""),
        ("SELECT COUNT(*) FROM visits WHERE age << 1 = 2", "<<", ""),
        ("SELECT COUNT(*) FROM visits WHERE age IN (1, 2)[1]", "", ""),
        ("SELECT KURTOSIS(age) FROM visits", "KURTOSIS has no private estimate", "VARIANCE"),
        ("SELECT BOOL_OR(age > 9) FROM visits", "BOOL_OR could be decided by one row", "COUNT_IF"),
        ("SELECT DISTINCT sex FROM visits", "DISTINCT would show which values occur", "GROUP BY"),
        ("SELECT COUNT(*) FROM visits UNION ALL SELECT COUNT(*) FROM visits", "two questions", "UNION ALL of rows"),
        ("SELECT AVG(age FROM visits", "'FROM' is not expected", "Close the bracket of line 1, column 11."),
        ("SELECT TO_CHAR(d, 'YYYY') AS y, COUNT(*) FROM visits GROUP BY y", "TO_CHAR", "STRFTIME(date"),
        ("SELECT STRFTIME('%Y', d) AS y, COUNT(*) FROM visits GROUP BY y", "constant text", "the date first"),
        ("SELECT SUM(DISTINCT age) FROM visits", "DISTINCT is counted", "count"),
        ("SELECT TOP 3 sex, COUNT(*) FROM visits GROUP BY sex", "'3' is not expected", "LIMIT"),
        ("SELECT sex, COUNT(*) FROM visits GROUP BY sex FETCH FIRST 3 ROWS ONLY", "FETCH", "LIMIT"),
        ("SELECT sex, COUNT(*) FROM visits GROUP BY sex LIMIT 50%", "after LIMIT", "a number"),
        ("SELECT sex, COUNT(*) FROM visits GROUP BY sex QUALIFY COUNT(*) > 1", "QUALIFY", "with HAVING"),
        ("EXPLAIN SELECT COUNT(*) FROM visits", "EXPLAIN is no question", "that is free"),
        ("INSERT INTO visits VALUES (1)", "INSERT would change something", "SELECT"),
        ('SELECT COUNT(*) FROM visits WHERE town = "Lugo"', "no column 'Lugo'", "single quotes: 'Lugo'"),
        ("SELECT AVG(wage per hour) FROM visits", "'per' is not expected", 'double quotes: "wage per hour"'),
        ("SELECT COUNT(*) FORM visits", "'visits' is not expected", "Did you mean FROM"),
        ("SELECT income / 30 AS b, COUNT(*) FROM visits GROUP BY b", "real number", "income // 30"),
        ("SELECT COUNT(*) FROM visits WHERE d >= '2025-13-01'", "beside a date", "2020-01-31"),
        ("SELECT COUNT(*) FROM visits WHERE CAST(age AS DECIMAL(10, 2)) = 1", "DECIMAL", "ROUND(x, 2)"),
        ("SELECT COUNT(*) FROM visits WHERE sex LIKE 'a\\%'", "differently", "ESCAPE"),
        ("SELECT STRFTIME(d, '%Y-%H') AS h, COUNT(*) FROM visits GROUP BY h", "needs a timestamp", "timestamp"),
        ("SELECT STRFTIME(d, '%Y-%Q') AS h, COUNT(*) FROM visits GROUP BY h", "'%Q' is not read", "%Y"),
        ("SELECT COUNT(*) FROM visits WHERE DATE_TRUNC('century', d) = d", "century", "quarter"),
        ("SHOW TABLES", "visits", "SELECT"),
        ("DESCRIBE visits;", "age integer (", "SELECT"),
        # H5: other statements, other sources
        ("SELECT COUNT(*) FROM visits; DROP TABLE visits", "2 statements", "one question"),
        ("DROP TABLE visits", "DROP would change", ""),
        ("COPY visits TO 'x.csv'", "COPY would change", ""),
        ("FROM visits", "one SELECT", ""),
        ("ATTACH 'x.db'", "ATTACH would change", ""),
        ("SELECT COUNT(*) FROM 'visits.parquet'", "no table", "Did you mean"),
        ("SELECT COUNT(*) FROM read_csv('/etc/passwd')", "tables of the study", ""),
        ("SELECT COUNT(*) FROM pg_catalog.visits", "A schema", "the study"),
        ("SELECT pg_read_file('/etc/passwd'), COUNT(*) FROM visits", "PG_READ_FILE", ""),
        ("SELECT query_to_xml('select 1', true, true, ''), COUNT(*) FROM visits", "QUERY_TO_XML", ""),
        ('SELECT COUNT(*) FROM "visits"" ; --"', "no table", ""),
        ("SELECT COUNT(*) INTO other FROM visits", "INTO", ""),
        ("SELECT COUNT(*) FROM visits FOR UPDATE", "FOR UPDATE", ""),
        ("SELECT COUNT(*) FROM visits TABLESAMPLE 10%", "TABLESAMPLE", "no privacy"),
        ("SELECT COUNT(*) FROM visits PIVOT (SUM(age) FOR sex IN ('F'))", "", ""),
        ("SELECT COUNT(*)", "no FROM", "table"),
        ("SELECT FROM visits", "", ""),
        ("SELECT COUNT(*) FROM regions", "public", "needs no noise"),
        ("", "one SELECT", ""),
        ("SELECT COUNT(*) FROM visits WHERE town = 'open", "open quote", ""),
        ("SELECT COUNT(*) FROM visits WHERE town = '\ud800'", "half a character", ""),
        ("SELECT COUNT(*) FROM visits WHERE town = 'a\0b'", "", ""),
        ("SELECT COUNT(*) FROM visits WHERE age = 1e999999999", "not a number", "fewer digits"),
        ("SELECT COUNT(*) FROM visits WHERE age = 99999999999999999999", "2**62", ""),
        # names
        ("SELECT COUNT(*) FROM visit", "no table 'visit'", "Did you mean 'visits'"),
        ("SELECT COUNT(*) FROM visits WHERE agge > 5", "no column 'agge'", "Did you mean 'age'"),
        ("SELECT COUNT(*) FROM visits v WHERE visits.age > 5", "no column 'visits.age'", ""),
        ("SELECT COUNT(*) FROM visits JOIN doses ON pid = person WHERE age > 5", "several columns", "table.column"),
        ("SELECT COUNT(*) AS n, AVG(age) AS N FROM visits", "fold case", "Rename"),
        ("SELECT COUNT(*) FROM (SELECT age, income AS AGE FROM visits)", "fold case", "Rename"),
        ("SELECT COUNT(*) FROM (SELECT age + 1 FROM visits)", "no name", "AS name"),
        ("SELECT COUNT(*) FROM (SELECT * EXCLUDE (age) FROM visits)", "EXCLUDE", ""),
    ],
)
def test_refusals_say_what_and_what_instead(text: str, what: str, fix: str) -> None:
    error = refused(text)
    assert what in error.what
    assert fix in error.fix


def test_refusals_say_where() -> None:
    assert refused("SELECT COUNT(*)\nFROM visits\nWHERE  CBRT(age) > 1").what.startswith("Line 3, column 8: CBRT")
    assert refused("SELECT COUNT(*) FROM visits WHERE age > ) 1").what.startswith("Line 1, column 41: ')'")


def test_statistics_that_are_total_are_accepted() -> None:
    """E1, E2: what other systems leak by is answered, since division by zero is NULL on every row."""
    assert asked("SELECT COUNT(*) FROM visits WHERE 1 / (age - 79) < 5")
    assert asked("SELECT SUM(CASE WHEN pid = 5000 THEN 1 / 0 ELSE 0 END) AS s FROM visits")


def test_what_needs_bounds_is_known_to_the_planner() -> None:
    question = asked("SELECT SUM(wild) AS s FROM visits")
    with pytest.raises(QuestionRefused, match="'wild' has no declared bounds"):
        check(question, TABLES).require_bounds()
    check(asked("SELECT BOUNDS(wild) AS b, COUNT(wild) AS n FROM visits"), TABLES).require_bounds()


# ---- nothing is dropped --------------------------------------------------------------------------------------

EVERYTHING = """
    WITH a AS (SELECT v.*, income / 12 AS monthly, NULLIF(age, 0) AS known FROM visits AS v WHERE NOT ok)
    SELECT a.sex, BIN(age, 0, 18, 120) AS b, COUNT(*) AS n, COUNT(DISTINCT pid) AS people, AVG(-monthly) AS m,
        PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY income) AS p, QUANTILE(age, [0.1, 0.2]) AS q, TOTAL AS t
    FROM (SELECT *, CASE sex WHEN 'F' THEN 'women' ELSE 'men' END AS TOTAL FROM a) AS a
    LEFT JOIN regions AS r ON a.region = r.region
    WHERE age BETWEEN 1 AND 99 AND (ok IS NULL OR age IN (1, 2)) AND d >= DATE '2020-01-01' AND IF(ok, 1, 2) = 1
        AND EXTRACT(YEAR FROM d) + MONTH(d) * 2 - 1 > 4 % 3 AND COALESCE(age, 1) // 2 <= LEAST(age, ABS(age))
        AND d + INTERVAL 3 DAY <> d AND TRUE AND known < 5
    GROUP BY sex, b, t
    HAVING n > 5
    ORDER BY n DESC, 1
    LIMIT 7
"""
ARITHMETIC = """
    WITH b AS (SELECT sex AS t, COUNT(*) AS n, ROUND(AVG(income), 2) AS r,
        COUNT(*) FILTER (WHERE ok) * 1.0 / NULLIF(SUM(n) OVER (PARTITION BY sex), 0) AS share,
        RANK() OVER (ORDER BY COUNT(*) DESC, n) AS place, CAST(COUNT_IF(age > 1) AS DOUBLE) + COUNT(*) OVER () AS c
    FROM visits GROUP BY sex HAVING n + SUM(age) > 5)
    SELECT b.t, n, share + 1 AS s, c FROM b ORDER BY 2, ABS(s) DESC LIMIT 7 OFFSET 2
"""
# What sqlglot may note in its tree without the text saying more: how a dialect divides, counts or folds.
NOTED = {"big_int", "typed", "safe", "ignore_nulls", "quoted", "nulls_first", "nested"}


def _marked(text: str) -> list[tuple[int, str]]:
    """Every place of the tree of a text where something more could have been said."""
    nodes = list(statement(text).walk())
    return [(i, name) for i, node in enumerate(nodes) for name in node.arg_types if not node.args.get(name)]


@pytest.mark.parametrize("written", [pytest.param(EVERYTHING, marks=pytest.mark.slow), ARITHMETIC])
def test_whatever_else_a_node_might_say_is_refused(monkeypatch: pytest.MonkeyPatch, written: str) -> None:
    """Set each unused argument of each node in turn: the question must be refused, or have changed."""
    plain = asked(written)
    silent = set()
    for at, name in _marked(written):
        tree = statement(written)
        node = list(tree.walk())[at]
        node.set(name, exp.column("income"))
        monkeypatch.setattr(door, "statement", lambda text, tree=tree: tree)
        try:
            same = parse(written, TABLES) == plain
        except CuradorError:
            same = False
        except (AttributeError, TypeError, AssertionError):  # no text parses to this; it was at least not read
            same = False
        if same and name not in NOTED and (type(node), name) != (exp.Table, "alias"):  # any name for a table will do
            silent.add((type(node).__name__, type(node.parent).__name__, name))
    assert silent == set()


# ---- hostile text --------------------------------------------------------------------------------------------

WORDS = """SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT WITH AS AND OR NOT IN IS NULL CASE WHEN THEN ELSE END BETWEEN
    JOIN LEFT ON USING COUNT SUM AVG MIN MAX MEDIAN QUANTILE BIN HISTOGRAM TOP_K ( ) ( ) , . * + - / // % = <> < >= ; ::
    visits doses regions age income sex pid d ok 1 2.5 'F' "age" DATE '2020-01-01' INTERVAL DAY DISTINCT OVER UNION ALL
    VALUES LATERAL EXISTS EXTRACT YEAR CAST LIKE ? $1 @ { } [ ] -> : -- /* */ \\ 1e9 0x1 TRUE FILTER QUALIFY ROLLUP
    """.split()  # noqa: SIM905

soup = st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join)
started = soup.map("SELECT ".__add__) | soup.map("SELECT COUNT(*) FROM visits WHERE ".__add__)


def _survives(text: str) -> None:
    try:
        question = parse(text, TABLES)
    except CuradorError:
        return
    assert Question.from_json(question.to_json()) == question


@examples(400)
@given(soup | started | st.text(max_size=60))
def test_token_soup_is_refused_or_understood(text: str) -> None:
    _survives(text)


@examples(150)
@given(st.lists(st.tuples(st.integers(0, 200), st.sampled_from([*WORDS, ""])), min_size=1, max_size=3))
def test_mutated_questions_are_refused_or_understood(edits: list[tuple[int, str]]) -> None:
    words = EVERYTHING.split()
    for at, word in edits:
        words[at % len(words)] = word
    _survives(" ".join(words))


@examples(150)
@given(soup | st.text(max_size=40))
def test_expressions_of_soup(text: str) -> None:
    try:
        e = parse_expression(text)
    except CuradorError:
        return
    assert expr_from_json(e.to_json()) == e


def test_dates_beyond_the_calendar_are_no_public_keys() -> None:
    """They raised a bare OverflowError.  A count of such values is one of integers, and answered."""
    day = "(CASE WHEN ok THEN DATE '2020-01-01' END)"
    for beyond in (f"{day} + 3000000", f"{day} - 900000"):
        assert parse(f"SELECT COUNT(DISTINCT {beyond}) FROM visits", TABLES)
        parse(f"SELECT COUNT(CASE WHEN age = 1 THEN {beyond} ELSE DATE '2020-01-01' END) AS n FROM visits", TABLES)
    assert parse(f"SELECT COUNT(DISTINCT {day} + 1) FROM visits", TABLES)


DOUBLED = {"DECIMAL(": ")", "ARRAY[": "]", "STRUCT(": ")", "ROW(": ")"}
"""Words of which each level inside another made the parser do twice as much, and what ends them."""

HOSTILE = {
    "10 MB": "SELECT COUNT(*) FROM visits WHERE age = 1" + " OR age = 1" * 900_000,
    "10,000 ORs": "SELECT COUNT(*) FROM visits WHERE age = 1" + " OR age = 1" * 10_000,
    "1,200 ORs": "SELECT COUNT(*) FROM visits WHERE age = 1" + "".join(f" OR age={i}" for i in range(1200)),
    "3,000 parentheses": "SELECT COUNT(*) FROM visits WHERE " + "(" * 3000 + "ok" + ")" * 3000,
    "500 parentheses": "SELECT COUNT(*) FROM visits WHERE " + "(" * 500 + "ok" + ")" * 500,
    "3,000 NOTs": "SELECT COUNT(*) FROM visits WHERE " + "NOT " * 3000 + "ok",
    "3,000 minus signs": "SELECT COUNT(*) FROM visits WHERE " + "- " * 3000 + "age > 1",
    "1,500 additions": "SELECT SUM(age" + " + age" * 1500 + ") FROM visits",
    "nested CASE": "SELECT SUM(" + "CASE WHEN ok THEN 1 ELSE " * 300 + "0" + " END" * 300 + ") FROM visits",
    "nested COALESCE": "SELECT SUM(" + "COALESCE(age, " * 95 + "0" + ")" * 95 + ") FROM visits",
    "nested LEAST": "SELECT SUM(" + "LEAST(age, " * 95 + "0" + ")" * 95 + ") FROM visits",
    "nested comparisons": "SELECT COUNT(*) FROM visits WHERE " + "(ok = " * 95 + "ok" + ")" * 95,
    "nested subqueries": "SELECT COUNT(*) FROM " + "(SELECT * FROM " * 99 + "visits" + ")" * 99,
    "doubling CTEs": "WITH a0 AS (SELECT age FROM visits)"
    + "".join(f", a{i + 1} AS (SELECT age + age AS age FROM a{i})" for i in range(60))
    + " SELECT SUM(age) FROM a60",
    "2,000 columns": "SELECT " + ", ".join("COUNT(*)" for _ in range(900)) + " FROM visits",
    "brackets": "SELECT COUNT(*) FROM visits WHERE age = " + "[" * 1500 + "]" * 1500,
    **{f"types in types, {word}": f"SELECT SUM({word * 80}age{end * 80}) FROM visits" for word, end in DOUBLED.items()},
    "a type in a name": f'SELECT SUM(age::"{"DECIMAL(" * 25}3{")" * 25}") FROM visits',
    "long name": "SELECT COUNT(*) AS " + "n" * 5000 + " FROM visits",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_is_refused_fast(text: str) -> None:
    with at_most(5_000_000):  # what grows exponentially never ends
        try:
            parse(text, TABLES)
        except CuradorError:
            return
    assert text in [HOSTILE[name] for name in HOSTILE if name.startswith("nested ")], "long, but a question"


def star_chain(columns: int, queries: int) -> str:
    first = f"WITH a0 AS (SELECT {', '.join(f'age z{i}' for i in range(columns))} FROM visits)"
    return first + "".join(f", a{i} AS (SELECT * FROM a{i - 1})" for i in range(1, queries))


def test_names_of_inner_queries_are_compared_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each was compared with all before it again and again: 80 queries of 1,000 columns took 16 seconds."""
    seen = 0

    def counted(names: Iterable[str], what: str) -> None:
        nonlocal seen
        listed = list(names)
        seen += len(listed)
        distinct(listed, what)

    monkeypatch.setattr(relations, "distinct", counted)
    parse(f"{star_chain(500, 20)} SELECT SUM(z7) FROM a19", TABLES)
    assert seen <= 2 * 500 * 20
    assert "called 'z1' and 'Z1'" in refused("WITH a AS (SELECT age z1, age Z1 FROM visits) SELECT SUM(z1) FROM a").what


def test_what_inner_queries_repeat_is_bounded() -> None:
    assert "inner queries have more than 20000 parts" in refused(f"{star_chain(1000, 21)} SELECT SUM(z7) FROM a20").what
    large = "WITH a0 AS (SELECT age, age y FROM visits)"
    large += "".join(f", a{i} AS (SELECT age, LEAST(y, y + {i}) y FROM a{i - 1})" for i in range(1, 8))
    wide = ", ".join(f"LEAST(y, {i}) z{i}" for i in range(100))
    assert "more than 20000 parts" in refused(f"{large}, b AS (SELECT {wide} FROM a7) SELECT SUM(z7) FROM b").what
    counts = [f"COUNT(LEAST(y, age + {i})) AS n{i}" for i in range(60)]
    assert "the most is 10000" in refused(f"{large} SELECT {', '.join(counts)} FROM a7").what
    assert len(parse(f"{large} SELECT {', '.join(counts[:9])} FROM a7", TABLES).aggregates) == 9


@pytest.mark.parametrize("word", DOUBLED)
def test_the_parser_does_no_more_than_its_steps(word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """For statements and for the texts of the builder; 9 levels took thousands of steps, and 30 would never end."""
    inner = f"{word * 9}age{DOUBLED[word] * 9}"
    steps = 0
    advance = DuckDBParser._advance

    def counted(parser: DuckDBParser, times: int = 1) -> None:
        nonlocal steps
        steps += 1
        advance(parser, times)

    monkeypatch.setattr(DuckDBParser, "_advance", counted)
    query = TableQuery.of("visits", TABLES)
    asked: list[Callable[[], object]] = [
        lambda: parse(f"SELECT SUM({inner}) FROM visits", TABLES),
        lambda: query.where(f"{inner} > 1"),
        lambda: query.with_columns(more=inner),
        lambda: query.aggregate(n=count()).having(f"{inner} > 1").question,
        lambda: parse_expression(inner),
    ]
    for ask in asked:
        steps = 0
        with pytest.raises(QuestionRefused):
            ask()
        assert 0 < steps <= STEPS_PER_TOKEN * 100 + FEWEST_STEPS  # of some 50 words


def test_nothing_of_a_question_is_logged(caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]) -> None:
    with caplog.at_level(logging.DEBUG):
        for text in (
            "COPY secret TO 'x'",
            "SELECT COUNT(*) FROM visits WHERE secret(age)",
            "SHOW secret",
            "SET secret = 1",
        ):
            refused(text)
    assert caplog.text == ""
    assert capsys.readouterr() == ("", "")


# ---- the page that documents it ------------------------------------------------------------------------------

PAGE = (Path(__file__).parents[4] / "docs" / "reference" / "sql.md").read_text(encoding="utf-8")
STUDY = tables_from(tomllib.loads("".join(re.findall(r"^```toml\n(.*?)^```$", PAGE, re.M | re.S))))


EXAMPLES = re.findall(r"^```sql\n(.*?)^```$", PAGE, re.M | re.S)


@pytest.mark.parametrize("text", EXAMPLES)
def test_every_example_of_the_page_is_a_question(text: str) -> None:
    checked = check(parse(text, STUDY), STUDY)
    checked.require_bounds()
    assert (checked.keys is None) == ("GROUP BY region\n" in text or "APPROX_TOP_K(town" in text)


def test_what_may_be_written_needs_a_third_of_the_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "STEPS_PER_TOKEN", STEPS_PER_TOKEN // 3)
    monkeypatch.setattr(limits, "FEWEST_STEPS", 10)
    deep = [("LEAST(age, ", ")"), ("(ok = ", ")"), ("CASE WHEN ok THEN 1 ELSE ", " END"), ("CAST(", " AS INTEGER)")]
    for text in (*EXAMPLES, *(f"SELECT SUM({word * 20}age{end * 20}) FROM visits" for word, end in deep)):
        statement(text)


def test_the_page_knows_the_limits() -> None:
    for limit in (LONGEST_SQL, MOST_TOKENS, LARGEST, DEEPEST, MOST_OUTPUTS, MOST_PARTS, MOST_PUBLIC_GROUPS, MOST_KEYS):
        assert re.search(rf"\b{limit:,}\b", PAGE), limit
    words = " ".join(PAGE.split())
    assert f"{SIGNIFICANT} significant bits" in words
    assert f"{QUOTIENT_BITS} fractional bits" in words


REFUSED = "ARRAY_AGG STRING_AGG ANY_VALUE FIRST SIN".split()  # noqa: SIM905


@pytest.mark.parametrize("function", REFUSED)
def test_what_the_page_refuses_is_refused(function: str) -> None:
    assert f"`{function}`" in PAGE
    argument = "town" if function in ("ARRAY_AGG", "STRING_AGG", "ANY_VALUE", "FIRST") else "age"
    assert function in refused(f"SELECT COUNT(*), {function}({argument}) FROM visits").what


@pytest.mark.parametrize(
    "call",
    [
        "DATE_TRUNC('month', day, 'x')",
        "MOD(age, 7, 8)",
        "LOG10(age, 7)",
        "LOG2(age, 7)",
        "FLOOR(age, 1, 2)",
        "DATEDIFF('day', DATE '2025-01-01', day, 7)",
        "STRFTIME(day, '%Y', 'x')",
        "QUANTILE(age, 0.5, 0.9)",
        "QUANTILE_CONT(COALESCE(age, 1), 0.5, 0.9)",
    ],
)
def test_no_argument_is_dropped(call: str) -> None:
    """The library builds these from as many arguments as it expects, and would forget the others."""
    with pytest.raises(QuestionRefused, match=r"has \d arguments, and takes \d here"):
        asked(f"SELECT {call} FROM visits")


def test_names_of_aggregates_without_one_are_those_that_were_written() -> None:
    inner = "(SELECT pid, SUM(income) AS total, COUNT(*) AS n FROM visits GROUP BY pid)"
    found = asked(f"SELECT AVG(total), MEDIAN(n), COUNT(*) FROM {inner}")
    assert found.outputs == ("mean_total", "median_n", "count")
    assert asked("SELECT MEDIAN(income), AVG(income + 1) FROM visits").outputs == ("median_income", "mean")
