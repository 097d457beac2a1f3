"""Arithmetic on answers: expressions over aggregates and groups, read into columns that are derived after the noise.

An aggregate that is used here and nowhere selected is measured all the same, and not shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from curador.errors import QuestionRefused
from curador.query.aggregates.base import function_named
from curador.query.ask.question import Derived, Output
from curador.query.ask.sql.aggregates import aggregate_of, default_name
from curador.query.ask.sql.expressions import GROUPINGS, Reader, is_aggregate, number
from curador.query.ask.sql.relation import matching
from curador.query.ask.sql.text import expression, only, plain_column, refuse, word
from curador.query.language import answers as an
from curador.query.language import expressions as ex
from curador.query.language.trees import names as names_in

_FUNCTIONS: dict[type[exp.Expr], str] = {
    exp.Round: "round",
    exp.Floor: "floor",
    exp.Ceil: "ceil",
    exp.Trunc: "trunc",
    exp.Sqrt: "sqrt",
    exp.Ln: "ln",
    exp.Exp: "exp",
}
_ADDED: dict[type[exp.Expr], str] = {exp.Sum: "sum", exp.Avg: "avg", exp.Min: "min", exp.Max: "max", exp.Count: "count"}
_PLACES: dict[type[exp.Expr], str] = {exp.RowNumber: "row_number", exp.Rank: "rank", exp.DenseRank: "dense_rank"}
_REALS = ("DOUBLE", "FLOAT", "DECIMAL")
_WHOLE = ("INT", "BIGINT", "SMALLINT")


def after_noise(node: exp.Expr) -> bool:
    """Whether a part of SELECT is more than an aggregate by itself, yet made of one, or looks through a window."""
    if is_aggregate(node) and type(node) is not exp.Window:
        return False
    return any(is_aggregate(part) or isinstance(part, GROUPINGS) for part in node.walk())


def aggregates_rows(nodes: Iterable[exp.Expr]) -> bool:
    """Whether some part is an aggregate of rows: one that is not the function of a window."""
    found = (part for node in nodes for part in node.walk() if is_aggregate(part) and type(part) is not exp.Window)
    return any(not _of_window(part) for part in found)


def _of_window(node: exp.Expr) -> bool:
    above = node.parent
    return isinstance(above, exp.Window) and above.this is node


@dataclass
class Answers:
    """Reads expressions over the answers to one question; collects the aggregates that they need.

    ``rows`` reads what aggregates are made of, ``groups`` are the names of what is grouped by.  A name is a group's, or
    else that of another column of the answer; the other way round where ``named_first``, as in HAVING and ORDER BY.
    """

    rows: Reader
    groups: Mapping[ex.Expr, str]
    is_unit: Callable[[ex.Expr], bool]
    named_first: bool = False
    relation: str = ""
    """The name by which a column of the answer may be called, too: that of an inner query."""
    outputs: list[Output] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    called: dict[str, str] = field(default_factory=dict)
    """Columns that are still called by a name that another now has."""
    derived: list[Derived] = field(default_factory=list)

    @property
    def text(self) -> str:
        return self.rows.text

    def read(self, node: exp.Expr) -> ex.Expr:
        """The expression that a node stands for, over the columns of the answer."""
        return Reader(self.text, self._column, self._aggregate, ours=self._ours).read(node)

    def of_text(self, rows: Reader) -> ex.Expr:
        """The same from a text of its own, over the rows that ``rows`` reads."""
        return replace(self, rows=rows).read(expression(rows.text))

    def measure(self, name: str, rows: Reader) -> bool:
        """Add an aggregate by its text, under a name of its own; nothing where the text is more than an aggregate."""
        node = expression(rows.text)
        if type(node) is exp.Window or not is_aggregate(node):
            return False
        self.outputs.append(Output(name, aggregate_of(node, rows, self.is_unit)))
        return True

    def name_of(self, what: ex.Expr, stem: str) -> str:
        """The name of a column with this value: that of a column there is, or of a new one that is not shown."""
        if isinstance(what, ex.Name):
            return what.column
        for d in self.derived:
            if d.expr == what:
                return d.name
        self.derived.append(Derived(self.unused(stem), what))
        return self.derived[-1].name

    def unused(self, stem: str) -> str:
        """A name that no column has, numbered where the stem itself is taken."""
        name, count = stem, 1
        while name.casefold() in self.taken:
            count += 1
            name = f"{stem}_{count}"
        self.taken.add(name.casefold())
        return name

    @property
    def columns(self) -> list[str]:
        """The columns of the answer so far."""
        measured = (name for o in self.outputs for name in o.aggregate.outputs(o.name))
        return [*self.groups.values(), *measured, *(d.name for d in self.derived)]

    # -- what answers may be made of

    def _column(self, node: exp.Column) -> ex.Expr:
        found = self._named(node)
        if found is None:
            refuse(
                node,
                self.text,
                f"{node.name[:40]!r} is not a column of the answer; after the noise there are noised answers only.",
                f"Group by it, measure it, or use one of {', '.join(self.columns)}.",
                code="not-in-answer",
                column=node.name[:40],
                known=", ".join(self.columns),
            )
        return found

    def _named(self, node: exp.Column) -> ex.Expr | None:
        if not self.here(node):
            return None
        called, named = matching(self.called, node.this), matching(self.columns, node.this)
        return ex.Name(self.called[called[0]]) if called else ex.Name(named[0]) if named else None

    def here(self, node: exp.Column) -> bool:
        """Whether a name may be one of the answer: it names no table, or the query that gives the answer."""
        table = plain_column(node, self.text).args.get("table")
        return table is None or bool(self.relation and matching([self.relation], table))

    def _aggregate(self, node: exp.Expr) -> ex.Expr:
        if type(node) is exp.Window:
            return self._window(node)
        wanted = aggregate_of(node, self.rows, self.is_unit)
        for output in self.outputs:
            if output.aggregate == wanted:
                return self._single(output, node)
        output = Output(self.unused(default_name(wanted)), wanted)
        if wanted.function == "histogram" or function_named(wanted.function).alone:
            refuse(
                node,
                self.text,
                f"{word(node)} stands alone in SELECT.",
                "Select it by itself, under a name.",
                code="stands-alone",
                word=word(node),
            )
        self.outputs.append(output)
        return self._single(output, node)

    def _single(self, output: Output, node: exp.Expr) -> ex.Expr:
        made = output.aggregate.outputs(output.name)
        if len(made) != 1:
            refuse(
                node,
                self.text,
                f"{word(node)} makes several columns.",
                f"Use one of {', '.join(made)}.",
                code="several-columns",
                word=word(node),
                known=", ".join(made),
            )
        return ex.Name(made[0])

    def _ours(self, r: Reader, node: exp.Expr, depth: int) -> ex.Expr | None:
        """What answers know beyond rows: groups as they are written, functions, NULLIF in a denominator."""
        if type(node) is exp.Column and self.named_first and (named := self._named(node)) is not None:
            return named
        if not any(is_aggregate(part) for part in node.walk()):
            grouped = self._grouped(node)
            if grouped is not None:
                return grouped
        kind = type(node)
        if kind in GROUPINGS:
            return self._grouping(node)
        if kind in _FUNCTIONS:
            only(node, self.text, "this", "decimals")
            digits = node.args.get("decimals")
            kept = 0 if digits is None else number(digits, self.text)
            return an.Applied(_FUNCTIONS[kind], r.read(node.this, depth + 1), kept)  # type: ignore[arg-type]
        if kind is exp.Div and type(node.expression) is exp.Nullif and _is_zero(node.expression.expression):
            only(node, self.text, "this", "expression", "typed", "safe")
            only(node.expression, self.text, "this", "expression")
            return ex.Arithmetic("/", r.read(node.this, depth + 1), r.read(node.expression.this, depth + 1))
        if kind is exp.Cast and node.args["to"].this.name in _REALS:  # every answer is a number already
            only(node, self.text, "this", "to")
            only(node.args["to"], self.text, "this")
            return r.read(node.this, depth + 1)
        if kind is exp.Cast and node.args["to"].this.name in _WHOLE:
            only(node, self.text, "this", "to")
            only(node.args["to"], self.text, "this")
            return an.Applied("round", r.read(node.this, depth + 1), 0)
        return None

    def _grouping(self, node: exp.Expr) -> ex.Expr:
        """1 where a group stands for all its keys, else 0; of several, their bits.  Public keys are never NULL."""
        only(node, self.text, "expressions")
        found: ex.Expr | None = None
        for one in node.expressions:
            name = self._grouped(one) or (self._named(one) if type(one) is exp.Column else None)
            if not isinstance(name, ex.Name) or name.column not in self.groups.values():
                refuse(
                    one,
                    self.text,
                    "GROUPING is of what is grouped by.",
                    "Name a column of GROUP BY.",
                    code="grouping-of-groups",
                )
            bit = ex.Case(((ex.IsNull(name), ex.Literal(1)),), ex.Literal(0))
            found = bit if found is None else ex.Arithmetic("+", ex.Arithmetic("*", ex.Literal(2), found), bit)
        if found is None:
            refuse(node, self.text, "GROUPING is of nothing.", "Name a column of GROUP BY.", code="grouping-of-groups")
        return found

    def _grouped(self, node: exp.Expr) -> ex.Expr | None:
        columns = list(node.find_all(exp.Column))
        if not columns or not all(self._has(column) for column in columns):
            return None
        try:
            name = self.groups.get(self.rows.read(node))
        except QuestionRefused:  # no expression of rows: it may be one of answers
            return None
        return None if name is None else ex.Name(name)

    def _has(self, node: exp.Column) -> bool:
        try:
            self.rows.column(node)
        except QuestionRefused:  # a name of the answer, or of nothing
            return False
        return True

    def _window(self, node: exp.Expr) -> ex.Expr:
        only(node, self.text, "this", "partition_by", "order", "over")
        inside, order = node.this, node.args.get("order")
        partition = tuple(self.read(part) for part in node.args.get("partition_by") or [])
        names = set(self.groups.values())
        if any(not {n.column for n in names_in(part)} <= names or not names_in(part) for part in partition):
            refuse(
                node,
                self.text,
                "PARTITION BY needs groups of the question.",
                "Divide by what GROUP BY lists.",
                code="partition-by-groups",
            )
        if type(inside) in _PLACES:
            only(inside, self.text)
            by, down = self._ordered(order)
            return an.OverGroups(_PLACES[type(inside)], (), partition, by, down)
        if type(inside) not in _ADDED:
            refuse(
                node,
                self.text,
                f"{word(inside)} OVER is not in the grammar.",
                _WINDOWS,
                code="answer-window",
                word=word(inside),
            )
        if order is not None:
            refuse(
                node,
                self.text,
                "Running totals are not in the grammar.",
                "Leave ORDER BY out of the window.",
                code="running-totals",
            )
        only(inside, self.text, "this", "big_int")
        if type(inside) is exp.Count:
            if inside.this is not None and type(inside.this) is not exp.Star:
                refuse(node, self.text, "COUNT OVER counts groups.", "Write COUNT(*) OVER ().", code="count-over")
            if inside.this is not None:
                only(inside.this, self.text)
            return an.OverGroups("count", (), partition)
        return an.OverGroups(_ADDED[type(inside)], (self.read(inside.this),), partition)

    def _ordered(self, order: exp.Expr | None) -> tuple[tuple[ex.Expr, ...], tuple[bool, ...]]:
        if order is None:
            return (), ()
        only(order, self.text, "expressions")
        for node in order.expressions:
            only(node, self.text, "this", "desc")
        found = tuple(self.read(node.this) for node in order.expressions)
        return found, tuple(bool(node.args.get("desc")) for node in order.expressions)


_WINDOWS = "Use SUM, AVG, MIN, MAX or COUNT(*) OVER, or ROW_NUMBER, RANK and DENSE_RANK with ORDER BY."


def _is_zero(node: exp.Expr) -> bool:
    return type(node) is exp.Literal and not node.is_string and node.name in ("0", "0.0")
