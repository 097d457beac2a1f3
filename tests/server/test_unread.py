"""Answers that nobody reads: their connections end, so that others are served and the server can stop."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from fastapi import FastAPI
from fastapi.responses import Response
from uvicorn.protocols.http.h11_impl import H11Protocol

from curador.server.gate import heads
from curador.server.gate.heads import HeadsInTime
from curador.server.loopback import on_loopback
from curador.server.run import served_app
from tests.server.served import STUDY, write_study

SIZE = 12_000_000
GET = b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n"
CLOSE = b"GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
APP = FastAPI()


@APP.get("/large")
def _large() -> Response:
    return Response(b"x" * SIZE)


@APP.get("/small")
def _small() -> Response:
    return Response(b"x")


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(HeadsInTime, "unread", 0.3)
    with on_loopback(APP) as found:
        yield found


def _connected(url: str, sent: bytes = b"") -> socket.socket:
    at = urlsplit(url)
    found = socket.socket()
    found.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    found.settimeout(30)
    found.connect((at.hostname, at.port))
    found.sendall(sent)
    return found


def _becomes(true: Callable[[], bool]) -> bool:
    end = time.monotonic() + 30
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def _is_reset(connection: socket.socket) -> bool:
    """Whether the server reset it, by what the system says: nothing is read."""
    return connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) != 0


@pytest.mark.parametrize("sent", [GET, CLOSE, GET * 3, GET + b"GET"], ids=["kept", "closed", "several", "half"])
def test_a_client_that_does_not_read_is_left_alone(url: str, sent: bytes) -> None:
    """Whether the connection is kept, or is closed once all was written, which would wait for its reader."""
    with _connected(url, sent) as connection:
        assert _becomes(lambda: _is_reset(connection))
    assert httpx.get(f"{url}/small").text == "x"


class _Waiting:
    """A transport with so many bytes that wait at each look, and a loop that is never late."""

    def __init__(self, *sizes: int) -> None:
        self.sizes, self.aborted = list(sizes), False

    def get_write_buffer_size(self) -> int:
        return self.sizes.pop(0)

    def get_extra_info(self, name: str) -> None:
        return None

    def abort(self) -> None:
        self.aborted = True

    def call_later(self, *given: object) -> None:
        return None


def _is_ended(monkeypatch: pytest.MonkeyPatch, *sizes: int, between: str = "") -> bool:
    one: Any = HeadsInTime.__new__(HeadsInTime)
    one.transport = one.loop = waiting = _Waiting(*sizes)
    while waiting.sizes and not waiting.aborted:
        one._look()
        if between:
            with monkeypatch.context() as patch:
                patch.setattr(H11Protocol, between, lambda self: None)
                getattr(one, between)()
    return waiting.aborted


def test_a_slow_client_gets_all_that_it_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not _is_ended(monkeypatch, *range(1_000_000, -1, -20_000), 0, 50_000, 0)
    assert _is_ended(monkeypatch, *range(1_000_000, -1, -10_000))
    assert _is_ended(monkeypatch, 0, 100, 100)


def test_another_response_in_the_place_of_one_that_was_read_is_no_standstill(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many bytes wait as the last time, but they are others: a proxy's connection is busy all the time."""
    assert _is_ended(monkeypatch, 50_000, 50_000)
    assert not _is_ended(monkeypatch, 50_000, 50_000, between="on_response_complete")
    assert not _is_ended(monkeypatch, 50_000, 50_000, between="resume_writing")


def test_the_server_stops_although_somebody_does_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HeadsInTime, "leaving", 0.2)
    monkeypatch.setattr(HeadsInTime, "unread", 3600)
    before = set(threading.enumerate())
    with ExitStack() as stack:
        with on_loopback(APP) as url:
            (server,) = (thread for thread in set(threading.enumerate()) - before if "(run)" in thread.name)
            for sent in (GET, CLOSE, GET * 3):
                stack.enter_context(_connected(url, sent)).recv(1)
        assert not server.is_alive()


def test_an_address_has_only_so_many_connections(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HeadsInTime, "most", 2)
    with ExitStack() as stack:  # this machine's own are not counted: a proxy has those of everybody
        own = [stack.enter_context(_connected(url, b"GET")) for _ in range(4)]
        assert httpx.get(f"{url}/small").text == "x"
        assert not any(_is_reset(one) for one in own)
    monkeypatch.setattr(heads, "counted", lambda client: "192.0.2.7")
    with ExitStack() as stack:
        first = [stack.enter_context(_connected(url, b"GET")) for _ in range(2)]
        assert _becomes(lambda: HeadsInTime._held["192.0.2.7"] == 2)
        with pytest.raises(httpx.TransportError):
            httpx.get(f"{url}/small")
        assert not any(_is_reset(one) for one in first)
    assert _becomes(lambda: not HeadsInTime._held)
    assert httpx.get(f"{url}/small").text == "x"


def test_a_study_says_how_many_and_a_proxy_has_them_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HeadsInTime, "most", None)
    for more, most in (("connections = 7\n", 7), ("behind_tls = true\n", None), ("", 200)):
        file = write_study(tmp_path, rows=4, study=STUDY + more)
        monkeypatch.setenv("CURADOR_SERVED_STUDY", str(file))
        served_app()
        assert HeadsInTime.most == most


def test_addresses_that_count_as_one() -> None:
    same = heads.counted(("2001:db8:0:1::7", 1))
    assert same == heads.counted(("2001:db8:0:1:ffff::8", 2)) != heads.counted(("2001:db8:0:2::7", 1))
    assert heads.counted(("::ffff:192.0.2.7", 1)) == "192.0.2.7"
    assert [heads.counted(x) for x in (("::1", 1), ("127.8.8.8", 1), ("::ffff:127.0.0.1", 1), None, ("", 0))] == [
        None
    ] * 5
    assert heads.counted(("fe80::1%eth0", 1)) == "fe80::"
