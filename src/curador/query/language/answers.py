"""Expressions over the columns of a noised answer: arithmetic that is done after the noise, and is free.

They are the expressions of rows, and two kinds more: functions of one number, and windows over the groups.  Their
names are the columns of the answer.  Nothing here needs bounds: what has no value (a division by zero, the root of a
negative number, a number beyond all doubles) is NULL.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import singledispatch

from curador.errors import QuestionRefused
from curador.numbers import set_fields, whole
from curador.query.language import expressions as ex
from curador.query.language.nodes import Expr
from curador.query.language.text import shortened, sql_text
from curador.query.tables.columns import Kind

FUNCTIONS = ("round", "floor", "ceil", "trunc", "sqrt", "ln", "exp")
"""Functions of one number; each grows with it, so that it maps the ends of an interval to those of another."""

MOST_DIGITS = 15
"""Digits that ROUND may keep, or drop before the point."""

WINDOWS = ("sum", "avg", "min", "max", "count", "row_number", "rank", "dense_rank")
RANKINGS = WINDOWS[5:]
"""The windows that need an order; what has one has no interval, for places are not measured."""


@dataclass(frozen=True)
class Applied(Expr, tag="applied"):
    """A function of one number of the answer; ``digits`` is what ROUND keeps behind the point.

    >>> str(Applied("round", ex.Name("m"), 2))
    'ROUND(m, 2)'
    """

    function: str
    operand: Expr
    digits: int = 0

    def __post_init__(self) -> None:
        if self.function not in FUNCTIONS:
            raise QuestionRefused(
                f"No function is called {self.function!r:.40}.",
                fix=f"Use one of {', '.join(FUNCTIONS)}.",
                code="no-such-function",
                facts={"word": str(self.function)[:40].upper()},
            )
        set_fields(self, digits=whole(self.digits, "the digits of ROUND", -MOST_DIGITS))
        if self.digits > MOST_DIGITS or (self.digits and self.function != "round"):
            raise QuestionRefused(
                f"ROUND keeps at most {MOST_DIGITS} digits.",
                fix="Write ROUND(x, 2).",
                code="round-digits",
                facts={"most": MOST_DIGITS},
            )
        super().__post_init__()


@dataclass(frozen=True)
class OverGroups(Expr, tag="over"):
    """A window over the groups that HAVING leaves: a total of noised answers, or the place of each among them.

    ``operands`` is what is added up (empty for places and for COUNT(*)), ``partition`` the groups within which, and
    ``order`` what places are given by, each largest first where ``descending`` says so.

    >>> str(OverGroups("sum", (ex.Name("n"),), (ex.Name("region"),)))
    'SUM(n) OVER (PARTITION BY region)'
    """

    function: str
    operands: tuple[Expr, ...] = ()
    partition: tuple[Expr, ...] = ()
    order: tuple[Expr, ...] = ()
    descending: tuple[bool, ...] = ()

    def __post_init__(self) -> None:
        for name in ("operands", "partition", "order", "descending"):
            set_fields(self, **{name: tuple(getattr(self, name))})
        places = self.function in RANKINGS
        if self.function not in WINDOWS or len(self.operands) != int(self.function in WINDOWS[:4]):
            raise QuestionRefused(
                f"{self.function[:40].upper()} OVER is not known.",
                fix=_WINDOW,
                code="answer-window",
                facts={"word": self.function[:40].upper()},
            )
        if places != bool(self.order) or len(self.order) != len(self.descending):
            what = "needs ORDER BY" if places else "adds up all groups, and takes no ORDER BY"
            raise QuestionRefused(
                f"{self.function.upper()} OVER {what}.",
                fix=_WINDOW,
                code="window-order",
                facts={"word": self.function.upper()},
            )
        if any(windows(e) for e in self.parts):
            raise QuestionRefused("A window stands in a window.", fix=_WINDOW, code="window-in-window")
        super().__post_init__()


_WINDOW = "Write SUM(COUNT(*)) OVER (PARTITION BY group), or RANK() OVER (ORDER BY COUNT(*) DESC)."


@sql_text.register
def _(e: Applied) -> str:
    inside = f"{sql_text(e.operand)}, {e.digits}" if e.digits else sql_text(e.operand)
    return f"{e.function.upper()}({inside})"


@sql_text.register
def _(e: OverGroups) -> str:
    inside = "*" if e.function == "count" else ", ".join(map(sql_text, e.operands))
    order = (f"{sql_text(x)}{' DESC' if down else ''}" for x, down in zip(e.order, e.descending, strict=True))
    by = [f"PARTITION BY {', '.join(map(sql_text, e.partition))}"] if e.partition else []
    by += [f"ORDER BY {', '.join(order)}"] if e.order else []
    return f"{e.function.upper()}({inside}) OVER ({' '.join(by)})"


def windows(e: Expr) -> set[OverGroups]:
    """Every window that an expression looks through.

    >>> windows(ex.Arithmetic("/", ex.Name("n"), OverGroups("sum", (ex.Name("n"),))))
    {OverGroups(function='sum', operands=(Name(column='n', table=None),), partition=(), order=(), descending=())}
    """
    return {e} if isinstance(e, OverGroups) else set().union(*map(windows, e.parts))


# ---- kinds -----------------------------------------------------------------------------------------------------------


@singledispatch
def answer_kind(e: Expr, known: Mapping[ex.Name, Kind]) -> Kind | None:
    """The kind of an expression over the columns of an answer, None for NULL; refuses what has none.

    >>> answer_kind(ex.Arithmetic("/", ex.Name("s"), ex.Literal(2)), {ex.Name("s"): Kind.INTEGER})
    <Kind.REAL: 'real'>
    """
    raise QuestionRefused(
        f"{shortened(e)} is not computed from answers.",
        fix=_ANSWERS,
        code="not-of-answers",
        facts={"expression": shortened(e)},
    )


_ANSWERS = "Use + - * / // %, ROUND, ABS, LEAST, GREATEST, COALESCE, CASE and comparisons."


@answer_kind.register
def _(e: ex.Name, known: Mapping[ex.Name, Kind]) -> Kind | None:
    return known[e]


@answer_kind.register
def _(e: ex.Literal, known: Mapping[ex.Name, Kind]) -> Kind | None:
    return e.kind


@answer_kind.register
def _(e: ex.Arithmetic, known: Mapping[ex.Name, Kind]) -> Kind | None:
    return _numbers(e, e.parts, known)


@answer_kind.register(ex.Negate)
@answer_kind.register(ex.Abs)
@answer_kind.register(ex.Least)
@answer_kind.register(ex.Greatest)
@answer_kind.register(Applied)
def _(e: Expr, known: Mapping[ex.Name, Kind]) -> Kind | None:
    return _numbers(e, e.parts, known)


@answer_kind.register
def _(e: OverGroups, known: Mapping[ex.Name, Kind]) -> Kind | None:
    for part in (*e.partition, *e.order):
        answer_kind(part, known)
    return _numbers(e, e.operands, known)


@answer_kind.register
def _(e: ex.Compare, known: Mapping[ex.Name, Kind]) -> Kind | None:
    kind = _alike(e, e.parts, known)
    if kind in (Kind.TEXT, Kind.BOOLEAN) and e.op not in ("=", "<>"):
        raise QuestionRefused(
            f"{shortened(e)} orders values of type {kind}.",
            fix="Text and booleans know only = and <>.",
            code="order-of-type",
            facts={"expression": shortened(e), "type": str(kind)},
        )
    return Kind.BOOLEAN


@answer_kind.register(ex.In)
@answer_kind.register(ex.IsNull)
def _(e: Expr, known: Mapping[ex.Name, Kind]) -> Kind | None:
    _alike(e, e.parts, known)
    return Kind.BOOLEAN


@answer_kind.register(ex.And)
@answer_kind.register(ex.Or)
@answer_kind.register(ex.Not)
def _(e: Expr, known: Mapping[ex.Name, Kind]) -> Kind | None:
    for part in e.parts:
        _condition(part, known)
    return Kind.BOOLEAN


@answer_kind.register
def _(e: ex.Coalesce, known: Mapping[ex.Name, Kind]) -> Kind | None:
    return _alike(e, e.operands, known)


@answer_kind.register
def _(e: ex.Case, known: Mapping[ex.Name, Kind]) -> Kind | None:
    for test, _ in e.whens:
        _condition(test, known)
    return _alike(e, [*(value for _, value in e.whens), e.otherwise], known)


def check_condition(e: Expr, known: Mapping[ex.Name, Kind]) -> None:
    """Refuse what is no condition on an answer, such as HAVING n + 1; and windows, which come after HAVING."""
    if windows(e):
        raise QuestionRefused(
            "HAVING looks through a window.",
            fix="Windows are over the groups that HAVING leaves.",
            code="having-window",
        )
    _condition(e, known)


def _condition(e: Expr, known: Mapping[ex.Name, Kind]) -> None:
    if answer_kind(e, known) not in (Kind.BOOLEAN, None):
        raise QuestionRefused(
            f"{shortened(e)} is no condition.",
            fix="Compare it with something.",
            code="not-a-condition",
            facts={"expression": shortened(e)},
        )


def _numbers(e: Expr, parts: Iterable[Expr], known: Mapping[ex.Name, Kind]) -> Kind:
    for part in parts:
        kind = answer_kind(part, known)
        if kind is not None and not kind.numeric:
            days = "Use numbers; of dates, days: MAX(DATEDIFF('day', DATE '2020-01-01', column))."
            raise QuestionRefused(
                f"{shortened(e)} computes with {shortened(part)}, of type {kind}.",
                fix=days if kind in (Kind.DATE, Kind.TIMESTAMP) else "Use numbers.",
                code="needs-number",
                facts={"expression": shortened(e), "operand": shortened(part), "type": str(kind)},
            )
    return Kind.REAL


def _alike(e: Expr, parts: Iterable[Expr], known: Mapping[ex.Name, Kind]) -> Kind | None:
    kinds = {Kind.REAL if kind.numeric else kind for part in parts if (kind := answer_kind(part, known)) is not None}
    if len(kinds) > 1:
        raise QuestionRefused(
            f"{shortened(e)} mixes {' and '.join(sorted(kinds))}.",
            fix="Use values of one type.",
            code="mixed-types",
            facts={"expression": shortened(e)},
        )
    return next(iter(kinds), None)
