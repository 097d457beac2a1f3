"""Checks a question against its tables: finds every name, every type and every public key, and reads no data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from curador.errors import QuestionRefused
from curador.forks import cached_property
from curador.query.aggregates.base import Aggregate, function_named
from curador.query.aggregates.counts import count
from curador.query.ask.measured import best_measured
from curador.query.ask.public_keys import PublicRows, public_keys
from curador.query.ask.question import Derived, Group, Order, Output, Question
from curador.query.ask.resolve import resolved_inside
from curador.query.ask.sets import refuse_not_summed, refuse_without_keys
from curador.query.ask.typed import TypedRows, expressions_within, table_of, typed_rows, undeclared
from curador.query.language import expressions as ex
from curador.query.language.answers import answer_kind, check_condition
from curador.query.language.bounds import condition, has_no_other_values, typecheck
from curador.query.language.clip import Clip
from curador.query.language.functions.moments import MomentTrunc
from curador.query.language.resolve import resolved
from curador.query.language.rows import PerUnit
from curador.query.language.text import shortened
from curador.query.language.trees import names
from curador.query.language.types import MOST_KEYS, Scope, Type
from curador.query.language.unbounded import unbounded
from curador.query.tables.columns import FIRST_DAY, LAST_DAY, Key, Keys, Kind, moment_of
from curador.query.tables.table import Table

Known = Sequence[Keys | None]


@dataclass(frozen=True)
class Checked:
    """A question that is valid for its tables.

    ``groups`` and ``columns`` are the types of what is grouped by and measured (None: rows or units are counted).
    ``keys`` are all public keys in order, or None where groups are selected privately; one empty key without groups.
    """

    question: Question
    rows: TypedRows
    groups: tuple[Type, ...]
    columns: tuple[Type | None, ...]
    keys: Keys | None
    made: dict[object, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """What was worked out of it and public constants alone, by what that is: the same for every price."""

    @property
    def tables(self) -> Mapping[str, Table]:
        """The declared tables."""
        return self.rows.tables

    @property
    def work(self) -> int:
        """How many errors there are to work out, as so many of counts: for each output and each grouping set."""
        each = sum(function_named(o.aggregate.function).work for o in self.question.aggregates)
        return max(1, len(self.question.sets)) * (each + COMPUTED * len(self.question.derived))

    @property
    def scope(self) -> Scope:
        """The columns of its rows, and their types."""
        return self.rows.scope

    @property
    def table(self) -> Table:
        """The table that is asked."""
        return self.rows.table

    @cached_property
    def kinds(self) -> Mapping[str, Kind | None]:
        """The kind of every column of the answer; most aggregates are numbers, and NULL alone has none."""
        found: dict[str, Kind | None] = dict(_kinds(self.question, self.groups, self.columns))
        known = {ex.Name(name): found.get(name) or Kind.REAL for name in self.question.columns}
        for d in self.question.derived:
            found[d.name] = answer_kind(d.expr, known)
        return {name: found.get(name, Kind.REAL) for name in self.question.columns}

    @property
    def keyless(self) -> tuple[str, ...]:
        """What is grouped by and has no public keys."""
        question = self.question
        listed = {name for given in question.keys for name in given.groups}
        public = {name for name, table in self.tables.items() if table.public}
        listed |= {g.name for g in question.group_by if isinstance(g.expr, ex.Name) and g.expr.table in public}
        pairs = zip(question.group_by, self.groups, strict=True)
        found = tuple(g.name for g, t in pairs if t.domain is None and g.name not in listed)
        return found or tuple(g.name for g in question.group_by)

    @property
    def every_row(self) -> bool:
        """Whether every row is in one of its public groups, whatever is stored: no value is missing or is no key."""
        whole = self.keys is not None and not self.question.keys and self.question.tree is None
        inside = (has_no_other_values(g.expr, self.scope) for g in self.question.group_by)
        return whole and all(t.domain is not None and not t.nullable for t in self.groups) and all(inside)

    @cached_property
    def undeclared(self) -> tuple[dict[str, Any], ...]:
        """Constants that it compares with and that no declaration allows, as notes: see :func:`typed.undeclared`.

        A condition on noised answers is looked at where it is about a group, whose keys may be the question's own.
        """
        scope = {ex.Name(g.name): t for g, t in zip(self.question.group_by, self.groups, strict=True)}
        given = {name for listed in self.question.keys for name in listed.groups}
        for i, g in enumerate(self.question.group_by):
            if g.name in given and self.keys is not None:
                scope[ex.Name(g.name)] = Type(self.groups[i].kind, keys=tuple(dict.fromkeys(k[i] for k in self.keys)))
        after = [d.expr for d in self.question.derived]
        after += [] if self.question.having is None else [self.question.having]
        inside = expressions_within(self.rows, self.question.expressions)
        return undeclared((*inside, *((e, scope) for e in after)))

    def require_bounds(self) -> None:
        """Refuse what would be summed or ranked without bounds; a planner may first offer to learn them."""
        for output, t in zip(self.question.aggregates, self.columns, strict=True):
            what = output.aggregate
            needed = function_named(what.function).needs_bounds
            if needed and t is not None and t.bounds is None and what.column is not None:
                raise unbounded(
                    f"{output.name!r} is a {what.function} of {shortened(what.column)}", what.column, self.scope
                )


def check(
    question: Question, tables: Mapping[str, Table], public_rows: PublicRows | None = None, known: Known = ()
) -> Checked:
    """The question, asked by what measures it best, with its types; or a refusal that names the column and the fix.

    ``public_rows`` reads keys from public tables; without it none are, and groups made of their columns are selected
    privately.  ``known`` holds the keys, if any, as they were found when the same question was checked before.

    >>> from curador.query.aggregates.moments import mean
    >>> from curador.query.ask.question import Output
    >>> adult = Table("adult.parquet", columns={"age": {"type": "integer", "bounds": [17, 90]}})
    >>> q = Question("adult", (Output("age", mean("age")),))
    >>> check(q, {"adult": adult}).columns[0].bounds
    (Fraction(17, 1), Fraction(90, 1))
    """
    question = resolved_inside(_clipped(question, tables), tables)
    rows = typed_rows(replace(question.rows, where=None), question.expressions, tables)
    question = best_measured(_resolved(question, scope := rows.scope), scope)
    if question.where is not None:
        condition(question.where, scope)
    rows = replace(rows, rows=question.rows)
    groups = tuple(_group(g, scope) for g in question.group_by)
    columns = tuple(_measured(o.name, o.aggregate, scope) for o in question.aggregates)
    keys = known[0] if known else public_keys(question, tables, groups, public_rows)
    if keys is None and any(o.aggregate.function == "top_k" for o in question.aggregates):
        question = _largest_shown(question)
    if question.sets:
        _check_sets(question, groups, keys)
    if question.contribution is not None and rows.table.unit.id is None:
        raise QuestionRefused("A row is in one group, once: nothing to bound.", fix="Leave bounded() out.")
    question = _resolved_after(question, groups, columns)
    found = Checked(question, rows, groups, columns, keys)
    if question.sets and found.work > MOST_WORK:
        raise QuestionRefused(
            f"These are {len(question.sets)} grouping sets of {len(question.outputs)} outputs, too many together.",
            fix="Ask for fewer at a time; variances, correlations and computed columns count as eight.",
            code="too-many-outputs",
        )
    if question.having is not None or question.derived:
        _check_after(question, found.kinds)
    return found


def _largest_shown(question: Question) -> Question:
    """The largest of groups that are selected privately: of those shown, the ones with the largest noised counts."""
    (output,) = question.aggregates
    k = int(output.aggregate.parameters[0])
    if question.order_by or question.having is not None or question.offset or question.limit not in (None, k):
        raise QuestionRefused(
            "The largest of privately selected groups are those of the largest noised counts: they have an order.",
            fix="Write COUNT(*) with ORDER BY and LIMIT, or declare keys for the columns it groups by.",
            code="largest-of-selected",
        )
    counted = (Output(output.name, count()),)
    return replace(question, aggregates=counted, order_by=(Order(output.name, descending=True),), limit=k)


def _clipped(question: Question, tables: Mapping[str, Table]) -> Question:
    """The question with counts and sums of one unit's rows clipped to what its contribution allows."""
    made = any(type(n) is not ex.Name for e in question.expressions for n in names(e))
    if question.source is None and not made:
        return question
    kept = table_of(question.table, tables).contribution
    beside = {name: t.contribution.most for name, t in tables.items() if t.contribution is not None}
    per_unit = isinstance(question.source, PerUnit) and not question.source.by
    if per_unit and question.contribution and not any(join.kind == "unit" for join in question.joins):
        kept, beside = question.contribution, {}  # nothing is cut afterwards: it can only be meant for what is inside
    if kept is None:
        return question
    clip = Clip(kept.most, beside)

    def measured(o: Output) -> Output:
        a = o.aggregate
        if a.column is None or (isinstance(a.column, ex.Name) and not function_named(a.function).needs_bounds):
            return o
        return Output(o.name, replace(a, column=clip.bounded(a.column)))

    rows = clip.rows(question.rows)
    return replace(
        question,
        source=rows.source,
        where=rows.where,
        group_by=tuple(Group(g.name, clip.bounded(g.expr)) for g in question.group_by),
        aggregates=tuple(map(measured, question.aggregates)),
    )


# ---- types ---------------------------------------------------------------------------------------------------


def _resolved(question: Question, scope: Scope) -> Question:
    """The question with texts beside dates read as dates, so that all spellings of it are one."""

    def changed(o: Output) -> Output:
        column = o.aggregate.column
        found = None if column is None else resolved(column, scope)
        return o if found is column else replace(o, aggregate=replace(o.aggregate, column=found))

    where = question.where if question.where is None else resolved(question.where, scope)
    found = [resolved(g.expr, scope) for g in question.group_by]
    outputs = tuple(map(changed, question.aggregates))
    pairs = zip(
        (where, *found, *outputs),
        (question.where, *(g.expr for g in question.group_by), *question.aggregates),
        strict=True,
    )
    if all(new is old for new, old in pairs):
        return question
    groups = tuple(replace(g, expr=e) for g, e in zip(question.group_by, found, strict=True))
    return replace(question, where=where, group_by=groups, aggregates=outputs)


def _group(group: Group, scope: Scope) -> Type:
    t = typecheck(group.expr, scope)
    if t.kind is Kind.REAL:
        raise QuestionRefused(
            f"{group.name!r} groups by a real number.",
            fix=_instead_of_real(group.expr),
            code="group-by-real",
            facts={"group": group.name},
        )
    if t.kind is Kind.TIMESTAMP:
        return _by_moment(group, t)
    if t.kind is Kind.DATE and t.bounds and not FIRST_DAY <= t.bounds[0] <= t.bounds[1] <= LAST_DAY:
        # A key that is not a date could not be returned, and failing on it would reveal that it is there.
        raise QuestionRefused(
            f"{group.name!r} could leave the years 1 to 9999.",
            fix="Narrow the bounds of the dates it is made of.",
            code="years-range",
            facts={"expression": group.name},
        )
    return t


def _by_moment(group: Group, t: Type) -> Type:
    """A group by the hours, minutes or seconds that the bounds leave, with these as its keys."""
    x = shortened(group.expr.operand if isinstance(group.expr, MomentTrunc) else group.expr)
    fix = f"Group by CAST({x} AS DATE), HOUR({x}), or within narrower bounds DATE_TRUNC('hour', {x})."
    if not isinstance(group.expr, MomentTrunc):
        raise QuestionRefused(
            f"{group.name!r} groups by a timestamp.", fix=fix, code="group-by-timestamp", facts={"group": group.name}
        )
    keys = group.expr.moments(t)
    if len(keys) > MOST_KEYS:
        raise QuestionRefused(
            f"{group.name!r} has {len(keys)} {group.expr.unit}s; the most is {MOST_KEYS}.",
            fix=fix,
            code="too-many-keys",
            facts={"column": group.name, "n": len(keys), "most": MOST_KEYS},
        )
    return replace(t, keys=tuple(map(moment_of, keys)))


def _instead_of_real(e: ex.Expr) -> str:
    bins = f"group by BIN({shortened(e)}, lowest, …, highest)"
    if isinstance(e, ex.Arithmetic) and e.op == "/":
        left, right = shortened(e.left), shortened(e.right)
        return f"/ has a fraction: write {left} // {right}, or FLOOR({left} / {right}), or {bins}."
    return f"Write FLOOR({shortened(e)}) or ROUND({shortened(e)}), or {bins}."


_INSTEAD = {
    Kind.TEXT: "Count it, or group by it.",
    Kind.BOOLEAN: "Count where it is true: COUNT(CASE WHEN column THEN 1 END).",
    Kind.DATE: "Take a date away to get days.",
    Kind.TIMESTAMP: "Measure DATEDIFF('second', from, to), or HOUR(column).",
}


def _measured(name: str, what: Aggregate, scope: Scope) -> Type | None:
    if what.column is None:
        return None
    function = function_named(what.function)
    t = function.typed(what.column, scope)
    if function.numeric and not t.kind.numeric:
        said = f"{name!r} is a {what.function} of {shortened(what.column)}, which is of type {t.kind}."
        facts = {"function": what.function, "column": shortened(what.column), "type": str(t.kind)}
        raise QuestionRefused(said, fix=_INSTEAD[t.kind], code="wrong-type", facts=facts)
    function.refuse(name, what, t)
    return t


COMPUTED = 8
"""What the error of a computed column takes, as so many of counts."""

MOST_WORK = 2048
"""The most errors over grouping sets that are worked out for one question; planning is free, and takes milliseconds for
each that is not a count's."""


def _check_sets(question: Question, groups: Sequence[Type], keys: tuple[tuple[Key, ...], ...] | None) -> None:
    if keys is None:
        refuse_without_keys([g.name for g, t in zip(question.group_by, groups, strict=True) if t.domain is None])
    refuse_not_summed((o.name, o.aggregate) for o in question.aggregates)


# ---- after the noise -----------------------------------------------------------------------------------------


def _resolved_after(question: Question, groups: tuple[Type, ...], columns: tuple[Type | None, ...]) -> Question:
    """The question with texts beside dates read as dates in what is done to its answers, too."""
    kinds = _kinds(question, groups, columns)
    dated = {ex.Name(name): Type(kind) for name, kind in kinds.items() if kind in (Kind.DATE, Kind.TIMESTAMP)}
    if not dated or not (question.having is not None or question.derived):
        return question
    having = None if question.having is None else _beside_dates(question.having, dated)
    derived = tuple(Derived(d.name, _beside_dates(d.expr, dated)) for d in question.derived)
    return replace(question, having=having, derived=derived)


def _kinds(question: Question, groups: tuple[Type, ...], columns: tuple[Type | None, ...]) -> dict[str, Kind]:
    """The kinds of groups, and of aggregates that are no numbers."""
    found = {g.name: t.kind for g, t in zip(question.group_by, groups, strict=True)}
    for output, t in zip(question.aggregates, columns, strict=True):
        if t is not None and not t.kind.numeric and function_named(output.aggregate.function).keeps_kind:
            found |= dict.fromkeys(output.aggregate.outputs(output.name), t.kind)
    return found


def _beside_dates(e: ex.Expr, dated: Scope) -> ex.Expr:
    if isinstance(e, ex.Compare | ex.In) and any(part in dated for part in e.parts):
        plain = all(part in dated or isinstance(part, ex.Literal) for part in e.parts)
        return resolved(e, dated) if plain else e
    if not e.parts:
        return e

    def within(x: object) -> object:
        if isinstance(x, ex.Expr):
            return _beside_dates(x, dated)
        return tuple(map(within, x)) if isinstance(x, tuple) else x

    return type(e).build(**{f.name: within(getattr(e, f.name)) for f in fields(e) if f.init})  # type: ignore[arg-type]


def _check_after(question: Question, kinds: Mapping[str, Kind | None]) -> None:
    known = {ex.Name(name): kind for name, kind in kinds.items() if kind is not None}
    if question.having is not None:
        check_condition(question.having, known)
