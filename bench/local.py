"""Local reports, made and counted, against pure-ldp and multi-freq-ldpy; mixed records; ten million reports on a disk.

Times are per report, at epsilon 1, of people whose keys follow a power law.  Each library is used as its documentation
says: ours takes arrays; pure-ldp and multi-freq-ldpy take one value per call, in a loop of Python, though most clients
of the latter are compiled.  Slow ones are given fewer people: their time per report does not depend on it.  Estimates
are unbiased with us and pure-ldp; multi-freq-ldpy clips and rescales them.

The functions here run in the process of the library they are about, so each imports it itself.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.cases import Case, Code

TITLE = "Local reports"

HOME = Path(__file__).parent.parent / ".bench" / "data"
MANY = 1_000_000
COLLECTED = 10_000_000
MOST_BYTES = 500e6
RECORD = 1 / 2e6
"""CPU seconds: two million records a second."""

Job = Callable[[], Any]


def people(keys: int, n: int) -> Any:
    """The key, by number, of each of n people."""
    import numpy as np

    weights = 1 / np.arange(1, keys + 1) ** 1.1
    return np.random.default_rng(1).choice(keys, n, p=weights / weights.sum())


# ---- this library ----------------------------------------------------------------------------------------------------


def client(made: str, keys: int, n: int) -> Job:
    task = getattr(import_module("curador.local"), made)(keys, 1)
    values = people(keys, n)
    return lambda: task.randomize(values)


def server(made: str, keys: int, n: int) -> Job:
    task = getattr(import_module("curador.local"), made)(keys, 1)
    reports = task.randomize(people(keys, n))
    return lambda: task.estimate(reports).values


def one(made: str, keys: int) -> Job:
    task = getattr(import_module("curador.local"), made)(keys, 1)
    return lambda: task.answer(5)


def one_on_device(made: str, keys: int) -> Job:
    """By the client for devices, which has no NumPy and reads the system's entropy anew for each report."""
    device = import_module("curador.local.devices.curador_device")
    publish = import_module("curador.local.collect.wire").publish_task
    task = device.read_task(publish(getattr(import_module("curador.local"), made)(keys, 1).named("bench")))
    return lambda: device.report(task, 5)


def records(step: str, n: int) -> Job:
    """Eight numbers and eight keys of eight: randomised, estimated, or both."""
    import numpy as np

    from curador.local import Range, Record

    numbers, keys = [f"x{j}" for j in range(8)], [f"c{j}" for j in range(8)]
    task = Record({**dict.fromkeys(numbers, Range(0, 100)), **dict.fromkeys(keys, 8)}, epsilon=1)
    rng = np.random.default_rng(1)
    columns = {name: rng.uniform(0, 100, n) for name in numbers} | {name: people(8, n) for name in keys}
    reports = task.randomize(columns)
    jobs: dict[str, Job] = {
        "randomize": lambda: task.randomize(columns),
        "estimate": lambda: task.estimate(reports),
        "both": lambda: task.estimate(task.randomize(columns)),
    }
    return jobs[step]


def collected(n: int) -> Path:
    """A collector's folder with n reports of Hadamard response on a thousand keys; made when first asked for."""
    import numpy as np

    from curador.local import Hadamard
    from curador.local.collect.collector import Collector
    from curador.local.collect.intake import MessageBatch

    folder = HOME / f"reports-{n}"
    if not folder.exists():
        task, rng, part = (
            Hadamard(1000, 1).named("bench"),
            np.random.default_rng(1),
            folder.with_suffix(f".{time.time_ns()}"),
        )
        collector = Collector.create(part, task)
        for start in range(0, n, MANY // 4):
            many = min(MANY // 4, n - start)
            tokens = np.sort(rng.integers(0, 2**64, many, dtype=np.uint64))
            both = np.stack([tokens, rng.integers(0, 2**64, many, dtype=np.uint64)], axis=1)
            collector.store.add(MessageBatch(both, task.to_bytes(task.randomize(people(1000, many))), Counter()))
        part.rename(folder)
    return folder


def estimate(n: int) -> Job:
    """The collector's estimate, from the disk, with the bar that a person at a terminal sees."""
    from curador.local.collect.collector import Collector

    collector = Collector.open(collected(n))
    return lambda: collector.estimate(progress=True)


def peak(n: int) -> float:
    """The most memory, in bytes, that a process of its own holds while it estimates."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.local", str(n)],
        cwd=Path(__file__).parent.parent,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:  # without its words, which would name places on this machine
        raise RuntimeError("the process failed")
    return float(done.stdout)


# ---- its peers -------------------------------------------------------------------------------------------------------

PURE: dict[str, tuple[str, dict[str, Any]]] = {
    "KRR": ("DE", {}),
    "OUE": ("UE", {"use_oue": True}),
    "OLH": ("LH", {"use_olh": True}),
    "Hadamard": ("HadamardResponse", {}),
}
MULTI = {"KRR": "GRR", "OUE": "UE", "OLH": "LH", "SubsetSelection": "SS"}


def pure_client(made: str, keys: int, n: int) -> Job:
    """Keys are numbered from 1 by default."""
    device = _pure(made, "Client", keys)
    values = (people(keys, n) + 1).tolist()
    return lambda: [device.privatise(value) for value in values]


def pure_server(made: str, keys: int, n: int) -> Job:
    reports, every = pure_client(made, keys, n)(), list(range(1, keys + 1))

    def ask() -> Any:
        collector = _pure(made, "Server", keys)
        collector.aggregate_all(reports)
        return collector.estimate_all(every, suppress_warnings=True)

    return ask


def _pure(made: str, role: str, keys: int) -> Any:
    name, options = PURE[made]
    hashes = {"hash_funcs": None} if (name, role) == ("HadamardResponse", "Client") else {}
    return getattr(import_module("pure_ldp.frequency_oracles"), name + role)(1, keys, **options, **hashes)


def multi_client(made: str, keys: int, n: int) -> Job:
    randomized = _multi(made, "Client")
    values = people(keys, n).tolist()
    return lambda: [randomized(value, keys, 1) for value in values]


def multi_compiled(made: str, keys: int, n: int) -> Job:
    """As :func:`multi_client`, in a loop that is compiled too and keeps the last report only: the least it can cost."""
    randomized, values = _multi(made, "Client"), people(keys, n)

    def loop() -> Any:
        report = randomized(0, keys, 1)
        for value in values:
            report = randomized(value, keys, 1)
        return report

    compiled: Job = import_module("numba").njit(loop)
    return compiled


def multi_server(made: str, keys: int, n: int) -> Job:
    reports, aggregate = multi_client(made, keys, n)(), _multi(made, "Aggregator_MI")
    sizes = () if made == "OUE" else (keys,)
    return lambda: aggregate(reports, *sizes, 1)


def _multi(made: str, role: str) -> Any:
    name = MULTI[made]
    return getattr(import_module(f"multi_freq_ldpy.pure_frequency_oracles.{name}"), f"{name}_{role}")


# ---- the cases -------------------------------------------------------------------------------------------------------

HERE = "import sys; sys.path.append(sys.path[0] + '/..')\nfrom bench import local\n"
NAMES = {"KRR": "k-RR", "OUE": "OUE", "OLH": "local hashing", "Hadamard": "Hadamard", "SubsetSelection": "subsets"}


def job(call: str, per: int = 1) -> Code:
    return Code("ask()", f"{HERE}ask = local.{call}\n", per=per)


def against(made: str, keys: int, ours: int, theirs: int, client: float = 0, server: float = 0) -> list[Case]:
    """Client and server of one oracle; ``client`` and ``server`` say how many times faster we want to be."""
    cases = []
    for role, wanted in (("client", client), ("server", server)):
        peers = {
            peer: job(f"{prefix}_{role}({made!r}, {keys}, {theirs})", theirs)
            for peer, prefix, known in (("pure-ldp", "pure", PURE), ("multi-freq-ldpy", "multi", MULTI))
            if made in known
        }
        own = job(f"{role}({made!r}, {keys}, {ours})", ours)
        name = f"{NAMES[made]}, {keys:,} keys, {role}"
        cases.append(Case(name, own, peers, faster=dict.fromkeys(peers, wanted) if wanted else {}))
    return cases


def compiled(made: str, keys: int, ours: int, theirs: int) -> Case:
    peers = {"multi-freq-ldpy": job(f"multi_compiled({made!r}, {keys}, {theirs})", theirs)}
    name = f"{NAMES[made]}, {keys:,} keys, client, against a compiled loop"
    return Case(name, job(f"client({made!r}, {keys}, {ours})", ours), peers)


def latency(made: str, keys: int) -> list[Case]:
    """A single report, in a program that has the library, and on a device that has one file."""
    peers = {"pure-ldp": f"pure_client({made!r}, {keys}, 1)", "multi-freq-ldpy": f"multi_client({made!r}, {keys}, 1)"}
    theirs = {peer: job(call) for peer, call in peers.items()}
    name = f"{NAMES[made]}, {keys:,} keys, a single report"
    return [
        Case(name, job(f"one({made!r}, {keys})"), theirs),
        Case(f"{name}, device client", job(f"one_on_device({made!r}, {keys})"), theirs),
    ]


CASES = [
    *against("KRR", 16, MANY, 100_000, client=20, server=20),
    *against("KRR", 1024, MANY, 100_000, client=20, server=20),
    *against("OUE", 16, MANY, 10_000, client=5, server=5),
    *against("OUE", 1024, 100_000, 2_000, server=2),
    *against("OLH", 16, MANY, 5_000),
    *against("OLH", 1024, MANY, 200, server=1000),
    *against("Hadamard", 16, MANY, 50_000, client=30, server=30),
    *against("Hadamard", 1024, MANY, 50_000, client=30, server=30),
    *against("SubsetSelection", 16, MANY // 10, 10_000),
    *against("SubsetSelection", 1024, MANY // 50, 2_000),
    compiled("KRR", 16, MANY, 100_000),
    compiled("OUE", 16, MANY, 10_000),
    *latency("KRR", 1024),
    *latency("OUE", 1024),
    Case("a record of 8 numbers and 8 keys, made", job(f"records('randomize', {MANY // 4})", MANY // 4), most=RECORD),
    Case("such a record, counted", job(f"records('estimate', {MANY // 4})", MANY // 4), most=RECORD),
    Case("such a record, made and counted", job(f"records('both', {MANY // 4})", MANY // 4), most=RECORD),
    Case("10 million reports on a disk, estimated", job(f"estimate({COLLECTED})"), most=5.0),
    *(
        Case(
            f"peak memory, {n // MANY} million reports on a disk",
            Code(f"found = local.peak({n})", f"{HERE}local.collected({n})\n", clock="found"),
            most=MOST_BYTES,
            unit="B",
        )
        for n in (MANY, COLLECTED)
    ),
]


if __name__ == "__main__":  # so many reports, with a bar, and the most memory that was held
    estimate(int(sys.argv[1]))()
    # Not ru_maxrss, which begins with that of the process that started this one.
    [held] = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    print(1024.0 * int(held))
