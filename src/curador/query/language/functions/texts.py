"""Functions of texts.  Engines fold, cut and order texts differently, so they are worked out at planning.

Of a column with public keys any function is tabled: its value for every key is known before a row is read, and rows
with another value, or NULL, have NULL.  Of other texts only whether one begins with, ends with, contains or is a given
text is asked of an engine: all three compare bytes.  Characters are those of Unicode; texts are ordered by them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod

from curador.errors import InvalidParameter, QuestionRefused
from curador.numbers import set_fields
from curador.query.language.expressions import Expr, Literal
from curador.query.language.functions.numbers import Found, RowFunction, Tabled
from curador.query.language.text import shortened
from curador.query.language.types import MOST_KEYS, Type
from curador.query.tables.columns import Key, Kind, text_value

ESCAPE = "\\"

_UNLISTED = "Declare keys for the column. Of any text, = IN and LIKE 'a%', '%a' or '%a%' are the same on every engine."


class _OfText(Tabled):
    """A tabled function of a text."""

    def _require_text(self, t: Type) -> None:
        if t.kind is not Kind.TEXT:
            raise self.refuse_kind(self.operand, t, "needs-text")

    def untabled(self) -> QuestionRefused:
        return QuestionRefused(
            f"{shortened(self)}: engines fold, cut and order texts differently, so this is worked out beforehand for "
            f"each public key, and {shortened(self.operand)} has none, or more than {MOST_KEYS}.",
            fix=_UNLISTED,
            code="values-unlisted",
            facts={"expression": shortened(self), "operand": shortened(self.operand), "most": MOST_KEYS},
        )


# ---- cutting and changing ------------------------------------------------------------------------------------


def _substring(x: str, start: int, length: int | None = None) -> str:
    """From the character ``start``, counted from 1, or from the end where negative; as DuckDB has it."""
    first = start - 1 if start > 0 else len(x) + start if start < 0 else -1
    last = len(x) if length is None else first + length
    return x[max(0, first) : max(0, last)]


def _stripped(x: str, side: str, characters: str = " ") -> str:
    return {"leading": x.lstrip, "trailing": x.rstrip}.get(side, x.strip)(characters)


_TEXTS: dict[str, Callable[..., str | int]] = {
    "upper": str.upper,
    "lower": str.lower,
    "reverse": lambda x: x[::-1],
    "substring": _substring,
    "left": lambda x, n: x[:n],
    "right": lambda x, n: x[max(0, len(x) - n) :] if n >= 0 else x[-n:],
    "trim": lambda x, *c: _stripped(x, "both", *c),
    "ltrim": lambda x, *c: _stripped(x, "leading", *c),
    "rtrim": lambda x, *c: _stripped(x, "trailing", *c),
    "replace": lambda x, old, new: x.replace(old, new) if old else x,
    "length": len,
    "strpos": lambda x, part: x.find(part) + 1,
}
"""Every function of a text and constants; a length and a place are whole numbers, the others texts."""

_WHOLE = ("length", "strpos")


@dataclass(frozen=True)
class TextFunction(_OfText, tag="text-function"):
    """A function of a text that has public keys, with constant arguments.

    >>> from curador.query.language.expressions import Name
    >>> TextFunction("substring", Name("town"), (2, 3)).value("Vigo")
    'igo'
    """

    name: str
    operand: Expr
    arguments: tuple[str | int, ...] = ()

    def __post_init__(self) -> None:
        arguments = tuple(self.arguments)
        if self.name not in _TEXTS or any(isinstance(x, bool) or not isinstance(x, str | int) for x in arguments):
            raise InvalidParameter(f"No function of text is called {self.name!r:.40}.", fix=", ".join(_TEXTS))
        if any(isinstance(x, int) and abs(x) > 10**6 for x in arguments):
            raise QuestionRefused(
                "A place in a text is beyond a million.", fix="Write smaller numbers.", code="number-too-large"
            )
        set_fields(self, arguments=arguments)
        super().__post_init__()
        try:
            self.value("abc")
        except TypeError:
            raise QuestionRefused(
                f"{self.name.upper()} has other arguments.",
                fix="See docs/reference/sql.md.",
                code="sql-arguments",
                facts={"word": self.name.upper()},
            ) from None

    def written(self, parts: Sequence[str]) -> str:
        arguments = [_quoted(x) if isinstance(x, str) else str(x) for x in self.arguments]
        return f"{self.name.upper()}({', '.join([parts[0], *arguments])})"

    def typed(self, types: Sequence[Type]) -> Type:
        self._require_text(types[0])
        return self.tabled(types[0], Kind.INTEGER if self.name in _WHOLE else Kind.TEXT)

    def value(self, key: Key) -> Found:
        found = _TEXTS[self.name](key, *self.arguments)
        return text_value(found) if isinstance(found, str) else found


def _quoted(x: str) -> str:
    return "'" + x.replace("'", "''") + "'"


@dataclass(frozen=True)
class Concat(RowFunction, tag="concat"):
    """Texts one after the other, each a constant or with public keys; NULL where one is NULL or no key."""

    operands: tuple[Expr, ...]

    def __post_init__(self) -> None:
        flat: list[Expr] = []
        for e in self.operands:
            flat += e.operands if isinstance(e, Concat) else [e]
        if len(flat) < 2:
            raise QuestionRefused("|| joins two texts or more.", fix="Give it two.", code="join-two-texts")
        set_fields(self, operands=tuple(flat))
        super().__post_init__()

    def written(self, parts: Sequence[str]) -> str:
        return f"({' || '.join(parts)})"

    def typed(self, types: Sequence[Type]) -> Type:
        lists = []
        for operand, t in zip(self.operands, types, strict=True):
            if t.kind is not Kind.TEXT:
                raise QuestionRefused(
                    f"{shortened(self)} joins texts, and {shortened(operand)} is of type {t.kind}.",
                    fix=f"Write CAST({shortened(operand)} AS VARCHAR).",
                    code="joined-text-type",
                    facts={"expression": shortened(self), "operand": shortened(operand), "type": str(t.kind)},
                )
            if t.keys is None:
                raise QuestionRefused(
                    f"{shortened(self)} could become longer than an engine holds: {shortened(operand)} has no keys.",
                    fix="Declare keys for the column, or group by the two columns instead.",
                    code="joined-text-long",
                    facts={"expression": shortened(self), "operand": shortened(operand)},
                )
            lists.append(t.keys)
        few = prod(map(len, lists)) <= MOST_KEYS
        keys = tuple(dict.fromkeys(text_value("".join(map(str, row))) for row in product(*lists))) if few else None
        nullable = not all(isinstance(e, Literal) for e in self.operands)  # a column may hold what is no key
        return Type(Kind.TEXT, nullable=nullable, keys=keys)


# ---- patterns and order --------------------------------------------------------------------------------------

_ORDERS: dict[str, Callable[[str, str], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


@dataclass(frozen=True)
class TextOrder(_OfText):
    """What a comparison of order means whose left side has public keys, and whose right side is a constant text."""

    op: str
    operand: Expr
    other: str

    def __post_init__(self) -> None:
        if self.op not in _ORDERS:
            raise InvalidParameter(f"No order is called {self.op!r:.20}.", fix=", ".join(_ORDERS))
        set_fields(self, other=text_value(self.other))
        super().__post_init__()

    def written(self, parts: Sequence[str]) -> str:
        return f"({parts[0]} {self.op} {_quoted(self.other)})"

    def typed(self, types: Sequence[Type]) -> Type:
        self._require_text(types[0])
        return self.tabled(types[0], Kind.BOOLEAN)

    def value(self, key: Key) -> Found:
        return _ORDERS[self.op](str(key), self.other)


@dataclass(frozen=True)
class Like(_OfText, tag="like"):
    r"""Whether a text matches a pattern: % is any text, _ any character, \ makes the next one itself.

    With ``fold``, lower and upper case are the same.

    >>> from curador.query.language.expressions import Name
    >>> Like(Name("town"), "M%d").value("Madrid"), Like(Name("town"), "%b%").simple, Like(Name("town"), "a_").simple
    (True, ('CONTAINS', 'b'), None)
    """

    operand: Expr
    pattern: str
    fold: bool = False

    def __post_init__(self) -> None:
        set_fields(self, pattern=text_value(self.pattern))
        _tokens(self.pattern)
        if not isinstance(self.fold, bool):
            raise InvalidParameter("fold is true or false.", fix="Write True or False.")
        super().__post_init__()

    @classmethod
    def of(cls, operand: Expr, before: str, middle: str, after: str) -> Like:
        """The pattern of a text between wildcards."""
        plain = "".join(ESCAPE + c if c in ("%", "_", ESCAPE) else c for c in middle)
        return cls(operand, before + plain + after)

    def written(self, parts: Sequence[str]) -> str:
        escape = f" ESCAPE {_quoted(ESCAPE)}" if ESCAPE in self.pattern else ""
        return f"({parts[0]} {'ILIKE' if self.fold else 'LIKE'} {_quoted(self.pattern)}{escape})"

    def typed(self, types: Sequence[Type]) -> Type:
        (t,) = types
        self._require_text(t)
        if t.keys is None and self.simple is not None:
            return Type(Kind.BOOLEAN, nullable=t.nullable)
        return self.tabled(t, Kind.BOOLEAN)

    @property
    def simple(self) -> tuple[str, str] | None:
        """The comparison of bytes that the pattern stands for, and its text; None where it stands for none."""
        tokens = _tokens(self.pattern)
        inner = tokens[1:-1]
        plain = "".join(c for c, special in tokens if not special)
        if self.fold or any(special and c == "_" for c, special in tokens) or any(s for _, s in inner):
            return None
        first, last = (bool(tokens) and tokens[i] == ("%", True) for i in (0, -1))
        if not plain and (first or last):
            return "CONTAINS", ""
        names = ("ENDS WITH", "CONTAINS") if first else ("=", "STARTS WITH")
        return names[last], plain

    def value(self, key: Key) -> Found:
        text, tokens = str(key), _tokens(self.pattern)
        if self.fold:
            text, tokens = text.lower(), [(x, s) for c, s in tokens for x in (c if s else c.lower())]
        return _matches(text, tokens)


_Tokens = list[tuple[str, bool]]
"""The characters of a pattern, and whether each is a wildcard."""


@lru_cache(1024)
def _tokens(pattern: str) -> _Tokens:
    found: _Tokens = []
    escaped = False
    for c in pattern:
        if escaped or c not in ("%", "_", ESCAPE):
            found.append((c, False))
            escaped = False
        elif c == ESCAPE:
            escaped = True
        elif not (c == "%" and found and found[-1] == ("%", True)):  # %% is %
            found.append((c, True))
    if escaped:
        raise QuestionRefused("A pattern ends with its escape character.", fix="Write it twice.", code="escape-at-end")
    return found


def _matches(text: str, tokens: _Tokens) -> bool:
    """Whether a text matches: each piece between two % is found where it first can be, in one pass over the text."""
    pieces: list[_Tokens] = [[]]
    for token in tokens:
        if token == ("%", True):
            pieces.append([])
        else:
            pieces[-1].append(token)
    first, *middle = pieces
    if not middle:
        return len(text) == len(first) and _is_at(text, 0, first)
    last, at, end = middle.pop(), len(first), len(text) - len(pieces[-1])
    if end < at or not _is_at(text, 0, first) or not _is_at(text, end, last):
        return False
    for piece in middle:
        found = _found(text, at, end, piece)
        if found < 0:
            return False
        at = found + len(piece)
    return True


def _is_at(text: str, at: int, piece: _Tokens) -> bool:
    return all(wild or text[at + i : at + i + 1] == c for i, (c, wild) in enumerate(piece))


def _found(text: str, at: int, end: int, piece: _Tokens) -> int:
    """Where a piece first is in a part of a text, or -1.  Bit k of ``ends``: k + 1 of its characters may end here."""
    if not any(wild for _, wild in piece):
        return text.find("".join(c for c, _ in piece), at, end)
    wilds = sum(1 << k for k, (_, wild) in enumerate(piece) if wild)
    fits: dict[str, int] = {}
    for k, (c, wild) in enumerate(piece):
        if not wild:
            fits[c] = fits.get(c, wilds) | 1 << k
    ends, whole = 0, 1 << len(piece) - 1
    for i in range(at, end):
        ends = (ends << 1 | 1) & fits.get(text[i], wilds)
        if ends & whole:
            return i + 1 - len(piece)
    return -1
