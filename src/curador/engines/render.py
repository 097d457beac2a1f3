"""Renders trees of the neutral SQL language as the SQL text of one engine.

Guarantee: no text of a question reaches an engine.  Names are quoted, and constants are integers or quoted strings.
Every other word comes from a closed list in this file or the dialect.  Any other node, operator, function or table is
refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from operator import index
from typing import Never

from curador.engines.dialect import Dialect
from curador.errors import InvalidParameter
from curador.query.sql_plan import ir as nt
from curador.query.sql_plan.ir import Node

LONGEST_COMPARED = 1000
"""The longest text that is written again for each value that it is compared with."""


def render(tree: nt.Select, dialect: Dialect, scans: Mapping[str, str]) -> str:
    """Render a statement; ``scans`` has the text for each table of the tree.

    >>> from curador.engines.duckdb.dialects import DUCKDB
    >>> tree = nt.select({"m0": nt.total(nt.column("c0"))}, nt.table("s0"))
    >>> render(tree, DUCKDB, {"s0": '"people"'})
    'SELECT SUM("c0") AS "m0" FROM "people" AS "s0"'
    """
    writer = _Writer(dialect, scans)
    text = writer.select(tree)
    if dialect.most_lists is None or writer.lists <= dialect.most_lists:
        return text
    return _Writer(dialect, scans, compare=True).select(tree)


class _Writer:
    """Writes nodes; operators always in parentheses."""

    def __init__(self, dialect: Dialect, scans: Mapping[str, str], compare: bool = False) -> None:
        self.dialect, self.scans = dialect, scans
        self.quoted = dialect.quoted
        self.lists, self._compare = 0, compare

    # ---- values ---------------------------------------------------------------------------------------------

    def value(self, node: Node) -> str:
        match node:
            case nt.ColumnRef():
                return self.quoted(node.name)
            case nt.Infix():
                return self.infix(node.op, self.value(node.left), self.value(node.right))
            case nt.Number():
                return self.number(node)
            case nt.Call():
                return self.call(node.function, [self.value(x) for x in node.operands])
            case nt.CaseWhen():
                return self.case(node)
            case nt.Text():
                return self.dialect.string(node.value)
            case nt.Over():
                return self.over(node)
            case nt.Null():
                return "NULL"
            case nt.Truth():
                return "TRUE" if node.value else "FALSE"
            case nt.Membership():
                return self.membership(self.value(node.operand), [self.value(x) for x in node.values])
            case nt.DayPart():
                part = _check_word(node.part, nt.DAY_PARTS, "part of a date")
                return self.dialect.date_part(part, self.value(node.days))
            case _:
                raise _unknown(node)

    def values(self, nodes: Iterable[Node]) -> str:
        return ", ".join([self.value(node) for node in nodes])

    def membership(self, x: str, values: list[str]) -> str:
        self.lists += 1
        if not self._compare or len(x) > LONGEST_COMPARED:
            return f"({x} IN ({', '.join(values)}))"
        parts = [f"{x} = {value}" for value in values]
        while len(parts) > 1:  # some at a time: a parser follows a long chain down to its first link
            parts = [f"({' OR '.join(parts[i : i + 32])})" for i in range(0, len(parts), 32)]
        return f"({parts[0]})"

    def names(self, names: Iterable[str]) -> str:
        return ", ".join([self.quoted(name) for name in names])

    def number(self, node: nt.Number) -> str:
        digits = str(index(node.value))
        text = f"({digits})" if digits.startswith("-") else digits
        return self.dialect.constant(text) if node.wide else text

    def infix(self, op: str, left: str, right: str) -> str:
        if op == "//":
            return self.dialect.divide(left, right)
        return f"({left} {_check_word(op, nt.OPERATORS, 'operator')} {right})"

    def call(self, function: nt.FunctionName, operands: list[str]) -> str:
        if (own := _OF_THE_DIALECT.get(function)) is not None:
            return own(self.dialect, *operands)
        before, between, after = _AROUND[_check_word(function, _AROUND, "function")]
        return f"{before}{between.join(operands)}{after}"

    def case(self, node: nt.CaseWhen) -> str:
        whens = "".join([f" WHEN {self.value(test)} THEN {self.value(value)}" for test, value in node.whens])
        otherwise = "" if node.otherwise is None else f" ELSE {self.value(node.otherwise)}"
        return f"CASE{whens}{otherwise} END"

    def over(self, node: nt.Over) -> str:
        what = _WINDOWS[_check_word(node.ranking, _WINDOWS, "window")]
        order = ", ".join([f"{self.quoted(name)} NULLS FIRST" for name in node.order])
        return f"{what} OVER (PARTITION BY {self.names(node.partition)}{order and f' ORDER BY {order}'})"

    # ---- layers ---------------------------------------------------------------------------------------------

    def select(self, node: nt.Select) -> str:
        if not isinstance(node, nt.Select):
            raise _unknown(node)
        columns = ", ".join([self.aliased(name, self.value(value)) for name, value in node.columns])
        clauses = [f"SELECT {columns} FROM {self.source(node.source, 'a')}"]
        clauses += [self.join(join) for join in node.joins]
        if node.where is not None:
            clauses.append(f"WHERE {self.value(node.where)}")
        if node.group:
            clauses.append(f"GROUP BY {self.names(node.group)}")
        if node.sets:
            sets = ", ".join([f"({self.names(names)})" for names in node.sets])
            clauses.append(f"GROUP BY GROUPING SETS ({sets})")
        if node.fence and self.dialect.fence:
            clauses.append(self.dialect.fence)
        return " ".join(clauses)

    def aliased(self, name: str, value: str) -> str:
        alias = self.quoted(name)
        return alias if value == alias else f"{value} AS {alias}"

    def source(self, node: nt.Source, alias: str) -> str:
        """Write the text after FROM or JOIN; layers are allowed nowhere else."""
        match node:
            case nt.Select():
                return f"({self.select(node)}) AS {self.quoted(alias)}"
            case nt.TableRef():
                return f"{self.scans[_check_word(node.name, self.scans, 'table')]} AS {self.quoted(node.name)}"
            case nt.Stacked():
                layers = " UNION ALL ".join([self.select(layer) for layer in node.layers])
                return f"({layers}) AS {self.quoted(alias)}"
            case nt.ValuesList():
                rows = ", ".join([f"({self.values(row)})" for row in node.rows])
                return f"(VALUES {rows}) AS {self.quoted(node.name)}({self.names(node.columns)})"
            case _:
                raise _unknown(node)

    def join(self, node: nt.Joined) -> str:
        side = "LEFT JOIN" if node.outer else "JOIN"
        return f"{side} {self.source(node.source, node.alias)} ON {self.value(node.on)}"


# ---- the closed lists ----------------------------------------------------------------------------------------

_AROUND = {
    "ABS": ("ABS(", ", ", ")"),
    "COALESCE": ("COALESCE(", ", ", ")"),
    "CONCAT": ("(", " || ", ")"),
    "COUNT": ("COUNT(", ", ", ")"),
    "COUNT DISTINCT": ("COUNT(DISTINCT ", ", ", ")"),
    "COUNT ROWS": ("COUNT(*", ", ", ")"),
    "GREATEST": ("GREATEST(", ", ", ")"),
    "IS NULL": ("(", ", ", " IS NULL)"),
    "LEAST": ("LEAST(", ", ", ")"),
    "MAX": ("MAX(", ", ", ")"),
    "MIN": ("MIN(", ", ", ")"),
    "NEGATE": ("(- ", ", ", ")"),
    "NOT": ("(NOT ", ", ", ")"),
    "NULLIF": ("NULLIF(", ", ", ")"),
}
"""The text before, between and after the operands of each function that all engines spell alike."""

_OF_THE_DIALECT: dict[str, Callable[..., str]] = {
    "CONTAINS": lambda dialect, x, part: dialect.contains(x, part),
    "ENDS WITH": lambda dialect, x, part: dialect.ends_with(x, part),
    "NARROW": lambda dialect, x: f"CAST({x} AS {dialect.small})",
    "ROOT": lambda dialect, x: dialect.floor(f"SQRT({dialect.cast(x, dialect.real)})"),
    "STARTS WITH": lambda dialect, x, part: dialect.starts_with(x, part),
    "SUM": lambda dialect, x: dialect.total(x),
    "WHOLE": lambda dialect, x: f"CAST({x} AS {dialect.integer})",
    "TEXT HASH": lambda dialect, x: dialect.text_hash(x),
}

_WINDOWS = {"ROW_NUMBER": "ROW_NUMBER()", "DENSE_RANK": "DENSE_RANK()", "COUNT": "COUNT(*)"}


def _check_word(word: str, words: Iterable[str], what: str) -> str:
    if word not in words:
        raise _foreign(f"{what} {word!r}")
    return word


def _unknown(node: Never) -> InvalidParameter:
    return _foreign(f"node {type(node).__name__!r} in this place")


def _foreign(what: str) -> InvalidParameter:
    return InvalidParameter(
        f"The {what} is not in the neutral language.", fix="Make trees with curador.query.sql_plan.ir."
    )
