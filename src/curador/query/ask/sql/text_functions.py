"""Functions of texts in SQL, each read into one of ours; their arguments are constants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from curador.query.ask.sql.functions import NAMED, RULES, Words, constant_text, reads, whole
from curador.query.ask.sql.text import only, refuse, word
from curador.query.language import expressions as ex
from curador.query.language.functions.texts import ESCAPE, Concat, Like, TextFunction

if TYPE_CHECKING:
    from curador.query.ask.sql.expressions import Reader

__all__ = ["NAMED", "RULES"]

_PLAIN: Words = {exp.Upper: "upper", exp.Lower: "lower", exp.Length: "length", exp.Reverse: "reverse"}


@reads(*_PLAIN)
def _plain(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    return TextFunction(_PLAIN[type(node)], r.read(node.this, depth))


@reads(exp.Left, exp.Right, says="this expression")
def _end(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    name = "left" if type(node) is exp.Left else "right"
    return TextFunction(name, r.read(node.this, depth), (whole(node.expression, r.text),))


@reads(exp.Substring, says="this start length")
def _substring(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    start, length = (node.args.get(name) for name in ("start", "length"))
    more = () if length is None else (whole(length, r.text),)
    if more and more[0] < 0:
        refuse(node, r.text, "A length below zero.", "Write a length from 0 on.", code="length-below-zero")
    return TextFunction("substring", r.read(node.this, depth), (whole(start, r.text, 1), *more))


@reads(exp.Trim, says="this expression position")
def _trim(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(node.args.get("position") or "").upper(), "trim")
    characters = node.args.get("expression")
    more = () if characters is None else (constant_text(characters, node, r.text),)
    return TextFunction(name, r.read(node.this, depth), more)


@reads(exp.Replace, says="this expression replacement")
def _replace(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    both = (constant_text(node.args.get(name), node, r.text) for name in ("expression", "replacement"))
    return TextFunction("replace", r.read(node.this, depth), tuple(both))


@reads(exp.StrPosition, says="this substr")
def _place(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    return TextFunction("strpos", r.read(node.this, depth), (constant_text(node.args["substr"], node, r.text),))


@reads(exp.DPipe, says="this expression safe")
def _joined(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    return Concat((r.read(node.this, depth), r.read(node.expression, depth)))


@reads(exp.Concat, says="expressions safe coalesce")
def _concat(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    return Concat(tuple(r.read(x, depth) for x in node.expressions))


@reads(exp.Like, exp.ILike, says="this expression negate")
def _like(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    pattern = constant_text(node.expression, node, r.text)
    if ESCAPE in pattern:
        refuse(
            node,
            r.text,
            r"Engines read \ in a pattern differently.",
            "Say which character escapes: ESCAPE '$'.",
            code="backslash-pattern",
        )
    return _matched(r, node, pattern, depth)


def _matched(r: Reader, node: exp.Expr, pattern: str, depth: int) -> ex.Expr:
    found = Like(r.read(node.this, depth), pattern, type(node) is exp.ILike)
    return ex.Not(found) if node.args.get("negate") else found


@reads(exp.Escape, says="this expression")
def _escaped(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    inner, escape = node.this, constant_text(node.expression, node, r.text)
    if type(inner) not in (exp.Like, exp.ILike) or len(escape) != 1:
        refuse(
            node,
            r.text,
            "ESCAPE is one character after LIKE.",
            "Write LIKE '10$%%' ESCAPE '$'.",
            code="escape-character",
        )
    only(inner, r.text, "this", "expression", "negate")
    pattern, taken = "", False
    for c in constant_text(inner.expression, inner, r.text):
        if taken or c != escape:
            special = c in ("%", "_") and not taken
            pattern += c if special or c not in ("%", "_", ESCAPE) else ESCAPE + c
            taken = False
        else:
            taken = True
    return _matched(r, inner, pattern + (ESCAPE if taken else ""), depth)


_AFFIXES: dict[type[exp.Expr], tuple[str, str]] = {
    exp.StartsWith: ("", "%"),
    exp.EndsWith: ("%", ""),
    exp.Contains: ("%", "%"),
}


@reads(*_AFFIXES, says="this expression")
def _affix(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    before, after = _AFFIXES[type(node)]
    return Like.of(r.read(node.this, depth), before, constant_text(node.expression, node, r.text), after)


def _named_affix(r: Reader, node: exp.Expr, depth: int) -> ex.Expr:
    if len(node.expressions) != 2:
        refuse(
            node,
            r.text,
            f"{word(node, r.text)} has the wrong number of arguments.",
            "Write STARTS_WITH(column, 'text').",
            code="sql-arguments",
            word=word(node, r.text),
        )
    before, after = ("", "%") if node.name.upper() == "PREFIX" else ("%", "")
    x, part = node.expressions
    return Like.of(r.read(x, depth), before, constant_text(part, node, r.text), after)


NAMED.update(dict.fromkeys(("PREFIX", "SUFFIX"), _named_affix))
