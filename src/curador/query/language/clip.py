"""Counts and sums of one unit's rows, clipped to what its contribution allows wherever a value needs bounds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from curador.query.language import expressions as ex
from curador.query.language.expressions import Expr, Name
from curador.query.language.rows import COUNTS, BesideUnit, InUnits, OfParts, OfUnit, PerUnit, RowSet, UnionAll
from curador.query.language.trees import names

_AS_THEY_ARE = (ex.Compare, ex.In, ex.IsNull, ex.Least, ex.Greatest, ex.Bin)
"""What takes a count or a sum as it is: it needs no bounds, or gives some itself."""


@dataclass(frozen=True)
class Clip:
    """Clips counts and sums to what ``most`` rows of a unit can give; ``beside`` says it of the tables that queries
    beside a row are about, where that is another number.
    """

    most: int
    beside: Mapping[str, int] = field(default_factory=dict)

    def bounded(self, e: Expr) -> Expr:
        """The expression with counts and sums clipped wherever a value needs bounds.

        >>> n = OfUnit("rows")
        >>> Clip(9).bounded(n).most, Clip(9).bounded(ex.Compare(">", n, ex.Literal(20))).left.most
        (9, None)
        """
        if isinstance(e, OfUnit) and e.column != "each" and e.most is None:
            inner = None if e.operand is None else self.bounded(e.operand)
            return replace(e, operand=inner, most=self.most if e.column in (*COUNTS, "sum") else None)
        if isinstance(e, BesideUnit):
            own = self._of(e.own)
            return replace(e, operand=own.bounded(e.made_of), rows=own.rows(e.own))
        if isinstance(e, Name):
            return self._as_it_is(e)
        if not e.parts:
            return e

        def within(x: object) -> object:
            if isinstance(x, Expr):
                as_it_is = isinstance(e, _AS_THEY_ARE) and isinstance(x, Name)
                return self._as_it_is(x) if as_it_is else self.bounded(x)  # type: ignore[arg-type]
            return tuple(within(y) for y in x) if isinstance(x, tuple) else x

        return type(e).build(**{f.name: within(getattr(e, f.name)) for f in fields(e) if f.init})  # type: ignore[arg-type]

    def _of(self, rows: RowSet) -> Clip:
        """The clip of what is counted of a unit's rows in another table."""
        return replace(self, most=self.beside.get(rows.table, self.most))

    def _as_it_is(self, e: Name) -> Name:
        """A column as it is, made of expressions that are clipped."""
        if isinstance(e, OfUnit) and e.operand is not None and e.column != "each":
            inner = e.operand
            needs = e.column in ("sum", "avg") or not isinstance(inner, Name)
            return replace(e, operand=self.bounded(inner) if needs else self._as_it_is(inner))  # type: ignore[arg-type]
        if isinstance(e, OfParts):
            return replace(e, operands=tuple(map(self.bounded, e.operands)))
        if isinstance(e, BesideUnit):
            own, inner = self._of(e.own), e.made_of
            made = own._as_it_is(inner) if isinstance(inner, Name) else own.bounded(inner)
            return replace(e, operand=made, rows=own.rows(e.own))
        return replace(e, rows=self._of(e.own).rows(e.own)) if isinstance(e, InUnits) else e

    def rows(self, rows: RowSet) -> RowSet:
        """The rows with what their filters compute clipped."""
        source = rows.source
        if source is not None:
            source = replace(source, **_parts(source, tuple(self._of(part).rows(part) for part in source.parts)))
        where = None if rows.where is None else self.bounded(rows.where)
        return replace(rows, source=source, where=where)


def _parts(source: PerUnit | UnionAll, parts: tuple[RowSet, ...]) -> dict[str, Any]:
    return {"rows": parts[0]} if isinstance(source, PerUnit) else {"parts": parts}


def clipped_to(expressions: Iterable[Expr], rows: RowSet) -> int | None:
    """The fewest rows of one unit that counts and sums are clipped to in these expressions, or else in queries inside.

    >>> visits = RowSet("visits", PerUnit(RowSet("visits")))
    >>> clipped_to([Clip(9).bounded(OfUnit("rows"))], visits), clipped_to([Name("age")], visits)
    (9, None)
    """
    own = [n for e in expressions for n in _clips(e)]
    return min(own or _clips_of_rows(rows), default=None)


def _clips(e: Expr) -> Iterator[int]:
    for n in names(e):
        if isinstance(n, OfUnit):
            yield from () if n.most is None else (n.most,)
            yield from () if n.operand is None else _clips(n.operand)
        elif isinstance(n, OfParts):
            for part in n.operands:
                yield from _clips(part)
        elif isinstance(n, BesideUnit):
            yield from _clips(n.made_of)
            yield from _clips_of_rows(n.own)
        elif isinstance(n, InUnits):
            yield from _clips_of_rows(n.own)


def _clips_of_rows(rows: RowSet) -> Iterator[int]:
    for e in rows.expressions:
        yield from _clips(e)
    for part in () if rows.source is None else rows.source.parts:
        yield from _clips_of_rows(part)
