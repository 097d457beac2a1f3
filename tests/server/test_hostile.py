"""Requests that nobody sends by accident: large, slow, malformed, many, and too early or too late."""

from __future__ import annotations

import gzip
import json
import logging
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import pytest

from curador.errors import EngineFailed
from curador.server.gate.clock import TickClock
from curador.server.gate.heads import HeadsInTime
from curador.server.gate.settings import Settings
from tests.server.served import SQL, Served, serving, write_study

ASKED = {"sql": SQL, "epsilon": "0.01"}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(write_study(tmp_path_factory.mktemp("study")), reading="300ms") as found:
        yield found


BODIES = {
    "nothing": b"",
    "no JSON": b"{",
    "not UTF-8": b'{"sql": "\xff\xfe"}',
    "nested": b"[" * 100_000,
    "no question": json.dumps({"question": {}, "epsilon": "1"}).encode(),
    "a nested question": b'{"epsilon": "1", "question": ' + b'{"a":' * 30_000 + b"1" + b"}" * 30_001,
    "a nested list in a question": b'{"epsilon": "1", "question": {"a": ' + b"[" * 900 + b"]" * 900 + b"}}",
    "packed": gzip.compress(json.dumps({"sql": SQL, "epsilon": "0.01"}).encode()),
    "a list": b"[1, 2]",
    "a null": b"null",
    "NaN": b'{"sql": "SELECT COUNT(*) FROM people", "epsilon": NaN}',
    "infinite": b'{"sql": "SELECT COUNT(*) FROM people", "epsilon": 1e999}',
    "another's budget": json.dumps({**ASKED, "analyst": "bea"}).encode(),
    "an unknown setting": json.dumps({**ASKED, "seed": 7}).encode(),
    "two questions": json.dumps({**ASKED, "question": {}}).encode(),
    "a long text": json.dumps({**ASKED, "sql": "x" * 30_000}).encode(),
    "parentheses": json.dumps({**ASKED, "sql": "SELECT " + "(" * 3000 + "1" + ")" * 3000}).encode(),
    "half a surrogate": b'{"sql": "SELECT COUNT(*) FROM people", "epsilon": "0.01", "because": "\\ud800"}',
    "a huge number": b'{"sql": "SELECT COUNT(*) FROM people", "epsilon": ' + b"9" * 5000 + b"}",
    "injection": json.dumps({**ASKED, "sql": "SELECT COUNT(*) FROM people; DROP TABLE people"}).encode(),
    "a file": json.dumps({**ASKED, "sql": "SELECT COUNT(*) FROM read_csv('/etc/passwd')"}).encode(),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_malformed_question_is_refused_and_costs_nothing(served: Served, name: str) -> None:
    spent = served.curator.budget("ana").spent
    with served.client("ana") as client:
        answer = client.post("/v1/ask", content=BODIES[name], headers={"Content-Type": "application/json"})
    assert 400 <= answer.status_code < 500, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert {"code", "detail", "fix", "cost", "request"} <= set(answer.json())
    assert served.curator.budget("ana").spent == spent
    assert answer.status_code != 404  # the address is right


@pytest.mark.parametrize("path", ["/v1/tables/..%2f..%2fetc", "/v1/releases/..", "/v1/releases/-1", "/v1/releases/1e3",
                                  "/v1/public/" + "x" * 5000, "/v1/collect/..%2f..", "//v1/tables", "/v1/%00",
                                  "/v1/tables/%ff%fe", "/v1/releases/%ff", "/v1/collect/%c0%ae%c0%ae%2f",
                                  "/v1/history?last=%ff", "/v1/releases/1%0d%0aSet-Cookie:%20x=1",
                                  "/v1/tables/%2e%2e/%2e%2e/study.toml",
                                  "/console/nothing", "/redoc", "/docs/x", "/v1/tokens/0000/end"])  # fmt: skip
def test_strange_addresses_lead_nowhere(served: Served, path: str) -> None:
    with served.client("curator") as client:
        answer = client.get(path)
    assert answer.status_code in (404, 405, 422), (path, answer.status_code)
    assert "etc" not in answer.text


def _raw(served: Served, data: bytes, wait: float = 5.0) -> bytes:
    at = urlsplit(served.url)
    with socket.create_connection((at.hostname, at.port), timeout=wait) as connection:
        found = b""
        with suppress(ConnectionError):  # what a server does not read when it ends a connection, resets it
            connection.sendall(data)
            while part := connection.recv(65536):
                found += part
        return found


def test_a_client_that_stops_sending_is_left_alone(served: Served) -> None:
    head = b"POST /v1/ask HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\nConnection: close\r\n\r\n{"
    assert b" 408 " in _raw(served, head).split(b"\r\n")[0]


def test_a_client_whose_first_lines_never_end_is_left_alone(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HeadsInTime, "seconds", 0.2)
    for begun in (b"", b"GET", b"GET /health HTTP/1.1\r\nHost: x\r\nX-"):
        assert _raw(served, begun, wait=60) == b""  # until the server ends it


HEADS = {
    "a bare line feed": b"GET /health HTTP/1.1\nHost: x\nX-A: b\n\n",
    "a folded header": b"GET /v1/tables HTTP/1.1\r\nHost: x\r\nX-A: b\r\n Set-Cookie: x=1\r\n\r\n",
    "a space before the colon": b"GET /health HTTP/1.1\r\nHost: x\r\nX-A : b\r\n\r\n",
    "a NUL in a header": b"GET /health HTTP/1.1\r\nHost: x\r\nX-A: a\x00b\r\n\r\n",
    "a NUL in the path": b"GET /v1/\x00 HTTP/1.1\r\nHost: x\r\n\r\n",
    "no host": b"GET /health HTTP/1.1\r\n\r\n",
    "two hosts": b"GET /health HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
    "a long header": b"GET /health HTTP/1.1\r\nHost: x\r\nX-A: " + b"a" * 200_000 + b"\r\n\r\n",
    "many headers": b"GET /health HTTP/1.1\r\nHost: x\r\n" + b"X-A: b\r\n" * 20_000 + b"\r\n",
    "two lengths": b"POST /v1/session HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 30\r\n\r\n{}",
    "a negative length": b"POST /v1/session HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    "a length and chunks": b"POST /v1/session HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /v1/tables HTTP/1.1\r\nHost: x\r\n\r\n",
    "unknown chunks": b"POST /v1/session HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "another protocol": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "a whole address": b"GET http://other.example/v1/tables HTTP/1.1\r\nHost: x\r\n\r\n",
    "two tokens": b"GET /v1/tables HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n",
    "a token that is no text": b"GET /v1/tables HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \xff\xfe\r\n\r\n",
    "an origin of two lines": b"OPTIONS /v1/collect/a HTTP/1.1\r\nHost: x\r\nOrigin: a\r\n\tSet-Cookie: x=1\r\n\r\n",
}


@pytest.mark.parametrize("name", HEADS)
def test_hostile_first_lines_are_refused_or_harmless(
    served: Served, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No failure of the server's own, nothing of theirs in a header, and nothing behind a refused request is served."""
    with monkeypatch.context() as patch:
        patch.setattr(HeadsInTime, "seconds", 1.0)
        found = _raw(served, HEADS[name].replace(b"Host: x", b"Connection: close\r\nHost: x", 1), wait=60)
    assert b"HTTP/1.1 5" not in found
    assert b"HTTP/1.1 200" not in found or b"alive" in found
    assert b"set-cookie" not in found.lower()
    with served.client() as client:
        assert client.get("/health").status_code == 200


def test_a_request_of_two_lengths_is_refused(served: Served) -> None:
    """A proxy in front may have believed the other one, and taken what follows for another's request."""
    head = (
        f"POST /v1/explain HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {served.tokens['ana']}\r\nConnection: close\r\n"
    )
    sent = f"{head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n"
    answer = _raw(served, sent.encode())
    assert b" 400 " in answer.split(b"\r\n")[0]
    assert b"two-lengths" in answer


def test_what_fails_before_anybody_is_known_is_one_constant_answer(
    served: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*given: Any) -> Any:
        raise ValueError("a secret")

    monkeypatch.setattr("curador.server.gate.guard.caller", fails)
    with served.client("ana") as client:
        answer = client.get("/v1/me")
    assert (answer.status_code, answer.json()["code"]) == (500, "server-failed")
    assert "a secret" not in answer.text + caplog.text


def test_large_requests_are_refused_before_they_are_read(served: Served) -> None:
    head = b"POST /v1/ask HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\nConnection: close\r\n\r\n"
    assert b" 413 " in _raw(served, head).split(b"\r\n")[0]
    with served.client("ana") as client:
        parts = iter([b"x" * 65536] * 10)  # without a length
        assert client.post("/v1/ask", content=parts).status_code == 413
    with served.client() as client:
        assert client.post("/v1/session", content=b"x" * 5000).status_code == 413


def test_headers_cannot_be_injected(served: Served) -> None:
    with served.client("curator") as client:
        made = client.post("/v1/grants", json={"scope": "a\r\nSet-Cookie: x=1", "epsilon": "0.1"})
    assert "set-cookie" not in made.headers
    assert made.status_code == 422


def test_rates_are_limited_by_token_and_by_address(tmp_path: Any) -> None:
    with serving(write_study(tmp_path), per_token=5, per_address=20) as served:
        with served.client("ana") as client:
            seen = [client.get("/v1/budget").status_code for _ in range(8)]
        assert seen == [200] * 5 + [429] * 3
        with served.client("bea") as client:
            assert client.get("/v1/budget").status_code == 200
        with served.client() as client:
            assert [client.get("/v1/me").status_code for _ in range(21)] == [401] * 20 + [429]
            assert {client.get(path).status_code for path in ("/health", "/ready") for _ in range(12)} == {200}
        with served.client("bea") as client:  # from the same address
            assert client.get("/v1/budget").status_code == 200


def test_an_unforeseen_error_is_one_constant_answer_and_nothing_of_it_is_logged(
    served: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("the row of Eva, 41, Lugo")

    monkeypatch.setattr(served.curator, "history", fail)
    with caplog.at_level(logging.DEBUG), served.client("ana") as client:
        answer = client.get("/v1/history")
    assert (answer.status_code, answer.json()["code"]) == (500, "server-failed")
    logged = caplog.text + "".join(capfd.readouterr())
    assert "RuntimeError" in logged
    assert "Eva" not in logged + answer.text


def test_what_fails_after_data_was_touched_is_one_constant_error(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> bytes:
        raise ValueError("a value of Eva's")

    monkeypatch.setattr("curador.query.plan.plan.Plan.run", fail)
    with served.client("ana") as client:
        answer = client.post("/v1/ask", json={**ASKED, "epsilon": "0.031"})
    assert (answer.status_code, answer.json()["title"]) == (500, EngineFailed.__name__)
    assert "Eva" not in answer.text
    assert "is kept" in answer.json()["cost"]


def test_what_is_free_never_waits_for_what_is_paid(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a request that waits for a thread would show when a question ended, and not in which tick."""
    asked, end, real = threading.Semaphore(0), threading.Event(), served.curator.release

    def release(*given: Any, **how: Any) -> Any:
        asked.release()
        assert end.wait(60)
        return real(*given, **how)

    monkeypatch.setattr(served.curator, "release", release)
    count = served.service.settings.threads

    def buy(i: int) -> int:
        with served.client(("ana", "bea", "curator")[i % 3]) as client:
            return client.post("/v1/ask", json={**ASKED, "epsilon": f"0.00{i + 1}"}).status_code

    with ThreadPoolExecutor(count) as pool:
        bought = [pool.submit(buy, i) for i in range(count)]
        try:
            assert all(asked.acquire(timeout=60) for _ in range(count))
            with served.client("auditor") as client:
                assert client.get("/v1/budget").status_code == 200
        finally:
            end.set()
        assert {one.result() for one in bought} == {200}


class Waiting(TickClock):
    """A clock that counts what waits for it."""

    async def leave(self) -> None:
        left.append(1)


left: list[int] = []


def test_what_may_read_data_waits_for_the_clock_and_what_the_question_refuses_does_not(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(served.service, "clock", Waiting(1.0))
    batch = {"questions": {"n": SQL}, "epsilon": "0.02"}
    with served.client("ana") as client:
        for path, body, waits in (
            ("/v1/explain", ASKED, 0),
            ("/v1/ask", ASKED, 1),
            ("/v1/ask", {**ASKED, "epsilon": "1000"}, 0),
            ("/v1/ask", {**ASKED, "epsilon": "1000", "because": "all", "override": True}, 1),  # by the budget
            ("/v1/ask", {**ASKED, "sql": "SELECT SUM(x) FROM people"}, 0),
            ("/v1/quality", {"table": "people", "epsilon": "0.02"}, 1),
            ("/v1/quality", {"table": "nobody", "epsilon": "0.02"}, 0),
            ("/v1/batch", batch, 1),
            ("/v1/batch", {**batch, "epsilon": "1000"}, 0),
        ):
            left.clear()
            client.post(path, json=body)
            assert len(left) == waits, (path, body)


@pytest.mark.parametrize("now", [0.0, 0.25, 1.0, 1234567890.123])
def test_the_next_tick_is_a_multiple_and_later(now: float) -> None:
    for tick in (0.25, 1.0, 3.0):
        found = TickClock(tick).next(now)
        assert now < found <= now + tick
        assert found / tick == round(found / tick)
    assert TickClock(0).next(now) == now


@pytest.mark.parametrize(
    "section",
    [{"tick": 1}, {"tick": "soon"}, {"at_once": 0}, {"at_once": True}, {"origins": "x"}, {"nope": 1}, {"collect": 3}],
)
def test_settings_that_are_not_understood_are_refused(section: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\[server\]"):
        Settings.read(section)
