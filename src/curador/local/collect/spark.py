"""Counting reports as a Spark job, where they are stored."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from curador.errors import InvalidParameter
from curador.local.collect.collector import Receipt
from curador.local.collect.wire import TOKEN_BYTES, Reason, publish_task, read_task, sound_reports
from curador.local.task.tally import Tally
from curador.local.task.task import Task

if TYPE_CHECKING:
    import pyarrow as pa

MOST_PARTS = 16
"""The most tallies that reach the driver; beyond that, the cluster adds them up first."""

_PARTS = "users long, support binary, malformed long, unsound long, replayed long"
_OWN = ("report", "token")
_REASONS: tuple[Reason, ...] = ("malformed", "not a report", "replayed")

Batches = Iterator["pa.RecordBatch"]
Work = Callable[[Batches], Batches]


@dataclass(frozen=True, eq=False)
class Counted:
    """A tally, with the number of rows in it and of rows refused, by reason.

    >>> Counted(Tally(2, np.array([1, 1])), Receipt(2, {"malformed": 1})).receipt.messages
    3
    """

    tally: Tally
    receipt: Receipt


def spark_tally(task: Task, dataframe: DataFrame, column: str = "report", *, token: str | None = None) -> Counted:
    """Tally a binary column of reports, exactly as a :class:`Collector` that accepts the same rows.

    With ``token``, a binary column of the devices' one-time tokens, each token is counted once.  Rows have no order.
    So among several reports with one token the smallest in byte order counts.  The answer does not depend on how the
    rows are spread.

    Guarantee: every row is in the tally or is counted as refused.  It is "malformed" if it has no bytes, or too many or
        too few.  It is "not a report" if the randomizer cannot make its bytes.  It is "replayed" if its token was there
        before.
    Assumes: the cluster's Python has Curador, PyArrow and pandas, which Spark requires.
    Fails: someone who saw a message on its way can send a smaller report under its token, and that report counts.
        Honest tokens are random and used once, so only such an observer can.

    >>> from curador.local import KRR
    >>> task = KRR(keys=["a", "b"], epsilon=1)
    >>> spark_tally(task, session.read.parquet("reports"), token="token")  # doctest: +SKIP
    Counted(tally=..., receipt=Receipt(accepted=1000000000, refused={'replayed': 17}))
    """
    named = [column] if token is None else [column, token]
    for name in named:
        if dict(dataframe.dtypes).get(name) != "binary":
            raise InvalidParameter(
                f"The DataFrame has no binary column {name!r}.", fix="Name the column with the reports' bytes."
            )
    document, shape = publish_task(task), task.empty_tally().support.shape
    chosen = dataframe.select(*(F.col(_quote(name)).alias(own) for name, own in zip(named, _OWN, strict=False)))
    try:
        counted = _map_batches(chosen, _counting(document), _PARTS) if token is None else _once(chosen, document)
        parts = _map_batches(counted.repartition(MOST_PARTS), _adding, _PARTS).collect()
    except PySparkException as error:
        raise InvalidParameter(
            f"Spark could not count the reports: {type(error).__name__}.",
            fix="See Spark's own log; the cluster needs Curador, PyArrow and pandas.",
        ) from None
    tally, refused = task.empty_tally(), Counter[Reason]()
    for users, support, *numbers in parts:
        tally += Tally(users, np.frombuffer(support, ">i8").astype(np.int64).reshape(shape))
        refused += Counter(dict(zip(_REASONS, numbers, strict=True)))
    return Counted(tally, Receipt(tally.users, dict(+refused)))


def _once(chosen: DataFrame, document: dict[str, object]) -> DataFrame:
    sorted_out = _map_batches(chosen, _classifying(document), "report binary, token binary, reason int")
    groups = sorted_out.groupBy("token", "reason").agg(F.min("report").alias("report"), F.count("*").alias("messages"))
    return _map_batches(groups.select("report", "reason", "messages"), _counting_once(document), _PARTS)


def _map_batches(frame: DataFrame, work: Work, schema: str) -> DataFrame:
    with warnings.catch_warnings():
        # Spark requires pandas here, and warns of its newer versions, but hands over only Arrow batches.
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        return frame.mapInArrow(work, schema)


def _quote(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


# ---- in the cluster --------------------------------------------------------------------------------------------------


def _counting(document: dict[str, object]) -> Work:
    """Make the job that tallies each partition."""

    def work(batches: Batches) -> Batches:
        task = read_task(document)
        tally, refused = task.empty_tally(), Counter[Reason]()
        for batch in batches:
            fits, rows = _bytes(batch.column("report"), task.layout.size)
            sound = sound_reports(task, rows)
            tally += task.tally(task.from_bytes(rows[sound]))
            refused += Counter({"malformed": int((~fits).sum()), "not a report": int((~sound).sum())})
        yield _part(tally, refused)

    return work


def _classifying(document: dict[str, object]) -> Work:
    """Make the job that adds the number of its reason to each row.

    Refused rows lose their token, so that they do not use it up.
    """

    def work(batches: Batches) -> Batches:
        import pyarrow as pa
        from pyarrow import compute

        task = read_task(document)
        for batch in batches:
            fits, rows = _bytes(batch.column("report"), task.layout.size)
            named, _ = _bytes(batch.column("token"), TOKEN_BYTES)
            reason = np.where(fits & named, -1, 0)
            reason[np.flatnonzero(fits)[~sound_reports(task, rows)]] = 1
            reason[~(fits & named)] = 0
            kept = pa.array(reason < 0)
            nothing = pa.nulls(len(batch), pa.binary())
            columns = [compute.if_else(kept, batch.column(name), nothing) for name in ("report", "token")]
            yield pa.RecordBatch.from_arrays(
                [*columns, pa.array(reason, pa.int32())], names=["report", "token", "reason"]
            )

    return work


def _counting_once(document: dict[str, object]) -> Work:
    """Make the job that tallies each partition's grouped rows.

    A row stands for all rows with one token, or for all that were refused for one reason.
    """

    def work(batches: Batches) -> Batches:
        task = read_task(document)
        tally, refused = task.empty_tally(), Counter[Reason]()
        for batch in batches:
            reason, messages = (np.asarray(batch.column(name)) for name in ("reason", "messages"))
            _, rows = _bytes(batch.column("report"), task.layout.size)
            tally += task.tally(task.from_bytes(rows))
            for number in (0, 1):
                refused[_REASONS[number]] += int(messages[reason == number].sum())
            refused["replayed"] += int((messages[reason < 0] - 1).sum())
        yield _part(tally, refused)

    return work


def _adding(batches: Batches) -> Batches:
    """Add up rows into one."""
    import pyarrow as pa

    support, numbers = None, np.zeros(4, np.int64)
    for batch in batches:
        for row in batch.to_pylist():
            found = np.frombuffer(row["support"], ">i8").astype(np.int64)
            support = found if support is None else support + found
            numbers += [row["users"], row["malformed"], row["unsound"], row["replayed"]]
    if support is not None:
        users, *refused = numbers.tolist()
        yield pa.RecordBatch.from_pylist([_row(users, support, refused)])


def _part(tally: Tally, refused: Counter[Reason]) -> pa.RecordBatch:
    import pyarrow as pa

    return pa.RecordBatch.from_pylist([_row(tally.users, tally.support, [refused[reason] for reason in _REASONS])])


def _row(users: int, support: Any, refused: list[int]) -> dict[str, object]:
    malformed, unsound, replayed = refused
    counts = {"malformed": malformed, "unsound": unsound, "replayed": replayed}
    return {"users": users, "support": support.astype(">i8").tobytes(), **counts}


def _bytes(column: Any, size: int) -> tuple[Any, Any]:
    """Mark the values that have ``size`` bytes, and return these as rows."""
    values = column.to_pylist()
    fits = np.fromiter((value is not None and len(value) == size for value in values), bool, len(values))
    data = b"".join(value for value, fit in zip(values, fits, strict=True) if fit)
    return fits, np.frombuffer(data, np.uint8).reshape(-1, size)
