"""Reports counted by Spark: exactly what the library counts of them, and every row accounted for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from curador.errors import InvalidParameter
from curador.local import KRR, OUE
from curador.local.collect.collector import Receipt
from curador.local.task.tally import Tally
from tests.local.every_task import EVERY_TASK

pytestmark = pytest.mark.xdist_group("spark")

KINDS = ("krr", "laplace", "record", "count-mean")
"""One number, signed sums, a mixed record, a sketch."""
CHOSEN = list({task.mechanism: (task, values) for task, values in EVERY_TASK if task.mechanism in KINDS}.values())


def frame(session: Any, rows: Sequence[tuple[bytes | None, ...]], partitions: int = 3) -> Any:
    made = session.createDataFrame(list(rows), "report binary, token binary")
    return made.repartition(partitions)


def rows_of(task: Any, reports: Any) -> list[bytes]:
    return [row.tobytes() for row in task.to_bytes(reports)]


def same(a: Tally, b: Tally) -> bool:
    return a.users == b.users and np.array_equal(a.support, b.support)


@pytest.mark.parametrize(("task", "values"), CHOSEN, ids=[task.mechanism for task, _ in CHOSEN])
def test_spark_counts_what_the_library_counts(task: Any, values: Any, spark_session: Any) -> None:
    from curador.local.collect.spark import spark_tally

    reports = task.randomize(values)
    rows = [(row, i.to_bytes(16)) for i, row in enumerate(rows_of(task, reports))]
    for token in (None, "token"):
        found = spark_tally(task, frame(spark_session, rows), token=token)
        assert same(found.tally, task.tally(reports))
        assert found.receipt == Receipt(len(reports), {})


def test_every_bad_row_is_counted(spark_session: Any) -> None:
    from curador.local.collect.spark import spark_tally

    task = OUE(["a", "b", "c"], 1).named("q")
    good = [(b"\x80", bytes([i]) * 16) for i in range(40)]
    bad: list[tuple[bytes | None, ...]] = [
        *[(None, bytes(16)), (b"", b"1" * 16), (b"\x80\x80", b"2" * 16)],  # malformed
        *[(b"\x10", good[0][1]), (b"\xff", b"3" * 16)],  # not a report; one with the token of a sound one
    ]
    found = spark_tally(task, frame(spark_session, [*good, *bad]))
    assert found.receipt == Receipt(40, {"malformed": 3, "not a report": 2})
    assert found.tally.support.tolist() == [40, 0, 0]
    nameless: list[tuple[bytes | None, ...]] = [(b"\x80", None), (b"\x80", b"short"), (b"\x10", None)]
    again: list[tuple[bytes | None, ...]] = [*good[:7], (b"\x40", good[0][1])]  # \x40 comes before \x80
    once = spark_tally(task, frame(spark_session, [*good, *bad, *nameless, *again]), token="token")
    assert once.receipt == Receipt(40, {"malformed": 6, "not a report": 2, "replayed": 8})
    assert once.tally.support.tolist() == [39, 1, 0]
    with pytest.raises(InvalidParameter, match="no binary column 'reports'"):
        spark_tally(task, frame(spark_session, good), "reports")
    with pytest.raises(InvalidParameter, match="no binary column 'id'"):
        spark_tally(task, frame(spark_session, good), token="id")


def test_no_rows_and_more_partitions_than_rows(spark_session: Any) -> None:
    from curador.local.collect.spark import spark_tally

    task = KRR(3, 1).named("q")
    assert same(spark_tally(task, frame(spark_session, [])).tally, Tally(0, np.zeros(3, np.int64)))
    assert spark_tally(task, frame(spark_session, [(b"\x02", bytes(16))], 5)).tally.support.tolist() == [0, 0, 1]


def test_a_job_that_fails_is_told(spark_session: Any) -> None:
    from pyspark.sql import functions as F

    from curador.local.collect.spark import spark_tally

    broken = frame(spark_session, [(b"\x02", bytes(16))]).withColumn(
        "report", F.when(F.raise_error(F.lit("no")).isNull(), F.col("report"))
    )
    with pytest.raises(InvalidParameter, match="Spark could not count"):
        spark_tally(KRR(3, 1).named("q"), broken)
