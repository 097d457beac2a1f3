"""SQL text in, a syntax tree out: limits first, then the parser, and refusals that say where in the text.

The tree is only ever read (by an allow-list) and never rendered: no text of an analyst reaches an engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from curador.errors import QuestionRefused
from curador.query.language.expressions import DEEPEST

LONGEST_SQL = 20_000
MOST_TOKENS = 4_000
"""Characters and words of one question; checked before anything is parsed, so that hostile text costs nothing."""

GRAMMAR = "docs/reference/sql.md lists what may be written."


def statement(text: str) -> exp.Select:
    """The one SELECT statement a text holds.

    >>> statement("SELECT COUNT(*) FROM adult;").key
    'select'
    """
    tokens = _tokens(text)
    if not tokens or tokens[0].token_type not in (TokenType.SELECT, TokenType.WITH):
        raise QuestionRefused("A question is one SELECT statement, or WITH … SELECT.", fix=GRAMMAR)
    found = _parsed(text, tokens, None)
    if type(found) is not exp.Select:
        refuse(found, text)
    return found


def expression(text: str) -> exp.Expr:
    """The one expression a text holds.

    >>> expression("age >= 18").key
    'gte'
    """
    return _parsed(text, _tokens(text), exp.Condition)


def _tokens(text: str) -> list[Token]:
    if not isinstance(text, str) or len(text) > LONGEST_SQL:
        raise QuestionRefused(f"A question is a text of at most {LONGEST_SQL} characters.", fix="Ask for less at once.")
    try:
        text.encode()
        tokens = Dialect.get_or_raise("duckdb").tokenize(text)
    except (SqlglotError, UnicodeEncodeError):
        raise QuestionRefused("The text has an open quote or comment, or half a character.", fix="Close it.") from None
    depth = 0
    for token in tokens:
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        if depth > DEEPEST:
            raise QuestionRefused(f"Parentheses are more than {DEEPEST} deep.", fix="Simplify the question.")
    if len(tokens) > MOST_TOKENS:
        raise QuestionRefused(f"The text has more than {MOST_TOKENS} words.", fix="Ask for less at once.")
    return tokens


def _parsed(text: str, tokens: list[Token], into: type[exp.Expr] | None) -> exp.Expr:
    parser = Dialect.get_or_raise("duckdb").parser()
    try:
        found = parser.parse(tokens, text) if into is None else parser.parse_into(into, tokens, text)
    except ParseError as error:
        raise _unreadable(error) from None
    except Exception:  # noqa: BLE001  however hostile text breaks the parser, it is a refusal
        raise QuestionRefused("The text cannot be read as SQL.", fix=GRAMMAR) from None
    trees: Sequence[exp.Expr] = [tree for tree in found if tree is not None]
    if len(trees) != 1:
        raise QuestionRefused(f"The text holds {len(trees)} statements.", fix="Ask one question at a time.")
    return trees[0]


def _unreadable(error: ParseError) -> QuestionRefused:
    first = error.errors[0] if error.errors else {}
    line, column, word = first.get("line"), first.get("col"), str(first.get("highlight") or "")[:40]
    if line is None or column is None:
        return QuestionRefused("The text is not SQL we know.", fix=GRAMMAR)
    start = max(1, int(column) - len(word) + 1)
    return QuestionRefused(f"Line {line}, column {start}: {word!r} is not expected here.", fix=GRAMMAR)


def place(node: exp.Expr, text: str) -> str:
    """Where in the text a part begins, to open a message with; empty if unknown.

    >>> place(expression("age >= 18").expression, "age >= 18")
    'Line 1, column 8: '
    """
    starts = [n.meta["start"] for n in node.walk() if "start" in n.meta]
    if not starts:
        return ""
    before = text[: min(starts)]
    return f"Line {before.count(chr(10)) + 1}, column {len(before) - (before.rfind(chr(10)) + 1) + 1}: "


def refuse(node: exp.Expr, text: str, what: str | None = None, fix: str | None = None) -> NoReturn:
    """Refuse a part of a question by its name, with the reason if it is a common one."""
    if isinstance(node, exp.IgnoreNulls):  # the parser's word around ANY_VALUE
        node = node.this
    reason = _REASONS.get(type(node), (f"{word(node)} is not in the grammar.", GRAMMAR))
    raise QuestionRefused(place(node, text) + (what or reason[0]), fix=fix or reason[1])


def word(node: exp.Expr) -> str:
    """The SQL word for a part of a statement.

    >>> word(expression("ln(x)"))
    'LN'
    """
    name = node.name if isinstance(node, exp.Anonymous) else node.key
    return name.upper().replace("_", " ")[:40]


def only(node: exp.Expr, text: str, *known: str) -> None:
    """Refuse a node with any argument that is not in ``known``: nothing of a question is silently dropped."""
    for name, value in node.args.items():
        if value and name not in known:
            clause = name.strip("_").upper()
            refuse(node, text, f"{clause} is not in the grammar here.", _PARTS.get(name, GRAMMAR))


def name_of(node: exp.Expr | None, text: str) -> str:
    """The name that a plain identifier holds; anything else is refused.

    >>> name_of(expression('"odd name"').this, '"odd name"')
    'odd name'
    """
    if node is None or type(node) is not exp.Identifier:
        refuse(node or exp.Null(), text, "A name is expected here.", GRAMMAR)
    only(node, text, "this", "quoted")
    return node.name


def plain_column(node: exp.Expr, text: str) -> exp.Column:
    """A column by its name, or by its table's and its own."""
    if not isinstance(node, exp.Column):
        refuse(node, text, "A column is expected here.", GRAMMAR)
    only(node, text, "this", "table")
    name_of(node.this, text)
    if node.args.get("table") is not None:
        name_of(node.args["table"], text)
    return node


_TEXT = (": engines compare and cut text differently.", "Use = and IN, or declare a column in the data.")
_TOTAL = (" cannot be the same number for every row on every engine.", "Use + - * / // % ABS, or declare a column.")
_ROWS = (" looks at other rows, so one person could move many answers.", "Ask for aggregates; GROUP BY what you need.")
_TWICE = (" would count rows twice or by what other rows hold.", "Ask two questions, or use OR and CASE.")
_SHOWS = (" would show rows.", "Use COUNT, SUM, AVG, MEDIAN, QUANTILE or GROUP BY.")
_CASTS = (" fails or rounds differently on every engine.", "Declare the type of the column in the table.")
_CLOCK = (" changes from one time to the next.", "Write the value, such as DATE '2020-01-31'.")


def _because(reason: tuple[str, str], **kinds: type[exp.Expr]) -> dict[type[exp.Expr], tuple[str, str]]:
    return {kind: (name + reason[0], reason[1]) for name, kind in kinds.items()}


_REASONS: dict[type[exp.Expr], tuple[str, str]] = {
    **_because(_TEXT, LIKE=exp.Like, ILIKE=exp.ILike, CONCAT=exp.Concat, SUBSTRING=exp.Substring, TRIM=exp.Trim),
    **_because(_TEXT, UPPER=exp.Upper, LOWER=exp.Lower, LENGTH=exp.Length, REGEXP_MATCHES=exp.RegexpLike),
    **_because(_TEXT, **{"||": exp.DPipe, "SIMILAR TO": exp.SimilarTo, "GLOB": exp.Glob}),
    **_because(_TOTAL, POWER=exp.Pow, SQRT=exp.Sqrt, LN=exp.Ln, LOG=exp.Log, EXP=exp.Exp, ROUND=exp.Round),
    **_because(_TOTAL, FLOOR=exp.Floor, CEIL=exp.Ceil, SIGN=exp.Sign),
    **_because(_ROWS, OVER=exp.Window, EXISTS=exp.Exists, LATERAL=exp.Lateral, VALUES=exp.Values),
    **_because(_ROWS, UNNEST=exp.Unnest, **{"A query here": exp.Select, "A subquery here": exp.Subquery}),
    **_because(_TWICE, UNION=exp.Union, INTERSECT=exp.Intersect, EXCEPT=exp.Except),
    **_because(_SHOWS, ARRAY_AGG=exp.ArrayAgg, STRING_AGG=exp.GroupConcat, ANY_VALUE=exp.AnyValue, FIRST=exp.First),
    **_because(_SHOWS, MODE=exp.Mode, ARG_MAX=exp.ArgMax, ARG_MIN=exp.ArgMin, **{"*": exp.Star}),
    **_because(_CASTS, CAST=exp.Cast, TRY_CAST=exp.TryCast),
    **_because(_CLOCK, CURRENT_DATE=exp.CurrentDate, NOW=exp.CurrentTimestamp, RANDOM=exp.Rand),
    exp.Placeholder: ("A placeholder has no value here.", "Write the value into the text."),
}

_PARTS = {
    "distinct": "Write SELECT column, COUNT(*) … GROUP BY column: groups are selected privately.",
    "recursive": "Write WITH without RECURSIVE.",
    "sample": "Leave it out: sampling earns no privacy here.",
    "joins": "Join tables at the top level of the question.",
    "db": "Use the name the table has in the study.",
    "all": "List the columns.",
    "symmetric": "Write the lower bound first.",
    "query": "Join a public table, or list the values.",
}
