"""A question, small and immutable: its table, aggregates and groups, and what is done to the noised answers.

Questions are canonical: derived columns are already written out in terms of the table's own, conditions are sorted,
so equal questions compare equal, hash equal and have the same JSON, whichever door they came through.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from curador.errors import CuradorError, QuestionRefused
from curador.forks import cached_property
from curador.mechanisms.sensitivity import Contribution
from curador.numbers import set_fields, whole
from curador.query.aggregates.base import Aggregate, aggregate_from_json, function_named
from curador.query.aggregates.counts import count
from curador.query.ask.sets import listed_sets
from curador.query.language.expressions import Bin, Expr, IsNull, Literal, Name, Not, all_of
from curador.query.language.rows import Join as Join
from curador.query.language.rows import (
    PerUnit,
    RowSet,
    UnionAll,
    join_from_json,
    source_from_json,
    tables_in,
    text_from_json,
)
from curador.query.language.text import shortened
from curador.query.language.trees import expr_from_json, names, substitute
from curador.query.tables.columns import WIDEST, Key
from curador.query.tables.names import distinct, identifier, listed, suggestion

MOST_OUTPUTS = 100
"""The most answers of one question: each takes its share of the budget."""

MOST_PARTS = 10_000
"""The most parts of all expressions of one question.  Inner queries repeat what they name, so that a text of 4,000
words could have 100,000, and each part takes time in every step of planning."""


# ---- the parts of a question ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Group:
    """A column to group by, under the name it has in the answer."""

    name: str
    expr: Expr


@dataclass(frozen=True)
class Output:
    """An aggregate, under the name it has in the answer."""

    name: str
    aggregate: Aggregate


@dataclass(frozen=True)
class Derived:
    """A column computed from noised answers, under its own name: free, like all that is done after the noise.

    >>> from curador.query.language.expressions import Arithmetic
    >>> str(Derived("mean", Arithmetic("/", Name("total"), Name("n"))).expr)
    'total / n'
    """

    name: str
    expr: Expr


@dataclass(frozen=True)
class KeyList:
    """Public keys given with the question for some of its groups: rows of values, or a public table that lists them.

    >>> KeyList(("sex",), (("F",), ("M",))).rows
    (('F',), ('M',))
    """

    groups: tuple[str, ...]
    rows: tuple[tuple[Key, ...], ...] = ()
    table: str | None = None

    def __post_init__(self) -> None:
        groups, rows = tuple(self.groups), tuple(tuple(row) for row in self.rows)
        fits = all(len(row) == len(groups) for row in rows) and len(set(_exact(rows))) == len(rows)
        if not groups or not fits or (self.table is None) == (not rows):
            raise QuestionRefused(
                "Keys are rows of one value per group, each once, or the name of a public table.",
                fix="Write keys={'sex': ['F', 'M']}.",
            )
        set_fields(self, groups=groups)
        set_fields(self, rows=rows)

    def to_json(self) -> dict[str, object]:
        rows = [[_key_out(key) for key in row] for row in self.rows]
        return {"groups": list(self.groups), "rows": rows, "table": self.table}


def _exact(rows: Iterable[tuple[Key, ...]]) -> list[tuple[Literal, ...]]:
    return [tuple(map(Literal, row)) for row in rows]  # a literal keeps 1 and True apart


def _key_out(key: Key) -> object:
    return Literal(key).to_json()


@dataclass(frozen=True)
class Order:
    """Sort noised answers by one of their columns."""

    name: str
    descending: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not isinstance(self.descending, bool):
            raise QuestionRefused(
                "Answers are sorted by a column, up or down.", fix="Name it; descending is a boolean."
            )


@dataclass(frozen=True)
class Question:
    """One question about the rows of one table, or of what ``source`` makes of tables.

    The answer's columns are the groups, then the aggregates and what is ``derived`` from them, in their order; or of
    those the ones that are ``shown``, in that order.  What is not shown is measured all the same: HAVING, ORDER BY and
    derived columns may use it.

    ``sets`` are the grouping sets, each by the names of its groups: with them the answer has the groups of every set,
    NULL standing for all keys of a group that a set leaves out.

    ``tree`` names a declared hierarchy to release at all its levels, ``totals`` public totals of its nodes (by path)
    to adjust to.  Derived columns, HAVING, ORDER BY, LIMIT and OFFSET see noised answers only.

    >>> q = Question("adult", aggregates=(Output("n", count()),), group_by=(Group("sex", Name("sex")),))
    >>> q.outputs, Question.from_json(q.to_json()) == q
    (('sex', 'n'), True)
    """

    table: str
    aggregates: tuple[Output, ...]
    joins: tuple[Join, ...] = ()
    where: Expr | None = None
    group_by: tuple[Group, ...] = ()
    keys: tuple[KeyList, ...] = ()
    tree: str | None = None
    totals: tuple[tuple[tuple[str, ...], int], ...] = ()
    having: Expr | None = None
    order_by: tuple[Order, ...] = ()
    limit: int | None = None
    contribution: Contribution | None = None
    source: PerUnit | UnionAll | None = None
    derived: tuple[Derived, ...] = ()
    shown: tuple[str, ...] = ()
    offset: int = 0
    sets: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        identifier(self.table, "A table")
        if self.tree is not None:
            identifier(self.tree, "A tree")
        for name in ("aggregates", "joins", "group_by", "keys", "order_by", "derived", "shown"):
            set_fields(self, **{name: tuple(getattr(self, name))})
        set_fields(self, totals=tuple(sorted((tuple(path), whole(n, "a total")) for path, n in self.totals)))
        self._open_histograms()
        self._open_values()
        self._check_size()
        set_fields(self, limit=None if self.limit is None else whole(self.limit, "LIMIT", 1))
        set_fields(self, offset=whole(self.offset, "OFFSET"))
        self._check_outputs()
        self._check_keys()
        sets = listed_sets(self.sets, [g.name for g in self.group_by], tree=self.tree is not None)
        if sets and len({g.expr for g in self.group_by}) < len(self.group_by):  # sets are found by them
            raise QuestionRefused("A group is listed twice.", fix="List it once.", code="group-twice")
        set_fields(self, sets=sets)
        place = {g.name: i for i, g in enumerate(self.group_by)}
        set_fields(self, keys=tuple(sorted(self.keys, key=lambda k: min(place[name] for name in k.groups))))
        self._write_out()

    def _open_histograms(self) -> None:
        """Replace a histogram by a count in groups, one group for each bin."""
        bins = [o for o in self.aggregates if o.aggregate.function == "histogram"]
        if not bins:
            return
        if len(self.aggregates) > 1:
            raise QuestionRefused(
                f"The histogram {bins[0].name!r} is asked with other aggregates.",
                fix="Ask for it alone, or group by BIN(column, edges…) and aggregate in the groups.",
                code="histogram-alone",
                facts={"output": bins[0].name},
            )
        name, measured = bins[0].name, bins[0].aggregate
        group = Group(f"{name}_bin", Bin(measured.column, measured.parameters))  # type: ignore[arg-type]
        set_fields(self, group_by=(*self.group_by, group))
        set_fields(self, aggregates=(Output(name, count()),))

    def _open_values(self) -> None:
        """Replace the most frequent values of a column by the largest groups of its values that are not NULL."""
        found = [o for o in self.aggregates if o.aggregate.function == "top_k" and o.aggregate.column is not None]
        if not found:
            return
        name, measured = found[0].name, found[0].aggregate
        if len(self.aggregates) > 1 or self.group_by or self.derived or measured.column is None:
            raise QuestionRefused(
                f"The most frequent values {name!r} are asked beside something else.",
                fix="Ask for them alone; of each group, by GROUP BY both columns, COUNT(*) and ORDER BY.",
                code="frequent-alone",
                facts={"output": name},
            )
        there = Not(IsNull(measured.column))
        set_fields(
            self,
            group_by=(Group(name, measured.column),),
            aggregates=(Output(f"{name}_count", replace(measured, column=None)),),
        )
        set_fields(self, where=there if self.where is None else all_of(self.where, there), shown=())

    def _check_size(self) -> None:
        used = (
            self.where,
            self.having,
            *(g.expr for g in self.group_by),
            *(o.aggregate.column for o in self.aggregates),
        )
        size = sum(e.size for e in used if e is not None)
        if size > MOST_PARTS:
            raise QuestionRefused(
                f"The expressions have {size} parts; the most is {MOST_PARTS}.",
                fix="Split it.",
                code="question-too-large",
                facts={"n": size, "most": MOST_PARTS},
            )

    def _check_outputs(self) -> None:
        if not self.aggregates:
            raise QuestionRefused(
                "A question needs something to measure.",
                fix="Add COUNT(*), or another aggregate.",
                code="nothing-measured",
            )
        if self.shown == self._computed:
            set_fields(self, shown=())  # all of them, in their order: one form for one question
        found = self.columns
        for name in found:
            identifier(name, "A column of the answer")
        if len(found) > MOST_OUTPUTS:
            raise QuestionRefused(
                f"The answer has {len(found)} columns; the most is {MOST_OUTPUTS}.",
                fix="Split it.",
                code="too-many-columns",
                facts={"n": len(found), "most": MOST_OUTPUTS},
            )
        distinct(found, "columns of the answer")
        alone = [o for o in self.aggregates if function_named(o.aggregate.function).alone]
        if alone and (len(self.aggregates) > 1 or not self.group_by):
            raise QuestionRefused(
                f"{alone[0].aggregate.function} ({alone[0].name!r}) needs groups, and stands alone.",
                fix="Group by something, and ask the rest apart.",
                code="needs-groups",
                facts={"function": alone[0].aggregate.function},
            )

    def _check_keys(self) -> None:
        groups = [g.name for g in self.group_by]
        keyed = [name for keys in self.keys for name in keys.groups]
        for name in keyed:
            if name not in groups or keyed.count(name) > 1:
                raise QuestionRefused(
                    f"Keys are given more than once for {name!r}, or it is not a group of the question.",
                    fix=suggestion(name, groups, "Give keys once for"),
                )
        if self.tree is not None and self.keys:
            raise QuestionRefused("The keys of a tree are its nodes.", fix="Leave keys out.")
        if len(dict(self.totals)) < len(self.totals) or any(n > WIDEST for _, n in self.totals):
            raise QuestionRefused("A total is given twice, or is beyond 2**62.", fix="Give each once.")
        if self.totals and self.tree is None:
            raise QuestionRefused("Totals belong to a tree.", fix="Name the tree, or leave totals out.")

    def _write_out(self) -> None:
        """Write derived columns, and HAVING, in terms of groups and aggregates alone."""
        known: dict[Name, Expr] = {Name(n): Name(n) for n in self.columns[: len(self.columns) - len(self.derived)]}
        written = []
        for d in self.derived:
            written.append(Derived(d.name, self._known(d.expr, known)))
            known[Name(d.name)] = written[-1].expr
        set_fields(self, derived=tuple(written))
        if self.having is not None:
            set_fields(self, having=self._known(self.having, known))
        for name in (*(o.name for o in self.order_by), *self.shown):
            self._known(Name(name), known)
        if len(set(self.shown)) < len(self.shown) or {g.name for g in self.group_by} & set(self.shown):
            raise QuestionRefused(
                "A column is shown twice, or is a group.", fix="Groups are shown in any case.", code="shown-twice"
            )

    def _known(self, e: Expr, known: Mapping[Name, Expr]) -> Expr:
        for name in sorted(names(e), key=str):
            if name not in known:
                raise QuestionRefused(
                    f"{str(name)!r} is not a column of the answer; after the noise there are noised answers only.",
                    fix=suggestion(str(name), [n.column for n in known], "Its columns are"),
                    code="not-in-answer",
                    facts={"column": str(name), "known": listed([n.column for n in known])},
                )
        return substitute(e, known)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The columns of the answer that are shown, in order."""
        return (*(g.name for g in self.group_by), *(self.shown or self._computed))

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns of the answer, shown or not: the groups, the aggregates, and what is derived from them."""
        return (*(g.name for g in self.group_by), *self._computed)

    @property
    def _computed(self) -> tuple[str, ...]:
        measured = (name for o in self.aggregates for name in o.aggregate.outputs(o.name))
        return (*measured, *(d.name for d in self.derived))

    def axes(self, groups: Iterable[Expr]) -> tuple[int, ...]:
        """The places of some of its groups, ascending."""
        kept = set(groups)
        return tuple(i for i, group in enumerate(self.group_by) if group.expr in kept)

    @cached_property
    def rows(self) -> RowSet:
        """The rows it is about."""
        return RowSet(self.table, self.source, self.joins, self.where)

    @cached_property
    def expressions(self) -> tuple[Expr, ...]:
        """Every expression over columns of those rows."""
        measured = (o.aggregate.column for o in self.aggregates if o.aggregate.column is not None)
        return (*self.rows.expressions, *(g.expr for g in self.group_by), *measured)

    @cached_property
    def reads(self) -> tuple[str, ...]:
        """All tables that it reads, the first one first."""
        asked = (name for e in self.expressions for name in tables_in(e))
        return tuple(dict.fromkeys((*self.rows.tables, *asked)))

    @property
    def summary(self) -> str:
        """The question in a few words, for people: what is measured, of what, where and in which groups.

        >>> from curador.query.language.expressions import Name
        >>> Question("adult", (Output("n", count()),), group_by=(Group("sex", Name("sex")),)).summary
        'count() of adult by sex'
        """
        measured = (
            f"{o.aggregate.function}({'' if o.aggregate.column is None else shortened(o.aggregate.column)})"
            for o in self.aggregates
        )
        text = f"{', '.join(measured)} of {', '.join(self.reads)}"
        if isinstance(self.source, PerUnit):
            text += " per unit"
        if self.where is not None:
            text += f" where {shortened(self.where)}"
        if self.group_by:
            text += f" by {', '.join(shortened(group.expr) for group in self.group_by)}"
        return text

    def to_json(self) -> dict[str, object]:
        """A plain dictionary that :meth:`from_json` reads back."""
        return {f.name: _out(getattr(self, f.name)) for f in fields(self)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Question:
        """Read back what :meth:`to_json` wrote."""
        try:
            return cls(
                table=text_from_json(data["table"]),
                aggregates=tuple(Output(o["name"], aggregate_from_json(o["aggregate"])) for o in data["aggregates"]),
                joins=tuple(map(join_from_json, data["joins"])),
                where=_expr_in(data["where"]),
                group_by=tuple(Group(g["name"], expr_from_json(g["expr"])) for g in data["group_by"]),
                keys=tuple(_keys_in(k) for k in data["keys"]),
                tree=None if data["tree"] is None else text_from_json(data["tree"]),
                totals=tuple((tuple(map(text_from_json, path)), total) for path, total in data["totals"]),
                having=_expr_in(data["having"]),
                order_by=tuple(map(_order_in, data["order_by"])),
                limit=data["limit"],
                contribution=None if data["contribution"] is None else Contribution(**data["contribution"]),
                source=source_from_json(data["source"]),
                derived=tuple(Derived(d["name"], expr_from_json(d["expr"])) for d in data["derived"]),
                shown=tuple(map(text_from_json, data["shown"])),
                offset=data["offset"],
                sets=tuple(tuple(map(text_from_json, one)) for one in data["sets"]),
            )
        except CuradorError:
            raise
        except (TypeError, LookupError, AttributeError, ValueError, RecursionError):
            raise QuestionRefused("This is not a question that to_json() wrote.", fix="Use to_json().") from None


def _out(x: object) -> object:
    if x is None or type(x) in (str, int, bool):
        return x
    if type(x) is tuple:
        return [_out(y) for y in x]
    if isinstance(x, Expr | Aggregate | Join | KeyList | PerUnit | UnionAll):
        return x.to_json()
    if isinstance(x, Group | Output | Derived | Order | Contribution):
        return {f.name: _out(getattr(x, f.name)) for f in fields(x)}
    return x


def _expr_in(data: object) -> Expr | None:
    return None if data is None else expr_from_json(data)


def _order_in(data: Mapping[str, Any]) -> Order:
    made = Order(**data)
    if not isinstance(made.name, str) or not isinstance(made.descending, bool):
        raise TypeError
    return made


def _keys_in(data: Mapping[str, Any]) -> KeyList:
    rows = tuple(tuple(_key_in(x) for x in row) for row in data["rows"])
    table = None if data["table"] is None else text_from_json(data["table"])
    return KeyList(tuple(map(text_from_json, data["groups"])), rows, table)


def _key_in(data: object) -> Key:
    found = expr_from_json(data)
    if not isinstance(found, Literal) or not isinstance(found.value, Key):
        raise TypeError
    return found.value
