"""The real command with two workers behind a real nginx, with the configuration that `deploy/` has; and its log."""

from __future__ import annotations

import json
import re
import shutil
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import httpx
import pytest

from curador import Access, Curator
from curador.curator.study.file import read_study
from curador.server.access.auth import give
from curador.server.gate.settings import Settings
from curador.server.run import _listening
from tests.server.served import SQL, STUDY, serving, write_study

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "deploy" / "nginx.conf"
COMMAND = Path(sys.executable).with_name("curador")
LIMITS = "per_address = 30\nsign_ins = 4\n"
BEFORE = """
worker_processes 1;
pid nginx.pid;
error_log stderr;
events {}
http {
    access_log off;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
"""
FIELDS = ["time", "level", "request", "route", "method", "role", "token", "status", "ms"]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


@contextmanager
def started(command: list[str], folder: Path, log: Path) -> Iterator[None]:
    quiet: Any = {"cwd": folder, "stdout": subprocess.DEVNULL}
    with log.open("w") as written, subprocess.Popen(command, stderr=written, **quiet) as process:
        try:
            yield
        finally:
            process.terminate()
            process.wait(60)


@dataclass(frozen=True)
class Proxied:
    """A server behind nginx."""

    url: str
    straight: str
    folder: Path
    token: str

    def client(self, **headers: str) -> httpx.Client:
        known = ssl.create_default_context(cafile=str(self.folder / "cert.pem"))
        retries = httpx.HTTPTransport(verify=known, retries=14)
        return httpx.Client(base_url=self.url, headers=headers, transport=retries, timeout=120)

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The log of the server: each line an object."""
        return [json.loads(line) for line in (self.folder / "serve.log").read_text().splitlines()]


def configured(folder: Path, port: int, behind: int) -> Path:
    """The sample, with ports and a certificate of this test's own; each line that is replaced must be there."""
    sample = SAMPLE.read_text()
    for old, new in {
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
        "server 127.0.0.1:8000": f"server 127.0.0.1:{behind}",
        "/etc/ssl/curador/": f"{folder}/",
    }.items():
        assert old in sample
        sample = sample.replace(old, new)
    file = folder / "nginx.conf"
    file.write_text(f"{BEFORE}{sample}}}\n")
    return file


def study_lines() -> str:
    """What the sample's comment says about the study file."""
    found = re.findall(r"^#   (.*)$", SAMPLE.read_text(), re.MULTILINE)
    assert found[0] == "[server]"
    return "\n".join(found[1:])


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    program = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
    if program is None:
        pytest.skip("no nginx is installed")
    folder = tmp_path_factory.mktemp("proxied")
    folder.parent.chmod(0o755)
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem"]
    named = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run([*made, *named], cwd=folder, check=True, capture_output=True)
    study = write_study(folder, study=f"{STUDY}{LIMITS}{study_lines()}\n")
    with closing(Curator(study)) as curator:
        token = give(curator.ledger, Access("", "analyst", "ana"))
    behind, port = free_port(), free_port()
    serve = [str(COMMAND), "serve", str(study), "--port", str(behind), "--workers", "2"]
    nginx = [program, "-p", str(folder), "-c", str(configured(folder, port, behind)), "-e", "stderr"]
    with (
        started(serve, folder, folder / "serve.log"),
        started([*nginx, "-g", "daemon off;"], folder, folder / "nginx.log"),
    ):
        found = Proxied(f"https://127.0.0.1:{port}", f"http://127.0.0.1:{behind}", folder, token)
        until_ready(found)
        yield found


def until_ready(proxied: Proxied) -> None:
    """Both run: the proxy says 502 until the server listens."""
    for _ in range(1200):
        with proxied.client() as client:
            if client.get("/ready").status_code == 200:
                return
        time.sleep(0.1)
    raise AssertionError((proxied.folder / "serve.log").read_text() + (proxied.folder / "nginx.log").read_text())


def test_a_stranger_at_the_same_address_shuts_nobody_out(proxied: Proxied) -> None:
    with proxied.client() as stranger:
        tried = [stranger.post("/console/sign-in").status_code for _ in range(12)]
        assert set(tried) == {403, 429}
        pages = [stranger.get("/v1/tables", headers={"Authorization": "Bearer cur_no"}).status_code for _ in range(60)]
        assert set(pages) == {401, 429}
        assert {stranger.get(path).status_code for path in ("/health", "/ready") for _ in range(40)} == {200}
    with proxied.client(Authorization=f"Bearer {proxied.token}") as ana:
        assert {ana.get("/v1/budget").status_code for _ in range(40)} == {200}


def test_behind_the_proxy_the_last_hop_that_is_not_trusted_counts(proxied: Proxied) -> None:
    """Asked as the proxy would: it comes from a trusted address and names the sender."""
    with httpx.Client(base_url=proxied.straight, headers={"Connection": "close"}) as proxy:
        for sender in ("192.0.2.1", "192.0.2.2"):
            named = {"X-Forwarded-For": f"198.51.100.9, {sender}"}
            seen = [proxy.get("/v1/tables", headers=named).status_code for _ in range(40)]
            assert seen[0] == 401  # whatever the one before did
            assert 429 in seen  # each worker counts its half


def test_every_request_is_a_line_of_the_log_also_with_workers(proxied: Proxied) -> None:
    secret = "SELECT COUNT(*) AS hidden FROM people"
    named: set[str] = set()
    for _ in range(6):  # each a connection of its own
        with httpx.Client(base_url=proxied.straight, headers={"Authorization": f"Bearer {proxied.token}"}) as ana:
            answer = ana.post("/v1/explain?shown=secret", json={"sql": secret, "epsilon": "0.1"})
            named.add(answer.headers["x-request-id"])
            assert ana.get("/v1/releases/123456789").status_code == 404
    text = (proxied.folder / "serve.log").read_text()
    lines = [one for one in proxied.lines if one.get("request") in named]
    assert {one["request"] for one in lines} == named
    for one in lines:
        assert list(one) == FIELDS
        assert datetime.fromisoformat(one["time"]).tzinfo is not None
        assert (one["route"], one["method"], one["role"], one["status"]) == ("/v1/explain", "POST", "analyst", 200)
        assert one["ms"] >= 0
    assert "/v1/releases/{id}" in {one.get("route") for one in proxied.lines}
    for hidden in ("hidden", "secret", "123456789", proxied.token, "127.0.0.1:", "ana"):
        assert hidden not in text.replace("analyst", "")


def test_the_body_of_an_answer_does_not_wait_for_its_head_to_be_acknowledged() -> None:
    with (
        _listening("127.0.0.1", 0) as bound,
        socket.create_connection(bound.getsockname()),
        closing(bound.accept()[0]) as accepted,
    ):
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_valid_token_is_counted_by_itself(tmp_path: Path) -> None:
    with serving(write_study(tmp_path), per_address=2, per_token=5) as served:
        with served.client() as stranger:
            assert [stranger.get("/v1/me").status_code for _ in range(3)] == [401, 401, 429]
        with served.client("ana") as ana:
            assert [ana.get("/v1/me").status_code for _ in range(6)] == [200] * 5 + [429]
            assert ana.post("/v1/explain", json={"sql": SQL, "epsilon": 1}).status_code == 429


def test_what_a_study_says_of_its_proxies(tmp_path: Path) -> None:
    found = Settings.read(read_study(write_study(tmp_path, study=f"{STUDY}{study_lines()}\n")).server)
    assert found.trusted_proxies == (ip_network("127.0.0.1"),)
    assert found.behind_tls
    for wrong in ("127.0.0.1", ["localhost"], [1], ["10.0.0.1/8"]):
        with pytest.raises(Exception, match="trusted_proxies"):
            Settings.read({"trusted_proxies": wrong})
