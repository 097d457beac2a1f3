"""Truncation done once: a copy of a table as it is read, with ranks that say which rows each unit keeps.

The ranks do not depend on the limits, the filter or the measures of a question, so a later question reads
``rank <= limit`` and costs about as much as a plain GROUP BY.  It truncates before its filter: rows that the filter
drops still used up the unit's limits, so fewer rows are left than when the filter comes first.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod

from curador.errors import QuestionRefused
from curador.mechanisms.sensitivity import Contribution
from curador.query.ask.public_keys import MOST_PUBLIC_GROUPS
from curador.query.language import expressions as ex
from curador.query.language.bounds import typecheck
from curador.query.language.trees import expr_from_json
from curador.query.language.types import Type, column_type
from curador.query.plan.checked import Checked
from curador.query.sql_plan import ir as nt
from curador.query.sql_plan import truncate
from curador.query.sql_plan.exact import Read, ReadAs, Scan
from curador.query.sql_plan.expressions import Bindings, lowered
from curador.query.sql_plan.group_index import indexed
from curador.query.sql_plan.ir import Node
from curador.query.sql_plan.truncate import GROUP_RANK, ROW_RANK, UNIT
from curador.query.tables.columns import Key, Kind
from curador.query.tables.sources import Files
from curador.query.tables.table import Table


@dataclass(frozen=True)
class Preparation:
    """The rows that an engine is to store: those of ``tree`` over ``scan``.

    >>> visits = Table("v.csv", unit="id", columns={"id": "integer", "town": {"type": "text", "keys": ["Lugo"]}})
    >>> preparation("visits", visits, [ex.Name("town")]).scan.table
    'visits'
    """

    table: str
    group_by: tuple[ex.Expr, ...]
    scan: Scan
    tree: nt.Select = field(repr=False)
    schema: str

    def at(self, place: str, snapshot: str) -> Prepared:
        """The prepared table, once an engine has stored it at ``place``."""
        return Prepared(self.table, self.group_by, place, snapshot, self.schema)


PREPARED_MARK = "\tprepared "
"""In the names of prepared tables, and in no declared one."""


@dataclass(frozen=True)
class Prepared:
    """A table that was prepared: for which groups, where the engine keeps it, which snapshot, read by which types.

    >>> p = Prepared("visits", (ex.Name("town"),), "visits.prepared", "4f2a", "99c1")
    >>> Prepared.from_json(p.to_json()) == p
    True
    """

    table: str
    group_by: tuple[ex.Expr, ...]
    place: str
    snapshot: str
    schema: str

    @property
    def relation(self) -> str:
        """Its name in scans; the tab keeps it apart from every declared table."""
        return f"{self.table}{PREPARED_MARK}{self.snapshot[:32]}"

    def covers(self, checked: Checked) -> bool:
        """Whether a question can be answered from it: of this table alone, by the same groups or coarser ones, and
        the copy holds every row that the question needs.

        Bounds and grids must be as they were: stored values are clipped by the old ones.  Rows beside the public keys
        of its groups are not stored, so it answers for those keys alone, and not for coarser groups.

        Guarantee: docs/proofs/truncation.md, section 4.
        """
        question, asked = checked.question, {g.expr for g in checked.question.group_by}
        if question.reads != (self.table,) or question.source is not None or checked.rows.among:
            return False
        if schema_digest(checked.table) != self.schema:
            return False
        kept = question.contribution or checked.table.contribution
        if question.joins or (kept is not None and kept.total is not None):  # its ranks are within groups
            return False
        held = self._keys(checked)
        if held is None or not asked <= set(self.group_by):
            return asked <= set(self.group_by)
        if asked != set(self.group_by) or checked.keys is None:
            return False
        return all({key[i] for key in checked.keys} <= held[g.expr] for i, g in enumerate(question.group_by))

    def alike(self, checked: Checked) -> bool:
        """Whether its ranks are of the groups that the question asks about, no others: what a unit keeps is the same.

        Where the question leaves groups out, those still used up the unit's limits.
        """
        if {g.expr for g in checked.question.group_by} != set(self.group_by):
            return False
        held = self._keys(checked)
        if held is None or checked.keys is None:
            return held is None and checked.keys is None
        return len(set(checked.keys)) == prod(map(len, held.values()))

    def _keys(self, checked: Checked) -> dict[ex.Expr, set[Key]] | None:
        """The public keys of its groups, to which its rows were cut; None where it holds all rows of all units."""
        types = [typecheck(e, checked.scope) for e in self.group_by]
        if _public(types) is None:
            return None
        return {e: set(t.domain or ()) for e, t in zip(self.group_by, types, strict=True)}

    def kept(self, limits: Contribution) -> list[Node]:
        """The conditions that cut every unit to the limits."""
        pairs = ((GROUP_RANK, limits.groups), (ROW_RANK, limits.rows))
        return [nt.infix("<=", nt.column(rank), nt.number(most)) for rank, most in pairs]

    def left(self, checked: Checked, limits: Contribution) -> Contribution:
        """How many of the answer's groups, and rows in each, a unit that was cut to the limits may have.

        A group of a coarser grouping may hold all the groups that a unit keeps.
        """
        if not self.covers(checked):
            raise QuestionRefused(
                f"{self.table!r} was prepared for other groups, or its declaration has changed since.",
                fix="Ask without the prepared table, or prepare it again.",
            )
        cells = limits.groups if checked.keys is None else len(checked.keys)
        same = len({g.expr for g in checked.question.group_by}) == len(set(self.group_by))
        rows = limits.rows if same else limits.rows * limits.groups
        return Contribution(rows=rows, groups=min(limits.groups, cells))

    def scan(self, checked: Checked, columns: Mapping[ex.Name, str]) -> Scan:
        """The stored columns that a question reads."""
        place = {ex.Name(c): stored_name(i) for i, c in enumerate(checked.table.columns)}
        reads = [Read(short, place[n], checked.scope[n], ReadAs.STORED) for n, short in columns.items()]
        whole = Type(Kind.INTEGER)
        reads += [Read(c, c, whole, ReadAs.STORED) for c in (UNIT, GROUP_RANK, ROW_RANK)]
        return Scan("s0", self.relation, tuple(reads))

    def to_json(self) -> dict[str, object]:
        groups = [e.to_json() for e in self.group_by]
        own = {"place": self.place, "snapshot": self.snapshot, "schema": self.schema}
        return {"table": self.table, "group_by": groups, **own}

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Prepared:
        """Read back what :meth:`to_json` wrote."""
        try:
            groups = data["group_by"]
            assert isinstance(groups, list)
            exprs = tuple(expr_from_json(g) for g in groups)
            return cls(str(data["table"]), exprs, str(data["place"]), str(data["snapshot"]), str(data["schema"]))
        except (KeyError, AssertionError):
            raise QuestionRefused(
                "This does not describe a prepared table as to_json() does.", fix="Use to_json()."
            ) from None


def fitting(made: Sequence[Prepared], checked: Checked, wanted: bool | None) -> Prepared | None:
    """The copy to answer a question from: the latest for the same groups; for finer or more only if it is wanted."""
    if wanted is False:
        return None
    usable = [p for p in reversed(made) if p.covers(checked)]
    same = [p for p in usable if p.alike(checked)]
    found = next(iter(same or (usable if wanted else [])), None)
    if wanted and found is None:
        raise QuestionRefused(
            f"No prepared copy of {checked.question.table!r} holds all rows that these groups need.",
            fix="Prepare the table for them, or leave prepared out.",
        )
    return found


def preparation(name: str, table: Table, group_by: Sequence[ex.Expr]) -> Preparation:
    """How to prepare a table for questions that group by these expressions, or by some of them."""
    unit = table.unit.id
    if unit is None:
        raise QuestionRefused(
            f"In {name!r} a unit is a row: there is nothing to truncate.", fix="Ask it as it is; it costs no more."
        )
    scope = {ex.Name(c): column_type(column) for c, column in table.columns.items()}
    columns = {ex.Name(c): stored_name(i) for i, c in enumerate(table.columns)}
    types = [typecheck(e, scope) for e in group_by]
    if any(t.kind is Kind.REAL for t in types):
        raise QuestionRefused("A table is not prepared for groups of real numbers.", fix="Group by bins.")
    reads = [Read(short, n.column, scope[n]) for n, short in columns.items()]
    scan = Scan("s0", name, (*reads, Read(UNIT, unit, scope[ex.Name(unit)], ReadAs.ID)))
    at = Bindings(scope, columns)
    groups = {f"k{i}": lowered(e, at) for i, e in enumerate(group_by)}
    values = {short: nt.column(short) for short in columns.values()}
    source = at.over(nt.table("s0"), [r.name for r in scan.reads])
    there = [nt.present(nt.column(UNIT))]
    kinds = [t.kind for t in types]
    cells, layer = indexed({UNIT: nt.column(UNIT)}, groups, values, source, there, _public(types), kinds)
    tree = truncate.ranked(layer, table.columns[unit].kind, cells, tuple(values))
    return Preparation(name, tuple(group_by), scan, tree, schema_digest(table))


def schema_digest(table: Table) -> str:
    """A short text that differs where a table's columns are read, or its units identified, in another way.

    >>> t = Table("v.csv", unit="id", columns={"id": "integer"})
    >>> schema_digest(t) == schema_digest(Table("w.csv", unit="id", columns={"id": "integer"}))
    True
    """
    read = [(name, column_type(column)) for name, column in table.columns.items()]
    written = table.source.csv.code if isinstance(table.source, Files) else None
    return hashlib.sha256(repr((table.unit, read, written)).encode()).hexdigest()[:32]


def _public(types: Sequence[Type]) -> list[tuple[Key, ...]] | None:
    """All public keys of the groups, if they are public and not too many to be listed."""
    domains = [t.domain for t in types]
    if any(d is None for d in domains) or prod(len(d or ()) for d in domains) > MOST_PUBLIC_GROUPS:
        return None
    return list(product(*(d or () for d in domains)))


def stored_name(i: int) -> str:
    """The name of the i-th declared column in a prepared table."""
    return f"c{i}"
