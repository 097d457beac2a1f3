"""The collector: everything is accepted once or refused by name, and nothing ends it, loses it or counts it twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import Counter
from io import BytesIO
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curador.errors import CollectorFailed, CuradorError, InvalidParameter, InvalidValue, MessageRefused
from curador.local import KRR, OLH, HeavyHitters, Hitters, SquareWave
from curador.local.collect import collector as module
from curador.local.collect.collector import Collector, Receipt
from curador.local.collect.intake import PAUSE, Intake, Pause, arriving, lines
from curador.local.collect.summaries import summarize
from curador.local.collect.tallies import publish_tally, read_tally, total
from curador.local.collect.wire import Reason, messages, read_message, reason_of, to_base64
from curador.local.task.tally import Tally
from tests.local.every_task import EVERY_TASK
from tests.local.sending import TASK, counted, ndjson, same, sent

IDS = [task.mechanism for task, _ in EVERY_TASK]


@pytest.fixture
def collector(tmp_path: Path) -> Collector:
    return Collector.create(tmp_path / "drinks", TASK)


# ---- accepted --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("task", "values"), EVERY_TASK, ids=IDS)
def test_every_task_is_collected_and_counted_exactly(task: Any, values: Any, tmp_path: Path) -> None:
    reports = task.randomize(values)
    collector = Collector.create(tmp_path / "c", task)
    receipt = collector.collect(ndjson(messages(task, reports)))
    assert receipt == collector.totals() == Receipt(len(reports), {})
    assert Collector.open(tmp_path / "c").task == task
    assert same(collector.tally(), task.tally(reports))
    assert same(task.empty_tally(), Tally(0, np.zeros_like(collector.tally().support)))


def test_estimates_are_the_tasks_own(tmp_path: Path) -> None:
    task = SquareWave(0, 1, 1, buckets=8).named("q")
    collector = Collector.create(tmp_path / "c", task)
    reports = task.randomize(np.linspace(0, 1, 500))
    collector.collect(messages(task, reports))
    assert np.array_equal(
        task.estimate(collector.tally(), smooth=False).values, task.estimate(reports, smooth=False).values
    )


def test_heavy_hitters_are_found_in_what_was_collected(tmp_path: Path) -> None:
    task = HeavyHitters(6, length=2, rows=32, places=251).named("q")
    collector = Collector.create(tmp_path / "c", task)
    reports = task.randomize(["ox"] * 2000 + ["ka"] * 1000)
    collector.collect(messages(task, reports))
    found = collector.estimate(confidence=0.9)
    assert isinstance(found, Hitters)
    assert found.keys == task.find(reports, confidence=0.9).keys == ("ox", "ka")
    assert found.confidence == 0.9


def test_messages_may_be_mappings_text_or_bytes(collector: Collector) -> None:
    some = sent(60)
    compact = [json.dumps(one, separators=(",", ":")) for one in some[:20]]
    turned = [json.dumps(dict(reversed(one.items()))).encode() for one in some[20:40]]
    assert collector.collect([*compact, *turned, *some[40:], *map(bytearray, turned)]).accepted == 60
    assert same(collector.tally(), counted(TASK, some))
    assert collector.totals().refused == {"replayed": 20}


def test_one_message_alone_is_a_mistake(collector: Collector) -> None:
    (one,) = sent(1)
    for mistaken in (one, json.dumps(one), json.dumps(one).encode()):
        with pytest.raises(InvalidParameter, match="many at a time"):
            collector.collect(mistaken)


def test_pieces_make_no_difference(collector: Collector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    some = sent(500)
    collector.collect(some)
    monkeypatch.setattr(module, "BATCH_ROWS", 7)
    other = Collector.create(tmp_path / "other", TASK)
    told: list[float] = []
    assert other.collect([*some, *some[:9]], progress=told.append) == Receipt(500, {"replayed": 9})
    assert told == sorted(told)
    assert (len(told), told[-1]) == (73, 1.0)
    assert same(other.tally(), collector.tally())
    counting: list[float] = []
    assert same(other.tally(progress=counting.append), counted(TASK, some))
    assert counting[-1] == 1.0
    unknown: list[float] = []
    other.collect(iter(sent(3)), progress=unknown.append)
    assert unknown == [-1.0]


def test_long_lines_make_small_pieces(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spaces, which JSON allows, must not make a piece of many gigabytes."""
    monkeypatch.setattr(module, "BATCH_BYTES", 2000)
    padded = [line.rstrip(b"}\n") + b" " * 800 + b"}" for line in ndjson(sent(30))]
    for some in (padded, [line.decode() for line in padded], [{"x": "y" * 900}] * 30):
        told: list[float] = []
        assert collector.collect(some, progress=told.append).messages == 30
        assert len(told) == 10
    assert collector.totals() == Receipt(30, {"replayed": 30, "malformed": 30})


def test_what_came_before_a_pause_is_written(collector: Collector) -> None:
    def slowly() -> Any:
        for message in sent(5):
            yield PAUSE
            yield PAUSE
            yield message
        yield PAUSE
        assert collector.totals().accepted == 5
        yield from sent(2)

    assert collector.collect(slowly()) == Receipt(7, {})


def test_messages_that_cannot_be_read_on_lose_nothing(collector: Collector) -> None:
    def torn() -> Any:
        yield from sent(40)
        yield "junk"
        raise OSError(5, "Input/output error")

    with pytest.raises(CollectorFailed, match="cannot be read: Input/output error") as told:
        collector.collect(torn())
    assert told.value.cost == "the 41 messages before are processed, 40 accepted and 1 refused"
    assert collector.totals() == Receipt(40, {"malformed": 1})


def test_a_pipe_is_read_as_a_file_is() -> None:
    text = b"a\n\n" + b"x" * (1 << 20) + b"\nbc\r\n" + b"12345\n" * 20_000 + b"123456\nlast"
    reader, writer = os.pipe()

    def write() -> None:
        with open(writer, "wb") as pipe:
            pipe.write(text)

    thread = threading.Thread(target=write)
    thread.start()
    came = [line for line in arriving(reader, 5, 60.0) if not isinstance(line, Pause)]
    thread.join()
    os.close(reader)
    assert came == [line.removesuffix(b"\n") for line in lines(BytesIO(text), 5)]


def test_a_pipe_pauses_while_nothing_comes_and_while_a_little_does() -> None:
    reader, writer = os.pipe()
    stopping, stop = os.pipe()
    coming = arriving(reader, 9, 0.02, stopping)
    assert isinstance(next(coming), Pause)
    seen: list[Any] = []
    while not any(isinstance(one, Pause) for one in seen):  # though a message is there whenever it looks
        os.write(writer, b"a\n")
        seen.append(next(coming))
    os.write(writer, b"half")
    os.write(stop, b".")
    assert [one for one in coming if not isinstance(one, Pause)] == []
    for number in (reader, writer, stopping, stop):
        os.close(number)


def test_nothing_of_a_message_is_kept_but_token_and_report(collector: Collector) -> None:
    some = sent(200)
    collector.collect(some)
    with duckdb.connect(str(collector.store.path), read_only=True) as connection:
        shape = connection.execute("SELECT table_name, column_name FROM information_schema.columns").fetchall()
        stored = connection.execute("SELECT token_high, token_low, report FROM reports").fetchall()
    assert sorted(shape) == [
        ("refused", "messages"),
        ("refused", "reason"),
        ("reports", "report"),
        ("reports", "token_high"),
        ("reports", "token_low"),
        ("state", "accepted"),
        ("state", "task"),
    ]
    kept = [(f"{high:016x}{low:016x}", to_base64(bytes(report))) for high, low, report in stored]
    assert kept == sorted(kept)  # by token: the order of arrival is gone
    assert sorted(kept) == sorted((one["token"], one["report"]) for one in some)
    assert sorted(path.name for path in collector.folder.iterdir()) == ["reports.duckdb", "reports.lock", "task.json"]


# ---- refused ---------------------------------------------------------------------------------------------------------


def bad() -> list[tuple[Any, Reason]]:
    """Messages that do not count, and why."""
    one = sent(1)[0]
    text = json.dumps(one)
    forged = to_base64(bytes([0b0001_0000]))  # bits beyond the three keys
    return [
        ({**one, "task": "0" * 32}, "another task"),
        ({**one, "epsilon": "2"}, "another epsilon"),
        ({**one, "report": forged}, "not a report"),
        (json.dumps({**one, "report": forged}).encode(), "not a report"),
        ({**one, "report": "QB"}, "malformed"),
        (json.dumps({**one, "report": "QB"}).encode(), "malformed"),  # spare bits, in a line that looks usual
        ({**one, "address": "192.0.2.1"}, "malformed"),
        (text[:-1] + ', "token": "' + "0" * 32 + '"}', "malformed"),  # a name twice
        (text.replace('"report"', '"report": NaN, "x"'), "malformed"),
        (text.encode("utf-16"), "malformed"),
        (b"\xef\xbb\xbf" + text.encode(), "malformed"),
        (text.encode().replace(b'"epsilon": "1"', b'"epsilon": "\xff"'), "malformed"),
        (text + " " * 4000, "malformed"),
        (b" " * (1 << 24), "malformed"),
        ("[" * 900, "malformed"),
        ('{"a":' * 200, "malformed"),
        ("9" * 1000, "malformed"),
        ("", "malformed"),
        (b"\n", "malformed"),
        ("\ud800", "malformed"),
        (None, "malformed"),
        (7, "malformed"),
        ([text], "malformed"),
        (object(), "malformed"),
        (float("nan"), "malformed"),
        (memoryview(text.encode()), "malformed"),
    ]


@pytest.mark.parametrize("i", range(len(bad())))
def test_each_bad_message_is_refused_by_name(i: int, collector: Collector) -> None:
    message, reason = bad()[i]
    good = sent(2)
    assert collector.collect([good[0], message, good[1]]) == Receipt(2, {reason: 1})


def test_bad_messages_among_good_ones_are_all_counted(collector: Collector) -> None:
    some, wrong = sent(100), bad()
    mixed = [*some[:50], *(message for message, _ in wrong), *some[50:], *some[:10]]
    reasons = Counter(reason for _, reason in wrong) + Counter({"replayed": 10})
    receipt = collector.collect(mixed)
    assert (receipt.accepted, receipt.messages) == (100, len(mixed))
    assert receipt.refused == reasons
    assert collector.totals() == receipt
    assert same(collector.tally(), counted(TASK, some))
    again = collector.collect([wrong[0][0]])
    assert collector.totals() == receipt + again


def test_a_message_that_is_refused_does_not_use_its_token_up(collector: Collector) -> None:
    one = sent(1)[0]
    forged = {**one, "report": to_base64(bytes([0b0001_0000]))}
    assert collector.collect([forged, one, one]) == Receipt(1, {"not a report": 1, "replayed": 1})


def test_of_two_reports_with_one_token_the_first_counts(collector: Collector) -> None:
    a, b = (to_base64(bytes([byte])) for byte in (0b1110_0000, 0))
    one = sent(1)[0]
    assert collector.collect([{**one, "report": a}, {**one, "report": b}]).accepted == 1
    assert collector.tally().support.tolist() == [1, 1, 1]
    half = {**one, "token": one["token"][:16] + "f" * 16}  # tokens that agree in half of their bytes are different
    assert collector.collect([half]).accepted == 1


def test_a_long_line_of_a_file_is_skipped_in_little_memory(collector: Collector) -> None:
    class Endless:
        """A file with a line of a gigabyte, of which little may be asked for at a time."""

        def __init__(self) -> None:
            self.parts = [BytesIO(ndjson(sent(1))[0]), BytesIO(ndjson(sent(1))[0])]
            self.left = 1 << 30

        def readline(self, most: int) -> bytes:
            assert 0 < most < 5000
            if line := self.parts[0].readline(most):
                return line
            if self.left > 0:
                self.left -= most
                return b"x" * most if self.left > 0 else b"x\n"
            return self.parts[1].readline(most)

    file: Any = Endless()
    assert collector.collect(lines(file, Intake(TASK).longest)) == Receipt(2, {"malformed": 1})


@given(st.binary(max_size=40), st.integers(0, 300), st.sampled_from(["cut", "put", "change"]))
def test_usual_lines_are_read_as_json_reads_them(noise: bytes, where: int, how: str) -> None:
    """What is recognised by its look is what the careful way accepts, bit for bit; all else takes that way."""
    task = OLH(5, 1)
    (line,) = ndjson(messages(task, task.randomize([3])))
    where = min(where, len(line))
    changed = {
        "cut": line[:where],
        "put": line[:where] + noise + line[where:],
        "change": line[:where] + noise + line[where + len(noise) :],
    }[how]
    intake = Intake(task)
    try:
        expected: Any = read_message(task, intake._document(changed))
    except MessageRefused as refusal:
        expected = reason_of(refusal)
    batch = intake.read([changed])
    if len(batch.reports):
        assert (batch.tokens.astype(">u8").tobytes(), batch.reports.tobytes()) == (expected.token, expected.report)
    else:
        assert list(batch.refused) in ([expected], ["not a report"])


@given(st.lists(st.one_of(st.binary(), st.text(), st.none(), st.dictionaries(st.text(), st.text()))))
def test_no_message_ends_a_run(junk: list[Any]) -> None:
    batch = Intake(TASK).read(junk)
    assert (len(batch.reports), batch.refused.total()) == (0, len(junk))


# ---- shards ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("task", "values"), EVERY_TASK, ids=IDS)
def test_shards_add_up_to_the_whole_exactly(task: Any, values: Any) -> None:
    reports = task.randomize(values)
    parts = [task.tally(reports[i::3]) for i in range(3)]
    written = [json.loads(json.dumps(publish_tally(task, part))) for part in parts]
    assert same(total(task, [read_tally(task, one) for one in written]), task.tally(reports))


def test_a_tally_of_another_task_is_refused() -> None:
    mine, other = KRR(3, 1).named("q"), KRR(3, 2).named("q")
    document = publish_tally(other, other.tally([0, 1]))
    with pytest.raises(InvalidValue, match="of another task"):
        read_tally(mine, document)
    fitting: dict[str, Any] = publish_tally(mine, mine.tally([0, 1]))
    changes: list[dict[str, Any]] = [{"curador": 2}, {"more": 1}, {"tally": {}}]
    for change in (*changes, {"tally": Tally(1, np.array([1, 0])).to_json()}):
        with pytest.raises(InvalidValue):
            read_tally(mine, {**fitting, **change})


def test_people_who_cannot_be_that_many() -> None:
    task = KRR(3, 1).named("q")
    most = Tally((1 << 53) - 1, np.array([(1 << 53) - 1, 0, 0]))
    document = publish_tally(task, most)
    assert same(total(task, [read_tally(task, document)]), most)
    with pytest.raises(InvalidValue, match="more reports than there can be"):
        total(task, [most, most])
    with pytest.raises(InvalidValue):
        read_tally(task, publish_tally(task, Tally(1 << 53, most.support)))


@pytest.mark.parametrize(("task", "values"), EVERY_TASK, ids=IDS)
def test_a_tally_that_lies_is_shown_or_refused(task: Any, values: Any) -> None:
    """Whatever a shard says: an answer in finite numbers, or one clear refusal."""
    true = task.tally(task.randomize(values))
    asked = ["tea", "nobody's"] if task.mechanism in ("rappor", "count-mean", "hadamard-count-mean") else None
    one = np.zeros_like(true.support)
    one.flat[-1] = (1 << 63) - 1
    refused = 0
    for users in (true.users, 1, (1 << 53) - 1):
        for support in (true.support, one, 0 * one, np.full_like(one, -1 << 63), -true.support, 0 * one + users):
            try:
                tally = total(task, [read_tally(task, publish_tally(task, Tally(users, support)))])
                found = summarize(task, tally, candidates=asked)
            except CuradorError:
                refused += 1
            else:
                assert all(np.isfinite([*one.values, *one.low, *one.high]).all() for one in found)
    assert refused >= 6


# ---- memory ----------------------------------------------------------------------------------------------------------

STREAM = """
import sys
from itertools import islice
from curador.local import KRR
from curador.local.collect.collector import Collector
from curador.local.collect.wire import messages
task = KRR(8, 1).named("q")
def stream(n):
    for _ in range(0, n, 10_000):
        yield from messages(task, task.randomize(range(8)).repeat(1250))
# Not ru_maxrss: a child begins with that of the process that started it.
peak = lambda: next(int(line.split()[1]) // 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))
c = Collector.create(sys.argv[1], task)
c.collect(stream(500_000)), c.tally()
early = peak()
print(c.collect(stream(1_500_000)).accepted, c.tally().users, early, peak())
"""


@pytest.mark.slow
def test_memory_does_not_grow_with_the_reports(tmp_path: Path) -> None:
    command = [sys.executable, "-c", STREAM, str(tmp_path / "c")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    accepted, users, early, late = map(int, done.stdout.split())
    assert (accepted, users) == (1_500_000, 2_000_000)
    assert late < 700
    assert late - early < 150  # 1.5 million tokens and reports as objects would be that much, several times
