"""Questions built step by step: ``table.where(…).group_by(…).aggregate(…)``; each step is a new, immutable query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Never, Self

from curador.errors import CuradorError, InvalidParameter, QuestionRefused
from curador.mechanisms.sensitivity import Contribution, in_all
from curador.query.aggregates.base import Aggregate
from curador.query.ask.public_keys import unread
from curador.query.ask.question import Derived, Group, Join, KeyList, Order, Output, Question
from curador.query.ask.typed import is_unit, table_of
from curador.query.language import expressions as ex
from curador.query.language.rows import OfParts, OfUnit, PerUnit, RowSet, UnionAll
from curador.query.language.trees import substitute
from curador.query.plan.checked import check
from curador.query.tables.columns import Key
from curador.query.tables.names import distinct, identifier, listed, suggestion
from curador.query.tables.table import Table

if TYPE_CHECKING:
    from curador.query.ask.sql.relation import Relation

ELSEWHERE = {
    "filter": "where",
    "query": "where",
    "assign": "with_columns",
    "merge": "join",
    "groupby": "group_by",
    "agg": "aggregate",
    "select": "aggregate",
    "sort": "order_by",
    "sort_values": "order_by",
    "head": "limit",
}
"""Steps by the names that they have in data frame libraries."""

Condition = str | ex.Expr
"""An expression, or its text as in SQL."""


@dataclass(frozen=True)
class TableQuery:
    """A question about a table, built step by step; start from :meth:`of`, or from a curator's ``table(name)``.

    >>> from curador.query.aggregates.counts import count
    >>> from curador.query.aggregates.moments import mean
    >>> adult = Table("adult.csv", columns={"sex": "text", "age": {"type": "integer", "bounds": [17, 90]}})
    >>> q = TableQuery.of("adult", {"adult": adult}).where("age >= 18").group_by("sex")
    >>> q.aggregate(n=count(), age=mean("age")).question.outputs
    ('sex', 'n', 'age')
    """

    table: str
    tables: Mapping[str, Table] = field(repr=False)
    columns: Mapping[str, Mapping[str, ex.Expr]] = field(default_factory=dict, repr=False)
    joins: tuple[Join, ...] = ()
    filters: tuple[ex.Expr, ...] = ()
    groups: tuple[Group, ...] = ()
    keys: tuple[KeyList, ...] = ()
    tree_name: str | None = None
    totals: tuple[tuple[tuple[str, ...], int], ...] = ()
    outputs: tuple[Output, ...] = ()
    derived: tuple[tuple[str, Condition], ...] = ()
    listed: tuple[str, ...] = ()
    kept: tuple[Condition, ...] = ()
    order: tuple[tuple[Condition, bool], ...] = ()
    most: int | None = None
    skipped: int = 0
    contribution: Contribution | None = None
    source: PerUnit | UnionAll | None = None
    sets: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def of(cls, name: str, tables: Mapping[str, Table]) -> Self:
        """A query over one of several tables, as yet without conditions."""
        return cls(name, tables, {name: {c: ex.Name(c) for c in table_of(name, tables).columns}})

    if not TYPE_CHECKING:  # a type checker would take any name for an attribute

        def __getattr__(self, name: str) -> Never:
            """Point from the name that a step has in a data frame library to its name here.

            >>> TableQuery.of("t", {"t": Table("t.csv", columns={"x": "text"})}).filter("x = 'a'")
            Traceback (most recent call last):
            AttributeError: 'TableQuery' object has no attribute 'filter'. Use where().
            """
            hint = f". Use {ELSEWHERE[name]}()." if name in ELSEWHERE else ""
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{hint}", name=name, obj=self)

    # -- rows

    def where(self, condition: Condition) -> Self:
        """Keep only rows for which a condition is true; several conditions must all hold."""
        return replace(self, filters=(*self.filters, self._read(condition)))

    def with_columns(self, **named: Condition) -> Self:
        """Add computed columns; one of the same name is replaced, and its bounds with it.

        >>> t = Table("t.csv", columns={"x": {"type": "integer", "bounds": [0, 9]}})
        >>> q = TableQuery.of("t", {"t": t}).with_columns(x="x * 10").where("x > 50")
        >>> [str(f) for f in q.filters]
        ['(x * 10) > 50']
        """
        added = {identifier(name, "A column"): self._read(e) for name, e in named.items()}
        folded = {name.casefold() for name in added}
        own = {n: e for n, e in self.columns[self.table].items() if n.casefold() not in folded}
        return replace(self, columns={**self.columns, self.table: {**own, **added}})

    def join(self, table: str, on: str | Iterable[str] | Mapping[str, str], *, how: str = "inner") -> Self:
        """Add the columns of another table to each row: of a public one by key, of a private one by the unit's id.

        ``on`` is a column both have, several of them, or ``{here: there}``.  ``how`` is "inner" or "left".

        >>> t = Table("t.csv", columns={"town": "text"})
        >>> towns = Table("towns.csv", public=True, columns={"name": "text", "region": "text"})
        >>> q = TableQuery.of("t", {"t": t, "towns": towns}).join("towns", {"town": "name"}).group_by("region")
        >>> q.groups[0].expr
        Name(column='region', table='towns')
        """
        if isinstance(table, TableQuery):
            raise QuestionRefused("A table is joined by its name.", fix=f"Write join({table.table!r}, on=…).")
        other = table_of(table, self.tables)
        if how not in ("inner", "left") or table in self.columns:
            raise QuestionRefused(
                f"{table!r} cannot be joined {how!r}.", fix="Join another table, how='inner' or how='left'."
            )
        pairs = on if isinstance(on, Mapping) else {name: name for name in ([on] if isinstance(on, str) else on)}
        left = [(self._column(here), there) for here, there in pairs.items()]
        matched = tuple((e, there) for e, there in left if isinstance(e, ex.Name))
        if len(matched) < len(left):
            raise QuestionRefused("A join is on a computed column.", fix="Join on columns as they are.")
        join = Join("public" if other.public else "unit", table, matched, how == "left")
        theirs = {c: ex.Name(c, table) for c in other.columns if pairs.get(c) != c}
        return replace(self, joins=(*self.joins, join), columns={**self.columns, table: theirs})

    def bounded(self, groups: int | None = None, rows: int = 1) -> Self:
        """Limit how much of one unit counts: at most ``groups`` groups, and ``rows`` rows in each.

        Without ``groups``, at most ``rows`` rows in all groups together.
        """
        kept = in_all(rows) if groups is None else Contribution(groups=groups, rows=rows)
        return replace(self, contribution=kept)

    def per_unit(self, *by: str, **named: Condition) -> Self:
        """One row for each unit: columns made of its own rows, by COUNT, SUM, MIN, MAX and AVG, as in SQL.

        With ``by``, one row for each unit and each value of these columns.  Units without rows are not in it.

        >>> cost = {"type": "integer", "bounds": [0, 100]}
        >>> t = Table("t.csv", unit="pid", columns={"pid": "integer", "cost": cost}, contribution=(1, 20))
        >>> q = TableQuery.of("t", {"t": t}).where("cost > 5").per_unit(n="COUNT(*)", total="SUM(cost)").where("n > 2")
        >>> [str(f) for f in q.filters], list(q.columns["t"])
        (['COUNT(*) > 2'], ['pid', 'n', 'total'])
        """
        if self.groups or self.outputs:
            raise QuestionRefused("Rows are made before they are grouped.", fix="Call per_unit() before group_by().")
        from curador.query.ask.sql.per_unit import UnitReader  # the parser is heavy: loaded when a text is first read

        grouped = {name: self._column(name) for name in by}
        rows, own = self._relation(""), tuple(sorted(set(grouped.values()), key=ex.order))
        reader = UnitReader(rows, self.tables, own)
        id = self.tables[self.table].unit.id
        shared = {id: OfUnit("each", operand=reader.unit)} if id is not None else {}
        found: dict[str, ex.Expr] = {**shared, **{name: OfUnit("each", operand=e) for name, e in grouped.items()}}
        for name, what in named.items():
            made = reader.of_text(what) if isinstance(what, str) else _expression(what)
            found[identifier(name, "A column")] = made
        return replace(self, source=reader.source, columns={self.table: found}, joins=(), filters=())

    def union_all(self, other: TableQuery) -> Self:
        """The rows of both, of tables with the same unit, in the columns that both have by name.

        >>> count = {"type": "integer", "bounds": [0, 9]}
        >>> one = Table("a.csv", unit="id", columns={"id": "integer", "n": count})
        >>> two = Table("b.csv", unit="who", columns={"who": "integer", "m": count})
        >>> start = TableQuery.of("a", {"a": one, "b": two})
        >>> q = start.union_all(TableQuery.of("b", start.tables).with_columns(n="m"))
        >>> list(q.columns["a"])
        ['n']
        """
        parts = (self, other)
        if any(part.groups or part.outputs for part in parts):
            raise QuestionRefused("Rows are put together before they are grouped.", fix="Group them afterwards.")
        named = [{n: e for columns in part.columns.values() for n, e in columns.items()} for part in parts]
        found = {n: OfParts("parts", operands=(e, named[1][n])) for n, e in named[0].items() if n in named[1]}
        source = UnionAll(tuple(part._relation("").rows for part in parts))
        return replace(self, source=source, columns={self.table: found}, joins=(), filters=())

    # -- groups and aggregates

    def group_by(
        self, *names: str, keys: Mapping[str, Iterable[Key]] | Iterable[Any] | str | None = None, **named: Condition
    ) -> Self:
        """Measure in groups: by columns, or by expressions under a name of your own.

        ``keys`` are the public groups: values by column, rows of values, or the name of a public table.  Without
        them the columns' declared keys are used, and without those groups are selected privately.

        >>> t = Table("t.csv", columns={"x": {"type": "integer", "bounds": [0, 99]}, "sex": "text"})
        >>> q = TableQuery.of("t", {"t": t}).group_by("sex", decade="x // 10", keys={"sex": ["F", "M"]})
        >>> [g.name for g in q.groups], q.keys[0].rows
        (['sex', 'decade'], (('F',), ('M',)))
        """
        found = [Group(name, self._column(name)) for name in names]
        found += [Group(name, self._read(e)) for name, e in named.items()]
        everything = (*self.groups, *found)
        distinct([g.name for g in everything], "groups")
        return replace(self, groups=everything, keys=(*self.keys, *_keys(keys, [g.name for g in found])))

    def grouping_sets(self, *sets: Iterable[str]) -> Self:
        """Measure in several groupings at once, with totals that agree: each set by the names of its groups.

        A name is that of a group, or of a column to group by.  Groups that no set names are in all of them.

        >>> keyed = {"sex": {"type": "text", "keys": ["F", "M"]}, "old": "boolean"}
        >>> q = TableQuery.of("t", {"t": Table("t.csv", columns=keyed)}).grouping_sets(["sex"], ["old"], [])
        >>> q.sets, TableQuery.of("t", q.tables).rollup("sex", "old").sets
        ((('sex',), ('old',), ()), (('sex', 'old'), ('sex',), ()))
        """
        wanted = [(one,) if isinstance(one, str) else tuple(one) for one in sets]
        named = tuple(dict.fromkeys(name for one in wanted for name in one))
        groups = [g.name for g in self.groups]
        found = self.group_by(*(name for name in named if name not in groups))
        before = self.sets or (tuple(name for name in groups if name not in named),)
        return replace(found, sets=tuple((*one, *more) for one in before for more in wanted))

    def rollup(self, *names: str) -> Self:
        """Grouping sets of these groups, then without the last, and so on down to the total."""
        return self.grouping_sets(*(names[:n] for n in range(len(names), -1, -1)))

    def cube(self, *names: str) -> Self:
        """Grouping sets of these groups and of every choice among them, down to the total."""
        return self.grouping_sets(*(some for n in range(len(names), -1, -1) for some in combinations(names, n)))

    def tree(self, name: str, totals: Mapping[tuple[str, ...], int] | None = None) -> Self:
        """Measure at every level of a declared tree; ``totals`` are public totals of nodes, by path from the top."""
        trees = self.tables[self.table].trees
        if name not in trees:
            raise QuestionRefused(f"{self.table!r} declares no tree {name!r}.", fix=suggestion(name, trees))
        levels = tuple(Group(level, self._column(level)) for level in trees[name].levels)
        return replace(self, tree_name=name, groups=levels, totals=tuple((totals or {}).items()))

    def aggregate(self, **named: Aggregate) -> Self:
        """Add aggregates to measure in every group, each by its name in the answer."""
        for name, what in named.items():
            if not isinstance(what, Aggregate):
                raise InvalidParameter(
                    f"{name!r} is not an aggregate.", fix="Use count(), mean('column') and the like."
                )
        found = tuple(Output(name, self._measured(what)) for name, what in named.items())
        return replace(self, outputs=(*self.outputs, *found), listed=(*self.listed, *named))

    # -- noised answers

    def derive(self, **named: Condition) -> Self:
        """Add columns computed from noised answers, by SQL over their names or over aggregates; they cost nothing.

        An aggregate that only stands here is measured, and not shown.

        >>> from curador.query.aggregates.counts import count
        >>> t = Table("t.csv", columns={"x": {"type": "integer", "bounds": [0, 9]}})
        >>> q = TableQuery.of("t", {"t": t}).aggregate(n=count()).derive(total="2 * SUM(x)", half="n / 2")
        >>> q.question.outputs
        ('n', 'total', 'half')
        """
        return replace(self, derived=(*self.derived, *named.items()), listed=(*self.listed, *named))

    def show(self, *names: str) -> Self:
        """Show only these of the aggregates and derived columns, in this order; groups are always shown."""
        return replace(self, listed=names)

    def having(self, condition: Condition) -> Self:
        """Keep groups by their noised answers; costs nothing."""
        return replace(self, kept=(*self.kept, condition))

    def order_by(self, *by: Condition, descending: bool = False) -> Self:
        """Sort by columns of the noised answer, or by what is computed from them; costs nothing."""
        return replace(self, order=(*self.order, *((what, descending) for what in by)))

    def limit(self, most: int | None, offset: int = 0) -> Self:
        """Show only ``most`` groups of the noised answer, behind the first ``offset``; costs nothing."""
        return replace(self, most=most, skipped=offset)

    # -- the question

    @property
    def question(self) -> Question:
        """The question as it stands, checked against its tables."""
        try:
            return check(self._asked(), self.tables, unread).question
        except QuestionRefused:
            raise
        except CuradorError as error:
            raise QuestionRefused(error.what, fix=error.fix, code=error.code, facts=error.facts) from None

    def _asked(self) -> Question:
        after = self._after()
        outputs = after.get("aggregates", self.outputs)
        measured = {o.name: o.aggregate.outputs(o.name) for o in outputs}
        return Question(
            table=self.table,
            joins=self.joins,
            where=ex.all_of(*self.filters) if self.filters else None,
            group_by=self.groups,
            keys=self.keys,
            tree=self.tree_name,
            totals=self.totals,
            limit=self.most,
            offset=self.skipped,
            contribution=self.contribution,
            source=self.source,
            sets=self.sets,
            shown=tuple(n for name in self.listed for n in measured.get(name, (name,))),
            **{"aggregates": self.outputs, **after},
        )

    def _after(self) -> dict[str, Any]:
        """What is done to noised answers, and the aggregates that it needs."""
        if not (self.derived or self.kept or self.order):
            return {}
        columns = {*(g.name for g in self.groups), *(name for name, _ in self.derived)}
        columns |= {name for o in self.outputs for name in o.aggregate.outputs(o.name)}
        order = [(ex.Name(by) if isinstance(by, str) and by in columns else by, down) for by, down in self.order]
        every = [*(e for _, e in self.derived), *self.kept, *(by for by, _ in order)]
        if not any(isinstance(e, str) for e in every) and all(isinstance(by, ex.Name) for by, _ in order):
            kept = [_expression(e) for e in self.kept]
            return {
                "derived": tuple(Derived(name, _expression(e)) for name, e in self.derived),
                "having": ex.all_of(*kept) if kept else None,
                "order_by": tuple(Order(by.column, down) for by, down in order if isinstance(by, ex.Name)),
            }
        return self._read_after(order, columns)

    def _read_after(self, order: list[tuple[Condition, bool]], columns: set[str]) -> dict[str, Any]:
        from curador.query.ask.sql.answers import Answers

        answers = Answers(
            self._relation("").reader(),
            {g.expr: g.name for g in self.groups},
            self._is_unit,
            outputs=list(self.outputs),
            taken={name.casefold() for name in columns},
        )

        def read(e: Condition) -> ex.Expr:
            return answers.of_text(self._relation(e).reader()) if isinstance(e, str) else _expression(e)

        plain = {
            name for name, e in self.derived if isinstance(e, str) and answers.measure(name, self._relation(e).reader())
        }
        for name, e in self.derived:
            if name not in plain:
                answers.derived.append(Derived(name, read(e)))
        answers.named_first = True
        kept = [read(e) for e in self.kept]
        by = tuple(Order(answers.name_of(read(e), "order"), down) for e, down in order)
        return {
            "aggregates": tuple(answers.outputs),
            "derived": tuple(answers.derived),
            "having": ex.all_of(*kept) if kept else None,
            "order_by": by,
        }

    def _is_unit(self, e: ex.Expr) -> bool:
        return is_unit(e, RowSet(self.table, self.source, self.joins), self.tables)

    # -- names

    def _column(self, name: str) -> ex.Expr:
        found = [columns[name] for columns in self.columns.values() if name in columns]
        if len(found) != 1:
            known = [n for columns in self.columns.values() for n in columns]
            if found:
                what, fix, code = "is in several tables", "Write table.column in an expression.", "column-ambiguous"
            else:
                what, fix, code = "is not a column here", suggestion(name, known), "no-such-column"
            facts = {"column": name[:60], "known": listed(known)}
            raise QuestionRefused(f"{name!r} {what}.", fix=fix, code=code, facts=facts)
        return found[0]

    def read(self, condition: Condition) -> ex.Expr:
        """An expression over the columns of these rows: a column by its name, or as in SQL."""
        if isinstance(condition, str) and any(condition in columns for columns in self.columns.values()):
            return self._column(condition)  # whatever characters its name has
        return self._read(condition)

    def _read(self, condition: Condition) -> ex.Expr:
        """An expression over the tables' own columns, from text or from an expression over the visible ones."""
        if isinstance(condition, str):
            return self._relation(condition).whole_text
        seen = {ex.Name(n): e for n, e in self.columns[self.table].items()}
        return substitute(_expression(condition), seen)

    def _relation(self, text: str) -> Relation:
        from curador.query.ask.sql.relations import built  # the parser is heavy: loaded when a text is first read

        where = ex.all_of(*self.filters) if self.filters else None
        return built(text, RowSet(self.table, self.source, self.joins, where), self.columns, self.tables)

    def _measured(self, what: Aggregate) -> Aggregate:
        if what.column is None:
            return what
        if isinstance(what.column, ex.ValuePair):
            return replace(what, column=ex.ValuePair(self._value(what.column.first), self._value(what.column.second)))
        read = self._value(what.column)
        counts_units = what.function == "count_distinct" and self._is_unit(read)
        return replace(what, column=None if counts_units else read)

    def _value(self, column: ex.Expr) -> ex.Expr:
        """What is measured: a column by its name, an expression, or the text of one."""
        if isinstance(column, ex.Name) and column.table is None:
            named = any(column.column in columns for columns in self.columns.values())
            return self._column(column.column) if named else self._read(column.column)
        return self._read(column)


def _expression(given: object) -> ex.Expr:
    if not isinstance(given, ex.Expr):
        raise InvalidParameter(f"{given!r:.40} is not an expression.", fix='Write it as text, as "age >= 18".')
    return given


def _parsed(text: str) -> ex.Expr:
    from curador.query.ask.sql.read import parse_expression  # the parser is heavy: loaded when a text is first read

    return parse_expression(text)


def _keys(keys: object, groups: list[str]) -> tuple[KeyList, ...]:
    if keys is None:
        return ()
    if isinstance(keys, str):
        return (KeyList(tuple(groups), table=keys),)
    if isinstance(keys, Mapping):
        return tuple(KeyList((name,), tuple((x,) for x in values)) for name, values in keys.items())
    if not isinstance(keys, Iterable):
        raise QuestionRefused(f"Keys are {keys!r}.", fix="Write keys={'sex': ['F', 'M']}.")
    rows = [row if isinstance(row, tuple | list) else (row,) for row in keys]
    return (KeyList(tuple(groups), tuple(tuple(row) for row in rows)),)
