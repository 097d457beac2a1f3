"""The base of all expressions: immutable, of limited size, readable from JSON, and sortable."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from fractions import Fraction
from typing import Any, ClassVar

from curador.errors import InvalidParameter, QuestionRefused
from curador.numbers import set_fields

DEEPEST = 100
LARGEST = 1000
"""No expression is nested deeper, or has more parts: what would be slow to plan is refused before it is built."""

TAGS: dict[str, type[Expr]] = {}


class Expr:
    """A value computed from one row; see :mod:`curador.query.language.expressions` for the kinds there are."""

    tag: ClassVar[str]
    size: int
    depth: int

    def __init_subclass__(cls, tag: str | None = None) -> None:
        super().__init_subclass__()
        if tag is not None:  # None: shared by others, not an expression itself
            cls.tag = tag
            TAGS[tag] = cls

    def __post_init__(self) -> None:
        for f in fields(self):  # type: ignore[arg-type]
            if not SHAPES[str(f.type)](getattr(self, f.name)):
                named = getattr(type(self), "tag", type(self).__name__).upper()
                raise InvalidParameter(f"{named} has a {f.name} of another type.", fix=f"Use {f.type}.")
        below = self.parts
        # Parts are shared, not copied: without these two numbers x + x, of x + x, ... would grow as 2**n unseen.
        set_fields(self, size=1 + sum(e.size for e in below), depth=1 + max((e.depth for e in below), default=0))
        if self.size > LARGEST or self.depth > DEEPEST:
            raise QuestionRefused(
                f"An expression has {self.size} parts, {self.depth} deep; the most is {LARGEST}, {DEEPEST} deep.",
                fix="Split the question, or declare the derived column in the data.",
                code="question-too-large",
                facts={"n": self.size, "most": LARGEST},
            )

    @property
    def parts(self) -> tuple[Expr, ...]:
        """The expressions this one is made of, in order."""
        return tuple(_exprs(getattr(self, f.name) for f in fields(self)))  # type: ignore[arg-type]

    @classmethod
    def build(cls, **own: Any) -> Expr:
        """The canonical expression of this kind, which may turn out to be of a simpler one."""
        return cls(**own)

    def to_json(self) -> dict[str, object]:
        """A plain dictionary that :func:`curador.query.language.trees.expr_from_json` reads back."""
        own = (f for f in fields(self) if f.init)  # type: ignore[arg-type]
        return {"is": self.tag, **{f.name: _plain(getattr(self, f.name)) for f in own}}

    def written(self, parts: Sequence[str]) -> str:
        """The expression as a call in SQL, its parts being written already."""
        return f"{self.tag.upper()}({', '.join(parts)})"

    def __str__(self) -> str:
        from curador.query.language.text import sql_text  # text.py dispatches on these classes

        return sql_text(self)


def _all(of: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda x: type(x) is tuple and all(map(of, x))


def _is(*kinds: type) -> Callable[[Any], bool]:
    """Exactly of such a type: for Python True is a number as well."""
    return lambda x: type(x) in kinds


def _is_expr(x: object) -> bool:
    return isinstance(x, Expr)


def _is_text(x: object) -> bool:
    return isinstance(x, str)


SHAPES: dict[str, Callable[[Any], bool]] = {
    "Expr": _is_expr,
    "Expr | None": lambda x: x is None or _is_expr(x),
    "tuple[Expr, ...]": _all(_is_expr),
    "tuple[Literal, ...]": _all(lambda x: _is_expr(x) and hasattr(x, "value")),
    "tuple[tuple[Expr, Expr], ...]": _all(lambda x: len(x) == 2 and _all(_is_expr)(x)),
    "str": _is_text,
    "str | None": lambda x: x is None or _is_text(x),
    "int": _is(int),
    "int | None": _is(int, type(None)),
    "bool": _is(bool),
    "tuple[bool, ...]": _all(_is(bool)),
    "tuple[str | int, ...]": _all(_is(str, int)),
    "tuple[Fraction, ...]": _all(_is(Fraction)),
    "Value": lambda x: True,  # a literal reads its value, and sets its kind
    "Kind | None": lambda x: True,
}
"""What a field of each type may hold.  Questions come as JSON, with anything in any place, and a plan or an answer
would stumble over it: an answer after the charge."""


def _exprs(values: Iterable[object]) -> Iterator[Expr]:
    for value in values:
        if isinstance(value, Expr):
            yield value
        elif isinstance(value, tuple):
            yield from _exprs(value)


def _plain(x: object) -> object:
    if isinstance(x, Expr):
        return x.to_json()
    return [_plain(y) for y in x] if isinstance(x, tuple) else x


def order(e: Expr) -> str:
    """A text by which canonical trees are sorted: the same in every process.

    >>> from curador.query.language.expressions import Name
    >>> order(Name("age"))
    '{"column": "age", "is": "name", "table": null}'
    """
    return json.dumps(e.to_json(), sort_keys=True)
