"""The server: what a request takes of a core, beside the same in Python; how long clients wait; and its memory.

The server is the command `curador serve`, a process of its own with a ledger in a file, without a tick, which would
only make clients wait.  A rate per core is one over the CPU seconds that the server takes for a request, so that other
work on the machine, and the clients' own, do not count.
"""

from __future__ import annotations

import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench.report import cpu
from bench.sides import ROOT
from curador import Access, Curator
from curador.server.access.auth import give

TITLE = "Server"

ROWS = 1_000
ROUNDS = 5
CLIENTS = 8
CROWD = 100
MANY = 50_000
STUDY = """
[tables.people]
source = "people.csv"
unit = "row"
[tables.people.columns]
sex = { type = "text", keys = ["F", "M"] }
age = { type = "integer", bounds = [0, 100] }
pay = { type = "real", bounds = [0, 5000], step = 0.5 }

[budget]
epsilon = 1000000

[analysts.ana]
epsilon = 1000000

[server]
tick = "0s"
per_token = 1000000000
per_address = 1000000000
at_once = 1000
"""

Body = dict[str, str]
Next = Callable[[], Body]
"""Makes the question of the next request."""


def question(number: int) -> Body:
    """A question of its own: a new number in its filter."""
    sql = f"SELECT sex, COUNT(*) AS n, AVG(pay) AS pay FROM people WHERE age < 90 OR pay < {number}.5 GROUP BY sex"
    return {"sql": sql, "epsilon": "0.01"}


def write_study(folder: Path) -> Path:
    lines = [f"{'FM'[i % 2]},{20 + i % 50},{(i * 37) % 5000}.5" for i in range(ROWS)]
    (folder / "people.csv").write_text("\n".join(["sex,age,pay", *lines]) + "\n")
    (folder / "study.toml").write_text(STUDY)
    return folder / "study.toml"


class Numbers:
    """0, 1, 2, … for threads."""

    def __init__(self) -> None:
        self._next, self._lock = 0, threading.Lock()

    def __call__(self) -> int:
        with self._lock:
            self._next += 1
            return self._next


# ---- a server, seen from outside -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Served:
    port: int
    token: str
    process: int

    def cpu(self) -> float:
        """CPU seconds of the process so far."""
        fields = Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self, name: str) -> float:
        """Bytes that the process has now (VmRSS), or had at most (VmHWM)."""
        lines = Path(f"/proc/{self.process}/status").read_text().splitlines()
        return 1024.0 * next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


@contextmanager
def served(study: Path) -> Iterator[Served]:
    with closing(Curator(study)) as curator:
        token = give(curator.ledger, Access("", "analyst", "ana"))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = int(listening.getsockname()[1])
    command = [str(Path(sys.executable).with_name("curador")), "serve", str(study), "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
        try:
            for _ in range(600):
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    time.sleep(0.1)
            yield Served(port, token, server.pid)
        finally:
            server.terminate()
            server.wait(60)


def sent(at: Served, path: str, made: Next, requests: int, clients: int) -> list[float]:
    """Requests by so many clients, each on a connection of its own; how long each waited for its answer."""
    waits: list[list[float]] = [[] for _ in range(clients)]
    failed: list[str] = []
    headers = {"Authorization": f"Bearer {at.token}", "Content-Type": "application/json"}

    def client(me: int) -> None:
        with closing(http.client.HTTPConnection("127.0.0.1", at.port, timeout=600)) as connection:
            for _ in range(requests // clients):
                body, start = json.dumps(made()), time.perf_counter()
                connection.request("POST", path, body, headers)
                answer = connection.getresponse()
                text = answer.read()
                waits[me].append(time.perf_counter() - start)
                if answer.status != 200:
                    failed.append(text.decode())
                    return

    threads = [threading.Thread(target=client, args=(n,)) for n in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise RuntimeError(f"the server refused: {failed[0]}")
    return [wait for own in waits for wait in own]


def took(at: Served, path: str, made: Next, requests: int) -> float:
    """CPU seconds of the server for one request: the least of some rounds, since others share the machine."""
    sent(at, path, made, CLIENTS, CLIENTS)  # threads and connections are there before it counts
    found = []
    for _ in range(ROUNDS):
        before = at.cpu()
        sent(at, path, made, requests, CLIENTS)
        found.append((at.cpu() - before) / requests)
    return min(found)


def in_python(study: Path, numbers: Numbers, asks: int) -> float:
    """CPU seconds of one ask of a curator in this process, by as many threads as there are clients."""
    with closing(Curator(study)) as curator:

        def ask() -> None:
            for _ in range(asks // CLIENTS):
                asked = question(numbers())
                curator.ask(asked["sql"], epsilon=asked["epsilon"], analyst="ana")

        found = []
        for turn in range(ROUNDS + 1):  # of which the first warms up
            threads = [threading.Thread(target=ask) for _ in range(CLIENTS)]
            start = time.process_time()
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            if turn:
                found.append((time.process_time() - start) / asks)
    return min(found)


# ---- the section ---------------------------------------------------------------------------------------------------


def percentile(waits: list[float], share: float) -> float:
    return sorted(waits)[min(len(waits) - 1, int(share * len(waits)))]


def section() -> str:
    """Run every case; the section of docs/benchmarks.md."""
    lines: list[str] = []

    def line(*cells: str, met: bool | None = None) -> None:
        lines.append(f"| {' | '.join(cells)} | { ({None: '', True: 'met', False: 'MISSED'}[met]) } |")
        print(lines[-1], flush=True)

    def rate(case: str, seconds: float, goal: int) -> None:
        found = 1 / seconds
        line(case, f"{1000 * seconds:.2f} ms", f"{found:.0f}/s a core", f"≥ {goal}/s", met=found >= goal)

    load = os.getloadavg()[0]
    folder = Path(tempfile.mkdtemp(prefix="curador-bench-", dir=ROOT))
    numbers = Numbers()
    try:
        (folder / "python").mkdir()
        alone = in_python(write_study(folder / "python"), numbers, 80)
        with served(write_study(folder)) as at:
            new, same = (lambda: question(numbers())), partial(question, 0)
            rate("explain, a new question each", took(at, "/v1/explain", new, 80), 100)
            rate("explain, the same question", took(at, "/v1/explain", same, 400), 500)
            asked = took(at, "/v1/ask", new, 80)
            ratio = asked / alone
            there = f"{ratio:.2f} × the {1000 * alone:.2f} ms in Python"
            line(
                f"ask, {ROWS:,} rows, a new question each", f"{1000 * asked:.2f} ms", there, "≤ 1.5 ×", met=ratio <= 1.5
            )
            rate("ask, a stored answer", took(at, "/v1/ask", same, 400), 300)
            for case, path in (("explanations", "/v1/explain"), ("stored answers", "/v1/ask")):
                waits = sent(at, path, same, 20 * CROWD, CROWD)
                half, most = (1000 * percentile(waits, share) for share in (0.5, 0.99))
                line(f"{CROWD} clients at once, {case}: p50, p99", f"{half:.0f} ms", f"{most:.0f} ms", "")
            before = 0.0
            for part in (MANY // 10, MANY - MANY // 10):
                before = at.memory("VmRSS")  # at last, that before the greater part
                for path in ("/v1/explain", "/v1/ask"):
                    sent(at, path, same, part // 2, CLIENTS)
            after, peak = at.memory("VmRSS"), at.memory("VmHWM")
            grown = f"{after / 1e6:.0f} MB after {MANY:,}, at most {peak / 1e6:.0f} MB"
            case = f"memory after {MANY // 10:,} explanations and stored answers"
            line(case, f"{before / 1e6:.0f} MB", grown, "≤ 1.05 ×", met=after <= 1.05 * before)
    finally:
        shutil.rmtree(folder)
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    about = (
        f"{when} · `make bench BENCH=server` · {cpu()}, {os.cpu_count()} cores, load {load:.1f} · one process, a "
        f"ledger in a file, no tick, {CLIENTS} clients. *CPU* is what the server takes for a request, the least of "
        f"{ROUNDS} rounds; a rate per core is one over it. What clients wait is wall time, and waits for whatever "
        "else the machine does."
    )
    head = ["| case | CPU |  | wanted |  |", "|---|---|---|---|---|"]
    return "\n".join([f"## {TITLE}", "", about, "", *head, *lines])
