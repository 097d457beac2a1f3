"""Several worker processes on one ledger in PostgreSQL: racing for a ceiling, and killed under load."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import psycopg
import pytest

from curador import Access, CuradorError, Curator
from curador.remote.curator import connect
from curador.server.access.auth import give
from tests.server.served import write_study

COMMAND = Path(sys.executable).with_name("curador")
WORKERS, ANALYSTS, FITTING = 4, 100, 50

STUDY = """
[tables.people]
source = "people.csv"
unit = "row"
[tables.people.columns]
sex = {{ type = "text", keys = ["F", "M"] }}
age = {{ type = "integer", bounds = [0, 100] }}
pay = {{ type = "real", bounds = [0, 5000], step = 0.5 }}
[budget]
epsilon = {epsilon}
[ledger]
address = "{address}"
keep = "keep"
[server]
tick = "10ms"
per_address = 100000
"""


@contextmanager
def workers(study: Path) -> Iterator[tuple[str, int]]:
    """The command with four workers; its address and its process."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = int(listening.getsockname()[1])
    command = [str(COMMAND), "serve", str(study), "--port", str(port), "--workers", str(WORKERS), "--json"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
        try:
            url = f"http://127.0.0.1:{port}"
            with httpx.Client(base_url=url, transport=httpx.HTTPTransport(retries=14), timeout=120) as client:
                assert client.get("/ready").status_code == 200
            yield url, server.pid
        finally:
            server.terminate()
            server.wait(120)


def _children(process: int) -> list[int]:
    return [int(x) for x in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def _question(number: int) -> str:
    return f"SELECT COUNT(*) AS n FROM people WHERE age > {number}"


@pytest.fixture
def address(postgres_url: str, request: pytest.FixtureRequest) -> str:
    """A database of this test's own."""
    name = f"served_{len(request.node.name)}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return postgres_url.replace("/postgres?", f"/{name}?")


def _study(tmp_path: Path, url: str, epsilon: str) -> tuple[Path, list[str]]:
    study = write_study(tmp_path, study=STUDY.format(epsilon=epsilon, address=url))
    with closing(Curator(study)) as curator:
        for number in range(ANALYSTS):
            curator.grant(f"analyst {number}", epsilon=1)
        return study, [give(curator.ledger, Access("", "analyst", f"analyst {n}")) for n in range(ANALYSTS)]


@pytest.mark.slow
def test_a_hundred_analysts_buy_exactly_the_ceiling(tmp_path: Path, address: str) -> None:
    study, tokens = _study(tmp_path, address, "1")

    def ask(number: int) -> int:
        own = {"Authorization": f"Bearer {tokens[number]}"}
        body = {"sql": _question(number), "epsilon": "0.02"}
        with httpx.Client(base_url=url, headers=own, timeout=120) as client:
            return client.post("/v1/ask", json=body).status_code

    with workers(study) as (url, _), ThreadPoolExecutor(16) as pool:
        seen = list(pool.map(ask, range(ANALYSTS)))
    assert sorted(seen) == [200] * FITTING + [402] * (ANALYSTS - FITTING)
    with closing(Curator(study)) as curator:
        assert curator.charge_count() == FITTING
        curator.ledger.verify()


@pytest.mark.slow
def test_workers_that_are_killed_release_nothing_uncharged(tmp_path: Path, address: str) -> None:
    study, tokens = _study(tmp_path, address, "1000")
    got: dict[int, str] = {}

    def ask(number: int) -> None:
        if number % 10 == 5:
            for child in _children(server)[:2]:
                os.kill(child, signal.SIGKILL)
        try:
            with closing(connect(url, tokens[number], timeout=60)) as far:
                got[number] = far.ask(_question(number), epsilon="0.02", key="one").charge
        except CuradorError:
            return

    with workers(study) as (url, server), ThreadPoolExecutor(4) as pool:
        list(pool.map(ask, range(40)))
    with closing(Curator(study)) as curator:
        charges = {charge.id: charge for charge in curator.history(last=None)}
        assert got
        for number, charge in got.items():
            assert charges[charge].receiver == f"analyst {number}"
            assert charges[charge].settled
        assert len(set(got.values())) == len(got)
        curator.ledger.verify()
