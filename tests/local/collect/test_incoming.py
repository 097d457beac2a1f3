"""Messages as files and pipes bring them: compressed, marked, broken off; and what an acknowledgement is worth."""

from __future__ import annotations

import gzip
import io
import json
import os
import signal
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from curador.cli.app import app
from curador.errors import CollectorFailed
from curador.local.collect.collector import Collector
from curador.local.collect.files import write_task
from curador.local.collect.intake import CHUNK, MARK, Pause, arriving, incoming
from curador.local.collect.stop import Stop
from tests.local.sending import TASK, ndjson, sent

LINES = ndjson(sent(30))
TEXT = b"".join(LINES)


def by_file(data: bytes) -> list[Any]:
    return list(incoming(io.BytesIO(data), TASK, Stop(reader=0)))


def by_pipe(data: bytes, size: int = 1 << 14) -> list[Any]:
    """The same bytes through a pipe, in pieces, all of which are there before they are read."""
    reader, writer = os.pipe()
    try:
        coming = arriving(reader, 2000, 60.0)
        found: list[Any] = []
        for i in range(0, len(data), size):
            os.write(writer, data[i : i + size])
        os.close(writer)
        found += [one for one in coming if not isinstance(one, Pause)]
        return found
    finally:
        os.close(reader)


@pytest.mark.parametrize(
    "packed",
    [
        gzip.compress(TEXT),
        gzip.compress(TEXT[:700]) + gzip.compress(TEXT[700:]),
        gzip.compress(b"") + gzip.compress(TEXT),
        MARK + TEXT,
        gzip.compress(MARK + TEXT),
        TEXT,
    ],
    ids=["gzip", "two", "empty first", "mark", "both", "plain"],
)
def test_compressed_and_marked_messages_are_read(packed: bytes, tmp_path: Path) -> None:
    assert [line.rstrip(b"\n") for line in by_file(packed)] == [line.rstrip(b"\n") for line in LINES]
    assert [line.removeprefix(MARK) for line in by_pipe(packed)] == [line.rstrip(b"\n") for line in LINES]
    collector = Collector.create(tmp_path / "c", TASK)
    file = tmp_path / "messages"
    file.write_bytes(packed)
    with file.open("rb") as opened:
        assert collector.collect(incoming(opened, TASK, Stop(reader=0))).accepted == 30


@pytest.mark.parametrize("size", [1, 2, 7, 1 << 14])
def test_pieces_of_any_size_are_unpacked(size: int) -> None:
    assert by_pipe(gzip.compress(TEXT), size) == [line.rstrip(b"\n") for line in LINES]


def test_a_small_stream_that_unpacks_to_a_large_one_takes_little_memory() -> None:
    zeros = gzip.compress(b"0" * (40 * CHUNK) + b"\nx")
    assert [len(line) for line in by_pipe(zeros)] == [2001, 1]


@pytest.mark.parametrize("read", [by_file, by_pipe])
@pytest.mark.parametrize(
    "broken", [gzip.compress(TEXT)[:-12], gzip.compress(TEXT)[:40] + b"\xff" * 40], ids=["short", "spoilt"]
)
def test_what_is_broken_off_is_told(read: Callable[[bytes], list[Any]], broken: bytes, tmp_path: Path) -> None:
    if read is by_file:
        with pytest.raises(CollectorFailed, match="cannot be read"):
            Collector.create(tmp_path / "c", TASK).collect(incoming(io.BytesIO(broken), TASK, Stop(reader=0)))
    else:
        with pytest.raises((EOFError, zlib.error)):
            read(broken)


def test_one_byte_is_a_line() -> None:
    assert by_pipe(b"\x1f") == by_pipe(b"\x1f\n") == [b"\x1f"]


# ---- what was acknowledged is safe -----------------------------------------------------------------------------------


def test_nothing_that_was_acknowledged_is_lost_to_a_kill(tmp_path: Path) -> None:
    write_task(tmp_path / "task.json", TASK)
    line = ["collect", "c", "-", "--task", "task.json", "--acknowledge"]
    command = [sys.executable, "-c", "from curador.cli.app import app; app()", "local", *line]
    with subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write(b"".join(LINES[:12]))
        running.stdin.flush()
        told = 0
        while told < 12:
            told = int(running.stdout.readline().split()[1])
        running.stdin.write(b"".join(LINES[12:20]))  # these may be lost: nobody said that they were safe
        running.stdin.flush()
        running.send_signal(signal.SIGKILL)
        running.wait()
    collector = Collector.open(tmp_path / "c")
    assert 12 <= collector.totals().accepted <= 20
    again = collector.collect(LINES)  # the sender sends what it was not told about, and may send more
    assert collector.totals().accepted == 30
    assert again.refused["replayed"] >= 12


def test_acknowledgements_count_the_lines(tmp_path: Path) -> None:
    told: list[int] = []
    collector = Collector.create(tmp_path / "c", TASK)
    coming = [*LINES[:5], b"junk", Pause(), Pause(), *LINES[5:7]]
    collector.collect(coming, acknowledge=lambda receipt: told.append(receipt.messages))
    assert told == [6, 8]


# ---- a file of something else ----------------------------------------------------------------------------------------


def test_a_file_with_nothing_for_the_task_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_task(Path("task.json"), TASK)
    other = TASK.named("letters", period="next")
    Path("other.ndjson").write_text("".join(json.dumps(one) + "\n" for one in sent(6, other)))
    Path("junk.ndjson").write_bytes(b"\x00\x01\n\x02\n")
    Path("some.ndjson").write_bytes(Path("other.ndjson").read_bytes() + LINES[0])
    Path("empty.ndjson").write_bytes(b"")

    def run(file: str, *more: str) -> tuple[int, str]:
        done = CliRunner().invoke(app, ["local", "collect", "c", file, "--task", "task.json", *more])
        return done.exit_code, " ".join(done.output.split())

    assert run("other.ndjson")[0] == run("other.ndjson", "--json")[0] == 1
    assert "None of them is on letters" in run("other.ndjson")[1]
    code, said = run("junk.ndjson")
    assert (code, "gzip" in said) == (1, True)
    assert run("some.ndjson")[0] == run("some.ndjson")[0] == 0  # the second time it is a replay
    assert run("empty.ndjson")[0] == 0
