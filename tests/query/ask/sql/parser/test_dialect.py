"""The dialect of questions reads as the library's own DuckDB does: only what writes SQL is left out."""

from __future__ import annotations

from typing import Any

import pytest
from sqlglot.dialects.dialect import Dialect
from sqlglot.dialects.duckdb import DuckDB

from curador.query.ask.sql.parser.dialect import QuestionDialect

OURS = {"Parser", "parser_class", "Tokenizer", "tokenizer_class", "SUPPORTED_SETTINGS", "to_json_path"}
WRITES = {"Generator", "generator_class", "INVERSE_TIME_MAPPING", "INVERSE_TIME_TRIE", "EXPRESSION_METADATA"}
MADE_FOR_EACH = {"jsonpath_tokenizer_class", "format_time", "get_or_raise"}  # a class, or a method, of each dialect


def differing(one: type, other: type) -> set[str]:
    """The public names whose values differ between two classes."""
    names = {name for name in {*dir(one), *dir(other)} if not name.startswith("__")}
    return {name for name in names if getattr(one, name, None) != getattr(other, name, None)}


def test_all_that_reading_needs_is_as_in_the_original() -> None:
    assert differing(QuestionDialect, DuckDB) == OURS | WRITES | MADE_FOR_EACH
    assert differing(QuestionDialect.tokenizer_class, DuckDB.tokenizer_class) == set()
    assert differing(QuestionDialect.jsonpath_tokenizer_class, DuckDB.jsonpath_tokenizer_class) == set()


def test_a_difference_is_seen() -> None:
    assert {"KEYWORDS", "COMMANDS"} <= differing(QuestionDialect.tokenizer_class, Dialect.tokenizer_class)


TEXTS = [
    "SELECT a // 2 AS half, COUNT(*) FROM t WHERE b ** 2 > 1_000 AND s = 'it''s' GROUP BY ALL ORDER BY ALL",
    "SELECT CAST(x AS DATETIME), STRFTIME(d, '%Y-%m'), DATE_TRUNC('week', d), DATEDIFF('month', a, b) FROM t",
    "SELECT QUANTILE_CONT(x, [0.25, 0.5]), e'\\x41', $$text$$, l[1], \"odd name\" FROM t JOIN u USING (id)",
    "WITH a AS (SELECT id, SUM(x) AS total FROM t GROUP BY id) SELECT AVG(total) FROM a LIMIT 5 OFFSET 2",
    "SELECT x IS NOT DISTINCT FROM 3, INTERVAL 1 MONTH, a ^@ 'b', MODE(k), CASE WHEN a THEN 1 END FROM t",
]


@pytest.mark.parametrize("text", TEXTS)
def test_trees_are_as_of_the_original(text: str) -> None:
    ours: Any = QuestionDialect(steps=10_000)
    assert list(map(repr, ours.tokenize(text))) == list(map(repr, DuckDB().tokenize(text)))
    assert [repr(tree) for tree in ours.parse(text)] == [repr(tree) for tree in DuckDB().parse(text)]
