"""The columns that something is learned from: numbers in bounds, or public keys; checked, and no data read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from curador.errors import QuestionRefused
from curador.query.ask.question import Question
from curador.query.ask.resolve import resolved_inside
from curador.query.ask.typed import TypedRows, typed_rows
from curador.query.language import expressions as ex
from curador.query.language.bounds import condition, typecheck
from curador.query.language.resolve import resolved
from curador.query.language.rows import tables_in
from curador.query.language.text import shortened
from curador.query.language.types import Type
from curador.query.language.unbounded import unbounded
from curador.query.tables.columns import Key, key_value
from curador.query.tables.table import Table

WIDEST_NUMBER = 1 << 40
"""The widest bounds of a number that is learned from, in steps of its grid."""


@dataclass(frozen=True)
class RecordColumn:
    """One column of the rows that are read: a number on its grid, or the place of a key in a list.

    A number is read as its place above the lower bound, from 0 to ``steps``; -1 stands for NULL.  A key is read as its
    place in ``keys``; -1 stands for anything else.
    """

    name: str
    expr: ex.Expr
    type: Type
    keys: tuple[Key, ...] | None

    @property
    def steps(self) -> int:
        """The width of the bounds of a number, in steps of its grid."""
        low, high = self.type.grid_bounds or (0, 0)
        return high - low

    @property
    def bounds(self) -> tuple[Fraction, Fraction]:
        """The bounds of a number."""
        assert self.type.bounds is not None
        return self.type.bounds


@dataclass(frozen=True)
class Records:
    """Rows of a table, and the columns that are read of them; what a unit's rows are cut to is ``limit``."""

    rows: TypedRows
    columns: tuple[RecordColumn, ...]
    limit: int

    @property
    def tables(self) -> tuple[str, ...]:
        """The private tables that are read: each is charged."""
        return tuple(name for name in self.reads if not self.rows.tables[name].public)

    @property
    def reads(self) -> tuple[str, ...]:
        """All tables that are read, the first one first."""
        asked = (name for c in self.columns for name in tables_in(c.expr))
        inside = (name for e in self.rows.rows.expressions for name in tables_in(e))
        return tuple(dict.fromkeys((*self.rows.rows.tables, *inside, *asked)))

    @property
    def code(self) -> dict[str, object]:
        """What is read, in codes: no name of the asker's is in it."""
        rows, joined = self.rows.rows, [x for x in (self.rows.rows_joined_per_unit, *self.rows.joined_inside) if x]
        return {
            "rows": rows.to_json(),
            **({"joined": joined} if joined else {}),
            "columns": [{"expr": c.expr, "keys": c.keys} for c in self.columns],
            "limit": self.limit,
        }


def records(
    question: Question,
    columns: Mapping[str, ex.Expr],
    keyed: Mapping[str, Sequence[Key]],
    tables: Mapping[str, Table],
) -> Records:
    """The columns of the rows that a question is about, with their types; or a refusal that names one and the fix.

    ``keyed`` are the columns that are read as keys, with the keys, which may be empty for those of the column's own.
    """
    question = resolved_inside(question, tables)
    rows = typed_rows(question.rows, columns.values(), tables)
    scope = rows.scope
    if question.where is not None:
        condition(question.where, scope)
    found = []
    for name, given in columns.items():
        e = resolved(given, scope)
        t = typecheck(e, scope)
        keys: tuple[Key, ...] | None = None
        if name in keyed or not t.kind.counted:
            keys = tuple(key_value(t.kind, key) for key in keyed.get(name) or t.domain or ())
            if len(set(keys)) < len(keys):
                raise QuestionRefused(
                    f"A key of {shortened(e)} is listed twice.",
                    fix="List each of them once.",
                    code="key-listed-twice",
                    facts={"column": shortened(e)},
                )
            if not keys:
                raise QuestionRefused(
                    f"{shortened(e)} has no public keys to be learned from.",
                    fix="Declare its keys, or leave it out.",
                    code="feature-without-keys",
                    facts={"column": shortened(e)},
                )
        elif t.bounds is None:
            raise unbounded(f"{name!r} is learned from {shortened(e)}", e, scope)
        column = RecordColumn(name, e, t, keys)
        if keys is None and not 0 < column.steps <= WIDEST_NUMBER:
            raise QuestionRefused(
                f"{shortened(e)} has bounds of no width, or too wide for its grid.",
                fix="Declare other bounds, or a step.",
                code="feature-bounds",
                facts={"column": shortened(e)},
            )
        found.append(column)
    return Records(rows, tuple(found), _limit(question, rows))


def _limit(question: Question, rows: TypedRows) -> int:
    """How many rows of a unit count."""
    if rows.single:
        return 1
    limits = question.contribution or rows.table.contribution
    if limits is None:
        raise QuestionRefused(
            f"How many rows of one unit of {question.table!r} count is not said.",
            fix="Declare the table's contribution, or give one with the model.",
            code="contribution-needed",
        )
    return limits.most
