"""The base of all expressions: immutable, of limited size, readable from JSON, and sortable."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
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
            if not _SHAPES.get(str(f.type), _anything)(getattr(self, f.name)):
                raise InvalidParameter(f"{self.tag.upper()} has no expression as its {f.name}.", fix="Use Expr nodes.")
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


def _anything(value: object) -> bool:
    return True


_SHAPES: dict[str, Callable[[Any], bool]] = {
    "Expr": lambda x: isinstance(x, Expr),
    "tuple[Expr, ...]": lambda x: all(isinstance(e, Expr) for e in x),
    "tuple[Literal, ...]": lambda x: all(isinstance(e, Expr) and hasattr(e, "value") for e in x),
    "tuple[tuple[Expr, Expr], ...]": lambda x: all(len(p) == 2 and all(isinstance(e, Expr) for e in p) for p in x),
    "str | None": lambda x: x is None or isinstance(x, str),
}


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
