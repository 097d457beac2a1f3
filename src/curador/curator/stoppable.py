"""Planning that may be stopped from outside: what it must not be stopped at is done before it begins."""

from __future__ import annotations

from contextlib import closing, suppress
from functools import cache
from importlib import import_module

from curador.curator.curator import Curator
from curador.engines.deadline import keep_clock
from curador.privacy import ApproxDP
from curador.query.tables.table import Table

LISTING = ("curador.query.sql_plan.lower", "curador.engines.duckdb.engine", "curador.engines.postgres")
"""What lists public tables as a question is planned; an engine, where it is installed and loads quickly."""

ASKED = "SELECT COUNT(*) AS n, AVG(age) AS a, MEDIAN(age) AS m FROM people"


def ready_to_stop() -> None:
    """Start the thread of all deadlines, and load what planning needs; at once from the second time on.

    A thread that is stopped while it starts another has that one stopped in its place, in CPython 3.11, and waits for
    it for ever; and Python keeps the lock of an import that is stopped as it begins.
    """
    keep_clock()
    _load_planning()


@cache
def _load_planning() -> None:
    for name in LISTING:
        with suppress(ImportError):
            import_module(name)
    people = Table("/nowhere.csv", columns={"age": {"type": "integer", "bounds": [0, 99]}})
    with closing(Curator({"people": people}, budget=ApproxDP(1, 1e-6))) as curator:
        for language in ("en", "es"):
            str(curator.explain(ASKED, epsilon="0.1", language=language))
        curator.explain("SELECT COUNT(*) AS n FROM people", epsilon="0.1", delta="1e-9", noise="gaussian")
        curator.explain("SELECT COUNT(*) AS n FROM people", rho="0.001")
        str(curator.batch({"n": "SELECT COUNT(*) AS n FROM people"}, epsilon="0.1"))
        curator.how_many(ASKED, epsilon="0.1")
