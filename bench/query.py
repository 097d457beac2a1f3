"""One grouped question, bounded by person, against DuckDB's plain GROUP BY and four private libraries.

Every library has its data in memory, or in its own store, before the clock starts; ours is a DuckDB file.  DuckDB runs
on one thread on both sides.  PipelineDP is compared on half a million rows, since five million take it minutes.
"""

from __future__ import annotations

from bench.cases import Case, Code

TITLE = "Queries"

TINY, SMALL, BIG, HUGE = 1_000, 500_000, 5_000_000, 50_000_000
MOST_TINY, MOST_TINY_IN_A_FILE = 8e-3, 11e-3
MOST_BYTES, LITTLE = 500e6, "256MB"


def job(made: str) -> Code:
    """What a function of bench/visits.py returns, called under the clock."""
    return Code("ask()", f"import warnings; warnings.filterwarnings('ignore')\nimport visits\nask = visits.{made}\n")


def larger(millions: int) -> Case:
    rows = millions * 1_000_000
    return Case(
        f"{millions} million rows",
        job(f"curador({rows})"),
        {"duckdb": job(f"plain({rows})")},
        faster={"duckdb": 1 / 40},
    )


def peak(title: str, rows: int, memory: str) -> Case:
    before = f"import visits; visits.stored({rows})\n"
    return Case(
        title, Code(f"found = visits.peak({rows}, {memory!r})", before, clock="found"), most=MOST_BYTES, unit="B"
    )


CASES = [
    Case(
        "5 million rows",
        job(f"curador({BIG})"),
        {
            "duckdb": job(f"plain({BIG})"),
            "opendp": job(f"opendp({BIG})"),
            "smartnoise-sql": job(f"smartnoise({BIG})"),
            "diffprivlib": job(f"diffprivlib({BIG})"),
        },
        faster={"duckdb": 1 / 26, "opendp": 6},
    ),
    Case(
        "5 million rows, prepared",
        job(f"curador({BIG}, prepared=True)"),
        {"duckdb": job(f"plain({BIG})"), "opendp": job(f"opendp({BIG})")},
        faster={"duckdb": 1 / 1.2, "opendp": 150},
    ),
    Case(
        "5 million rows, stored in unit order",
        job(f"curador({BIG}, visits.SORTED)"),
        {"duckdb": job(f"plain({BIG}, visits.SORTED)")},
        faster={"duckdb": 1 / 26},
    ),
    larger(20),
    larger(50),
    Case(
        "half a million rows",
        job(f"curador({SMALL})"),
        {"duckdb": job(f"plain({SMALL})"), "pipeline-dp": job(f"pipeline_dp({SMALL})")},
    ),
    Case(
        "1,000 rows",
        job(f"curador({TINY})"),
        {
            "duckdb": job(f"plain({TINY})"),
            "opendp": job(f"opendp({TINY})"),
            "smartnoise-sql": job(f"smartnoise({TINY})"),
            "pipeline-dp": job(f"pipeline_dp({TINY})"),
        },
        most=MOST_TINY,
    ),
    Case("1,000 rows, a new ε each time", job(f"curador({TINY}, changing=True)"), most=MOST_TINY),
    Case(
        "1,000 rows, a new ε each time, charges in SQLite",
        job(f"curador({TINY}, changing=True, ledger=visits.new_ledger())"),
        most=MOST_TINY_IN_A_FILE,
    ),
    peak("peak memory, 5 million rows", BIG, "4GB"),
    peak(f"peak memory, 50 million rows, DuckDB limited to {LITTLE}", HUGE, LITTLE),
]
