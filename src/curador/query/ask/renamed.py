"""The same question with other names for the columns of its answer: what is measured stays the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from curador.query.ask.question import Derived, Group, Order, Output, Question
from curador.query.language.expressions import Expr, Name
from curador.query.language.trees import substitute


def renamable(question: Question) -> tuple[str, ...]:
    """The columns that can be given another name: all but the levels of a tree, and quantiles asked together."""
    groups = () if question.tree is not None else tuple(group.name for group in question.group_by)
    single = (o.name for o in question.aggregates if o.aggregate.outputs(o.name) == (o.name,))
    there = {*groups, *single, *(d.name for d in question.derived)}
    return tuple(name for name in question.outputs if name in there)


def renamed(question: Question, names: Mapping[str, str]) -> Question:
    """A question whose columns have other names wherever they are spoken of; names of no such column are left out.

    Fails: refused where two columns would have one name, or a name is none.

    >>> from curador.query.aggregates.counts import count
    >>> asked = Question("t", (Output("n", count()),), group_by=(Group("sex", Name("sex")),), order_by=(Order("n"),))
    >>> renamed(asked, {"n": "people"}).outputs, renamed(asked, {"n": "people"}).order_by[0].name
    (('sex', 'people'), 'people')
    """
    known = renamable(question)
    new = {name: text for name, text in names.items() if name in known and text}
    if not new:
        return question
    by: dict[Name, Expr] = {Name(old): Name(text) for old, text in new.items()}

    def called(name: str) -> str:
        return new.get(name, name)

    return replace(
        question,
        aggregates=tuple(Output(called(o.name), o.aggregate) for o in question.aggregates),
        group_by=tuple(Group(called(g.name), g.expr) for g in question.group_by),
        keys=tuple(replace(k, groups=tuple(map(called, k.groups))) for k in question.keys),
        having=None if question.having is None else substitute(question.having, by),
        order_by=tuple(Order(called(o.name), o.descending) for o in question.order_by),
        derived=tuple(Derived(called(d.name), substitute(d.expr, by)) for d in question.derived),
        shown=tuple(map(called, question.shown)),
        sets=tuple(tuple(map(called, one)) for one in question.sets),
    )
