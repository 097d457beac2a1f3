"""A question of one table, put together from parts: always SQL, and back from SQL where it fits.

The SQL is what is asked.  What the parts of a text are is decided by reading what they write: only if that is the same
question do they stand for it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from fractions import Fraction
from typing import Any

from curador import Table
from curador.curator.table import question_of
from curador.errors import CuradorError, InvalidParameter
from curador.server.console.forms import number_text, refuse_doubtful
from curador.server.console.questions.ranges import ranged

FILTERS, GROUPS, MEASURES = 3, 2, 3
"""How many of each the builder has room for."""

FUNCTIONS = {
    "count": "COUNT(*)",
    "count_distinct": "COUNT(DISTINCT {})",
    "sum": "SUM({})",
    "mean": "AVG({})",
    "quantiles": "MEDIAN({})",
    "std": "STDDEV({})",
    "minimum": "MIN({})",
    "maximum": "MAX({})",
}
"""What can be measured, and how SQL says it."""

ADDED, ORDERED = ("sum", "mean", "std"), ("quantiles", "minimum", "maximum")
"""Functions of numbers, and of what has an order."""

COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
TESTS = ("IS NULL", "IS NOT NULL")
QUOTED = {"text": "'{}'", "date": "DATE '{}'", "timestamp": "TIMESTAMP '{}'"}
MOST_LISTED = 500
"""Declared values of a column that are offered one by one."""


@dataclass(frozen=True)
class Condition:
    """A condition on one column; tests for NULL have no value."""

    column: str
    op: str
    value: str = ""


@dataclass(frozen=True)
class Measured:
    """A function of a column, under a name; a count has no column."""

    function: str
    column: str = ""
    name: str = ""

    @property
    def shown(self) -> str:
        """Its name, or one of our making."""
        return self.name or ("n" if self.function == "count" else f"{self.function}_{self.column}")


@dataclass(frozen=True)
class Built:
    """A question in parts.

    >>> people = Table("people.csv", columns={"sex": "text", "age": {"type": "integer", "bounds": [0, 99]}})
    >>> asked = Built("people", (Condition("age", ">=", "18"),), ("sex",), (Measured("count"), Measured("mean", "age")))
    >>> asked.sql({"people": people})
    'SELECT sex, COUNT(*) AS n, AVG(age) AS mean_age\\nFROM people\\nWHERE age >= 18\\nGROUP BY sex'
    """

    table: str
    filters: tuple[Condition, ...] = ()
    groups: tuple[str, ...] = ()
    measures: tuple[Measured, ...] = (Measured("count"),)

    def within(self, tables: Mapping[str, Table]) -> Built:
        """The parts that its table has columns for: those chosen for another table are let go."""
        known = tables[self.table].columns if self.table in tables else {}
        return replace(
            self,
            filters=tuple(f for f in self.filters if f.column in known),
            groups=tuple(g for g in self.groups if g in known),
            measures=tuple(replace(m, column=m.column if m.column in known else "") for m in self.measures),
        )

    def sql(self, tables: Mapping[str, Table]) -> str:
        """The question as SQL.

        Fails: InvalidParameter that names the field in its facts, under "field".
        """
        table = tables.get(self.table)
        if table is None:
            raise _missing("table", "There is no such table.", "builder-field")
        known = table.columns
        groups = [_grouped(name, table) for name in dict.fromkeys(self.groups) if name in known]
        measured = [
            f"{_measured(m, k, known)} AS {name_text(m.shown)}"
            for k, m in enumerate(self.measures or (Measured("count"),))
        ]
        lines = [f"SELECT {', '.join([*(text for text, _ in groups), *measured])}", f"FROM {name_text(self.table)}"]
        conditions = [_condition(f, k, table) for k, f in enumerate(self.filters)]
        if conditions:
            lines.append(f"WHERE {' AND '.join(conditions)}")
        if groups:
            lines.append(f"GROUP BY {', '.join(name for _, name in groups)}")
        return "\n".join(lines)


LONGEST_REWRITTEN = 500
"""Characters of a text in which a group is written anew: a plain question is short."""


def name_text(name: str) -> str:
    """A name as SQL writes it.

    >>> name_text("age"), name_text("a b")
    ('age', '"a b"')
    """
    return name if re.fullmatch(r"[a-z_]\w*", name, re.ASCII) else '"' + name.replace('"', '""') + '"'


def fitting(function: str, table: Table) -> list[str]:
    """The columns that a function can measure: numbers for sums and means, what has an order for the median.

    >>> people = Table("people.csv", columns={"sex": "text", "born": "date", "age": "integer"})
    >>> fitting("mean", people), fitting("maximum", people), fitting("count", people)
    (['age'], ['born', 'age'], ['sex', 'born', 'age'])
    """
    if function in ADDED:
        return [name for name, column in table.columns.items() if column.kind.numeric]
    return [name for name, column in table.columns.items() if function not in ORDERED or column.kind.counted]


def listed_values(name: str, table: Table) -> list[str]:
    """The values that a column can have, where they are declared and few; nothing is read from rows."""
    column = table.columns.get(name)
    if column is None:
        return []
    if column.kind.value == "boolean":
        return ["true", "false"]
    return [str(key) for key in column.keys] if column.keys and len(column.keys) <= MOST_LISTED else []


def built_of(sql: str, tables: Mapping[str, Table]) -> Built | None:
    """The parts of a text; None where it asks for more than they can say.

    Fails: refused where the text asks nothing that could be answered.
    """
    asked = question_of(sql, tables)
    return parts_of(asked.to_json(), tables)


def in_ranges(sql: str, tables: Mapping[str, Table]) -> str:
    """The same question by ranges of the numbers that it groups by; nothing where it has no such groups."""
    try:
        found = _parts(question_of(sql, tables).to_json())
        table = tables[found.table]
        return found.sql(tables) if any(ranged(name, table) for name in found.groups) else ""
    except CuradorError as error:  # a number with a fraction is refused as it is read
        return _rewritten(sql, str(error.facts.get("group", "")), tables) if error.code == "group-by-real" else ""
    except (KeyError, TypeError, ValueError):
        return ""


def _rewritten(sql: str, group: str, tables: Mapping[str, Table]) -> str:
    """A plain text that selects and groups by a column, by its ranges instead; nothing where it is less plain."""
    if len(sql) > LONGEST_REWRITTEN:  # the pattern tries every FROM with every GROUP BY
        return ""
    said = re.fullmatch(r"\s*SELECT\s(.*?)\sFROM\s+(\w+)(.*?)\sGROUP\s+BY\s(.*)", sql, re.DOTALL | re.IGNORECASE)
    table = tables.get(said[2]) if said else None
    if said is None or table is None or group not in table.columns:
        return ""
    text, name = _grouped(group, table)
    first, last = (
        ", ".join(new if one.strip() == group else one.strip() for one in part.split(","))
        for part, new in ((said[1], text), (said[4], name))
    )
    made = "\n".join([f"SELECT {first}", f"FROM {said[2]}", *filter(None, [said[3].strip()]), f"GROUP BY {last}"])
    try:
        question_of(made, tables)
    except CuradorError:
        return ""
    return made


def parts_of(asked: Mapping[str, Any], tables: Mapping[str, Table]) -> Built | None:
    """The parts of a question from its plain values; None where it asks for more than they can say."""
    try:
        found = _parts(asked)
        if len(found.filters) > FILTERS or len(found.groups) > GROUPS or len(found.measures) > MEASURES:
            return None
        same = question_of(found.sql(tables), tables).to_json() == dict(asked)
    except (KeyError, TypeError, ValueError, CuradorError):
        return None
    return found if same else None


def read_parts(form: Mapping[str, str]) -> Built:
    """What the fields of the builder say."""
    filters = (Condition(*(form.get(f"where-{k}-{x}", "") for x in ("column", "op", "value"))) for k in range(FILTERS))
    groups = (form.get(f"by-{k}", "") for k in range(GROUPS))
    measures = (
        Measured(*(form.get(f"measure-{k}-{x}", "").strip() for x in ("function", "column", "name")))
        for k in range(MEASURES)
    )
    return Built(
        form.get("table", ""),
        tuple(f for f in filters if f.column),
        tuple(g for g in groups if g),
        tuple(m for m in measures if m.function),
    )


# ---- parts as SQL ----------------------------------------------------------------------------------------------------


def _grouped(name: str, table: Table) -> tuple[str, str]:
    """A group as it is selected and as it is grouped by: by ranges, where a number has too many values."""
    edges = ranged(name, table)
    if not edges:
        return name_text(name), name_text(name)
    short = f"{name}_range"
    while short in table.columns:
        short += "_"
    return f"BIN({name_text(name)}, {', '.join(edges)}) AS {name_text(short)}", name_text(short)


def _measured(m: Measured, place: int, known: Mapping[str, object]) -> str:
    if m.function not in FUNCTIONS:
        raise _missing(f"measure-{place}-function", "There is no such function.", "builder-field")
    if m.function != "count" and m.column not in known:
        raise _missing(f"measure-{place}-column", "This needs a column.", f"builder-{m.function.replace('_', '-')}")
    return FUNCTIONS[m.function].format(name_text(m.column))


def _condition(f: Condition, place: int, table: Table) -> str:
    if f.column not in table.columns or f.op not in (*COMPARISONS, *TESTS):
        raise _missing(f"where-{place}-column", "There is no such column or comparison.", "builder-field")
    if f.op in TESTS:
        return f"{name_text(f.column)} {f.op}"
    return f"{name_text(f.column)} {f.op} {_literal(f.value, table.columns[f.column].kind.value, place)}"


def _literal(value: str, kind: str, place: int) -> str:
    plain = value if kind == "text" else value.strip()
    if kind in ("integer", "real"):
        refuse_doubtful(plain, f"where-{place}-value")
        plain = number_text(plain)
    if not plain or not _is_written(plain, kind):
        raise _missing(f"where-{place}-value", f"{kind} values are not written so.", f"builder-value-{kind}")
    return QUOTED[kind].format(plain.replace("'", "''")) if kind in QUOTED else plain


def _is_written(value: str, kind: str) -> bool:
    """Whether a value is written as those of its type are."""
    if kind in ("integer", "real"):
        return re.fullmatch(r"-?\d+(\.\d+)?", value, re.ASCII) is not None
    if kind == "boolean":
        return value.lower() in ("true", "false")
    try:
        if kind in ("date", "timestamp"):
            _ = date.fromisoformat(value) if kind == "date" else datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def _missing(place: str, what: str, code: str) -> InvalidParameter:
    return InvalidParameter(what, fix="Choose one.", code=code, facts={"field": place})


# ---- plain values as parts -------------------------------------------------------------------------------------------


def _parts(asked: Mapping[str, Any]) -> Built:
    where = asked["where"]
    conditions = [] if where is None else where["operands"] if where["is"] == "and" else [where]
    return Built(
        asked["table"],
        tuple(_filter(one) for one in conditions),
        tuple(one["expr"].get("operand", one["expr"])["column"] for one in asked["group_by"]),
        tuple(_measure(one) for one in asked["aggregates"]),
    )


def _measure(one: Mapping[str, Any]) -> Measured:
    aggregate = one["aggregate"]
    column = "" if aggregate["column"] is None else str(aggregate["column"]["column"])
    return Measured(str(aggregate["function"]), column, str(one["name"]))


def _filter(one: Mapping[str, Any]) -> Condition:
    if one["is"] == "is-null":
        return Condition(one["operand"]["column"], "IS NULL")
    if one["is"] == "not":
        return Condition(one["operand"]["operand"]["column"], "IS NOT NULL")
    literal = one["right"]
    value = str(literal["value"])
    if literal["kind"] == "real":
        value = repr(float(Fraction(value)))
    return Condition(one["left"]["column"], one["op"], value)
