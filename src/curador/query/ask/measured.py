"""The same question, asked by the aggregates that measure it best.

* ``SUM(x) / COUNT(x)`` is ``AVG(x)``, whose centred sum has half the sensitivity; so is ``SUM(x) / COUNT(*)`` where
  x is never NULL.  Where x may be NULL, ``SUM(x) / COUNT(*)`` counts its rows too: it is ``AVG(COALESCE(x, 0))``.
* ``SUM(w * x) / SUM(w)`` is ``c + SUM(w * (x - c)) / SUM(w)``, with c the middle of the bounds of x: the sum has half
  the sensitivity or less.  Where x may be NULL it stands there as ``COALESCE(x, 0)``.
* A boolean is summed, averaged and paired as 1 and 0.

What an aggregate was needed for alone is then no longer measured.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from fractions import Fraction

from curador.errors import QuestionRefused
from curador.query.aggregates.base import Aggregate, count_beside
from curador.query.aggregates.moments import mean
from curador.query.aggregates.sums import sum_
from curador.query.ask.question import Derived, Output, Question
from curador.query.language import expressions as ex
from curador.query.language.bounds import typecheck
from curador.query.language.trees import names
from curador.query.language.types import Scope
from curador.query.tables.columns import Kind


def best_measured(question: Question, scope: Scope) -> Question:
    """The question with the aggregates that measure it best; itself where they are those it has."""
    counted = any(
        o.aggregate.function in ("sum", "mean") or isinstance(o.aggregate.column, ex.ValuePair)
        for o in question.aggregates
    )
    if not counted:
        return question
    outputs = tuple(replace(o, aggregate=_numbers(o.aggregate, scope)) for o in question.aggregates)
    if outputs != question.aggregates:
        question = replace(question, aggregates=outputs)
    return _Means(question, scope).rewritten() if question.derived or question.having else question


def _numbers(what: Aggregate, scope: Scope) -> Aggregate:
    """A sum, mean or pair of booleans as one of 1 and 0."""
    if isinstance(what.column, ex.ValuePair):
        pair = ex.ValuePair(_number(what.column.first, scope), _number(what.column.second, scope))
        return what if pair == what.column else replace(what, column=pair)
    if what.function not in ("sum", "mean") or what.column is None:
        return what
    found = _number(what.column, scope)
    return what if found is what.column else replace(what, column=found)


def _number(e: ex.Expr, scope: Scope) -> ex.Expr:
    """A boolean as 1 and 0, NULL staying NULL; all else as it is."""
    t = typecheck(e, scope)
    if t.kind is not Kind.BOOLEAN:
        return e
    whens = ((e, ex.Literal(1)), (ex.Not(e), ex.Literal(0)))
    return ex.Case(whens) if t.nullable else ex.Case(whens[:1], ex.Literal(0))


class _Means:
    """Replaces ratios that are means, and drops what only they needed."""

    def __init__(self, question: Question, scope: Scope) -> None:
        self.question, self.scope = question, scope
        self.outputs = list(question.aggregates)
        self.made = {ex.Name(o.name): o.aggregate for o in question.aggregates}
        self.shown = question.outputs[len(question.group_by) :]

    def rewritten(self) -> Question:
        q = self.question
        derived = tuple(Derived(d.name, self._replaced(d.expr)) for d in q.derived)
        having = None if q.having is None else self._replaced(q.having)
        if derived == q.derived and having == q.having:
            return q
        used = {n.column for e in (*(d.expr for d in derived), *([] if having is None else [having])) for n in names(e)}
        used |= {*self.shown, *(o.name for o in q.order_by)}
        outputs = tuple(o for o in self.outputs if used & set(o.aggregate.outputs(o.name)))
        return replace(q, aggregates=outputs, derived=derived, having=having, shown=self.shown)

    def _replaced(self, e: ex.Expr) -> ex.Expr:
        found = self._mean(e) or self._weighted(e)
        if found is not None:
            return found
        if not e.parts:
            return e
        own = {f.name: self._inside(getattr(e, f.name)) for f in fields(e) if f.init}  # type: ignore[arg-type]
        return type(e).build(**own)

    def _inside(self, x: object) -> object:
        if isinstance(x, ex.Expr):
            return self._replaced(x)
        return tuple(map(self._inside, x)) if isinstance(x, tuple) else x

    def _mean(self, e: ex.Expr) -> ex.Expr | None:
        """k * SUM(x) / COUNT(…) as k * AVG(x), or None where it is something else."""
        if not isinstance(e, ex.Arithmetic) or e.op != "/":
            return None
        factor, total = _factored(e.left)
        summed, counted = self.made.get(total), self.made.get(e.right)  # type: ignore[call-overload]
        if summed is None or counted is None or (summed.function, counted.function) != ("sum", "count"):
            return None
        t = typecheck(summed.column, self.scope)
        if not t.kind.numeric:
            return None
        of = None if counted.column is None else typecheck(counted.column, self.scope)
        column = summed.column
        if count_beside(summed, t) != count_beside(counted, of):
            if counted.column is not None or self._elsewhere(total):
                return None
            column = ex.Coalesce((column, ex.Literal(0)))
        found = self._output(mean(column))
        return found if factor is None else ex.Arithmetic("*", factor, found)

    def _weighted(self, e: ex.Expr) -> ex.Expr | None:
        """k * SUM(w * x) / SUM(w) as k * (c + SUM(w * (x - c)) / SUM(w)), or None where it is something else."""
        if not isinstance(e, ex.Arithmetic) or e.op != "/":
            return None
        factor, total = _factored(e.left)
        summed, weights = self.made.get(total), self.made.get(e.right)  # type: ignore[call-overload]
        if summed is None or weights is None or {summed.function, weights.function} != {"sum"}:
            return None
        product, w = summed.column, weights.column
        if not isinstance(product, ex.Arithmetic) or product.op != "*" or w not in (product.left, product.right):
            return None
        x = product.right if product.left == w else product.left
        t = typecheck(x, self.scope)
        if t.nullable and t.kind.numeric:  # rows without x add nothing above, and their weights below
            x = ex.Coalesce((x, ex.Literal(0)))
            t = typecheck(x, self.scope)
        if not t.kind.numeric or t.grid_bounds is None or self._elsewhere(total):
            return None
        centre = ex.Literal(Fraction(sum(t.grid_bounds) // 2, 1 << t.bits))
        centred = ex.Arithmetic("*", ex.Arithmetic("-", x, centre), w)
        if not centre.number or not _fits(centred, self.scope):
            return None
        ratio = ex.Arithmetic("/", self._output(sum_(centred), "weighted"), e.right)
        found = ex.Arithmetic("+", ratio, centre)
        return found if factor is None else ex.Arithmetic("*", factor, found)

    def _elsewhere(self, name: ex.Expr) -> bool:
        """Whether a sum is needed by itself, too: then it is measured in any case."""
        q = self.question
        if str(name) in self.shown:
            return True
        expressions = [*(d.expr for d in q.derived), *([] if q.having is None else [q.having])]
        uses = sum(_uses(e, name) for e in expressions)
        ratios = {part for e in expressions for part in _parts(e) if isinstance(part, ex.Arithmetic) and part.op == "/"}
        return uses > sum(_uses(e, part) for part in ratios for e in expressions if _factored(part.left)[1] == name)

    def _output(self, wanted: Aggregate, stem: str = "mean") -> ex.Expr:
        for output in self.outputs:
            if output.aggregate == wanted:
                return ex.Name(output.name)
        taken = {name.casefold() for name in self.question.columns} | {o.name.casefold() for o in self.outputs}
        name, count = stem, 1
        while name in taken:
            count += 1
            name = f"{stem}_{count}"
        self.outputs.append(Output(name, wanted))
        self.made[ex.Name(name)] = wanted
        return ex.Name(name)


def _fits(e: ex.Expr, scope: Scope) -> bool:
    try:
        typecheck(e, scope)
    except QuestionRefused:
        return False
    return True


def _factored(e: ex.Expr) -> tuple[ex.Expr | None, ex.Expr]:
    """A constant factor, if there is one, and the rest."""
    if isinstance(e, ex.Arithmetic) and e.op == "*":
        if isinstance(e.left, ex.Literal):
            return e.left, e.right
        if isinstance(e.right, ex.Literal):
            return e.right, e.left
    return None, e


def _parts(e: ex.Expr) -> Iterator[ex.Expr]:
    yield e
    for part in e.parts:
        yield from _parts(part)


def _uses(e: ex.Expr, wanted: ex.Expr) -> int:
    return sum(part == wanted for part in _parts(e))
