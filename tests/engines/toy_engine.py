"""An engine that is not ours: one file, and one line in the registry."""

from __future__ import annotations

from curador.engines.dialect import Stored
from curador.engines.duckdb.dialects import DuckDBDialect
from curador.engines.duckdb.engine import DuckDB
from curador.engines.registry import EngineEntry


class ToyDialect(DuckDBDialect):
    """Stores whole numbers as decimals, as Snowflake does with NUMBER(38,0)."""

    def stored(self, type_name: str) -> Stored | None:
        return Stored.WIDE if type_name == "DECIMAL(38,0)" else super().stored(type_name)


class Toy(DuckDB):
    name = "toy"
    dialect = ToyDialect()


LINE = EngineEntry("tests.engines.toy_engine", "Toy", "duckdb", None, ("toy", "toys"), in_file=True)
