"""Everything of the house that makes a promise, as a black box: mechanisms, questions to a curator, and local tasks."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Sequence
from contextlib import closing
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from curador.curator.curator import Curator
from curador.engines.pool import EnginePool
from curador.local.devices import curador_device
from curador.mechanisms.base import Mechanism
from curador.mechanisms.gaussian import Gaussian, IntegerGaussian
from curador.mechanisms.keys import OptimalKeys
from curador.mechanisms.laplace import IntegerLaplace, Laplace
from curador.mechanisms.quantiles import Quantiles
from curador.mechanisms.response import RandomizedResponse
from curador.mechanisms.selection import ExponentialMechanism, PermuteAndFlip, ReportNoisyMax, TopK
from curador.mechanisms.sparse_vector import AboveThreshold
from curador.mechanisms.thresholded import ThresholdedGaussian, ThresholdedLaplace
from curador.mechanisms.tree import ContinualCount
from curador.noise import SYSTEM
from curador.privacy import ApproxDP, Guarantee, PureDP
from curador.query.answer.noise import noise
from curador.query.answer.noisy import NoisyCounts
from curador.query.tables.table import Table
from tests.local.devices.both import document, in_node

MECHANISMS: dict[str, Mechanism] = {
    "laplace": Laplace(1, 1),
    "laplace, a small epsilon": Laplace(3, "1/10"),
    "integer laplace": IntegerLaplace(1, 1),
    "integer laplace, more": IntegerLaplace(2, "1/2"),
    "gaussian": Gaussian(1, 1, 0.01),
    "gaussian by sigma": Gaussian(1, sigma=1),
    "integer gaussian": IntegerGaussian(1, 1, 0.01),
    "integer gaussian, a vector": IntegerGaussian(sensitivity_squared=2, sigma=2, coordinates=2),
    "a coin": RandomizedResponse(truth=0.75),
    "answers": RandomizedResponse(1, categories=5),
    "exponential": ExponentialMechanism(1, 1),
    "exponential, monotonic": ExponentialMechanism(1, 1, monotonic=True),
    "permute and flip": PermuteAndFlip(1, 1),
    "permute and flip, monotonic": PermuteAndFlip(1, 1, monotonic=True),
    "report noisy max": ReportNoisyMax(1, 1),
    "top two": TopK(2, sensitivity=1, epsilon=1),
    "median": Quantiles.median(0, 10, epsilon=1),
    "quartiles": Quantiles(["1/4", "1/2", "3/4"], 0, 10, epsilon=1),
    "sparse vector": AboveThreshold(0, epsilon=1, sensitivity=1),
    "sparse vector, three": AboveThreshold(0, epsilon=1, sensitivity=1, cutoff=3),
    "sparse vector, monotonic": AboveThreshold(0, epsilon=1, sensitivity=1, cutoff=3, monotonic=True),
    "keys": OptimalKeys(epsilon=1, delta=0.05),
    "keys, two groups": OptimalKeys(epsilon=1, delta=0.05, groups=2),
    "thresholded laplace": ThresholdedLaplace(epsilon=1, delta=0.05),
    "thresholded laplace, two groups": ThresholdedLaplace(epsilon=1, delta=0.05, groups=2),
    "thresholded gaussian": ThresholdedGaussian(0.05, rho="1/2"),
    "running total": ContinualCount(horizon=4, epsilon=1),
    "running total, gaussian": ContinualCount(horizon=4, rho=0.5),
}

FAST = ("laplace", "integer laplace", "gaussian", "a coin", "answers", "keys", "thresholded")
"""Names of those that draw many releases at a time begin with these."""

# ---- questions -------------------------------------------------------------------------------------------------------

COLUMNS: dict[str, object] = {
    "x": {"type": "integer", "bounds": [0, 10], "nullable": False},
    "y": {"type": "integer", "bounds": [-5, 5], "nullable": False},
    "g": {"type": "text", "keys": ["a", "b"]},
    "h": "text",
}
DOMAIN: dict[str, Sequence[Any]] = {"x": (0, 10), "y": (-5, 5), "g": ("a", "b"), "h": ("p",)}
TYPES = {"x": pa.int64(), "y": pa.int64(), "g": pa.string(), "h": pa.string()}

QUESTIONS: dict[str, tuple[str, Guarantee]] = {
    "count": ("SELECT COUNT(*) AS n FROM t", PureDP(1)),
    "a condition": ("SELECT COUNT(*) AS n FROM t WHERE x > 5", PureDP(1)),
    "sum": ("SELECT SUM(x) AS s FROM t", PureDP(1)),
    "sum of both signs": ("SELECT SUM(y) AS s FROM t", PureDP(1)),
    "mean": ("SELECT AVG(x) AS m FROM t", PureDP(1)),
    "deviation": ("SELECT STDDEV(x) AS s FROM t", PureDP(1)),
    "several": ("SELECT COUNT(*) AS n, SUM(x) AS s, AVG(y) AS m FROM t", PureDP(1)),
    "groups": ("SELECT g, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY g", PureDP(1)),
    "groups of the data": ("SELECT h, COUNT(*) AS n FROM t GROUP BY h", ApproxDP(1, 0.05)),
    "distinct": ("SELECT COUNT(DISTINCT h) AS n FROM t", PureDP(1)),
    "median": ("SELECT MEDIAN(x) AS m FROM t", PureDP(1)),
    "covariance": ("SELECT COVAR_POP(x, y) AS c FROM t", PureDP(1)),
    "gaussian": ("SELECT g, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY g", ApproxDP(1, 0.05)),
}


def stored(rows: Sequence[dict[str, Any]]) -> pa.Table:
    return pa.table({name: pa.array([row[name] for row in rows], kind) for name, kind in TYPES.items()})


def numbers(found: NoisyCounts, groups: Sequence[tuple[Any, ...]]) -> list[float]:
    """The measurement that is kept of an answer as a row of numbers; NaN for groups that are not shown."""
    out: list[float] = []
    parts: tuple[Any, ...] = (found.measured, found.ranked)
    for columns in parts:
        for key in sorted(columns, key=repr):
            values = np.asarray(columns[key], np.float64).reshape(
                len(columns[key]), max(1, np.size(columns[key]) // max(1, len(columns[key])))
            )
            if len(values) != len(found.keys) or not groups:
                out += values.reshape(-1).tolist()
                continue
            shown = dict(zip(found.keys, values, strict=True))
            out += [x for group in groups for x in shown.get(group, np.full(values.shape[1], np.nan)).tolist()]
    for key in sorted(found.around, key=repr):
        out += [float(len(part)) for part in found.around[key]]  # of which each run has another number
    return out


@cache
def _measured(question: str, rows: str) -> Any:
    """The plan of a question and the exact integers of one table."""
    sql, paid = QUESTIONS[question]
    tables = {"t": Table(stored(json.loads(rows)), columns=COLUMNS)}
    with closing(Curator(tables, budget=paid)) as curator:
        plan = curator.plan(sql, **_pay(paid))
    with closing(EnginePool(tables, None, None)) as pool:
        return plan, pool.of(plan.reads).run(plan.exact)


def _pay(paid: Guarantee) -> dict[str, Any]:
    return {"epsilon": paid.epsilon, **({"delta": paid.delta} if isinstance(paid, ApproxDP) else {})}  # type: ignore[attr-defined]


def drawn(question: str, rows: Sequence[dict[str, Any]], n: int) -> Any:
    """The measurements of n answers: the table is read once, the noise is drawn n times, as a plan draws it."""
    plan, found = _measured(question, json.dumps(list(rows)))
    groups = [("p",)] if question == "groups of the data" else []
    return np.array([numbers(noise(plan, found), groups) for _ in range(n)])


def asked(question: str, rows: Sequence[dict[str, Any]], n: int) -> list[list[float]]:
    """The numbers on the pages of n answers, each bought from a curator; from a new one before a delta is used up."""
    sql, paid = QUESTIONS[question]
    out: list[list[float]] = []
    while len(out) < n:
        some = min(10, n - len(out)) if isinstance(paid, ApproxDP) else n
        with closing(Curator({"t": Table(stored(rows), columns=COLUMNS)}, budget=(some + 1) * paid)) as curator:
            for _ in range(some):
                page: Any = curator.sql(sql, **_pay(paid), fresh=True)
                shown = [x for name in page.outputs for x in page[name]]
                out.append([math.nan if x is None else float(x) for x in shown])
    return out


# ---- local tasks -----------------------------------------------------------------------------------------------------


def in_library(task: Any, value: Any, n: int) -> Any:
    many = {name: [x] * n for name, x in value.items()} if isinstance(value, dict) else [value] * n
    return task.to_bytes(task.randomize(np.array(many) if isinstance(value, list) else many))


def on_device(task: Any, value: Any, n: int) -> Any:
    read = curador_device.read_task(document(task))
    rows = b"".join(curador_device.report(read, value) for _ in range(n))
    return np.frombuffer(rows, np.uint8).reshape(n, -1)


def in_javascript(task: Any, value: Any, n: int, key: str | None = None) -> Any:
    """By the client for browsers, in Node; its bytes are made of the key, a fresh one unless it is given."""
    key = key or f"{SYSTEM.bits(128):032x}"
    jobs: list[dict[str, Any]] = [
        {"do": "seed", "key": key},
        {"do": "reports", "document": document(task), "values": [value] * n},
    ]
    return np.frombuffer(base64.b64decode(in_node(jobs)[1]["rows"]), np.uint8).reshape(n, -1)
