"""How fast budgets are spent durably, as a ratio to what this machine's disk can sync in the same run.

Seconds say little here: every charge waits for the disk, and disks differ by a thousand; so does one disk, from one
second to the next, where a machine is shared.  So each case is cut into short slices, each between two slices of plain
fdatasync in the same folder, and the median of the slices' ratios is reported.  A jump falls on one slice, not on one
side.  PostgreSQL is compared with a plain durable transaction on the same server.

A pair also takes CPU, which no disk makes quicker.  So the CPU of a pair is reported, and the ratio that it alone would
allow if syncs took no time of ours: below that the ratio is the disk's, and at it the interpreter's.
"""

from __future__ import annotations

import glob
import os
import pwd
import shutil
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.cases import Case
from bench.report import cpu
from bench.sides import ROOT
from curador.accounting.events import PureLoss
from curador.ledger.book import Book
from curador.ledger.opening import open_ledger
from curador.privacy import PureDP

TITLE = "Ledger"
CASES: tuple[Case, ...] = ()
"""None against peers: no peer examined keeps a durable budget.  section() runs this file's own."""

EVENT = PureLoss(Fraction(1, 10**6))
ANSWER = b"x" * 500

SLOW = 0.004
"""Seconds: what a sync took on this project's machine when its disk was busy; on idle days it takes a tenth of a ms."""


COMMIT = 4 * 2072
"""Bytes that a commit of one client appends to SQLite's log: five pages for a reserve and three for a settle."""

LOG = 1000 * 2072
"""Bytes after which SQLite begins its log anew."""

SLICES = 15
SLICE = 0.4
"""Seconds of work between two slices of what it is compared with, which are half as long."""


def syncs(folder: Path, seconds: float = SLICE / 2, size: int = 4096, places: int = 16) -> float:
    """Plain overwrites with fdatasync, per second, in ``places`` of a file in turn."""
    file = os.open(folder / f"syncs of {size}", os.O_RDWR | os.O_CREAT)
    if os.fstat(file).st_size < size * places:
        os.pwrite(file, b"\0" * size * places, 0)
        os.fsync(file)
    done, start = 0, time.perf_counter()
    while (spent := time.perf_counter() - start) < seconds:
        os.pwrite(file, b"\1" * size, size * (done % places))
        os.fdatasync(file)
        done += 1
    os.close(file)
    return done / spent


def disk_alone(folder: Path, count: int = SLICES) -> float:
    """Pairs per plain sync of one client whose CPU took no time: two commits in a row, each some pages of a log."""
    one = partial(syncs, folder, size=COMMIT, places=LOG // COMMIT)
    return statistics.median(one() / 2 / syncs(folder) for _ in range(count))


def pair(ledger: Book) -> None:
    ledger.settle(ledger.reserve("visits", EVENT).id, ANSWER)


@dataclass(frozen=True)
class Seen:
    """The outcome of a slice of work."""

    rate: float
    cpu: float
    commits: float
    marks: float


def clients(ledger: Book, count: int, seconds: float = SLICE) -> Seen:
    """Pairs of reserve and settle by so many threads: how many a second, and what each took."""
    done, end = [0] * count, time.perf_counter() + seconds

    def work(me: int) -> None:
        while time.perf_counter() < end:
            pair(ledger)
            done[me] += 1

    threads = [threading.Thread(target=work, args=(n,)) for n in range(count)]
    with counted(ledger) as calls:
        start, cpu = time.perf_counter(), time.process_time()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took, cpu = time.perf_counter() - start, time.process_time() - cpu
    pairs = sum(done)
    return Seen(pairs / took, cpu / pairs, calls["commit"] / pairs, calls["mark"] / pairs)


@contextmanager
def counted(ledger: Book) -> Iterator[dict[str, int]]:
    """How often a ledger commits and moves its anchor; each is a sync (checkpoints, one in a hundred, aside)."""
    store: Any = ledger._store
    calls = {"commit": 0, "mark": 0}
    commit, mark = store._commit, store.anchor.mark

    def committing() -> None:
        calls["commit"] += 1
        commit()

    def marking(*what: Any) -> Any:
        calls["mark"] += 1
        return mark(*what)

    store._commit, store.anchor.mark = committing, marking
    try:
        yield calls
    finally:
        store._commit, store.anchor.mark = commit, mark


def spent_cpu(threads: int, rounds: int = 7) -> float:
    """CPU seconds of a pair where syncs cost nothing: the least of some rounds, since others share the machine.

    Each charges three scopes, one of them its receiver's, for a question of its own.  A thread buys so many that
    starting and ending it, which is no ledger's cost, does not weigh: where a thread buys 16 and not 64, a pair takes
    12 to 20 % more.
    """
    pairs = max(1024, 64 * threads)
    memory = "/dev/shm"
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        ledger = started(open_ledger(Path(folder) / "x.db"))
        ledger.open("ana", PureDP(1000), parent="people")

        def buy(names: list[str]) -> None:
            for name in names:
                ledger.settle(ledger.reserve("visits", EVENT, fingerprint=name, receiver="ana").id, ANSWER)

        found = []
        for turn in range(rounds + 1):  # of which the first warms up
            names = [f"question {turn} {n}" for n in range(pairs)]
            shares = [names[n::threads] for n in range(threads)]
            workers = [threading.Thread(target=buy, args=(share,)) for share in shares[1:]]
            start = time.process_time()
            for worker in workers:
                worker.start()
            buy(shares[0])
            for worker in workers:
                worker.join()
            found.append((time.process_time() - start) / pairs)
        ledger.close()
    return min(found[1:])


def slowed(ledger: Book, seconds: float) -> Book:
    """The same ledger, with every commit and every mark made to take so much longer: a disk of another kind."""
    store: Any = ledger._store
    commit, mark = store._commit, store.anchor.mark

    def slow_commit() -> None:
        commit()
        time.sleep(seconds)

    def slow_mark(*what: Any) -> Any:
        time.sleep(seconds)
        return mark(*what)

    store._commit, store.anchor.mark = slow_commit, slow_mark
    return ledger


def started(ledger: Book) -> Book:
    ledger.open("people", PureDP(1000))
    ledger.open("visits", PureDP(1000), parent="people")
    return ledger


def waits(address: dict[str, Any], processes: int, times: int) -> list[float]:
    """How long each pair took, of processes that race."""
    reading, writing = os.pipe()
    children = []
    for _ in range(processes):
        if (pid := os.fork()) == 0:
            ledger = open_ledger(**address)
            for _ in range(times):
                start = time.perf_counter()
                pair(ledger)
                os.write(writing, f"{time.perf_counter() - start}\n".encode())
            ledger.close()
            os._exit(0)
        children.append(pid)
    os.close(writing)
    with os.fdopen(reading) as lines:
        found = [float(line) for line in lines]
    for child in children:
        os.waitpid(child, 0)
    return found


@dataclass(frozen=True)
class Measured:
    """Medians over slices: the work's rate, the unit's, their ratio slice by slice, and what a pair took."""

    rate: float
    base: float
    ratio: float
    least: float
    most: float
    cpu: float
    syncs: float

    @property
    def allowed(self) -> float:
        """The ratio if only the CPU took time."""
        return 1 / (self.cpu * self.base)


def slices(one: Callable[[], Seen], unit: Callable[[], float], count: int = SLICES) -> Measured:
    """Work and unit in turn, beginning and ending with the unit."""
    one()  # threads, connections and the log's file are there before it counts
    bases, seen = [unit()], []
    for _ in range(count):
        seen.append(one())
        bases.append(unit())
    beside = [(before + after) / 2 for before, after in pairwise(bases)]
    ratios = [x.rate / base for x, base in zip(seen, beside, strict=True)]
    return Measured(
        statistics.median(x.rate for x in seen),
        statistics.median(beside),
        statistics.median(ratios),
        min(ratios),
        max(ratios),
        statistics.median(x.cpu for x in seen),
        statistics.median(x.commits + x.marks for x in seen),
    )


@contextmanager
def postgres() -> Iterator[str | None]:
    """A server of our own that syncs, or None where none is installed."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"))
    programs = Path(found[-1]).parent if found else Path(shutil.which("postgres") or "").parent
    if not (programs / "initdb").exists():
        yield None
        return
    who: dict[str, Any] = {}
    folder = tempfile.mkdtemp(prefix="curador-bench-")
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        user = pwd.getpwnam("postgres")
        who = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        os.chown(folder, user.pw_uid, user.pw_gid)
    quiet: dict[str, Any] = {"cwd": "/", "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **who}
    subprocess.run([programs / "initdb", "-D", f"{folder}/data", "-U", "postgres", "-A", "trust"], check=True, **quiet)
    server = subprocess.Popen([programs / "postgres", "-D", f"{folder}/data", "-k", folder, "-h", ""], **quiet)
    try:
        for _ in range(300):
            ready = subprocess.run([programs / "pg_isready", "-h", folder], check=False, **quiet)
            if ready.returncode == 0:
                break
            time.sleep(0.1)
        yield f"postgresql://postgres@/postgres?host={folder}"
    finally:
        server.terminate()
        server.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


def plain_transactions(url: str, seconds: float = SLICE / 2) -> float:
    """One-row updates, each its own durable transaction, per second."""
    from psycopg import connect

    with connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS plain (id int PRIMARY KEY, n bigint)")
        connection.execute("INSERT INTO plain VALUES (1, 0) ON CONFLICT DO NOTHING")
        done, start = 0, time.perf_counter()
        while (spent := time.perf_counter() - start) < seconds:
            connection.execute("UPDATE plain SET n = n + 1 WHERE id = 1")
            done += 1
        return done / spent


def section() -> str:
    """Run every case; the section of docs/benchmarks.md."""
    lines = []

    def line(*cells: str, met: bool | None = None) -> None:
        lines.append(f"| {' | '.join(cells)} | { ({None: '', True: 'met', False: 'MISSED'}[met]) } |")
        print(lines[-1], flush=True)

    def ratio(case: str, found: Measured, unit: str, goal: float | None = None) -> None:
        line(
            f"{case}, reserve + settle",
            f"{found.rate:.0f}/s",
            f"{found.base:.0f} {unit}/s",
            f"{found.ratio:.2f} ({found.least:.2f} to {found.most:.2f})",
            f"{1000 * found.cpu:.2f} ms",
            f"{found.allowed:.2f}",
            f"{found.syncs:.2f}",
            f"≥ {goal}" if goal else "",
            met=None if goal is None else found.ratio >= goal,
        )

    def many(count: int) -> str:
        return f"{count} client{'s' * (count > 1)}"

    def alone(count: int, most: float) -> None:
        found = spent_cpu(count)
        name = f"SQLite in memory, {many(count)}, reserve + settle"
        line(name, *("", "", ""), f"{1000 * found:.2f} ms", "", "", f"≤ {1000 * most:.1f} ms", met=found <= most)

    load = os.getloadavg()[0]  # beside others every sync waits for its turn too, and groups gain more
    folder = Path(tempfile.mkdtemp(prefix="curador-bench-", dir=ROOT))
    try:
        alone(1, 0.0002)
        alone(64, 0.0001)
        ledger = started(open_ledger(folder / "x.db"))
        floor = disk_alone(folder)
        for count, goal in ((1, 0.3), (8, None), (64, 4)):
            found = slices(partial(clients, ledger, count), partial(syncs, folder))
            ratio(f"SQLite, {many(count)}", found, "fdatasync", goal)
        slowed(ledger, SLOW)
        for count in (1, 64):
            found = slices(partial(clients, ledger, count), lambda: 1 / (SLOW + 1 / syncs(folder)))
            ratio(f"SQLite, {many(count)}, every sync made {1000 * SLOW:.0f} ms slower", found, "such syncs")
        ledger.close()
        took = waits({"address": folder / "x.db"}, 8, 60)
        worst, middle = max(took), statistics.median(took)
        line(
            "SQLite, 8 processes, worst wait",
            f"{1000 * worst:.0f} ms",
            f"median {1000 * middle:.0f} ms",
            f"{worst / middle:.2f}",
            *("", "", ""),
            "≤ 50",
            met=worst <= 50 * middle,
        )
        with postgres() as url:
            if url is not None:
                ledger = started(open_ledger(url, keep=folder / "keep"))
                for count in (1, 8, 64):
                    found = slices(partial(clients, ledger, count), partial(plain_transactions, url))
                    ratio(f"PostgreSQL, {many(count)}", found, "plain transactions")
                ledger.close()
    finally:
        shutil.rmtree(folder)
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    about = (
        f"{when} · `make bench BENCH=ledger` · {cpu()}, {os.cpu_count()} cores, load {load:.1f} · wall time, medians "
        f"of {SLICES} slices of {SLICE} s, each between two slices of what it is compared with, on the same disk; in "
        "brackets the range of the slices. A pair is two durable commits and a mark outside the database; clients that "
        "wait share them. A ratio is pairs per plain sync (or transaction); of the wait, worst by median. *CPU* is "
        "what a pair takes of this process, *allows* the ratio if only that took time: where a plain sync is quicker "
        "than the CPU of a pair, it is not the disk that bounds us; the slowed lines show a disk that does. *Syncs* "
        "are commits and marks per pair. "
        "With CPU that cost nothing, two syncs in a row of as many bytes as SQLite writes in a commit would allow one "
        f"client a ratio of {floor:.2f}. The lines *in memory* are of files whose syncs cost nothing, three scopes and "
        "a receiver: the least CPU of several rounds of 1,024 pairs or, where there are 64 clients, 4,096."
    )
    head = [
        "| case | Curador | beside | ratio | CPU | allows | syncs | wanted |  |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    return "\n".join([f"## {TITLE}", "", about, "", *head, *lines])
