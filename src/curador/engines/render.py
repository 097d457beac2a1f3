"""Renders trees of the neutral SQL language as the SQL text of one engine, from a closed list of nodes.

Guarantee: no text of a question reaches an engine.  Names are quoted, literals are integers or quoted strings, and a
node or an argument that is not on the list is refused before anything is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from sqlglot import exp

from curador.engines.dialect import Dialect
from curador.errors import InvalidParameter
from curador.query.sql_plan.ir import DATE_PART, TEXT_HASH

Node = exp.Expr

PARTS = ("year", "quarter", "month", "day", "weekday")


# ---- the guard -----------------------------------------------------------------------------------------------

_INFIX: dict[type[Node], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Mod: "%",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.And: "AND",
    exp.Or: "OR",
}
_FUNCTIONS: dict[type[Node], str] = {exp.Least: "LEAST", exp.Greatest: "GREATEST", exp.Coalesce: "COALESCE"}
_PAIR = ("this", "expression")

ALLOWED: dict[type[Node], tuple[str, ...]] = {
    **dict.fromkeys(_INFIX, _PAIR),
    **dict.fromkeys(_FUNCTIONS, ("this", "expressions")),
    exp.IntDiv: _PAIR,
    exp.Nullif: _PAIR,
    exp.Is: _PAIR,
    exp.Neg: ("this",),
    exp.Not: ("this",),
    exp.Abs: ("this",),
    exp.Sum: ("this",),
    exp.Count: ("this",),
    exp.Star: (),
    exp.Null: (),
    exp.RowNumber: (),
    exp.DenseRank: (),
    exp.Boolean: ("this",),
    exp.Literal: ("this", "is_string"),
    exp.Identifier: ("this", "quoted"),
    exp.Column: ("this",),
    exp.Table: ("this",),
    exp.TableAlias: ("this", "columns"),
    exp.Alias: ("this", "alias"),
    exp.Distinct: ("expressions",),
    exp.In: ("this", "expressions"),
    exp.Case: ("ifs", "default"),
    exp.If: ("this", "true"),
    exp.Cast: ("this", "to"),
    exp.DataType: ("this",),
    exp.Anonymous: ("this", "expressions"),
    exp.Window: ("this", "partition_by", "order"),
    exp.Order: ("expressions",),
    exp.Ordered: ("this", "nulls_first"),
    exp.Tuple: ("expressions",),
    exp.Values: ("expressions", "alias"),
    exp.Subquery: ("this", "alias"),
    exp.Select: ("expressions", "from_", "joins", "where", "group", "offset"),
    exp.From: ("this",),
    exp.Join: ("this", "on", "side"),
    exp.Where: ("this",),
    exp.Group: ("expressions",),
    exp.Offset: ("expression",),
}
"""Every node a tree may hold, and the arguments it may have."""

_CASTS = {True: (exp.DataType.Type.BIGINT,), False: (exp.DataType.Type.INT,)}
"""The type that a constant (True) or anything else (False) may be cast to: constants widen, the rest narrows."""

_DIGITS = re.compile(r"-?[0-9]{1,40}\Z")


def guard(tree: Node) -> None:
    """Refuse a tree that holds anything but the neutral language.

    >>> guard(exp.Select(expressions=[exp.Anonymous(this="pg_read_file")]))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    curador.errors.InvalidParameter: A tree holds a function 'pg_read_file' that is not in the neutral language. ...
    """
    for node in tree.walk():
        allowed = ALLOWED.get(type(node))
        if allowed is None:
            raise _foreign(f"node {type(node).__name__!r}")
        extra = [arg for arg, value in node.args.items() if arg not in allowed and value not in (None, False, [])]
        if extra:
            raise _foreign(f"{type(node).__name__} with {extra[0]!r}")
        if type(node) is exp.Anonymous and node.this not in (DATE_PART, TEXT_HASH):
            raise _foreign(f"function {node.this!r}")
        if type(node) is exp.Cast and node.args["to"].this not in _CASTS[type(node.this) is exp.Literal]:
            raise _foreign("cast to another type")
        if type(node) is exp.Literal and not node.is_string and not _DIGITS.match(node.this):
            raise _foreign("non-integer number")


def _foreign(what: str) -> InvalidParameter:
    return InvalidParameter(
        f"A tree holds a {what} that is not in the neutral language.", fix="Make trees with curador.query.sql_plan.ir."
    )


# ---- the text ------------------------------------------------------------------------------------------------


def render(tree: exp.Select, dialect: Dialect, scans: Mapping[str, str]) -> str:
    """The text of a statement; ``scans`` has the text that stands for each table of the tree.

    >>> from curador.engines.duckdb.engine import DUCKDB
    >>> from curador.query.sql_plan import ir as nt
    >>> tree = nt.select({"m0": nt.total(nt.column("c0"))}, nt.table("s0"))
    >>> render(tree, DUCKDB, {"s0": '"people"'})
    'SELECT SUM("c0") AS "m0" FROM "people" AS "s0"'
    """
    guard(tree)
    try:
        return _select(_Writer(dialect, scans), tree)
    except (KeyError, AttributeError):  # a node of the language, in a place where it is not allowed
        raise _foreign("node in the wrong place") from None


class _Writer:
    """Writes nodes that the guard has accepted; operators always in parentheses."""

    def __init__(self, dialect: Dialect, scans: Mapping[str, str]) -> None:
        self.dialect, self.scans = dialect, scans

    def write(self, node: Node) -> str:
        return _RULES[type(node)](self, node)

    def source(self, node: Node | None) -> str:
        """The FROM or JOIN of a layer: a table, VALUES or another layer.  Subqueries are allowed nowhere else."""
        if type(node) not in _SOURCES or node is None:
            raise _foreign("layer that reads something else")
        return _SOURCES[type(node)](self, node)

    def all(self, nodes: list[Node] | None) -> str:
        return ", ".join([_RULES[type(n)](self, n) for n in nodes or []])


Rule = Callable[[_Writer, Node], str]


def _infix(w: _Writer, node: Node) -> str:
    return f"({w.write(node.this)} {_INFIX[type(node)]} {w.write(node.expression)})"


def _call(name: str) -> Rule:
    return lambda w, node: f"{name}({w.write(node.this)})"


def _several(w: _Writer, node: Node) -> str:
    return f"{_FUNCTIONS[type(node)]}({w.all([node.this, *node.expressions])})"


def _literal(w: _Writer, node: Node) -> str:
    if node.args.get("is_string"):
        return w.dialect.string(node.this)
    return f"({node.this})" if node.this.startswith("-") else str(node.this)


def _cast(w: _Writer, node: Node) -> str:
    if type(node.this) is exp.Literal:
        return w.dialect.constant(_literal(w, node.this))
    return f"CAST({w.write(node.this)} AS {w.dialect.small})"


def _helper(w: _Writer, node: Node) -> str:
    if node.this == TEXT_HASH:
        return w.dialect.text_hash(w.write(node.expressions[0]))
    part, days = node.expressions
    if part.this not in PARTS:
        raise _foreign(f"part {part.this!r} of a date")
    return w.dialect.date_part(part.this, w.write(days))


def _case(w: _Writer, node: Node) -> str:
    whens = "".join([f" WHEN {w.write(i.this)} THEN {w.write(i.args['true'])}" for i in node.args["ifs"]])
    default = node.args.get("default")
    return f"CASE{whens}{'' if default is None else f' ELSE {w.write(default)}'} END"


def _window(w: _Writer, node: Node) -> str:
    order = node.args.get("order")
    ordered = "" if order is None else f" ORDER BY {w.all(order.expressions)}"
    return f"{w.write(node.this)} OVER (PARTITION BY {w.all(node.args['partition_by'])}{ordered})"


def _values(w: _Writer, node: Node) -> str:
    alias = node.args["alias"]
    return f"(VALUES {w.all(node.expressions)}) AS {w.write(alias.this)}({w.all(alias.args['columns'])})"


def _select(w: _Writer, node: Node) -> str:
    args = node.args
    first = args["from_"].this if args.get("from_") is not None else None
    clauses = [f"SELECT {w.all(node.expressions)} FROM {w.source(first)}"]
    clauses += [w.write(join) for join in args.get("joins") or []]
    for key, word in (("where", "WHERE"), ("group", "GROUP BY")):
        if (clause := args.get(key)) is not None:
            clauses.append(f"{word} {w.write(clause)}")
    if args.get("offset") is not None and w.dialect.fence:
        clauses.append(w.dialect.fence)
    return " ".join(clauses)


def _join(w: _Writer, node: Node) -> str:
    side = "LEFT JOIN" if node.args.get("side") == "LEFT" else "JOIN"
    return f"{side} {w.source(node.this)} ON {w.write(node.args['on'])}"


def _alias(w: _Writer, node: Node) -> str:
    what, name = w.write(node.this), w.write(node.args["alias"])
    return name if what == name else f"{what} AS {name}"


def _table(w: _Writer, node: Node) -> str:
    return f"{w.scans[node.this.this]} AS {w.write(node.this)}"


_RULES: dict[type[Node], Rule] = {
    **dict.fromkeys(_INFIX, _infix),
    **dict.fromkeys(_FUNCTIONS, _several),
    exp.IntDiv: lambda w, n: w.dialect.divide(w.write(n.this), w.write(n.expression)),
    exp.Nullif: lambda w, n: f"NULLIF({w.write(n.this)}, {w.write(n.expression)})",
    exp.Is: lambda w, n: f"({w.write(n.this)} IS NULL)",
    exp.Neg: lambda w, n: f"(- {w.write(n.this)})",
    exp.Not: lambda w, n: f"(NOT {w.write(n.this)})",
    exp.Abs: _call("ABS"),
    exp.Sum: lambda w, n: w.dialect.total(w.write(n.this)),
    exp.Count: _call("COUNT"),
    exp.Star: lambda w, n: "*",
    exp.Null: lambda w, n: "NULL",
    exp.RowNumber: lambda w, n: "ROW_NUMBER()",
    exp.DenseRank: lambda w, n: "DENSE_RANK()",
    exp.Boolean: lambda w, n: "TRUE" if n.this else "FALSE",
    exp.Literal: _literal,
    exp.Identifier: lambda w, n: w.dialect.quoted(n.this),
    exp.Column: lambda w, n: w.dialect.quoted(n.this.this),
    exp.Alias: _alias,
    exp.Distinct: lambda w, n: f"DISTINCT {w.all(n.expressions)}",
    exp.In: lambda w, n: f"({w.write(n.this)} IN ({w.all(n.expressions)}))",
    exp.Case: _case,
    exp.Cast: _cast,
    exp.Anonymous: _helper,
    exp.Window: _window,
    exp.Ordered: lambda w, n: f"{w.write(n.this)} NULLS FIRST",
    exp.Tuple: lambda w, n: f"({w.all(n.expressions)})",
    exp.Join: _join,
    exp.Where: lambda w, n: w.write(n.this),
    exp.Group: lambda w, n: w.all(n.expressions),
}

_SOURCES: dict[type[Node], Rule] = {
    exp.Table: _table,
    exp.Values: _values,
    exp.Subquery: lambda w, n: f"({_select(w, n.this)}) AS {w.write(n.args['alias'].this)}",
}
