"""How fast budgets are spent durably, as a ratio to what this machine's disk can sync in the same run.

Seconds say little here: every charge waits for the disk, and disks differ by a thousand.  So each case is run between
two measurements of plain fdatasync in the same folder, and told per sync.  PostgreSQL is run beside a plain durable
transaction on the same server.
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
from fractions import Fraction
from functools import partial
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


def syncs(folder: Path, seconds: float = 1.5) -> float:
    """Plain 4 KiB overwrites with fdatasync, per second."""
    path = folder / "syncs"
    file = os.open(path, os.O_RDWR | os.O_CREAT)
    os.pwrite(file, b"\0" * 65536, 0)
    os.fsync(file)
    done, start = 0, time.perf_counter()
    while (spent := time.perf_counter() - start) < seconds:
        os.pwrite(file, b"\1" * 4096, 4096 * (done % 16))
        os.fdatasync(file)
        done += 1
    os.close(file)
    return done / spent


def pair(ledger: Book) -> None:
    ledger.settle(ledger.reserve("visits", EVENT).id, ANSWER)


def clients(ledger: Book, count: int, seconds: float = 3.0) -> float:
    """Pairs of reserve and settle per second by so many threads."""
    done, end = [0] * count, time.perf_counter() + seconds

    def work(me: int) -> None:
        while time.perf_counter() < end:
            pair(ledger)
            done[me] += 1

    start = time.perf_counter()
    threads = [threading.Thread(target=work, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(done) / (time.perf_counter() - start)


def work(count: int = 500) -> float:
    """CPU seconds of a pair, where syncs cost nothing: below such a sync time it is not the disk that bounds us."""
    memory = "/dev/shm"
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        ledger = started(open_ledger(Path(folder) / "x.db"))
        start = time.process_time()
        for _ in range(count):
            pair(ledger)
        spent = time.process_time() - start
        ledger.close()
    return spent / count


def slowed(ledger: Book, seconds: float) -> Book:
    """The same ledger, with every commit and every mark made to take so much longer: a disk of another kind."""
    store: Any = ledger._store
    commit, advance = store._commit, store.anchor.advance

    def slow_commit() -> None:
        commit()
        time.sleep(seconds)

    def slow_advance(mark: Any) -> None:
        advance(mark)
        time.sleep(seconds)

    store._commit, store.anchor.advance, store._sync = slow_commit, slow_advance, seconds
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
        told = [float(line) for line in lines]
    for child in children:
        os.waitpid(child, 0)
    return told


def rounds(one: Callable[[], float], unit: Callable[[], float], count: int = 5) -> tuple[float, float, float]:
    """Medians over alternating rounds: the rate, the unit's rate, and their ratio round by round."""
    seen = []
    for _ in range(count):
        before = unit()
        rate = one()
        seen.append((rate, (before + unit()) / 2))
    return (
        statistics.median(rate for rate, _ in seen),
        statistics.median(base for _, base in seen),
        statistics.median(rate / base for rate, base in seen),
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


def plain_transactions(url: str, seconds: float = 1.5) -> float:
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

    def line(case: str, rate: str, beside: str, ratio: float, wanted: str, met: bool | None) -> None:
        verdict = {None: "", True: "met", False: "MISSED"}[met]
        lines.append(f"| {case} | {rate} | {beside} | {ratio:.2f} | {wanted} | {verdict} |")
        print(lines[-1], flush=True)

    folder = Path(tempfile.mkdtemp(prefix="curador-bench-", dir=ROOT))
    try:
        ledger = started(open_ledger(folder / "x.db"))
        for count, goal in ((1, 0.3), (8, None), (64, 4)):
            rate, base, ratio = rounds(partial(clients, ledger, count), partial(syncs, folder))
            name = f"SQLite, {count} client{'s' * (count > 1)}, reserve + settle"
            beside, wanted = f"{base:.0f} fdatasync/s", f"≥ {goal}" if goal else ""
            line(name, f"{rate:.0f}/s", beside, ratio, wanted, None if goal is None else ratio >= goal)
        for count in (1, 64):
            rate = clients(slowed(ledger, SLOW) if count == 1 else ledger, count)
            base = 1 / (SLOW + 1 / syncs(folder))
            name = f"SQLite, {count} client{'s' * (count > 1)}, every sync made {1000 * SLOW:.0f} ms slower"
            line(name, f"{rate:.0f}/s", f"{base:.0f} such syncs/s", rate / base, "", None)
        ledger.close()
        took = waits({"address": folder / "x.db"}, 8, 60)
        worst = max(took) / statistics.median(took)
        middle = f"median {1000 * statistics.median(took):.0f} ms"
        line("SQLite, 8 processes, worst wait", f"{1000 * max(took):.0f} ms", middle, worst, "≤ 50", worst <= 50)
        with postgres() as url:
            if url is not None:
                ledger = started(open_ledger(url, keep=folder / "keep"))
                for count in (1, 8, 64):
                    rate, base, ratio = rounds(partial(clients, ledger, count), partial(plain_transactions, url))
                    name = f"PostgreSQL, {count} client{'s' * (count > 1)}, reserve + settle"
                    line(name, f"{rate:.0f}/s", f"{base:.0f} plain transactions/s", ratio, "", None)
                ledger.close()
    finally:
        shutil.rmtree(folder)
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    about = (
        f"{when} · `make bench BENCH=ledger` · {cpu()} · wall time, medians of 5 rounds, each between two measurements "
        "of what it is compared with. A pair is two durable commits and a mark outside the database. "
        "A ratio is pairs per plain sync (or transaction); of the wait, worst by median. "
        f"A pair takes {1000 * work():.2f} ms of CPU: where a plain sync is quicker than that, it is not the disk that "
        "bounds us, and ratios to it are small; the slowed lines show a disk that does."
    )
    head = ["| case | Curador | beside | ratio | wanted |  |", "|---|---|---|---|---|---|"]
    return "\n".join([f"## {TITLE}", "", about, "", *head, *lines])
