"""The renderer writes the neutral language and nothing else."""

from __future__ import annotations

import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from curador.engines.dialect import Dialect
from curador.engines.duckdb.engine import DUCKDB
from curador.engines.postgres import POSTGRES
from curador.engines.render import ALLOWED, guard, render
from curador.engines.spark import SPARK
from curador.errors import InvalidParameter
from curador.query.sql_plan import ir as nt

DIALECTS = pytest.mark.parametrize("dialect", [DUCKDB, POSTGRES, SPARK])

FOREIGN = [
    "SELECT pg_read_file('/etc/passwd') FROM s0",
    "SELECT sleep(1) FROM s0",
    "SELECT * EXCEPT (a) FROM s0",
    "SELECT a FROM other.s0",
    "SELECT s0.a FROM s0",
    "SELECT a FROM s0 ORDER BY a",
    "SELECT a FROM s0 LIMIT 1",
    "SELECT DISTINCT a FROM s0",
    "SELECT a FROM s0 FOR UPDATE",
    "SELECT a INTO b FROM s0",
    "WITH b AS (SELECT 1) SELECT a FROM b",
    "SELECT a FROM s0 UNION ALL SELECT a FROM s0",
    "SELECT a FROM s0, LATERAL (SELECT 1) AS t",
    "SELECT (SELECT 1) AS a FROM s0",
    "SELECT a FROM s0 WHERE a IN (SELECT 1)",
    "SELECT a FROM s0 WHERE a LIKE 'x'",
    "SELECT a || 'x' FROM s0",
    "SELECT a / 2 FROM s0",
    "SELECT 1.5 FROM s0",
    "SELECT CAST(a AS TEXT) FROM s0",
    "SELECT a FROM s0 TABLESAMPLE (10 PERCENT)",
    "SELECT SUM(a) FILTER (WHERE a > 1) FROM s0",
    "SELECT RANDOM() FROM s0",
    "SELECT MAX(a) FROM s0",
    "DELETE FROM s0",
    "DROP TABLE s0",
    "SELECT a FROM s0 CROSS JOIN s0",
    "SELECT a FROM s0 GROUP BY ROLLUP (a)",
    "SELECT a FROM s0 HAVING a > 1",
]


@pytest.mark.parametrize("text", FOREIGN)
def test_what_is_not_in_the_language_is_refused(text: str) -> None:
    """Parsed by sqlglot, as a tree that somebody else might hand over."""
    for dialect in (DUCKDB, POSTGRES, SPARK):
        with pytest.raises(InvalidParameter, match="not in the neutral language"):
            render(sqlglot.parse_one(text, read="postgres"), dialect, {"s0": "t"})  # type: ignore[arg-type]


def test_no_argument_slips_through() -> None:
    """Every node refuses every argument that it has in sqlglot and not with us."""
    tried = 0
    for kind, allowed in ALLOWED.items():
        for argument in kind.arg_types:
            if argument not in allowed:
                with pytest.raises(InvalidParameter):
                    guard(kind(**{argument: exp.Literal(this="1", is_string=False)}))
                tried += 1
    assert tried > 120


@pytest.mark.parametrize("digits", ["1.5", "1e5", "1; DROP TABLE t", "0x10", "", "--1", "٣", "1\n"])
def test_numbers_are_digits(digits: str) -> None:
    with pytest.raises(InvalidParameter, match="non-integer"):
        guard(exp.Literal(this=digits, is_string=False))


@DIALECTS
@given(st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=20))
def test_quotes_cannot_be_left(dialect: Dialect, text: str) -> None:
    """Read back by a parser that is not ours, a quoted name and a quoted text are what they were."""
    name = {"DuckDBDialect": "duckdb", "PostgresDialect": "postgres", "SparkDialect": "spark"}[type(dialect).__name__]
    tree = nt.select({text or "x": nt.text(text)}, nt.table("s0"))
    parsed = sqlglot.parse(render(tree, dialect, {"s0": "t"}), read=name)
    assert len(parsed) == 1
    alias = parsed[0].expressions[0]  # type: ignore[union-attr]
    assert alias.alias == (text or "x")
    if dialect is not SPARK:  # sqlglot does not undo Spark's escapes; Spark itself is asked in test_failures.py
        assert alias.this.this == text


@DIALECTS
def test_nul_is_refused(dialect: Dialect) -> None:
    for spelt in (dialect.string, dialect.quoted):
        with pytest.raises(InvalidParameter, match="NUL"):
            spelt("a\0b")


def test_spark_texts_are_plain_characters() -> None:
    assert SPARK.string("a'\\${x}\n🦉") == r"'a\u0027\u005c\u0024\u007bx\u007d\u000a\U0001f989'"


@DIALECTS
def test_operators_are_in_parentheses(dialect: Dialect) -> None:
    tree = nt.select(
        {"x": nt.minus(nt.column("a"), nt.minus(nt.column("b"), nt.negated(nt.number(-1))))}, nt.table("s0")
    )
    q = dialect.quoted
    assert (
        render(tree, dialect, {"s0": "t"})
        == f"SELECT ({q('a')} - ({q('b')} - (- (-1)))) AS {q('x')} FROM t AS {q('s0')}"
    )
