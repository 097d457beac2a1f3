# ruff: noqa: RUF012  the library declares these without ClassVar
"""The SQL that questions are written in: DuckDB's, as the parser's library describes it, without the half that writes.

The library's own dialect is loaded together with its writer of SQL, which takes a tenth of the time of one question
asked on the command line.  No text is written from a tree here.  What reading needs of that dialect is repeated below;
``tests/query/ask/sql/parser/test_dialect.py`` holds it against the original, so that nothing drifts apart.
"""

from __future__ import annotations

from typing import Any, TypeVar

from sqlglot import exp, tokens
from sqlglot.dialects.dialect import Dialect, NormalizationStrategy, UsingColumnOrder
from sqlglot.parsers.duckdb import DuckDBParser
from sqlglot.tokenizer_core import TokenType

from curador.errors import QuestionRefused

E = TypeVar("E", bound=exp.Expr)


class BoundedParser(DuckDBParser):
    """The parser, which gives up after a number of steps, and drops nothing that was written.

    Parsers that it makes for parts of a text share the number.
    """

    def _advance(self, times: int = 1) -> None:
        self.dialect.settings["steps"] -= 1
        if self.dialect.settings["steps"] < 0:
            raise QuestionRefused(
                "The text takes too long to read as SQL.", fix="Simplify the question.", code="sql-takes-long"
            )
        super()._advance(times)

    def validate_expression(self, expression: E, args: list[Any] | None = None) -> E:
        return super().validate_expression(_with_all(expression, args or []), args)

    def _parse_ceil_floor(self, expr_type: Any) -> Any:
        begin = self._index
        return _with_all(super()._parse_ceil_floor(expr_type), self._written_since(begin))

    def _parse_distinct_arg_function(self, func: Any, distinct_index: int = 0) -> Any:
        begin = self._index
        return _with_all(super()._parse_distinct_arg_function(func, distinct_index), self._written_since(begin))

    def _written_since(self, begin: int) -> list[None]:
        """As many as there are arguments from a place on: what lies between commas that are in no brackets."""
        depth, found = 0, [None]
        for token in self._tokens[begin : self._index]:
            depth += (token.token_type in _OPENING) - (token.token_type in _CLOSING)
            found += [None] * (token.token_type is TokenType.COMMA and not depth)
        return found


_OPENING = (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE)
_CLOSING = (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE)


def _with_all(made: E, args: list[Any]) -> E:
    """A function, refused where it lacks arguments that were written: the library drops what it does not expect."""
    held = sum(len(x) if isinstance(x, list) else isinstance(x, exp.Expr) for x in made.args.values())
    if type(made) is exp.Log and all(made.this is not x for x in args):
        held -= 1  # the base of LOG2 and LOG10 is not written
    if held < len(args):
        raise QuestionRefused(
            f"A function has {len(args)} arguments, and takes {held} here.",
            fix="Leave the others out.",
            code="sql-too-many-arguments",
            facts={"n": len(args), "most": held},
        )
    return made


class QuestionDialect(Dialect):
    """How a text is cut into words, and what they mean; one for each text, since it counts the parser's steps."""

    SUPPORTED_SETTINGS = {*Dialect.SUPPORTED_SETTINGS, "steps"}

    NULL_ORDERING = "nulls_are_last"
    SUPPORTS_USER_DEFINED_TYPES = True
    INDEX_OFFSET = 1
    CONCAT_COALESCE = True
    CONCAT_WS_COALESCE = True
    SUPPORTS_ORDER_BY_ALL = True
    SUPPORTS_LIMIT_ALL = True
    PREFER_COLUMNS_TO_ALIASES_IN_HAVING_AND_QUALIFY = True
    HAVING_ALIASES_SHADOW_UNGROUPED_COLUMNS = True
    SUPPORTS_FIXED_SIZE_ARRAYS = True
    TABLES_REFERENCEABLE_AS_COLUMNS = True
    QUERY_RESULTS_ARE_STRUCTS = True
    STRICT_JSON_PATH_SYNTAX = False
    NUMBERS_CAN_BE_UNDERSCORE_SEPARATED = True
    UUID_IS_STRING_TYPE = False
    USING_COLUMN_ORDER = UsingColumnOrder.IN_PLACE
    REGEXP_EXTRACT_NO_MATCH_RETURNS_NULL = False
    REGEXP_EXTRACT_MISSING_GROUP_RETURNS_EMPTY = True
    NORMALIZATION_STRATEGY = NormalizationStrategy.CASE_INSENSITIVE
    ASCII_ONLY_NORMALIZATION = True
    UNESCAPED_SEQUENCES = {"\\a": "a", "\\v": "v"}
    DATE_PART_MAPPING = {part: name for part, name in Dialect.DATE_PART_MAPPING.items() if part != "WEEKDAY"} | {
        "DAYOFWEEKISO": "ISODOW"
    }

    class Tokenizer(tokens.Tokenizer):
        """The words."""

        NUMERIC_ESCAPES = {"x": (16, 1, 2, 0xFF), "0": (8, 1, 3, 0o777)}
        NUMERIC_ESCAPES_ARE_BYTES = True
        DROP_UNKNOWN_ESCAPES = True
        BYTE_STRINGS = [("e'", "'"), ("E'", "'")]
        BYTE_STRING_ESCAPES = ["'", "\\"]
        HEREDOC_STRINGS = ["$"]
        HEREDOC_TAG_IS_IDENTIFIER = True
        HEREDOC_STRING_ALTERNATIVE = TokenType.PARAMETER
        SINGLE_TOKENS = {**tokens.Tokenizer.SINGLE_TOKENS, "$": TokenType.PARAMETER}
        VAR_SINGLE_TOKENS = {"$"}
        COMMANDS = tokens.Tokenizer.COMMANDS - {TokenType.SHOW}
        KEYWORDS = {
            word: kind for word, kind in tokens.Tokenizer.KEYWORDS.items() if word not in ("/*+", "SORT BY")
        } | {
            "//": TokenType.DIV,
            "**": TokenType.DSTAR,
            "^@": TokenType.CARET_AT,
            "@>": TokenType.AT_GT,
            "<@": TokenType.LT_AT,
            "ATTACH": TokenType.ATTACH,
            "BINARY": TokenType.VARBINARY,
            "BITSTRING": TokenType.BIT,
            "BPCHAR": TokenType.TEXT,
            "CHAR": TokenType.TEXT,
            "CONNECT": TokenType.CONNECT,
            "DATETIME": TokenType.TIMESTAMPNTZ,
            "DETACH": TokenType.DETACH,
            "DISCONNECT": TokenType.DISCONNECT,
            "FORCE": TokenType.FORCE,
            "INSTALL": TokenType.INSTALL,
            "INT8": TokenType.BIGINT,
            "LOGICAL": TokenType.BOOLEAN,
            "MACRO": TokenType.FUNCTION,
            "ONLY": TokenType.ONLY,
            "PIVOT_WIDER": TokenType.PIVOT,
            "POSITIONAL": TokenType.POSITIONAL,
            "RESET": TokenType.COMMAND,
            "ROW": TokenType.STRUCT,
            "SIGNED": TokenType.INT,
            "STRING": TokenType.TEXT,
            "SUMMARIZE": TokenType.SUMMARIZE,
            "TIMESTAMP": TokenType.TIMESTAMPNTZ,
            "TIMESTAMP_S": TokenType.TIMESTAMP_S,
            "TIMESTAMP_MS": TokenType.TIMESTAMP_MS,
            "TIMESTAMP_NS": TokenType.TIMESTAMP_NS,
            "TIMESTAMP_US": TokenType.TIMESTAMP,
            "UBIGINT": TokenType.UBIGINT,
            "UINTEGER": TokenType.UINT,
            "USMALLINT": TokenType.USMALLINT,
            "UTINYINT": TokenType.UTINYINT,
            "VARCHAR": TokenType.TEXT,
        }

    Parser = BoundedParser

    def to_json_path(self, path: exp.Expr | None) -> exp.Expr | None:
        """A path as it is written: paths are in no question, and reading one could only fail in another way."""
        return path
