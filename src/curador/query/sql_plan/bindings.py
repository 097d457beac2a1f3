"""Operands that are used several times, bound to names in layers below.

Written out in place, nested ones would grow exponentially.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from curador.query.language import expressions as ex
from curador.query.language.bounds import typecheck
from curador.query.language.types import Scope, Type
from curador.query.sql_plan import ir as nt
from curador.query.sql_plan.ir import Node


class Bindings:
    """The columns, the types and the operands bound to names, while the expressions of one question are lowered."""

    def __init__(self, scope: Scope, columns: Mapping[ex.Name, str]) -> None:
        self.scope, self.columns = scope, columns
        self.layers: list[dict[str, Node]] = []
        self._level: dict[str, int] = {}
        self._types: dict[int, tuple[ex.Expr, Type]] = {}

    def type(self, e: ex.Expr) -> Type:
        """The type of an expression, worked out once for each object."""
        if id(e) not in self._types:
            self._types[id(e)] = e, typecheck(e, self.scope)
        return self._types[id(e)][1]

    def bind(self, node: Node) -> Node:
        """A column that stands for the value of ``node``; columns and constants stand for themselves."""
        if isinstance(node, nt.ColumnRef) or (isinstance(node, nt.Number) and node.wide):
            return node
        below = (self._level.get(c.name, 0) for c in nt.walk(node) if isinstance(c, nt.ColumnRef))
        level = max(below, default=0)
        if level == len(self.layers):
            self.layers.append({})
        name = f"b{len(self._level)}"
        self.layers[level][name] = node
        self._level[name] = level + 1
        return nt.column(name)

    def over(self, source: nt.FromItem, names: Sequence[str], joins: Sequence[nt.Joined] = ()) -> nt.FromItem:
        """``source`` with every bound operand added to its columns ``names``."""
        known = list(names)
        if joins and not self.layers:
            return nt.select({n: nt.column(n) for n in known}, source, joins=joins)
        for i, layer in enumerate(self.layers):
            kept = {n: nt.column(n) for n in known}
            source = nt.select({**kept, **layer}, source, joins=joins if i == 0 else (), fence=True)
            known += layer
        return source
