"""Spark, through pyspark: tables and DataFrames of a Spark session."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

import numpy as np
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from curador.engines.deadline import watched
from curador.engines.dialect import FIRST_MOMENT, LAST_MOMENT, Dialect, Stored
from curador.engines.engine import AT_ONCE, LONGEST_WAIT, Progress, ResultRows, Take
from curador.engines.registry import engine_entry
from curador.engines.sql_engine import OnError, SqlEngine
from curador.errors import InvalidParameter
from curador.query.sql_plan.exact import Exact
from curador.query.sql_plan.prepared import Preparation, Prepared
from curador.query.tables.sources import EngineTable, Frame, Source

_SAFE = re.compile(r"[A-Za-z0-9 _.,:-]")


class SparkDialect(Dialect):
    """Spark's spelling.

    >>> SPARK.divide("a", "b"), SPARK.string("it's")
    ('(a DIV b)', "'it\\\\u0027s'")
    """

    wide = "DECIMAL(38, 0)"
    real = "DOUBLE"
    varchar = "STRING"
    small = "INT"
    narrow = frozenset(("tinyint", "smallint", "int"))

    _STORED = {  # noqa: RUF012  never changed
        **dict.fromkeys((*narrow, "bigint"), Stored.INTEGER),
        **dict.fromkeys(("float", "double"), Stored.FLOAT),
        **dict.fromkeys(("string", "char", "varchar"), Stored.TEXT),
        **dict.fromkeys(("timestamp", "timestamp_ntz"), Stored.TIMESTAMP),
        "decimal": Stored.DECIMAL,
        "boolean": Stored.BOOLEAN,
        "date": Stored.DATE,
    }

    def stored(self, type_name: str) -> Stored | None:
        return self._STORED.get(re.split(r"[( ]", type_name)[0])

    def loose(self, type_name: str) -> bool:
        return " collate " in type_name and not type_name.endswith(" UTF8_BINARY")

    def quoted(self, name: str) -> str:
        return "`" + super().quoted(name)[1:-1].replace('""', '"').replace("`", "``") + "`"

    def string(self, text: str) -> str:
        # Backslashes escape, adjacent literals are joined, and ${…} is replaced before parsing.  So only plain
        # characters are written unescaped.
        plain = super().string(text)[1:-1].replace("''", "'")
        return "'" + "".join(c if _SAFE.fullmatch(c) else _escape(c) for c in plain) + "'"

    def constant(self, digits: str) -> str:
        return f"CAST({digits} AS BIGINT)"

    def double(self, x: float) -> str:
        return f"{x!r}D"

    def divide(self, a: str, b: str) -> str:
        return f"({a} DIV {b})"

    def date_part(self, part: str, days: str) -> str:
        name = "DAYOFWEEK_ISO" if part == "weekday" else part
        return f"CAST(EXTRACT({name} FROM DATE_FROM_UNIX_DATE(CAST({days} AS INT))) AS BIGINT)"

    def text_hash(self, x: str) -> str:
        return f"CAST(CONV(SUBSTR(MD5(CAST({x} AS BINARY)), 1, 7), 16, 10) AS BIGINT)"

    def starts_with(self, x: str, part: str) -> str:
        return f"STARTSWITH({x}, {part})"

    def ends_with(self, x: str, part: str) -> str:
        return f"ENDSWITH({x}, {part})"

    def total(self, x: str) -> str:
        return f"SUM(CAST({x} AS DECIMAL(20, 0)))"  # the sum has ten digits more

    def cast(self, x: str, type_name: str) -> str:
        return f"TRY_CAST({x} AS {type_name})"

    def matches(self, x: str, pattern: str) -> str:
        # Java's $ also matches before a last line break; (?s). sees one that follows.
        return f"{x} RLIKE {self.string(f'(?s)^({pattern})$(?!.)')}"

    def floor(self, x: str) -> str:
        return f"CAST(FLOOR({x}) AS BIGINT)"

    def text_to_double(self, x: str) -> str:
        return f"TRY_CAST({x} AS DOUBLE)"

    def days(self, x: str) -> str:
        return f"CASE WHEN {x} BETWEEN DATE'0001-01-01' AND DATE'9999-12-31' THEN CAST(UNIX_DATE({x}) AS BIGINT) END"

    def seconds(self, x: str) -> str:
        t = f"CAST({x} AS TIMESTAMP)"
        return (
            f"CASE WHEN {t} BETWEEN TIMESTAMP'{FIRST_MOMENT}' AND TIMESTAMP'{LAST_MOMENT}' THEN UNIX_SECONDS({t}) END"
        )

    def text_to_days(self, x: str) -> str:
        return self.days(f"TRY_CAST({x} AS DATE)")

    def text(self, x: str) -> str:
        # Two texts that are not UTF-8 would become one key when returned, and one count would hide the other.
        return f"TRY_VALIDATE_UTF8(CAST({x} AS STRING)) COLLATE UTF8_BINARY"


def _escape(c: str) -> str:
    code = ord(c)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


SPARK = SparkDialect()

SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.variable.substitute": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.caseSensitive": "true",
    "spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.CollapseProject",
}
"""The settings that plans rely on; they are set in a session of the engine's own, not in the caller's."""


class Spark(SqlEngine):
    """Tables and DataFrames of a Spark session, by the names that plans use.

    ``session`` is by default the active one.  ``timeout`` is in seconds, for all statements of a plan together.

    Guarantee: every plan reads the relations as they were resolved when the engine was opened: one lineage.
    Assumes: the files behind them do not change while a plan runs; Spark fails, or reads the new ones, if they do.
    """

    name = "spark"
    dialect = SPARK

    def __init__(
        self,
        sources: Mapping[str, Source],
        *,
        session: SparkSession | None = None,
        timeout: float = LONGEST_WAIT,
        on_error: OnError | None = None,
    ) -> None:
        super().__init__(timeout, on_error)
        frames = [s.data for s in sources.values() if isinstance(s, Frame) and isinstance(s.data, DataFrame)]
        given = session or (frames[0].sparkSession if frames else SparkSession.getActiveSession())
        if given is None:
            raise InvalidParameter("No Spark session is running.", fix="Start one, or pass session=…")
        self._session = given.newSession()
        for name, value in SETTINGS.items():
            self._session.conf.set(name, value)
        self._views: dict[str, str] = {}
        self._elsewhere = False
        try:
            for name, source in sources.items():
                self._create_view(name, self._frame(name, source, given))
        except PySparkException:
            raise InvalidParameter("Spark could not open a table.", fix="Check its name and its source.") from None

    def _frame(self, name: str, source: Source, session: SparkSession) -> DataFrame:
        if isinstance(source, Frame) and isinstance(source.data, DataFrame):
            self._guessed.add(name)
            return source.data
        if isinstance(source, EngineTable) and engine_entry(source).name == self.name:
            parts = [source.table] if source.schema is None else [source.schema, source.table]
            return session.table(".".join(map(SPARK.quoted, parts)))
        raise InvalidParameter(
            f"The table {name!r} does not live in Spark.", fix="Pass a Spark DataFrame, or spark://…#table."
        )

    def _create_view(self, name: str, frame: DataFrame) -> None:
        # Temporary views belong to one session; global ones are visible in the whole Spark application.
        self._views[name] = f"curador_{uuid.uuid4().hex}"
        frame.createGlobalTempView(self._views[name])
        self._types[name] = dict(frame.dtypes)

    def _relation(self, table: str) -> str:
        return f"global_temp.{self._views[table]}"

    def _shown(self, table: str) -> str:
        return SPARK.quoted(table)

    def _results(self, exact: Exact, texts: tuple[str, ...], progress: Progress | None) -> list[ResultRows]:
        self.reopen()
        context, group = self._session.sparkContext, f"curador-{uuid.uuid4().hex}"
        context.setJobGroup(group, "curador", interruptOnCancel=True)
        with watched(self._timeout, lambda: context.cancelJobGroup(group), progress, lambda: -1.0):
            return [self._session.sql(text).collect() for text in texts]

    def _stream(self, exact: Exact, text: str, take: Take, progress: Progress | None) -> None:
        self.reopen()
        context, group = self._session.sparkContext, f"curador-{uuid.uuid4().hex}"
        context.setJobGroup(group, "curador", interruptOnCancel=True)
        with watched(self._timeout, lambda: context.cancelJobGroup(group), progress, lambda: -1.0):
            rows = self._session.sql(text).toLocalIterator()
            while some := list(islice(rows, AT_ONCE)):
                take(np.array(some, np.int64))

    def prepare(
        self, preparation: Preparation, path: str | Path | None = None, progress: Progress | None = None
    ) -> Prepared:
        """Store a table with its ranks as Parquet files at ``path``, or in Spark's memory, and use it.

        Assumes: the stored files are not changed.
        """
        made = preparation.at("" if path is None else str(path), uuid.uuid4().hex)
        self._guarded(lambda: self._write(preparation, made))
        if path is not None:
            self.attach(made)
        return made

    def _write(self, preparation: Preparation, made: Prepared) -> None:
        frame = self._session.sql(self._stored_text(preparation))
        if made.place:
            frame.write.parquet(made.place)
        else:
            self._create_view(made.relation, frame.persist())

    def attach(self, prepared: Prepared) -> None:
        """Use a table that was prepared before."""
        self._create_view(prepared.relation, self._session.read.parquet(prepared.place))

    def made_anew(self) -> None:
        self._elsewhere = True

    def reopen(self) -> None:
        """Refuse in a forked child: it shares the one connection to Spark's own process with its parent."""
        if self._elsewhere:
            raise InvalidParameter(
                "A Spark session does not go on in a forked child.",
                fix="Start a session and open the curator there.",
                code="opened-before-fork",
            )

    def close(self) -> None:
        if self._elsewhere:
            return
        for view in self._views.values():
            self._session.catalog.dropGlobalTempView(view)
