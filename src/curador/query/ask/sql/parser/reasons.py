"""Why words of SQL are refused, and what is written instead."""

from __future__ import annotations

from sqlglot import expressions as exp

_TEXT = (
    ": engines match such patterns differently, and some never end.",
    "Use LIKE, = and IN, or declare a column in the data.",
)
_TOTAL = (
    " cannot be the same number for every row on every engine.",
    "Use + - * / // % ABS ROUND, or declare a column in the data.",
)
_ROWS = (" looks at other rows, so one person could move many answers.", "Ask for aggregates; GROUP BY what you need.")
_TWICE = (" would count rows twice or by what other rows hold.", "Ask two questions, or use OR and CASE.")
_SHOWS = (" would show rows.", "Use COUNT, SUM, AVG, MEDIAN, QUANTILE or GROUP BY.")
_SPREAD = (" has no private estimate here.", "VARIANCE and STDDEV say how values spread, QUANTILE where they lie.")
_ONE_ROW = (" could be decided by one row.", "Use COUNT_IF(condition), or AVG(condition) for the share.")
_COUNTED = (" is counted, and nothing else: COUNT(DISTINCT x).", "Leave DISTINCT out, or count.")
_UNFILLED = (" has no value here.", "Write the value into the text.")
_CLOCK = (" changes from one time to the next.", "Write the value, such as DATE '2020-01-31'.")

CODES = {
    _TEXT[0]: "sql-pattern",
    _TOTAL[0]: "sql-not-exact",
    _ROWS[0]: "sql-other-rows",
    _TWICE[0]: "sql-rows-twice",
    _SHOWS[0]: "shows-rows",
    _SPREAD[0]: "sql-no-estimate",
    _ONE_ROW[0]: "sql-one-row",
    _CLOCK[0]: "sql-clock",
    _COUNTED[0]: "sql-distinct",
    _UNFILLED[0]: "sql-placeholder",
}
"""The code of each reason, by how it ends."""


def _because(reason: tuple[str, str], **kinds: type[exp.Expr]) -> dict[type[exp.Expr], tuple[str, str]]:
    return {kind: (name + reason[0], reason[1]) for name, kind in kinds.items()}


REASONS: dict[type[exp.Expr], tuple[str, str]] = {
    **_because(_TEXT, **{"REGEXP_MATCHES": exp.RegexpLike, "SIMILAR TO": exp.SimilarTo, "GLOB": exp.Glob}),
    **_because(
        _TOTAL, CBRT=exp.Cbrt, SIN=exp.Sin, COS=exp.Cos, TAN=exp.Tan, ATAN=exp.Atan, ASIN=exp.Asin, ACOS=exp.Acos
    ),
    **_because(_ROWS, OVER=exp.Window, LATERAL=exp.Lateral, VALUES=exp.Values, UNNEST=exp.Unnest),
    **_because((_ROWS[0], "Of the same person: id IN (SELECT id FROM …)."), EXISTS=exp.Exists),
    **_because(
        (_ROWS[0], "Ask for its number first, and write that; or what each person has: JOIN (… GROUP BY id)."),
        **{"A query here": exp.Select, "A subquery here": exp.Subquery},
    ),
    **_because(_COUNTED, DISTINCT=exp.Distinct),
    **_because(_TWICE, UNION=exp.Union, INTERSECT=exp.Intersect, EXCEPT=exp.Except),
    **_because(_SHOWS, ARRAY_AGG=exp.ArrayAgg, STRING_AGG=exp.GroupConcat, ANY_VALUE=exp.AnyValue, FIRST=exp.First),
    **_because(_SHOWS, ARG_MAX=exp.ArgMax, ARG_MIN=exp.ArgMin, **{"*": exp.Star}),
    **_because(_CLOCK, CURRENT_DATE=exp.CurrentDate, NOW=exp.CurrentTimestamp, RANDOM=exp.Rand),
    **_because(_SPREAD, KURTOSIS=exp.Kurtosis, SKEWNESS=exp.Skewness),
    **_because(_ONE_ROW, BOOL_OR=exp.LogicalOr, BOOL_AND=exp.LogicalAnd),
    **_because(_UNFILLED, **{"A placeholder": exp.Placeholder}),
}

CLAUSES = {
    "method": "NATURAL JOIN",
    "query": "A query inside IN",
    "db": "A schema before a table's name",
    "catalog": "A database before a table's name",
    "locks": "FOR UPDATE",
    "sample": "TABLESAMPLE",
    "except_": "EXCLUDE",
    "rename": "RENAME",
    "pivots": "PIVOT",
    "laterals": "LATERAL",
    "windows": "WINDOW",
    "with_": "WITH",
    "from_": "FROM",
    "cube": "CUBE",
    "grouping_sets": "GROUPING SETS",
    "using_sample": "USING SAMPLE",
    "zone": "A time zone",
    "columns": "A list of column names",
    "unnest": "UNNEST",
    "match": "An ARRAY comparison",
    "decimals": "A number of digits",
    "expressions": "Another argument",
    "expression": "Another argument",
    "joins": "A join here",
    "kind": "A kind of statement",
    "direction": "FETCH",
    "limit_options": "A part of the rows after LIMIT",
    "options": "An option",
}
"""What people write where the parser has its own name for a part."""

PART_CODES = {
    "query": "sql-query-in-list",
    "db": "sql-schema",
    "catalog": "sql-schema",
    "zone": "sql-time-zone",
    "columns": "sql-column-list",
    "decimals": "sql-more-arguments",
    "expressions": "sql-more-arguments",
    "expression": "sql-more-arguments",
    "joins": "sql-join-here",
    "limit_options": "sql-limit-part",
    "distinct": "sql-select-distinct",
    "sample": "sql-sample",
    "match": "sql-part",
    "kind": "sql-part",
    "options": "sql-part",
}
"""The codes of parts that SQL has no word for, or that are refused for a reason of their own."""

WHY = {"distinct": "would show which values occur", "sample": "would ask about chance rows"}
"""Why a part is refused, where there is more to say than that it is."""

PARTS = {
    "direction": "Write LIMIT with a number.",
    "limit_options": "Write LIMIT with a number.",
    "qualify": "Filter groups by their answers with HAVING; take the first of them with ORDER BY … LIMIT n.",
    "method": "Write JOIN table USING (column).",
    "distinct": "Write SELECT column, COUNT(*) … GROUP BY column: groups are selected privately.",
    "recursive": "Write WITH without RECURSIVE.",
    "sample": "Leave it out: sampling earns no privacy here.",
    "joins": "Join tables at the top level of the question.",
    "db": "Use the name the table has in the study.",
    "all": "List the columns.",
    "symmetric": "Write the lower bound first.",
    "query": "Join a public table, or list the values.",
}


WORDS: dict[type[exp.Expr], str] = {
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.BitwiseXor: "XOR",
    exp.BitwiseNot: "~",
    exp.BitwiseLeftShift: "<<",
    exp.BitwiseRightShift: ">>",
    exp.Pow: "POWER",
    exp.NullSafeEQ: "IS NOT DISTINCT FROM",
    exp.NullSafeNEQ: "IS DISTINCT FROM",
    exp.RegexpLike: "A pattern",
    exp.SimilarTo: "SIMILAR TO",
    exp.DPipe: "||",
    exp.Bracket: "[…]",
    exp.Slice: "[… : …]",
    exp.Array: "A list",
    exp.Tuple: "A list in parentheses",
    exp.Struct: "{…}",
    exp.Dot: "A name of several parts, or a function called on a column with a dot,",
    exp.Lambda: "->",
    exp.JSONExtract: "->",
    exp.JSONExtractScalar: "->>",
    exp.ArrayContainsAll: "@>",
    exp.AtTimeZone: "AT TIME ZONE",
    exp.Parameter: "A parameter",
    exp.SessionParameter: "A parameter",
    exp.PropertyEQ: ":=",
    exp.WithinGroup: "WITHIN GROUP",
    exp.Command: "This statement",
    exp.GroupingSets: "GROUPING SETS",
    exp.Collate: "COLLATE",
    exp.Distinct: "DISTINCT",
    exp.Table: "A table",
    exp.RawString: "A text between $$",
    exp.Join: "JOIN",
}
"""The words of what the parser calls otherwise."""

SIGNS: dict[type[exp.Expr], str] = {
    exp.Select: "SELECT",
    exp.Subquery: "SELECT",
    exp.RegexpLike: "~",
    exp.Array: "[…]",
    exp.Tuple: "(…)",
    exp.Dot: "a.b",
    exp.Parameter: "$",
    exp.SessionParameter: "@",
    exp.Command: "…",
    exp.Table: "FROM",
    exp.RawString: "$$",
}
"""What stands for a part that has no word, where a refusal is told in another language."""

INSTEAD = {
    **dict.fromkeys(("TO_CHAR", "DATE_FORMAT", "FORMAT_DATE"), "STRFTIME(date, '%Y-%m')"),
    **dict.fromkeys(("AGE", "MONTHS_BETWEEN", "TIMESTAMPDIFF"), "DATEDIFF('month', from, to)"),
    **dict.fromkeys(("TIMESTAMPTRUNC", "TRUNC_DATE"), "DATE_TRUNC('month', date)"),
    **dict.fromkeys(("GETDATE", "SYSDATE", "TODAY"), "the value, such as DATE '2020-01-31'"),
    **dict.fromkeys(("NTH_VALUE", "NTILE"), "QUANTILE(x, [0.25, 0.5, 0.75])"),
    **dict.fromkeys(("&", "|", "XOR", "<<", ">>", "~"), "// and % with powers of two"),
}
"""What to write instead of words that other dialects have."""

INSTEAD_CODES = {
    **dict.fromkeys(("GETDATE", "SYSDATE", "TODAY"), "sql-clock"),
    **dict.fromkeys(("&", "|", "XOR", "<<", ">>", "~"), "sql-bits"),
}
"""The codes of those whose replacement is said in words."""
