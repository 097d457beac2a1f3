"""The job of the query bench: made-up visits, and the same question put to every library.

A visit has a person, one of a hundred public categories, and a value.  Rows per person are skewed (log-normal
weights: ten on average, thousands at most).  The question is the count, the sum and the mean by category, every person
bounded to five categories and three rows in each, at epsilon 1.

Also imported in peers' environments, so that every library is imported by the function that asks it.  A function makes
what can be made before the clock, data in memory included, and returns the question as something to call.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

HOME = Path(__file__).parent.parent / ".bench" / "data"
KEYS = 100
GROUPS, ROWS = 5, 3
LOW, HIGH = 0.0, 100.0
SQL = "SELECT cat, COUNT(*) AS n, SUM(val) AS s, AVG(val) AS m FROM {} GROUP BY cat"
UNSORTED, SORTED = "visits", "in_unit_order"

Job = Callable[[], Any]


# ---- the data ----------------------------------------------------------------------------------------------------


def stored(rows: int) -> Path:
    """The DuckDB file with so many visits, as they come and ordered by person; made when it is first asked for."""
    file = HOME / f"visits-{rows}.duckdb"
    if not file.exists():
        import duckdb
        import pyarrow

        HOME.mkdir(parents=True, exist_ok=True)
        uid, cat, val = arrays(rows)
        part = file.with_suffix(".part")
        part.unlink(missing_ok=True)
        with duckdb.connect(str(part)) as connection:
            connection.register("drawn", pyarrow.table({"uid": uid, "cat": cat, "val": val}))
            connection.execute(f"CREATE TABLE {UNSORTED} AS SELECT * FROM drawn")
            connection.execute(f"CREATE TABLE {SORTED} AS SELECT * FROM drawn ORDER BY uid")
        part.rename(file)
    return file


def arrays(rows: int) -> tuple[Any, Any, Any]:
    """The same visits as NumPy arrays: what a peer has in memory before it is asked."""
    import numpy as np

    r = np.random.default_rng(1)
    people = rows // 10
    weights = r.lognormal(0, 1.2, people)
    popular = 1 / np.arange(1, KEYS + 1) ** 0.7
    uid = r.choice(people, size=rows, p=weights / weights.sum()).astype(np.int64)
    cat = r.choice(KEYS, size=rows, p=popular / popular.sum()).astype(np.int32)
    return uid, cat, np.round(np.clip(r.gamma(2.0, 12.0, rows), 0, 150), 2)


# ---- Curador -----------------------------------------------------------------------------------------------------


def curador(
    rows: int,
    table: str = UNSORTED,
    *,
    prepared: bool = False,
    changing: bool = False,
    ledger: str | None = None,
    memory: str = "4GB",
) -> Job:
    """The question in SQL, from its text to the release; ``changing`` asks at another epsilon each time.

    ``ledger`` is a file to keep charges in, by default they are kept in memory; ``memory`` is DuckDB's limit.
    """
    cu = import_module("curador")
    engine = import_module("curador.engines.duckdb.engine").DuckDB
    columns = {"uid": "integer", "cat": {"type": "integer", "keys": list(range(KEYS))}}
    columns["val"] = {"type": "real", "bounds": [LOW, HIGH]}
    source = f"duckdb:///{stored(rows)}#{table}"
    visits = cu.Table(source, unit="uid", contribution=(GROUPS, ROWS), columns=columns)
    opened = engine({"visits": visits.source}, threads=1, memory=memory)
    curator = cu.Curator({"visits": visits}, budget=cu.PureDP(10**5), engine=opened, ledger=ledger)
    if prepared:
        curator.prepare("visits", ["cat"])
    asked = iter(range(10**6))

    def ask() -> Any:
        epsilon = 1 - next(asked) / 10**6 if changing else 1
        release = curator.sql(SQL.format("visits"), epsilon=epsilon, fresh=True)
        assert not release.repeated, "an answer kept from before says nothing about speed"
        return release

    return ask


def new_ledger() -> str:
    """An address of a ledger file that is not there yet."""
    HOME.mkdir(parents=True, exist_ok=True)
    return str(Path(tempfile.mkdtemp(dir=HOME)) / "charges.db")


def peak(rows: int, memory: str = "4GB") -> float:
    """The most memory, in bytes, that a process of its own holds while it asks.

    As its own status says: ru_maxrss of a child starts at what its parent held when it was started.
    """
    code = f"""
import visits
visits.curador({rows}, memory={memory!r})()
with open("/proc/self/status") as status:
    print(next(line.split()[1] for line in status if line.startswith("VmHWM:")))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(__file__).parent, capture_output=True, text=True, check=False
    )
    if done.returncode:  # its last line alone: the whole error would name places on this machine
        raise RuntimeError((done.stderr.strip().splitlines() or ["the process failed"])[-1])
    return 1024.0 * int(done.stdout)


# ---- its peers ---------------------------------------------------------------------------------------------------


def plain(rows: int, table: str = UNSORTED) -> Job:
    """DuckDB's own GROUP BY on the stored table: no bounding, no noise."""
    duckdb = import_module("duckdb")
    connection = duckdb.connect(str(stored(rows)), read_only=True, config={"threads": 1})
    return lambda: connection.execute(SQL.format(table)).fetchall()


def opendp(rows: int) -> Job:
    """OpenDP's Polars API on a frame in memory.  keep="first", because sampling groups fails in this version."""
    dp, pl = import_module("opendp.prelude"), import_module("polars")
    dp.enable_features("contrib")
    uid, cat, val = arrays(rows)
    frame = pl.DataFrame({"uid": uid, "cat": cat, "val": val})
    keys = pl.LazyFrame({"cat": list(range(KEYS))}, schema={"cat": pl.Int32})

    def ask() -> Any:
        context = dp.Context.compositor(
            data=frame.lazy(),
            privacy_unit=dp.unit_of(contributions=1, identifier=pl.col("uid")),
            privacy_loss=dp.loss_of(epsilon=1.0),
            split_evenly_over=1,
            margins=[dp.polars.Margin(max_length=rows, max_groups=KEYS)],
        )
        value = pl.col("val").fill_null(0.0).fill_nan(0.0)
        query = context.query().truncate_per_group(ROWS, by=["cat"])
        query = query.truncate_num_groups(GROUPS, by=["cat"], keep="first").group_by("cat")
        found = (dp.len(), value.dp.sum((LOW, HIGH)), value.dp.mean((LOW, HIGH)).alias("mean"))
        return query.agg(*found).with_keys(keys).release().collect()

    return ask


def pipeline_dp(rows: int) -> Job:
    """PipelineDP's local backend on a list of rows."""
    p = import_module("pipeline_dp")
    visits = list(zip(*(x.tolist() for x in arrays(rows)), strict=True))

    def ask() -> Any:
        accountant = p.NaiveBudgetAccountant(total_epsilon=1, total_delta=1e-10)
        wanted = p.AggregateParams(
            metrics=[p.Metrics.COUNT, p.Metrics.SUM, p.Metrics.MEAN],
            noise_kind=p.NoiseKind.LAPLACE,
            max_partitions_contributed=GROUPS,
            max_contributions_per_partition=ROWS,
            min_value=LOW,
            max_value=HIGH,
        )
        columns = p.DataExtractors(
            privacy_id_extractor=lambda row: row[0],
            partition_extractor=lambda row: row[1],
            value_extractor=lambda row: row[2],
        )
        engine = p.DPEngine(accountant, p.LocalBackend())
        answer = engine.aggregate(visits, wanted, columns, public_partitions=list(range(KEYS)))
        accountant.compute_budgets()
        return list(answer)

    return ask


def smartnoise(rows: int) -> Job:
    """SmartNoise SQL on a pandas frame.  It bounds rows per person alone: fifteen."""
    snsql, pandas = import_module("snsql"), import_module("pandas")
    uid, cat, val = arrays(rows)
    frame = pandas.DataFrame({"uid": uid, "cat": cat, "val": val})
    table = {
        "max_ids": GROUPS * ROWS,
        "censor_dims": False,
        "uid": {"type": "int", "private_id": True},
        "cat": {"type": "int"},
        "val": {"type": "float", "lower": LOW, "upper": HIGH},
    }
    privacy = snsql.Privacy(epsilon=1.0, delta=1e-8)
    reader = snsql.from_df(frame, privacy=privacy, metadata={"": {"": {"visits": table}}})
    return lambda: reader.execute(SQL.format("visits"))


def diffprivlib(rows: int) -> Job:
    """diffprivlib's tools for every category, on rows that are bounded by hand; a person may move all fifteen."""
    import numpy as np

    tools = import_module("diffprivlib.tools")
    uid, cat, val = arrays(rows)
    epsilon = 1 / (3 * GROUPS * ROWS)

    pair = uid * KEYS + cat

    def run_and_place(x: Any) -> tuple[Any, Any, Any]:
        """Where the runs of equal numbers start, in which run each number is, and at what place of it."""
        starts = np.flatnonzero(np.r_[True, x[1:] != x[:-1]])
        run = np.repeat(np.arange(starts.size), np.diff(np.r_[starts, x.size]))
        return starts, run, np.arange(x.size) - starts[run]

    def ask() -> Any:
        shuffled = np.random.permutation(rows)  # noqa: NPY002  any sample does here
        order = shuffled[np.argsort(pair[shuffled], kind="stable")]
        starts, group, row = run_and_place(pair[order])
        person = uid[order[starts]]
        mixed = np.lexsort((np.random.random(starts.size), person))  # noqa: NPY002
        chosen = np.zeros(starts.size, bool)
        chosen[mixed[run_and_place(person[mixed])[2] < GROUPS]] = True
        kept = order[(row < ROWS) & chosen[group]]
        values_of, keys_of = val[kept], cat[kept]
        answer = []
        for key in range(KEYS):
            values = values_of[keys_of == key]
            n = tools.count_nonzero(np.ones(values.size), epsilon=epsilon)
            total = tools.sum(values, bounds=(LOW, HIGH), epsilon=epsilon)
            answer.append((n, total, tools.mean(values, bounds=(LOW, HIGH), epsilon=epsilon)))
        return answer

    return ask
