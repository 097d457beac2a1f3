"""SQL text in, a syntax tree out: limits first, then the parser, and refusals that say where in the text.

The tree is only ever read (by an allow-list) and never rendered: no text of an analyst reaches an engine.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from fractions import Fraction
from itertools import pairwise
from typing import NoReturn

from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from curador.errors import QuestionRefused
from curador.query.ask.sql.parser.dialect import QuestionDialect
from curador.query.ask.sql.parser.reasons import (
    CLAUSES,
    CODES,
    INSTEAD,
    INSTEAD_CODES,
    PART_CODES,
    PARTS,
    REASONS,
    SIGNS,
    WHY,
    WORDS,
)
from curador.query.language.expressions import DEEPEST
from curador.query.tables.names import LONGEST_NAME

LONGEST_SQL = 20_000
MOST_TOKENS = 4_000
"""Characters and words of one question; checked before anything is parsed, so that hostile text costs nothing."""

STEPS_PER_TOKEN, FEWEST_STEPS = 10, 100
"""Upper bound on the parser's steps.  It tries one meaning after another and goes back, which can double with every
level; what the grammar has needs at most 3 steps for a word."""

GRAMMAR = (
    "Write SELECT with COUNT(*), SUM, AVG, MEDIAN, MIN, MAX or STDDEV, FROM a table, and WHERE or GROUP BY if wanted; "
    "docs/reference/sql.md lists what may be written."
)


def statement(text: str) -> exp.Select:
    """The one SELECT statement a text holds.

    >>> statement("SELECT COUNT(*) FROM adult;").key
    'select'
    """
    tokens = _tokens(text)
    if not tokens or tokens[0].token_type not in (TokenType.SELECT, TokenType.WITH):
        raise _no_question(tokens[0].text.upper() if tokens else "")
    found = _parsed(text, tokens, None)
    if type(found) is exp.Union:
        refuse(
            found,
            text,
            "UNION puts the answers of two questions below each other.",
            "Ask each by itself, or as one batch; UNION ALL of rows stands in FROM.",
            code="union-of-answers",
        )
    if type(found) is not exp.Select:
        refuse(found, text)
    return found


_WRITES = ("INSERT", "UPDATE", "DELETE", "MERGE", "CREATE", "DROP", "ALTER", "TRUNCATE", "COPY", "ATTACH", "REPLACE")


def _no_question(first: str) -> QuestionRefused:
    if first == "EXPLAIN":
        return QuestionRefused(
            "EXPLAIN is no question.", fix="Have the SELECT itself explained: that is free.", code="explain-asked"
        )
    if first in _WRITES:
        return QuestionRefused(
            f"{first} would change something: questions only read.",
            fix="Write SELECT.",
            code="only-reads",
            facts={"word": first},
        )
    return QuestionRefused("A question is one SELECT statement, or WITH … SELECT.", fix=GRAMMAR, code="no-select")


def expression(text: str) -> exp.Expr:
    """The one expression a text holds.

    >>> expression("age >= 18").key
    'gte'
    """
    return _parsed(text, _tokens(text), exp.Condition)


def _tokens(text: str) -> list[Token]:
    if not isinstance(text, str) or len(text) > LONGEST_SQL:
        raise QuestionRefused(
            f"A question is a text of at most {LONGEST_SQL} characters.",
            fix="Ask for less at once.",
            code="sql-too-long",
            facts={"most": LONGEST_SQL},
        )
    try:
        text.encode()
        tokens = QuestionDialect().tokenize(text)
    except (SqlglotError, UnicodeEncodeError):
        raise QuestionRefused(
            "The text has an open quote or comment, or half a character.", fix="Close it.", code="not-sql"
        ) from None
    depth = 0
    for token in tokens:
        depth += (token.token_type in _OPENING) - (token.token_type in _CLOSING)
        if depth > DEEPEST:
            raise QuestionRefused(
                f"Brackets are more than {DEEPEST} deep.",
                fix="Simplify the question.",
                code="question-too-deep",
                facts={"most": DEEPEST},
            )
        if token.token_type is TokenType.IDENTIFIER and len(token.text) > LONGEST_NAME:  # the parser reads them again
            raise QuestionRefused(
                f"A name has more than {LONGEST_NAME} characters.",
                fix="Fix the name.",
                code="sql-name-too-long",
                facts={"most": LONGEST_NAME},
            )
    if len(tokens) > MOST_TOKENS:
        raise QuestionRefused(
            f"The text has more than {MOST_TOKENS} words.",
            fix="Ask for less at once.",
            code="sql-too-many-words",
            facts={"most": MOST_TOKENS},
        )
    for before, after in zip([None, *tokens], [*tokens, None], strict=True):
        _refuse_gap(before, after)
    return tokens


def _refuse_gap(before: Token | None, after: Token | None) -> None:
    """Refuse what the parser passes over in silence: nothing where something must stand, or a text after a text."""
    last, kind = before and before.token_type, after and after.token_type
    at, after_what = after or before, before.text[:20].upper() if before else ""
    if at is None:
        return
    if last is kind is TokenType.STRING:
        code, what = "sql-text-after-text", "A text follows a text."
        fix = "Join them by ||, or write '' for a quote inside a text."
    elif (kind is TokenType.COMMA and last in _STARTING) or (kind in _ENDING and last in _INTRODUCING):
        code, what = "sql-missing-after", f"Something is missing after {after_what or 'the beginning'}."
        fix = GRAMMAR
    else:
        return
    line, column = at.line, max(1, at.col - len(at.text) + 1)
    facts = {"at": (line, column), "word": after_what}
    raise QuestionRefused(f"Line {line}, column {column}: {what}", fix=fix, code=code, facts=facts)


_Kinds = tuple[TokenType | None, ...]
_INTRODUCING: _Kinds = (TokenType.GROUP_BY, TokenType.ORDER_BY, TokenType.OFFSET, TokenType.LIMIT, TokenType.ALIAS)
_CLAUSES_BEGIN: _Kinds = (TokenType.FROM, TokenType.WHERE, TokenType.HAVING, *_INTRODUCING[:4])
_ENDING: _Kinds = (None, TokenType.COMMA, TokenType.R_PAREN, TokenType.SEMICOLON, *_CLAUSES_BEGIN)
_STARTING: _Kinds = (None, TokenType.COMMA, TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.SELECT, *_INTRODUCING)
_OPENING = (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE)
_CLOSING = (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE)


def _parsed(text: str, tokens: list[Token], into: type[exp.Expr] | None) -> exp.Expr:
    parser = QuestionDialect(steps=STEPS_PER_TOKEN * len(tokens) + FEWEST_STEPS).parser()
    try:
        found = parser.parse(tokens, text) if into is None else parser.parse_into(into, tokens, text)
    except ParseError as error:
        raise _unreadable(error, tokens) from None
    except QuestionRefused:
        raise
    except Exception:  # noqa: BLE001  however hostile text breaks the parser, it is a refusal
        raise QuestionRefused("The text cannot be read as SQL.", fix=GRAMMAR, code="not-sql") from None
    # The parser minds most brackets by itself, and says where.
    if sum((t.token_type in _OPENING) - (t.token_type in _CLOSING) for t in tokens):
        raise QuestionRefused(
            "Brackets are opened and not closed, or closed and not opened.", fix="Pair them.", code="brackets-open"
        )
    trees: Sequence[exp.Expr] = [tree for tree in found if tree is not None]
    if len(trees) != 1:
        raise QuestionRefused(
            f"The text holds {len(trees)} statements.",
            fix="Ask one question at a time.",
            code="several-statements",
            facts={"n": len(trees)},
        )
    return trees[0]


def _unreadable(error: ParseError, tokens: Sequence[Token]) -> QuestionRefused:
    first = error.errors[0] if error.errors else {}
    line, column, word = first.get("line"), first.get("col"), str(first.get("highlight") or "")[:40]
    if line is None or column is None:
        return QuestionRefused("The text is not SQL we know.", fix=_misread(tokens, None) or GRAMMAR, code="not-sql")
    start = max(1, int(column) - len(word) + 1)
    at = next((i for i, t in enumerate(tokens) if (t.line, t.col) == (line, column)), None)
    fix = _misread(tokens, at) or _unclosed(tokens, at) or GRAMMAR
    return QuestionRefused(
        f"Line {line}, column {start}: {word!r} is not expected here.",
        fix=fix,
        code="unreadable-sql",
        facts={"line": line, "column": start, "word": word},
    )


_KEYWORDS = ("FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "JOIN", "SELECT")


def _misread(tokens: Sequence[Token], at: int | None) -> str | None:
    """A guess at what was meant where names follow each other: a misspelt word, or a name with spaces."""
    if at is None:
        runs = [i for i, (a, b) in enumerate(pairwise(tokens)) if a.token_type is b.token_type is TokenType.VAR]
        at = runs[0] + 1 if runs else 0
    if at and tokens[at - 1].text.upper() == "TOP":
        return "Write ORDER BY and LIMIT at the end."
    first = last = at
    while first > 0 and tokens[first - 1].token_type is TokenType.VAR:
        first -= 1
    while last + 1 < len(tokens) and tokens[last].token_type is tokens[last + 1].token_type is TokenType.VAR:
        last += 1
    run = [t.text for t in tokens[first : last + 1] if t.token_type is TokenType.VAR]
    if len(run) < 2:
        return None
    for name in run:
        if near := get_close_matches(name.upper(), _KEYWORDS, 1, 0.7):
            return f"Did you mean {near[0]} instead of {name[:20]}?"
    return f'A name with spaces takes double quotes: "{" ".join(run)[:60]}".'


def _unclosed(tokens: Sequence[Token], at: int | None) -> str | None:
    """Which bracket is still open where a clause begins that cannot stand inside it."""
    if at is None or tokens[at].token_type not in _CLAUSES_BEGIN:
        return None
    opened: list[Token] = []
    for token in tokens[:at]:
        if token.token_type in _OPENING:
            opened.append(token)
        elif token.token_type in _CLOSING and opened:
            opened.pop()
    return f"Close the bracket of line {opened[-1].line}, column {opened[-1].col}." if opened else None


def place(node: exp.Expr, text: str) -> str:
    """Where in the text a part begins, to open a message with; empty if unknown.

    >>> place(expression("age >= 18").expression, "age >= 18")
    'Line 1, column 8: '
    """
    found = spot(node, text)
    return f"Line {found[0]}, column {found[1]}: " if found else ""


def spot(node: exp.Expr, text: str) -> tuple[int, ...]:
    """The line and the column where a part begins, counted from 1; empty if unknown."""
    starts = [n.meta["start"] for n in node.walk() if "start" in n.meta]
    before = text[: min(starts, default=0)]
    return (before.count(chr(10)) + 1, len(before) - (before.rfind(chr(10)) + 1) + 1) if starts else ()


def refuse(
    node: exp.Expr, text: str, what: str | None = None, fix: str | None = None, code: str = "", **facts: object
) -> NoReturn:
    """Refuse a part of a question by its name, with the reason if it is a common one."""
    if isinstance(node, exp.IgnoreNulls):  # the parser's word around ANY_VALUE
        node = node.this
    called = word(node, text)
    instead = f"Use {INSTEAD[called]}." if called in INSTEAD else GRAMMAR
    reason = REASONS.get(type(node), (f"{called} is not in the grammar.", instead))
    if what is None:
        ending = next((end for end in CODES if reason[0].endswith(end)), "")
        code = CODES[ending] if ending else INSTEAD_CODES.get(called, "sql-not-in-grammar")
        code = "sql-instead" if code == "sql-not-in-grammar" and called in INSTEAD else code
        named = reason[0].removesuffix(ending) if ending else called
        facts |= {"word": SIGNS.get(type(node), named), "instead": INSTEAD.get(called, "")}
    found = {**facts, "at": spot(node, text)}
    raise QuestionRefused(place(node, text) + (what or reason[0]), fix=fix or reason[1], code=code, facts=found)


def word(node: exp.Expr, text: str = "") -> str:
    """The SQL word for a part of a statement: as it is written in the text, or as people write it.

    >>> word(expression("strptime(x, '%Y')"), "strptime(x, '%Y')"), word(expression("a & b"))
    ('STRPTIME', '&')
    """
    written = text[node.meta["start"] : node.meta["end"] + 1] if "start" in node.meta else ""
    if re.fullmatch(r"[A-Za-z_]\w{0,39}", written, re.ASCII):
        return written.upper()
    if isinstance(node, exp.Anonymous | exp.Var):
        return node.name.upper()[:40]
    called = node.sql_names()[0] if isinstance(node, exp.Func) else node.key.replace("_", " ")
    return WORDS.get(type(node), called).upper()


def only(node: exp.Expr, text: str, *known: str) -> None:
    """Refuse a node with any argument that is not in ``known``: nothing of a question is silently dropped."""
    for name, value in node.args.items():
        if value and name not in known:
            clause = CLAUSES.get(name) or name.strip("_").upper().replace("_", " ")
            why = WHY.get(name, "is not in the grammar here")
            code = PART_CODES.get(name, "sql-clause")
            refuse(node, text, f"{clause} {why}.", PARTS.get(name, GRAMMAR), code, word=clause)


def name_of(node: exp.Expr | None, text: str) -> str:
    """The name that a plain identifier holds; anything else is refused.

    >>> name_of(expression('"odd name"').this, '"odd name"')
    'odd name'
    """
    if node is None or type(node) is not exp.Identifier:
        refuse(node or exp.Null(), text, "A name is expected here.", GRAMMAR, code="sql-name")
    only(node, text, "this", "quoted")
    return node.name


def plain_column(node: exp.Expr, text: str) -> exp.Column:
    """A column by its name, or by its table's and its own."""
    if not isinstance(node, exp.Column):
        refuse(node, text, "A column is expected here.", GRAMMAR, code="sql-column")
    only(node, text, "this", "table")
    name_of(node.this, text)
    if node.args.get("table") is not None:
        name_of(node.args["table"], text)
    return node


def number(node: exp.Expr, text: str) -> Fraction:
    """A literal number, possibly negative.

    >>> number(expression("-1.5e2"), "-1.5e2")
    Fraction(-150, 1)
    """
    if type(node) is exp.Paren:
        return number(node.this, text)
    if type(node) is exp.Neg:
        return -number(node.this, text)
    # No more digits than this: 1e999999999 would take all memory there is.
    if type(node) is exp.Literal and not node.is_string:
        if re.fullmatch(r"(\d{1,40}\.?\d{0,40}|\.\d{1,40})([eE][+-]?\d{1,2})?", node.name, re.ASCII):
            return Fraction(node.name)
        refuse(
            node,
            text,
            f"{node.name[:40]} is not a number we read.",
            "Write fewer digits.",
            code="sql-long-number",
            given=node.name[:40],
        )
    refuse(node, text, "A number is expected here.", "Write a number.", code="sql-number")
