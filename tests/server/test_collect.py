"""Local reports over HTTP: the same answer for every body, gzip within limits, other sites as the study says."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from curador.local import KRR
from curador.local.collect.collector import Collector
from curador.local.collect.wire import messages
from tests.server.served import STUDY, Served, serving, write_study

TASK = KRR(keys=["tea", "coffee"], epsilon=3).named("drinks")
SITE = "https://survey.example"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("study")
    Collector.create(folder / "drinks", TASK)
    stated = f'{STUDY}collect = {{ hot = "drinks" }}\norigins = ["{SITE}"]\n'
    with serving(write_study(folder, study=stated)) as found:
        yield found


def _collector(served: Served) -> Collector:
    return Collector.open(served.study.parent / "drinks")


def _lines(count: int) -> list[bytes]:
    return [json.dumps(one).encode() for one in messages(TASK, TASK.randomize(["tea"] * count))]


def test_devices_get_the_task_and_send_reports(served: Served) -> None:
    before = _collector(served).totals().accepted
    lines = _lines(30)
    with served.client() as client:
        document = client.get("/v1/collect/hot")
        assert document.json()["id"] == TASK.id
        assert len(document.headers["etag"]) == 66
        answers = [
            client.post("/v1/collect/hot", content=lines[0]),
            client.post("/v1/collect/hot", content=lines[0]),  # the same again
            client.post("/v1/collect/hot", content=b"\n".join(lines[1:])),
            client.post("/v1/collect/hot", content=b"no report"),
            client.post("/v1/collect/hot", content=b""),
            client.post("/v1/collect/hot", content=gzip.compress(lines[5]), headers={"Content-Encoding": "gzip"}),
        ]
    seen = {(a.status_code, a.content, frozenset(set(a.headers) - {"x-request-id"})) for a in answers}
    assert len(seen) == 1
    assert answers[0].status_code == 204
    assert "set-cookie" not in answers[0].headers
    assert _collector(served).totals().accepted == before + 30


def test_several_files_by_gzip_one_after_another_are_all_read(served: Served) -> None:
    before, lines = _collector(served).totals().accepted, _lines(20)
    packed = gzip.compress(b"\n".join(lines[:10]) + b"\n") + gzip.compress(b"\n".join(lines[10:])) + bytes(7)
    with served.client() as client:
        empty = gzip.compress(b"") * 1000  # of which each took a copy of all that were left
        for body, status in ((packed, 204), (empty, 413), (packed + b"more", 422), (packed[:-20], 422)):
            sent = client.post("/v1/collect/hot", content=body, headers={"Content-Encoding": "gzip"})
            assert sent.status_code == status
    assert _collector(served).totals().accepted == before + 20


def test_a_task_that_another_process_made_is_served_from_the_next_request_on(tmp_path: Path) -> None:
    study = write_study(tmp_path)
    with serving(study) as served, served.client() as client:
        assert client.get("/v1/collect/hot").status_code == 404
        Collector.create(tmp_path / "drinks", TASK)
        study.write_text(f'{STUDY}collect = {{ hot = "drinks" }}\n')
        assert client.get("/v1/collect/hot").json()["id"] == TASK.id
        assert client.post("/v1/collect/hot", content=_lines(1)[0]).status_code == 204
        known = served.service.collected["hot"]
        study.write_text(f'{STUDY}collect = {{ hot = "drinks" }}\nper_token = 500\n')
        assert client.get("/v1/collect/hot").status_code == 200
        assert served.service.collected["hot"] is known
    assert Collector.open(tmp_path / "drinks").totals().accepted == 1


def test_what_unpacks_to_too_much_is_refused(served: Served) -> None:
    bomb = gzip.compress(b" " * (1 << 26))
    with served.client() as client:
        large = client.post("/v1/collect/hot", content=bomb, headers={"Content-Encoding": "gzip"})
        assert large.status_code == 413
        broken = client.post("/v1/collect/hot", content=b"x", headers={"Content-Encoding": "gzip"})
        assert (broken.status_code, broken.json()["code"]) == (422, "not-gzip")
        assert client.post("/v1/collect/cold", content=b"x").status_code == 404


def test_only_pages_that_the_study_names_may_send(served: Served) -> None:
    with served.client() as client:
        named = client.options("/v1/collect/hot", headers={"Origin": SITE})
        assert named.headers["access-control-allow-origin"] == SITE
        assert "access-control-allow-credentials" not in named.headers
        other = client.options("/v1/collect/hot", headers={"Origin": "https://other.example"})
        assert "access-control-allow-origin" not in other.headers


def test_many_at_once_are_written_together_and_counted_once(served: Served) -> None:
    before = _collector(served).totals().accepted
    lines = _lines(40)

    def send(part: list[bytes]) -> None:
        with served.client() as client:
            for line in part:
                assert client.post("/v1/collect/hot", content=line).status_code == 204

    threads = [threading.Thread(target=send, args=(lines[i::4],)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert _collector(served).totals().accepted == before + 40


def test_lines_that_are_no_messages_are_counted_and_never_parsed(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[object] = []
    monkeypatch.setattr("curador.local.collect.intake.strict_json", parsed.append)
    before = _collector(served).totals()
    [line] = _lines(1)
    body = gzip.compress(b"a\n" * 50_000 + line + b"\n" + b"{}\r\n" * 50_000)  # a few hundred bytes
    with served.client() as client:
        assert client.post("/v1/collect/hot", content=body, headers={"Content-Encoding": "gzip"}).status_code == 204
    after = _collector(served).totals()
    assert after.accepted == before.accepted + 1
    assert after.refused["malformed"] == before.refused.get("malformed", 0) + 100_000
    assert not parsed


def test_what_waits_for_a_collector_is_bounded(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("curador.server.routes.collect.MOST_WAITING", 300)
    with served.client() as client:
        assert client.post("/v1/collect/hot", content=_lines(1)[0]).status_code == 204
        many = client.post("/v1/collect/hot", content=b"\n".join(_lines(9)))
    assert (many.status_code, many.json()["code"]) == (429, "too-many")
