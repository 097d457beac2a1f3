"""The renderer writes the neutral language and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from typing import Any, get_args

import duckdb
import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from curador.engines.dialect import Dialect
from curador.engines.duckdb.dialects import DUCKDB
from curador.engines.postgres import POSTGRES
from curador.engines.render import render
from curador.engines.spark import SPARK
from curador.errors import InvalidParameter
from curador.query.sql_plan import ir as nt
from curador.query.sql_plan.ir import Node

DIALECTS = pytest.mark.parametrize("dialect", [DUCKDB, POSTGRES, SPARK])

A, B = nt.column("a"), nt.column('b"')

VALUES: list[tuple[Node, str]] = [
    (A, '"a"'),
    (B, '"b"""'),
    (nt.number(7), "7"),
    (nt.number(-7), "(-7)"),
    (nt.constant(7), "CAST(7 AS BIGINT)"),
    (nt.constant(-7), "CAST((-7) AS BIGINT)"),
    (nt.text("it's"), "'it''s'"),
    (nt.truth(True), "TRUE"),
    (nt.truth(False), "FALSE"),
    (nt.null(), "NULL"),
    *((nt.infix(op, A, B), f'("a" {op} "b""")') for op in sorted(nt.OPERATORS - {"//"})),
    (nt.divide(A, B), '("a" // "b""")'),
    (nt.both(A, A, A), '("a" AND ("a" AND "a"))'),
    (nt.negated(A), '(- "a")'),
    (nt.opposite(A), '(NOT "a")'),
    (nt.is_null(A), '("a" IS NULL)'),
    (nt.function("ROOT", [A]), 'CAST(FLOOR(SQRT(CAST("a" AS DOUBLE))) AS BIGINT)'),
    (nt.function("CONCAT", [A, B]), '("a" || "b""")'),
    (nt.function("STARTS WITH", [A, nt.text("x")]), "STARTS_WITH(\"a\", 'x')"),
    (nt.function("ENDS WITH", [A, nt.text("x")]), "ENDS_WITH(\"a\", 'x')"),
    (nt.function("CONTAINS", [A, nt.text("x")]), "CONTAINS(\"a\", 'x')"),
    (nt.present(A), '(NOT ("a" IS NULL))'),
    (nt.unless_zero(A), 'NULLIF("a", 0)'),
    (nt.absolute(A), 'ABS("a")'),
    (nt.function("COALESCE", [A, B]), 'COALESCE("a", "b""")'),
    (nt.function("LEAST", [A, B]), 'LEAST("a", "b""")'),
    (nt.function("GREATEST", [A, B]), 'GREATEST("a", "b""")'),
    (nt.narrow(A), 'CAST("a" AS INTEGER)'),
    (nt.text_hash(A), "CAST('0x' || SUBSTR(MD5(\"a\"), 1, 7) AS BIGINT)"),
    *(
        (nt.day_part(p, A), f"EXTRACT({p} FROM DATE '1970-01-01' + CAST(\"a\" AS INTEGER))")
        for p in nt.DAY_PARTS
        if p != "weekday"
    ),
    (nt.day_part("weekday", A), "EXTRACT(isodow FROM DATE '1970-01-01' + CAST(\"a\" AS INTEGER))"),
    (nt.within(A, [nt.number(1), nt.text("x")]), "(\"a\" IN (1, 'x'))"),
    (nt.case([(A, B), (B, A)]), 'CASE WHEN "a" THEN "b""" WHEN "b""" THEN "a" END'),
    (nt.case([(A, B)], nt.null()), 'CASE WHEN "a" THEN "b""" ELSE NULL END'),
    (nt.rows(), "COUNT(*)"),
    (nt.count(A), 'COUNT("a")'),
    (nt.distinct(A), 'COUNT(DISTINCT "a")'),
    (nt.total(A), 'SUM("a")'),
    (nt.least(A), 'MIN("a")'),
    (nt.largest(A), 'MAX("a")'),
    (nt.whole(A), 'CAST("a" AS BIGINT)'),
    (nt.rows_over(["a"]), 'COUNT(*) OVER (PARTITION BY "a")'),
    (
        nt.rank(["a"], ["c", "d"], dense=False),
        'ROW_NUMBER() OVER (PARTITION BY "a" ORDER BY "c" NULLS FIRST, "d" NULLS FIRST)',
    ),
    (nt.rank(["a"], ["c"], dense=True), 'DENSE_RANK() OVER (PARTITION BY "a" ORDER BY "c" NULLS FIRST)'),
]
"""Every node that has a value, and its text for DuckDB."""

S0 = nt.table("s0")
LIST = nt.listed("p", ["v", "i"], [[nt.text("x"), nt.number(0)], [nt.text("y"), nt.number(1)]])
INNER = nt.select({"a": A}, S0, fence=True)

LAYERS: list[tuple[nt.Select, str]] = [
    (nt.select({"a": A, "b": A}, S0, where=B), 'SELECT "a", "a" AS "b" FROM t AS "s0" WHERE "b"""'),
    (nt.select({"n": nt.rows()}, S0, group=["a", "b"]), 'SELECT COUNT(*) AS "n" FROM t AS "s0" GROUP BY "a", "b"'),
    (
        nt.select({"n": nt.rows()}, S0, sets=[["a", "b"], ["a"]]),
        'SELECT COUNT(*) AS "n" FROM t AS "s0" GROUP BY GROUPING SETS (("a", "b"), ("a"))',
    ),
    (nt.select({"a": A}, INNER), 'SELECT "a" FROM (SELECT "a" FROM t AS "s0" OFFSET 0) AS "a"'),
    (nt.select({"a": A}, S0, joins=[nt.join(S0, A)]), 'SELECT "a" FROM t AS "s0" JOIN t AS "s0" ON "a"'),
    (
        nt.select({"a": A}, nt.stacked([nt.select({"a": A}, S0), nt.select({"a": B}, S0)])),
        'SELECT "a" FROM (SELECT "a" FROM t AS "s0" UNION ALL SELECT "b""" AS "a" FROM t AS "s0") AS "a"',
    ),
    (
        nt.select({"a": A}, S0, joins=[nt.join(LIST, A), nt.join(INNER, B, outer=True, alias="j1")]),
        'SELECT "a" FROM t AS "s0" JOIN (VALUES (\'x\', 0), (\'y\', 1)) AS "p"("v", "i") ON "a"'
        ' LEFT JOIN (SELECT "a" FROM t AS "s0" OFFSET 0) AS "j1" ON "b"""',
    ),
]


def shown(node: Any, dialect: Dialect = DUCKDB) -> str:
    return render(nt.select({"x": node}, S0), dialect, {"s0": "t"})


@pytest.mark.parametrize(("node", "text"), VALUES, ids=lambda x: x if isinstance(x, str) else "")
def test_a_value_is_written(node: Node, text: str) -> None:
    assert shown(node) == ('SELECT "a" AS "x" FROM t AS "s0"' if node == A else f'SELECT {text} AS "x" FROM t AS "s0"')


@pytest.mark.parametrize(("tree", "text"), LAYERS)
def test_a_layer_is_written(tree: nt.Select, text: str) -> None:
    assert render(tree, DUCKDB, {"s0": "t"}) == text.replace(" OFFSET 0", DUCKDB.fence and f" {DUCKDB.fence}")


def test_the_examples_are_the_whole_language() -> None:
    nodes = [node for tree in [*(v for v, _ in VALUES), *(t for t, _ in LAYERS)] for node in nt.walk(tree)]
    assert {type(node) for node in nodes} == {*get_args(nt.Tree)}
    assert {node.op for node in nodes if isinstance(node, nt.Infix)} == nt.OPERATORS
    assert {node.function for node in nodes if isinstance(node, nt.Call)} == {*get_args(nt.FunctionName)}
    assert {node.ranking for node in nodes if isinstance(node, nt.Over)} == {*get_args(nt.Ranking)}
    assert {node.part for node in nodes if isinstance(node, nt.DayPart)} == {*nt.DAY_PARTS}


# ---- nothing else --------------------------------------------------------------------------------------------

INJECTED = "1); DROP TABLE t; --'\"`"

NO_VALUES = [INJECTED, None, 1, exp.Anonymous(this="pg_read_file"), exp.Column(this="a"), INNER, S0, LIST,
             nt.join(S0, A), (A,), nt.ColumnRef]  # fmt: skip
NO_SOURCES = [INJECTED, None, exp.Table(this="t"), A, nt.text("t"), nt.join(S0, A), nt.TableRef]


@DIALECTS
@pytest.mark.parametrize("foreign", NO_VALUES, ids=str)
def test_no_other_node_is_a_value(dialect: Dialect, foreign: Any) -> None:
    for place in (foreign, nt.plus(A, foreign), nt.negated(foreign), nt.within(foreign, [A]), nt.within(A, [foreign]),
                  nt.case([(A, foreign)]), nt.case([(foreign, A)]), nt.day_part("year", foreign)):  # fmt: skip
        with pytest.raises(InvalidParameter, match="not in the neutral language"):
            shown(place, dialect)


@DIALECTS
@pytest.mark.parametrize("foreign", NO_SOURCES, ids=str)
def test_no_other_node_is_read_from(dialect: Dialect, foreign: Any) -> None:
    for tree in (nt.select({"a": A}, foreign), nt.select({"a": A}, S0, joins=[nt.join(foreign, A)])):
        with pytest.raises(InvalidParameter, match="not in the neutral language"):
            render(tree, dialect, {"s0": "t"})


@pytest.mark.parametrize("foreign", [sqlglot.parse_one("SELECT 1 FROM s0"), INJECTED, None, A, S0], ids=str)
def test_no_other_node_is_a_statement(foreign: Any) -> None:
    with pytest.raises(InvalidParameter, match="not in the neutral language"):
        render(foreign, DUCKDB, {"s0": "t"})


@DIALECTS
@pytest.mark.parametrize("word", ["|| '' ||", "LIKE", "sum", "+ 1 +", "/", "", "and", "AVG", "pg_read_file", "century"])
def test_no_other_word_is_known(dialect: Dialect, word: Any) -> None:
    unknown: list[tuple[Node, str]] = [
        (nt.Infix(word, A, B), "operator"),
        (nt.Call(word, (A,)), "function"),
        (nt.Over(word, ("a",)), "window"),
        (nt.DayPart(word, A), "part of a date"),
    ]
    for node, what in unknown:
        with pytest.raises(InvalidParameter, match=f"The {what} .* is not in the neutral language"):
            shown(node, dialect)


def test_no_other_table_is_read() -> None:
    with pytest.raises(InvalidParameter, match="The table 'pg_authid' is not in the neutral language"):
        render(nt.select({"a": A}, nt.table("pg_authid")), DUCKDB, {"s0": "t"})


@pytest.mark.parametrize("digits", ["1.5", "1; DROP TABLE t", "1", "", "٣", 1.5, Fraction(1, 2), None])
def test_numbers_are_integers(digits: Any) -> None:
    for node in (nt.number(digits), nt.constant(digits)):
        with pytest.raises(TypeError):
            shown(node)


def changed(tree: Any, foreign: Any) -> Iterator[Any]:
    """The tree with one thing in it, at any depth, replaced by another: fields of nodes and items of tuples."""
    yield foreign
    if is_dataclass(tree):
        for field in fields(tree):
            for part in changed(getattr(tree, field.name), foreign):
                yield replace(tree, **{field.name: part})  # type: ignore[type-var]
    elif isinstance(tree, tuple):
        for i, item in enumerate(tree):
            for part in changed(item, foreign):
                yield (*tree[:i], part, *tree[i + 1 :])


def bare(text: str) -> set[str]:
    """The words of a statement outside of quotes."""
    return set(re.findall(r"\w+|[^\w\s]", re.sub(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`", " ", text)))


@DIALECTS
@pytest.mark.parametrize("foreign", [INJECTED, (INJECTED, INJECTED), exp.Anonymous(this="drop"), A, INNER], ids=str)
def test_a_foreign_thing_anywhere_is_refused_or_quoted(dialect: Dialect, foreign: Any) -> None:
    """Whatever stands in whichever field, no word appears that the unchanged trees do not have."""
    trees = [*(nt.select({"x": node}, S0) for node, _ in VALUES), *(tree for tree, _ in LAYERS)]
    known = {word for tree in trees for word in bare(render(tree, dialect, {"s0": "t"}))}
    assert "DROP" not in known
    tried = written = 0
    for tree in trees:
        for other in changed(tree, foreign):
            tried += 1
            try:
                text = render(other, dialect, {"s0": "t"})
            except (InvalidParameter, TypeError, ValueError, AttributeError):
                continue
            written += 1
            assert bare(text) <= known
    assert 0 < written < tried > 500


# ---- quotes and parentheses ----------------------------------------------------------------------------------


@DIALECTS
@given(st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=20))
def test_quotes_cannot_be_left(dialect: Dialect, text: str) -> None:
    """Read back by a parser that is not ours, a quoted name and a quoted text are what they were."""
    name = {"DuckDBDialect": "duckdb", "PostgresDialect": "postgres", "SparkDialect": "spark"}[type(dialect).__name__]
    tree = nt.select({text or "x": nt.text(text)}, S0)
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
    tree = nt.select({"x": nt.minus(nt.column("a"), nt.minus(nt.column("b"), nt.negated(nt.number(-1))))}, S0)
    q = dialect.quoted
    assert (
        render(tree, dialect, {"s0": "t"})
        == f"SELECT ({q('a')} - ({q('b')} - (- (-1)))) AS {q('x')} FROM t AS {q('s0')}"
    )


# ---- depth ---------------------------------------------------------------------------------------------------


@DIALECTS
def test_deep_trees_are_written(dialect: Dialect) -> None:
    """Twice as deep as the deepest expression that a question may hold, in every kind of node that nests."""
    wraps: list[Callable[[Node], Node]] = [
        lambda x: nt.plus(x, A),
        lambda x: nt.case([(A, x)]),
        lambda x: nt.within(A, [x]),
        lambda x: nt.function("COALESCE", [A, x]),
        nt.negated,
    ]
    for wrap in wraps:
        node: Node = A
        for _ in range(200):
            node = wrap(node)
        assert shown(node, dialect)
    layer: nt.FromItem = S0
    for _ in range(200):
        layer = nt.select({"a": A}, layer)
    assert isinstance(layer, nt.Select)
    assert render(layer, dialect, {"s0": "t"}).count("SELECT") == 200


def lists(many: int, operand: Node = A) -> nt.Select:
    """A statement with that many lists of 40 values."""
    tests = [nt.within(operand, [nt.number(40 * i + j) for j in range(40)]) for i in range(many)]
    return nt.select({"v": nt.case([(test, nt.number(i)) for i, test in enumerate(tests)])}, nt.table("s"))


def test_many_lists_are_comparisons_where_each_would_be_a_join() -> None:
    """Found by attack: DuckDB joins a table for each list, and planned 400 of them for a minute, uninterrupted."""
    most = DUCKDB.most_lists
    assert most is not None
    few, many = (render(lists(n), DUCKDB, {"s": "(SELECT 57 AS a)"}) for n in (most, most + 1))
    assert few.count(" IN ") == most
    assert " IN " not in many
    assert many.count('"a" = ') == 40 * (most + 1)
    assert render(lists(most + 1), POSTGRES, {"s": "s"}).count(" IN ") == most + 1
    assert duckdb.execute(few).fetchall() == duckdb.execute(many).fetchall() == [(1,)]
    for other in ("NULL", "9999"):
        texts = [render(lists(n), DUCKDB, {"s": f"(SELECT {other} AS a)"}) for n in (most, most + 1)]
        assert [duckdb.execute(text).fetchall() for text in texts] == [[(None,)]] * 2


def test_a_long_operand_is_not_written_again_for_each_value() -> None:
    long = nt.function("COALESCE", [nt.column("a" * 200)] * 9)
    assert render(lists(30, long), DUCKDB, {"s": "s"}).count(" IN ") == 30
