"""What the library makes of tens of thousands of reports that each client made from what it takes for real bytes.

Those bytes are seeded, so that these tests end in the same way every time.  With other bytes a right client would fail
one of them less than once in ten thousand runs: intervals are asked to cover but for a chance of a millionth, and other
figures to be within six deviations.
"""

from __future__ import annotations

import base64
from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy import stats

from curador.local import KRR, OLH, OUE, Hadamard, HeavyHitters, SubsetSelection
from curador.local.devices import curador_device as client
from curador.local.numeric.base import Mean
from curador.local.unlisted.prefixes import coded, key_of
from curador.noise import SYSTEM
from tests.local.devices.both import document, in_node, plain
from tests.local.devices.test_law import CASES, client_law
from tests.local.every_task import EVERY_TASK

pytestmark = pytest.mark.xdist_group("counts")  # one Node for the whole file

USERS = 20_000
FEWER = 6_000
SURE = 1 - 1e-6
ALL: list[tuple[Any, Any]] = [
    *EVERY_TASK,
    (HeavyHitters(4, length=6).named("q"), ["tea", "tea", "tea", "coffee", "coffee"]),
]


def people(values: Any, users: int = USERS) -> list[Any]:
    given = plain(values)
    return [given[i % len(given)] for i in range(users)]


@pytest.fixture(scope="module")
def from_node() -> list[np.ndarray[Any, Any]]:
    jobs = [{"do": "reports", "document": document(task), "values": people(values)} for task, values in ALL]
    jobs += [
        {"do": "reports", "document": document(task), "values": people(values[:1], FEWER)} for task, values in CASES
    ]
    seed = {"do": "seed", "key": f"{SYSTEM.bits(128):032x}"}
    rows = [np.frombuffer(base64.b64decode(done["rows"]), np.uint8) for done in in_node([seed, *jobs])[1:]]
    return [row.reshape(len(job["values"]), -1) for row, job in zip(rows, jobs, strict=True)]


def from_python(task: Any, values: list[Any]) -> np.ndarray[Any, Any]:
    read = client.read_task(document(task))
    rows = b"".join(client.report(read, value) for value in values)
    return np.frombuffer(rows, np.uint8).reshape(len(values), -1)


def check_estimate(task: Any, values: Any, rows: Any) -> None:
    """The truth lies where the estimate says."""
    mine = people(values)
    tally = task.tally(task.from_bytes(rows))
    assert tally.users == USERS
    if task.mechanism in ("rappor", "count-mean", "hadamard-count-mean"):
        shares = Counter(mine)
        found = task.estimate(tally, list(shares))
        truth = np.array([shares[key] / USERS for key in found.keys])
        assert (np.abs(found.values - truth) < 6 * np.sqrt(found.variance)).all()
    elif task.mechanism == "square-wave":
        inside = float(task.bucket_of(mine).mean())
        centre = float(np.dot(np.arange(task.cells), tally.support) / USERS)
        assert centre == pytest.approx(expected_cell(task, inside), abs=6 * task.cells / np.sqrt(12 * USERS))
    elif task.mechanism == "heavy-hitters":
        found = task.find(tally, confidence=SURE)
        often = [key for key, times in Counter(mine).items() if times >= found.complete_above * USERS]
        codes = coded(often, task.length, task.kind == "text")[0]
        assert {key_of(row, task.kind == "text")[0] for row in codes} <= set(found.keys)
        assert task.length < 6 or found.keys == ("tea", "coffee")  # with so few places, others are met by chance
    elif task.mechanism == "record":
        for name, found in task.estimate(tally).items():
            check_one(found, [row[name] for row in mine], task.parts[task.names.index(name)])
    else:
        check_one(task.estimate(tally), mine, task)


def expected_cell(task: Any, bucket: float) -> float:
    """The mean cell of the square wave, which is linear in the bucket."""
    w, n, p = task.window, task.cells, float(task.near) * task.window
    middle = bucket + (w - 1) / 2
    others = (n * (n - 1) / 2 - w * middle) / (n - w)
    return float(p * middle + (1 - p) * others)


def check_one(found: Any, mine: list[Any], task: Any) -> None:
    low, high = found.interval(SURE)
    if isinstance(found, Mean):
        truth: Any = np.clip(np.array(mine, float), float(task.low), float(task.high)).mean()
    elif hasattr(found, "keys"):
        listed = [x if x in found.keys else task.rest for x in mine]
        truth = np.array([listed.count(key) / len(mine) for key in found.keys])
    else:
        truth = np.clip(np.array(mine, float), float(task.low), float(task.high)).mean(axis=0)
    assert np.all((low <= truth) & (truth <= high))
    whole = 1.0 if hasattr(found, "keys") else float(task.high - task.low)
    assert np.mean(np.asarray(high) - low) < 0.6 * whole  # or it would cover anything


@pytest.mark.parametrize("case", range(len(ALL)), ids=lambda i: ALL[i][0].mechanism)
def test_the_library_reads_the_python_client(case: int) -> None:
    task, values = ALL[case]
    check_estimate(task, values, from_python(task, people(values)))


@pytest.mark.parametrize("case", range(len(ALL)), ids=lambda i: ALL[i][0].mechanism)
def test_the_library_reads_the_javascript_client(case: int, from_node: list[Any]) -> None:
    task, values = ALL[case]
    check_estimate(task, values, from_node[case])


def fits(task: Any, value: Any, rows: Any) -> float:
    """The chance that reports deviate as far from their exact law; reports that cannot be make it 0."""
    law = client_law(client.read_task(document(task)), value)
    seen = Counter(row.tobytes() for row in rows)
    if set(seen) - set(law):
        return 0.0
    # Rare reports are put together, so that the chi-square law holds.
    often = [report for report, chance in law.items() if chance * len(rows) >= 5]
    counts = [seen[report] for report in often]
    wanted = [float(law[report]) * len(rows) for report in often]
    if len(often) < len(law):
        counts.append(len(rows) - sum(counts))
        wanted.append(len(rows) - sum(wanted))
    wanted = [x * sum(counts) / sum(wanted) for x in wanted]
    return float(stats.chisquare(counts, wanted).pvalue)


@pytest.mark.parametrize("case", range(len(CASES)), ids=lambda i: CASES[i][0].mechanism)
def test_reports_of_both_clients_have_their_law(case: int, from_node: list[Any]) -> None:
    task, values = CASES[case]
    assert fits(task, values[0], from_node[len(ALL) + case]) > 1e-6
    assert fits(task, values[0], from_python(task, [values[0]] * FEWER)) > 1e-6


def test_another_law_does_not_fit() -> None:
    task = KRR(3, 1)
    assert fits(task, 1, from_python(task, [0] * FEWER)) < 1e-6
    assert fits(task, 0, from_python(KRR(3, "3/2"), [0] * FEWER)) < 1e-6


@pytest.mark.parametrize(
    ("task", "value"),
    [(KRR(4, 1), 2), (OUE(4, 1), 2), (OLH(4, 1), 2), (Hadamard(4, 1), 2), (SubsetSelection(4, 1), 2)],
    ids=lambda x: getattr(x, "mechanism", ""),
)
def test_support_comes_with_the_librarys_chances(task: Any, value: int) -> None:
    """The own key's with p, any other's with q, by an exact binomial test for each."""
    tally = task.tally(task.from_bytes(from_python(task, [value] * USERS)))
    for key, support in enumerate(tally.support.tolist()):
        chance = float(task.p if key == value else task.q)
        assert stats.binomtest(support, USERS, chance).pvalue > 1e-6
