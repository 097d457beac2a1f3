"""Messages as files and pipes bring them: compressed, marked, broken off; and what an acknowledgement is worth."""

from __future__ import annotations

import functools
import gzip
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from curador.cli.app import app
from curador.errors import CollectorFailed
from curador.local.collect import intake
from curador.local.collect.collector import Collector
from curador.local.collect.files import write_task
from curador.local.collect.intake import CHUNK, MARK, Intake, Pause, incoming
from curador.local.collect.stop import Stop
from tests.local.sending import TASK, ndjson, sent

LINES = ndjson(sent(30))
TEXT = b"".join(LINES)


PACKED = gzip.compress(TEXT)
UNENDED = b"\x1f\x8b\x08\x08\0\0\0\0\0\x03\n"
"""The beginning of a file by gzip whose own name never ends: it would swallow all that follows."""


def by_file(data: bytes, packed: bool = False) -> list[Any]:
    return list(incoming(io.BytesIO(data), TASK, Stop(reader=0), packed=packed))


def by_pipe(data: bytes, packed: bool = False, size: int = 1 << 14) -> list[Any]:
    """The same bytes through a pipe, in pieces, all of which are there before they are read."""
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as file:
        for i in range(0, len(data), size):
            os.write(writer, data[i : i + size])
        os.close(writer)
        coming = incoming(file, TASK, Stop(reader=reader_of_nothing()), packed=packed)
        return [one for one in coming if not isinstance(one, Pause)]


@functools.cache
def reader_of_nothing() -> int:
    """A pipe that stays open and empty, for a stop that never comes."""
    return os.pipe()[0]


def stripped(lines: list[bytes]) -> list[bytes]:
    return [line.rstrip(b"\n") for line in lines]


@pytest.mark.parametrize("read", [by_file, by_pipe])
@pytest.mark.parametrize(
    ("data", "packed"),
    [
        (PACKED, True),
        (gzip.compress(TEXT[:700]) + gzip.compress(TEXT[700:]), True),
        (gzip.compress(b"") + PACKED, True),
        (gzip.compress(MARK + TEXT), True),
        (PACKED + bytes(512), True),
        (gzip.compress(TEXT[:700]) + bytes(20_000) + gzip.compress(TEXT[700:]), True),
        (MARK + TEXT, False),
        (TEXT, False),
    ],
    ids=["gzip", "two", "empty first", "both", "zeros after", "zeros between", "mark", "plain"],
)
def test_compressed_and_marked_messages_are_read(
    read: Callable[[bytes, bool], list[Any]], data: bytes, packed: bool, tmp_path: Path
) -> None:
    assert stripped(read(data, packed)) == stripped(LINES)
    collector = Collector.create(tmp_path / "c", TASK)
    assert collector.collect(read(data, packed)).accepted == 30


@pytest.mark.parametrize("size", [1, 2, 7, 1 << 14])
def test_pieces_of_any_size_are_unpacked(size: int) -> None:
    assert by_pipe(PACKED + b"\0\0" + gzip.compress(LINES[0]), True, size) == stripped([*LINES, LINES[0]])


def test_a_small_stream_that_unpacks_to_a_large_one_takes_little_memory() -> None:
    longest = Intake(TASK).longest
    zeros = gzip.compress(b"0" * (40 * CHUNK) + b"\nx")
    assert [len(line) for line in by_pipe(zeros, True)] == [longest + 1, 1]


@pytest.mark.parametrize("read", [by_file, by_pipe])
@pytest.mark.parametrize(
    "broken",
    [PACKED[:-12], PACKED[:40] + b"\xff" * 40, PACKED + LINES[0], TEXT, b"\x1f", bytes(9)],
    ids=["short", "spoilt", "plain after", "plain", "a byte", "zeros"],
)
def test_what_is_broken_is_told_alike_and_not_quoted(
    read: Callable[[bytes, bool], list[Any]], broken: bytes, tmp_path: Path
) -> None:
    def coming() -> Iterator[Any]:
        yield from read(broken, True)

    with pytest.raises(CollectorFailed, match=r"cannot be read: the compressed data is broken\."):
        Collector.create(tmp_path / "c", TASK).collect(coming())


@pytest.mark.parametrize("read", [by_file, by_pipe])
@pytest.mark.parametrize(
    "first",
    [b"\x1f\x8b\n", UNENDED, gzip.compress(b"", mtime=0).replace(b"\n", b" ") + b"\n", b"\x1f\n"],
    ids=["two bytes", "a name that never ends", "an empty file", "one byte"],
)
def test_a_first_message_that_looks_compressed_is_one_malformed_line(
    read: Callable[[bytes], list[Any]], first: bytes, tmp_path: Path
) -> None:
    """Whoever sends the first message of a file must not decide how the others are read."""
    receipt = Collector.create(tmp_path / "c", TASK).collect(read(first + TEXT))
    assert (receipt.accepted, dict(receipt.refused)) == (30, {"malformed": 1})


def test_the_operator_says_what_is_compressed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_task(Path("task.json"), TASK)
    for name, data in (("a.ndjson.GZ", PACKED), ("a.ndjson", PACKED), ("b.ndjson", UNENDED + TEXT)):
        Path(name).write_bytes(data)

    def run(folder: str, file: str, *more: str) -> tuple[int, int]:
        line = ["local", "collect", folder, file, "--task", "task.json", "--json", *more]
        given = Path(more[-1]).read_bytes() if file == "-" else None
        done = CliRunner().invoke(app, line[:-1] if file == "-" else line, input=given)
        return done.exit_code, json.loads(done.output)["now"]["accepted"]

    assert run("c1", "a.ndjson.GZ") == run("c2", "a.ndjson", "--gzip") == run("c3", "b.ndjson") == (0, 30)
    assert run("c4", "a.ndjson") == (1, 0)
    assert run("c5", "-", "--gzip", "a.ndjson") == run("c6", "-", "b.ndjson") == (0, 30)


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
    assert (code, "--gzip" in said) == (1, True)
    assert run("some.ndjson")[0] == run("some.ndjson")[0] == 0  # the second time it is a replay
    assert run("empty.ndjson")[0] == 0


def test_only_what_has_the_shape_of_a_message_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A parser took a hundred times as long for a line of brackets as for an honest one."""
    reading = Intake(TASK)
    size = reading.longest
    parsed: list[str] = []
    read = intake.strict_json
    monkeypatch.setattr(intake, "strict_json", lambda text: parsed.append(text) or read(text))  # type: ignore[func-returns-value]
    forged = [b"[" * size, b'{"":' * (size // 6) + b"0" + b"}" * (size // 6), b"[" + b"1e9," * (size // 5) + b"0]"]
    forged += [b'{"a":"b",' * (size // 10), b'{"' + b"\\" * (size - 4), b" " * size, b'{"a":"b","c":"d","e":"f","g":1}']
    assert dict(reading.read(forged).refused) == {"malformed": len(forged)}
    assert not parsed
    message = json.loads(LINES[0])
    turned = json.dumps(dict(reversed(message.items())), indent=1).replace("token", "\\u0074oken").encode()
    assert len(reading.read([turned]).reports) == 1
    assert len(parsed) == 1
