"""Files that a curator sends: whole or not at all, never over another one, readable by the server alone."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from curador.server.gate.cookies import SESSION
from tests.server.console.browsing import visitor
from tests.server.served import Served, serving, write_study

PLACE = "/console/tables/upload"
FORM_PLACE = "/console/tables/upload-form"
LIMIT = 3_000_000


@pytest.fixture(scope="module")
def taking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(write_study(tmp_path_factory.mktemp("study")), upload=LIMIT, per_token=10000, body=65536) as found:
        yield found


def send(client: httpx.Client, name: str, content: object = b"a\n1\n", **headers: str) -> httpx.Response:
    return client.post(PLACE, content=content, headers={"X-File-Name": quote(name), **headers})  # type: ignore[arg-type]


def files(served: Served) -> list[str]:
    return sorted(one.name for one in (served.study.parent / "uploads").glob("*"))


def test_a_file_is_written_whole_for_the_server_alone(taking: Served) -> None:
    content = os.urandom(LIMIT)  # larger than any other request may be
    with visitor(taking, "curator") as client:
        answer = send(
            client, "C:\\temp\\Visitas Médicas.CSV", (content[k : k + 70_001] for k in range(0, LIMIT, 70_001))
        )
    assert (answer.status_code, answer.json()) == (
        201,
        {"source": "uploads/visitas_medicas.csv", "bytes": LIMIT, "declared": ""},
    )
    there = taking.study.parent / "uploads" / "visitas_medicas.csv"
    assert there.read_bytes() == content
    assert (there.stat().st_mode & 0o777, there.parent.stat().st_mode & 0o777) == (0o600, 0o700)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("study.toml", "CSV or Parquet"),
        ("../../../etc/passwd", "CSV or Parquet"), (".csv", "CSV or Parquet"), ("", "CSV or Parquet"),
        ("a.csv\x00.exe", "CSV or Parquet"), ("日本.csv", "CSV or Parquet"), ("empty.csv", "empty"),
    ],
)  # fmt: skip
def test_a_name_that_is_not_to_be_written_is_refused(taking: Served, name: str, code: str) -> None:
    before = files(taking)
    with visitor(taking, "curator", **{"HX-Request": "true"}) as client:
        answer = send(client, name, b"" if name == "empty.csv" else b"a\n1\n")
    assert answer.status_code == 422
    assert code in answer.text
    assert files(taking) == before
    assert 'class="refusal"' in answer.text
    assert "<html" not in answer.text


def test_names_stay_below_the_folder_and_no_file_is_replaced(taking: Served) -> None:
    with visitor(taking, "curator") as client:
        assert send(client, "../..\\up.csv", b"first").json()["source"] == "uploads/up.csv"
        assert [send(client, "up.csv", b"x").json()["source"] for _ in range(2)] == [
            "uploads/up_2.csv",
            "uploads/up_3.csv",
        ]
        newer = send(client, "People.CSV").json()  # of a table that is declared: a newer version of it, perhaps
        assert (newer["source"], newer["declared"]) == ("uploads/people.csv", "people")
        assert len(send(client, "x" * 5000 + ".csv").json()["source"]) < 120
        assert '<option value="uploads/up.csv">' in client.get("/console/tables/new").text  # to go on with
    assert (taking.study.parent / "uploads" / "up.csv").read_bytes() == b"first"
    assert not list(taking.study.parent.glob("up.csv"))


def test_what_is_too_large_leaves_nothing(taking: Served) -> None:
    before = files(taking)
    with visitor(taking, "curator", **{"Accept-Language": "es"}) as client:
        assert "más grande" in send(client, "big.csv", b"x" * (LIMIT + 1)).text  # says so beforehand
        assert send(client, "big.csv", (b"x" * 100_000 for _ in range(31))).status_code == 413  # does not say it
    assert files(taking) == before


def test_a_connection_that_ends_leaves_nothing(taking: Served) -> None:
    before = files(taking)
    with visitor(taking, "curator") as client:
        token, cookie = client.headers["X-Form-Token"], client.cookies[taking.cookie(SESSION)]
        host, port = client.base_url.host, client.base_url.port
        head = (
            f"POST {PLACE} HTTP/1.1\r\nHost: {host}\r\nX-Form-Token: {token}\r\n"
            f"Cookie: {taking.cookie(SESSION)}={cookie}\r\n"
            "X-File-Name: half.csv\r\nContent-Length: 100000\r\n\r\n"
        )
        with socket.create_connection((host, port or 80), timeout=30) as line:
            line.sendall(head.encode() + b"a\n1\n")
        for _ in range(3000):  # until the server has noticed
            if files(taking) == before and client.get("/console/tables").status_code == 200:
                break
    assert files(taking) == before


def test_other_roles_and_other_sites_send_nothing(taking: Served) -> None:
    before = files(taking)
    for who in ("ana", "auditor", "reader"):
        with visitor(taking, who) as client:
            assert send(client, "mine.csv").status_code == 403
    with visitor(taking, "curator") as client:
        assert send(client, "mine.csv", **{"Origin": "https://evil.example"}).status_code == 403
        assert send(client, "mine.csv", **{"X-Form-Token": "0" * 64}).status_code == 403
        del client.headers["X-Form-Token"]  # as a form of another site has none: nor may it be large
        assert send(client, "mine.csv").status_code == 403
        assert send(client, "mine.csv", b"x" * 100_000).status_code == 413
    assert files(taking) == before


def test_a_disk_that_is_full_is_said_and_leaves_nothing(taking: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    before = files(taking)

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with visitor(taking, "curator") as client, monkeypatch.context() as patch:
        patch.setattr("curador.server.console.uploading.os.fsync", full)
        answer = send(client, "more.csv")
    assert (answer.status_code, "space on its disk" in answer.text) == (422, True)
    assert files(taking) == before
    assert not list(Path(taking.study.parent / "uploads").glob(".*"))


# ---- in a form, as browsers without scripts send one -----------------------------------------------------------------

OURS = {"Sec-Fetch-Site": "same-origin"}


def form(
    client: httpx.Client, name: str, content: bytes, *, token: str | None = None, **headers: str
) -> httpx.Response:
    """Send a form: the token first, then the file."""
    shown = client.headers["X-Form-Token"] if token is None else token
    parts = [("form_token", (None, shown))] if shown else []
    sent = {**OURS, **headers, "X-Form-Token": ""}
    return client.post(FORM_PLACE, files=[*parts, ("file", (name, content))], headers=sent)


def test_a_file_in_a_form_is_written_whole_and_goes_on(taking: Served) -> None:
    content = b"\r\n--x" + os.urandom(LIMIT - 2000)  # larger than any other form may be
    with visitor(taking, "curator") as client:
        answer = form(client, "Formed Rows.csv", content)
        assert (answer.status_code, answer.headers["location"]) == (
            303,
            "/console/tables/new?source=uploads%2Fformed_rows.csv",
        )
        page = client.get(answer.headers["location"]).text
        assert 'value="uploads/formed_rows.csv"' in page.replace("<option ", "")
        other = client.get("/console/tables/new?source=../study.toml").text
        assert 'value="../study.toml"' not in other  # only what was sent is filled in
    assert (taking.study.parent / "uploads" / "formed_rows.csv").read_bytes() == content


def test_a_form_that_is_not_ours_leaves_nothing(taking: Served) -> None:
    before = files(taking)
    with visitor(taking, "ana") as client:
        assert form(client, "mine.csv", b"x").status_code == 403
    with visitor(taking, "curator", **{"Accept-Language": "es"}) as client:
        assert form(client, "mine.csv", b"x", token="0" * 64).status_code == 403
        assert form(client, "mine.csv", b"x", token="").status_code == 403
        assert form(client, "mine.csv", b"x", **{"Sec-Fetch-Site": "cross-site"}).status_code == 403
        assert form(client, "mine.csv", b"x", **{"Origin": "https://evil.example"}).status_code == 403
        # Without the browser's word for it that the form is ours, it may be no larger than others.
        assert form(client, "mine.csv", b"x" * 100_000, **{"Sec-Fetch-Site": "none"}).status_code == 413
        assert form(client, "big.csv", b"x" * (LIMIT + 1)).status_code == 413
        assert "archivo CSV o Parquet" in form(client, "mine.txt", b"x").text
        assert form(client, "empty.csv", b"").status_code == 422
    assert files(taking) == before


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"nonsense",
        b'--b\r\nContent-Disposition: form-data; name="form_token"\r\n\r\nTOKEN\r\n--b--\r\n',
        b'--b\r\nContent-Disposition: form-data; name="form_token"\r\n\r\nTOKEN\r\n'
        b'--b\r\nContent-Disposition: form-data; name="file"; filename="half.csv"\r\n\r\na\n1\n',
        b'--b\r\nContent-Disposition: form-data; name="form_token"\r\n\r\nTOKEN\r\n'
        b'--b\r\nContent-Disposition: form-data; name="file"; filename="two.csv"\r\n\r\na\n1\n\r\n'
        b'--b\r\nContent-Disposition: form-data; name="file"; filename="three.csv"\r\n\r\na\n1\n\r\n--b--\r\n',
        b'--b\r\nContent-Disposition: form-data; name="form_token"\r\n\r\n' + b"x" * 300_000,
    ],
    ids=["nothing", "nonsense", "no-file", "broken-off", "two-files", "a-field-without-end"],
)
def test_a_form_that_is_not_whole_leaves_nothing(taking: Served, body: bytes) -> None:
    before = files(taking)
    with visitor(taking, "curator", **{"Accept-Language": "es"}) as client:
        content = body.replace(b"TOKEN", client.headers["X-Form-Token"].encode())
        kind = {**OURS, "Content-Type": "multipart/form-data; boundary=b"}
        answer = client.post(FORM_PLACE, content=content, headers=kind)
    assert answer.status_code == 422
    assert "Envíe el archivo de nuevo" in answer.text
    assert files(taking) == before
