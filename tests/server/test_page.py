"""The how-to page runs as it is written, and the command serves."""

from __future__ import annotations

import json
import re
import shlex
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from curador.server.run import served_app
from tests.server.served import serving, write_study

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "serve-a-study.md").read_text()
COMMAND = Path(sys.executable).with_name("curador")


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_page_runs(tmp_path: Path) -> None:
    token = ""
    for line in "".join(_blocks("sh")).splitlines():
        done = subprocess.run(
            [COMMAND, *shlex.split(line)[1:]], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (line, done.stderr)
        token = next((word for word in done.stdout.split() if word.startswith("cur_")), token)
    program = "".join(_blocks("python"))
    with serving(tmp_path / "demo" / "study.toml", tick="10ms", tokens=False) as served:
        names: dict[str, object] = {"url": served.url, "token": token}
        try:
            exec(program, names)
        finally:
            for name in ("curator", "stage"):
                names[name].close()  # type: ignore[attr-defined]


def test_the_command_serves_and_its_first_code_makes_a_curator(tmp_path: Path) -> None:
    subprocess.run([COMMAND, "demo", "--folder", "demo"], cwd=tmp_path, capture_output=True, check=True)
    port = _free_port()
    with subprocess.Popen(
        [COMMAND, "serve", "demo/study.toml", "--port", str(port)], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout is not None
            said = [server.stdout.readline() for _ in range(4)]
            code = next(word.partition("#")[2] for word in " ".join(said).split() if "/console/start#" in word)
            url = f"http://127.0.0.1:{port}"
            with httpx.Client(base_url=url, transport=httpx.HTTPTransport(retries=12), timeout=60) as client:
                token = client.post("/v1/session", json={"code": code}).json()["token"]
                own = {"Authorization": f"Bearer {token}"}
                asked = {"sql": "SELECT COUNT(*) AS n FROM salaries", "epsilon": "0.05"}
                assert client.post("/v1/ask", json=asked, headers=own).status_code == 200
        finally:
            server.terminate()
        assert server.wait(60) in (0, -15)


def test_a_study_is_begun_where_there_is_none(tmp_path: Path) -> None:
    def told(*words: str) -> str:
        done = subprocess.run([COMMAND, "serve", *words], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 1
        return done.stderr

    assert "curador serve --new --epsilon 1" in " ".join(told().split())
    assert "--epsilon" in told("--new")
    assert "--new" in told("--epsilon", "1")
    assert "epsilon" in told("--new", "--epsilon", "-1")
    assert list(tmp_path.iterdir()) == []
    port = _free_port()
    with subprocess.Popen(
        [COMMAND, "serve", "hospital", "--new", "--epsilon", "2", "--port", str(port), "--json"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            assert server.stdout is not None
            said = json.loads("".join(server.stdout.readline() for _ in range(5)))
            with httpx.Client(base_url=said["address"], timeout=60) as client:
                token = client.post("/v1/session", json={"code": said["code"]}).json()["token"]
                own = {"Authorization": f"Bearer {token}"}
                assert client.get("/v1/tables", headers=own).json() == {"tables": {}}
        finally:
            server.terminate()
        assert server.wait(60) in (0, -15)
    assert "epsilon = 2" in (tmp_path / "hospital" / "study.toml").read_text()
    assert "Leave out --new" in told("hospital", "--new", "--epsilon", "3")


def test_a_port_that_is_taken_is_refused_before_anything_is_said(tmp_path: Path) -> None:
    study = write_study(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(
            [COMMAND, "serve", str(study), "--port", str(port)], capture_output=True, text=True, check=False
        )
    assert done.returncode == 1
    assert done.stdout == ""
    assert f"Port {port} of 127.0.0.1 is taken" in " ".join(done.stderr.split())
    assert "Errno" not in done.stderr
    assert not (tmp_path / "study.ledger").exists()  # nor was a link made


@pytest.mark.parametrize("workers", [pytest.param("1", marks=pytest.mark.slow), "2"])
def test_whoever_comes_as_soon_as_the_address_is_said_is_answered(tmp_path: Path, workers: str) -> None:
    command = [str(COMMAND), "serve", str(write_study(tmp_path)), "--port", str(_free_port()), "--workers", workers]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().split()[2].rstrip(".")
            assert httpx.get(f"{address}/health", timeout=120).status_code == 200  # once: it waits, and is not refused
        finally:
            server.terminate()
        assert server.wait(60) in (0, -15)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def test_workers_count_their_part_of_the_rates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = write_study(tmp_path)
    monkeypatch.setenv("CURADOR_SERVED_STUDY", str(study))
    for workers, rate in (("1", 600), ("4", 150), ("1000", 1)):
        monkeypatch.setenv("CURADOR_SERVED_WORKERS", workers)
        assert served_app().state.service.settings.per_token == rate
