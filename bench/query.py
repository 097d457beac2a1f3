"""One grouped question, bounded by person, against DuckDB's plain GROUP BY and four private libraries.

Every library has its data in memory, or in its own store, before the clock starts; ours is a DuckDB file.  DuckDB runs
on one thread on both sides.  PipelineDP is compared on half a million rows, since five million take it minutes.
"""

from __future__ import annotations

from bench.cases import Case, Code

TITLE = "Queries"

TINY, SMALL, BIG = 1_000, 500_000, 5_000_000
MOST_TINY = 25e-3
MOST_BYTES = 1.5e9


def job(made: str) -> Code:
    """What a function of bench/visits.py returns, called under the clock."""
    return Code("ask()", f"import warnings; warnings.filterwarnings('ignore')\nimport visits\nask = visits.{made}\n")


def larger(millions: int) -> Case:
    rows = millions * 1_000_000
    return Case(
        f"{millions} million rows",
        job(f"curador({rows})"),
        {"duckdb": job(f"plain({rows})")},
        faster={"duckdb": 1 / 50},
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
        faster={"duckdb": 1 / 50, "opendp": 6},
    ),
    Case(
        "5 million rows, prepared",
        job(f"curador({BIG}, prepared=True)"),
        {"duckdb": job(f"plain({BIG})"), "opendp": job(f"opendp({BIG})")},
        faster={"duckdb": 1 / 2, "opendp": 150},
    ),
    Case(
        "5 million rows, stored in unit order",
        job(f"curador({BIG}, visits.SORTED)"),
        {"duckdb": job(f"plain({BIG}, visits.SORTED)")},
        faster={"duckdb": 1 / 50},
    ),
    larger(10),
    larger(20),
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
        "peak memory, 5 million rows",
        Code(f"found = visits.peak({BIG})", f"import visits; visits.stored({BIG})\n", clock="found"),
        most=MOST_BYTES,
        unit="B",
    ),
]
