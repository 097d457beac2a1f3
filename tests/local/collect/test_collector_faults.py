"""The collector when things go wrong: crashes, crowds, full disks, and folders that are not what they should be."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from curador.errors import CollectorFailed, CuradorError
from curador.local import KRR
from curador.local.collect import store as store_module
from curador.local.collect.collector import Collector, Receipt
from curador.local.collect.store import ReportStore, _translate_errors
from tests.local.sending import TASK, counted, ndjson, same, sent


@pytest.fixture
def collector(tmp_path: Path) -> Collector:
    return Collector.create(tmp_path / "drinks", TASK)


# ---- restarts, processes, crashes ------------------------------------------------------------------------------------


def test_tokens_are_known_after_a_restart(collector: Collector) -> None:
    some = sent(50)
    collector.collect(some)
    again = Collector.open(collector.folder)
    assert again.collect(some) == Receipt(0, {"replayed": 50})
    assert again.totals() == Receipt(50, {"replayed": 50})


COLLECT = """
import sys
from curador.local.collect import collector
collector.BATCH_ROWS = int(sys.argv[3])
with open(sys.argv[2], "rb") as file:
    receipt = collector.Collector.open(sys.argv[1]).collect(file)
print(receipt.accepted, receipt.refused.get("replayed", 0))
"""


def collecting(folder: Path, file: Path, piece: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", COLLECT, str(folder), str(file), str(piece)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_two_processes_at_once_accept_each_message_once(collector: Collector, tmp_path: Path) -> None:
    some = sent(2000)
    file = tmp_path / "messages.ndjson"
    file.write_bytes(b"".join(ndjson(some)))
    both = [collecting(collector.folder, file, 100) for _ in range(2)]
    ends = [tuple(map(int, one.communicate(timeout=120)[0].split())) for one in both]
    accepted, replayed = map(sum, zip(*ends, strict=True))
    assert (accepted, replayed) == (2000, 2000)
    assert collector.totals() == Receipt(2000, {"replayed": 2000})
    assert same(collector.tally(), counted(TASK, some))


def test_threads_at_once_accept_each_message_once(collector: Collector) -> None:
    some = sent(600)
    receipts: list[Receipt] = []

    def work() -> None:
        for i in range(0, 600, 60):
            receipts.append(collector.collect(some[i : i + 60]))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert collector.tally().users % 60 == 0  # whole pieces, whenever one looks
    for thread in threads:
        thread.join()
    assert sum(receipts, start=Receipt()) == collector.totals() == Receipt(600, {"replayed": 1800})
    assert same(collector.tally(), counted(TASK, some))


def test_a_kill_at_any_time_leaves_whole_pieces(collector: Collector, tmp_path: Path) -> None:
    some = sent(4000)
    pipe = tmp_path / "messages.ndjson"
    os.mkfifo(pipe)
    with collecting(collector.folder, pipe, 50) as child:

        def feed() -> None:
            with contextlib.suppress(BrokenPipeError), pipe.open("wb") as into:
                into.write(b"".join(ndjson(some[:-50])))
                into.flush()
                child.wait()  # the last piece never comes, so it is killed before it is done

        feeder = threading.Thread(target=feed)
        feeder.start()
        while collector.totals().accepted < 200:
            time.sleep(0.01)
        child.send_signal(signal.SIGKILL)
        feeder.join()
    assert child.returncode == -signal.SIGKILL  # it was not done
    tally = collector.tally()
    assert tally.users % 50 == 0
    assert tally.users == collector.totals().accepted
    assert same(tally, counted(TASK, some[: tally.users]))
    assert Collector.open(collector.folder).collect(some).accepted == 4000 - tally.users
    assert same(collector.tally(), counted(TASK, some))


KILLED = """
import os, shutil, signal, sys
from curador.local.collect import collector, store

folder, file = sys.argv[1:]
collector.BATCH_ROWS = 50
real = store.duckdb.connect

class Watched:
    # A connection that kills the process before the n-th time it is used.
    def __init__(self, connection):
        self.connection = connection

    def __getattr__(self, name):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return getattr(self.connection, name)

for n in range(200):
    shutil.copytree(folder, f"{folder}-{n}")
    child = os.fork()
    if not child:
        left = n
        store.duckdb.connect = lambda *a, **k: Watched(real(*a, **k))
        with open(file, "rb") as messages:
            collector.Collector.open(f"{folder}-{n}").collect(messages)
        os._exit(0)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0:
        print(n)
        break
"""


def test_a_kill_between_any_two_statements_leaves_whole_pieces(collector: Collector, tmp_path: Path) -> None:
    old, some = sent(50), sent(100)
    collector.collect(old)
    file = tmp_path / "messages.ndjson"
    file.write_bytes(b"".join(ndjson(some)))
    command = [sys.executable, "-c", KILLED, str(collector.folder), str(file)]
    last = int(subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout)
    assert last > 10
    left = []
    for n in range(last + 1):
        killed = Collector.open(f"{collector.folder}-{n}")
        tally = killed.tally()
        left.append(tally.users)
        assert tally.users == killed.totals().accepted
        assert same(tally, counted(TASK, [*old, *some][: tally.users]))
        assert killed.collect(some).accepted == 150 - tally.users
        assert same(killed.tally(), counted(TASK, [*old, *some]))
    assert left == sorted(left)
    assert set(left) == {50, 100, 150}


# ---- folders ---------------------------------------------------------------------------------------------------------


def test_a_folder_is_made_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", full)
        with pytest.raises(CollectorFailed, match="No space left"):
            Collector.create(tmp_path / "c", TASK)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "c").mkdir()  # an empty folder will do
    Collector.create(tmp_path / "c", TASK).collect(sent(3))
    with pytest.raises(CollectorFailed, match="exists already"):
        Collector.create(tmp_path / "c", TASK)
    assert Collector.open(tmp_path / "c", TASK).totals().accepted == 3
    assert [path.name for path in tmp_path.iterdir()] == ["c"]


@pytest.mark.parametrize("way", ["itself", "here", "link", "disk"])
def test_an_empty_folder_is_filled_and_stays_what_it_is(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be a mount point, or where one stands, or of a group's: it cannot be swapped for another."""
    real = tmp_path / "real"
    real.mkdir()
    real.chmod(0o2750)
    named = {"itself": real, "here": Path(), "link": tmp_path / "link", "disk": real}[way]
    if way == "link":
        named.symlink_to("real")
    if way == "here":
        monkeypatch.chdir(real)
    if way == "disk":
        (real / "lost+found").mkdir()
    before = real.stat()
    assert Collector.create(named, TASK).collect(sent(3)).accepted == 3
    after = real.stat()
    assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)
    assert named.is_symlink() == (way == "link")
    assert Collector.open(real, TASK).totals().accepted == 3


def test_a_folder_of_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(CollectorFailed, match="exists already, and holds other files"):
        Collector.create(tmp_path, TASK)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    with pytest.raises(CollectorFailed, match=r"^notes\.txt cannot be used"):
        Collector.create(tmp_path / "notes.txt", TASK)


class Killed(BaseException):
    """Nothing catches it, and nothing is tidied up."""


@pytest.mark.parametrize("step", [1, 2, 3])
def test_a_folder_left_half_made_is_finished(step: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = step

    def killing(real: Callable[..., Any]) -> Callable[..., Any]:
        def work(*arguments: Any, **named: Any) -> Any:
            nonlocal left
            left -= 1
            if not left:
                raise Killed
            return real(*arguments, **named)

        return work

    with monkeypatch.context() as patched:  # the store gets its name, the task is written, the task gets its name
        patched.setattr(Path, "rename", killing(Path.rename))
        patched.setattr(os, "fdopen", killing(os.fdopen))
        patched.setattr(os, "replace", killing(os.replace))
        patched.setattr(os, "unlink", lambda *_: None)
        with pytest.raises(Killed):
            Collector.create(tmp_path / "c", TASK)
    with pytest.raises(CollectorFailed, match="The creation of c was interrupted"):
        Collector.open(tmp_path / "c")
    if step > 1:
        with pytest.raises(CollectorFailed, match="on another task"):
            Collector.create(tmp_path / "c", KRR(3, 1).named("q"))
    assert Collector.create(tmp_path / "c", TASK).collect(sent(3)).accepted == 3
    assert sorted(path.name for path in (tmp_path / "c").iterdir()) == ["reports.duckdb", "reports.lock", "task.json"]


def test_of_many_who_make_one_folder_one_does(tmp_path: Path) -> None:
    ends: list[str] = []

    def work() -> None:
        try:
            Collector.create(tmp_path / "c", TASK)
            ends.append("made")
        except CollectorFailed as failure:
            ends.append(failure.what)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ends) == [*["c exists already."] * 5, "made"]
    assert Collector.open(tmp_path / "c").collect(sent(3)).accepted == 3


def test_a_folder_may_be_where_one_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(CollectorFailed, match=r"^here is not a collector"):
        Collector.open(".")
    made = Collector.create("../there", TASK)
    assert made.folder.is_absolute()
    monkeypatch.chdir(tmp_path)
    assert made.collect(sent(3)).accepted == 3


def test_another_task_is_refused(collector: Collector) -> None:
    with pytest.raises(CollectorFailed, match="collects on another task"):
        Collector.open(collector.folder, KRR(3, 1).named("q"))


def test_what_is_no_collector(collector: Collector, tmp_path: Path) -> None:
    with pytest.raises(CollectorFailed, match=r"not a collector: it has no task\.json"):
        Collector.open(tmp_path)
    for text in ("", "{}", "[[", '{"curador": 1}', "[" * 10**5, "null"):
        (collector.folder / "task.json").write_text(text)
        with pytest.raises(CuradorError, match=r"is not a task"):
            Collector.open(collector.folder)
    (collector.folder / "task.json").write_bytes(b"\xff")
    with pytest.raises(CollectorFailed, match=r"cannot be used"):
        Collector.open(collector.folder)


def test_a_store_of_another_task(collector: Collector, tmp_path: Path) -> None:
    other = Collector.create(tmp_path / "other", KRR(3, 1).named("q"))
    shutil.copy(other.store.path, collector.store.path)
    for use in (lambda: collector.collect(sent(1)), collector.tally, collector.totals):
        with pytest.raises(CollectorFailed, match="on another task"):
            use()


def test_a_missing_store_is_not_made_anew(collector: Collector) -> None:
    collector.store.path.unlink()
    for use in (lambda: collector.collect(sent(1)), collector.tally, collector.totals):
        with pytest.raises(CollectorFailed, match=r"reports\.duckdb is missing"):
            use()
    assert not collector.store.path.exists()


def test_a_store_that_is_none(collector: Collector) -> None:
    with duckdb.connect(str(collector.folder / "x.duckdb")) as connection:
        connection.execute("CREATE TABLE t (x INTEGER)")
    for junk in (b"", b"hello" * 5000, (collector.folder / "x.duckdb").read_bytes()):
        collector.store.path.write_bytes(junk)
        with pytest.raises(CollectorFailed, match="not a store of reports, or is damaged"):
            collector.totals()


@pytest.mark.parametrize("where", [0.3, 0.6, 0.9])
def test_a_store_that_was_cut_or_altered_is_called_damaged(where: float, collector: Collector) -> None:
    collector.collect(sent(3000))
    whole = collector.store.path.read_bytes()
    altered = bytearray(whole)
    altered[9000] ^= 255
    for damaged in (whole[: int(where * len(whole))], bytes(altered)):
        collector.store.path.write_bytes(damaged)
        with pytest.raises(CollectorFailed, match="is damaged") as told:
            collector.tally()
        assert str(collector.folder) not in told.value.what


def test_errors_name_files_without_their_folders(tmp_path: Path) -> None:
    path = tmp_path / "reports.duckdb"
    with pytest.raises(CollectorFailed, match="No space") as told, _translate_errors(path):
        raise duckdb.IOException(f'Could not write file "{path}": No space left')
    assert str(tmp_path) not in told.value.what


def test_one_who_waits_says_so(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "SILENT", 0.05)
    said: list[str] = []
    waiting = ReportStore(collector.store.path, collector.store.task, patience=0.3, notice=said.append)
    assert waiting.totals() == (0, {})
    assert said == []
    with collector.store._lock(fcntl.LOCK_EX), pytest.raises(CollectorFailed, match="Another process"):
        waiting.totals()
    assert said == ["Waiting for another program that uses reports.duckdb, 0.3 s at most."]


def test_reports_that_were_taken_out_are_missed(collector: Collector) -> None:
    collector.collect(sent(30))
    with duckdb.connect(str(collector.store.path)) as connection:
        connection.execute("DELETE FROM reports WHERE rowid = 3")
    with pytest.raises(CollectorFailed, match="damaged"):
        collector.tally()


def test_a_store_in_use_is_waited_for_but_not_for_ever(collector: Collector) -> None:
    held = [
        sys.executable,
        "-c",
        "import duckdb, sys, time; c = duckdb.connect(sys.argv[1]); print(1, flush=True); input()",
    ]
    with subprocess.Popen(
        [*held, str(collector.store.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        impatient = ReportStore(collector.store.path, collector.store.task, patience=0.1)
        with pytest.raises(CollectorFailed, match="Another process is using"):
            impatient.totals()
        waiting = threading.Timer(0.3, holder.communicate, ["\n"])
        waiting.start()
        assert collector.collect(sent(3)).accepted == 3
        waiting.join()


LIMITED = """
import resource, sys
from curador.errors import CollectorFailed, CuradorError
from curador.local.collect import collector
collector.BATCH_ROWS = 10_000
c = collector.Collector.open(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (1_300_000, 1_300_000))
with open(sys.argv[2], "rb") as file:
    try:
        c.collect(file)
    except CuradorError as error:
        print(type(error).__name__, error.what, "|", error.cost)
"""


def test_a_full_disk_loses_nothing(collector: Collector, tmp_path: Path) -> None:
    """A limit on the size of files stands for a disk without room."""
    some = sent(100_000)
    file = tmp_path / "messages.ndjson"
    file.write_bytes(b"".join(ndjson(some)))
    command = [sys.executable, "-c", LIMITED, str(collector.folder), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.startswith("CollectorFailed reports.duckdb cannot be read or written"), done.stdout + done.stderr
    kept = collector.tally()
    assert 0 < kept.users < 100_000
    assert kept.users % 10_000 == 0
    assert f"the {kept.users} messages before are processed" in done.stdout
    assert same(kept, counted(TASK, some[: kept.users]))
    assert collector.collect(some).accepted == 100_000 - kept.users  # there is room again


READ_ONLY = """
import sys
from curador.errors import CollectorFailed, CuradorError
from curador.local.collect.collector import Collector
c = Collector.open(sys.argv[1])
print(c.tally().users)
for use in (lambda: c.collect(["x"]), lambda: Collector.create(sys.argv[1] + "/inner", c.task)):
    try:
        use()
    except CuradorError as error:
        print(type(error).__name__, error.what)
"""


@pytest.mark.skipif(os.geteuid() == 0 and not shutil.which("setpriv"), reason="root may write everywhere")
def test_a_folder_that_may_only_be_read(collector: Collector) -> None:
    collector.collect(sent(30))
    for path in (*collector.folder.iterdir(), collector.folder):
        path.chmod(0o555)
    bound = ["setpriv", "--bounding-set=-dac_override"] if os.geteuid() == 0 else []
    command = [*bound, sys.executable, "-c", READ_ONLY, str(collector.folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    collector.folder.chmod(0o755)
    users, collecting, creating = done.stdout.splitlines()
    assert users == "30"
    assert collecting.startswith("CollectorFailed reports.duckdb cannot be read or written"), collecting
    assert creating == "CollectorFailed inner cannot be used: Permission denied."
    assert collector.tally().users == 30
