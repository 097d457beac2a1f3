"""The demonstration: a folder of its own, five statistics for one charge, free the second time."""

from __future__ import annotations

import errno
import json
import shlex
import subprocess
import sys
import tempfile
import tomllib
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from curador.accounting.rules.profiles import pure_epsilon
from curador.curator.curator import Curator
from curador.curator.study import demo, samples
from curador.curator.study.dashboard import read_dashboard
from curador.errors import InvalidParameter, QuestionRefused
from curador.privacy import PureDP
from curador.show import files
from tests.cli import test_cli
from tests.cli.test_cli import Invoke, run

invoke = test_cli.invoke  # the fixture

TITLES = ("people", "paid above 100,000", "mean salary", "median salary", "histogram")


def test_it_shows_every_statistic_its_interval_its_share_and_the_meaning(invoke: Invoke) -> None:
    shown = invoke("demo")
    for part in (*TITLES, "10 bins", "together", "made up", "95% interval"):
        assert part in shown
    for share in demo.SHARES.values():
        assert f" {share / 100:g} " in shown
    assert "26.8%" in shown  # 1 / (1 + e), the adversary's least error at even odds
    assert shown.count("█") > 50
    assert "remaining epsilon 1." in shown
    assert sorted(p.name for p in Path("curador-demo").iterdir() if "ledger" not in p.name) == [
        "dashboard.toml",
        "salaries.csv",
        "study.toml",
    ]
    assert Path("curador-demo/study.ledger").is_file()


def test_a_second_run_is_free_and_says_so(invoke: Invoke) -> None:
    first, second = json.loads(invoke("demo", "--json")), json.loads(invoke("demo", "--json"))
    assert (first.pop("repeated"), second.pop("repeated")) == (False, True)
    assert first == second
    assert first["remaining"]["population"]["epsilon"] == 1
    assert "Answered from the ledger" in invoke("demo")
    curator = Curator("curador-demo/study.toml")
    (charge,) = curator.history()
    assert pure_epsilon(charge.event) == 1
    assert curator.budget().spent == PureDP(1)
    curator.close()


def test_the_answers_are_found_again_from_inside_the_folder(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    first = json.loads(invoke("demo", "--json"))
    monkeypatch.chdir("curador-demo")
    again = json.loads(invoke("publish", "dashboard.toml", "--json"))
    assert again["repeated"]
    assert again["releases"] == first["releases"]


def test_what_it_says_to_try_next_works(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    tried, _, served = invoke("demo").split("Try next\n")[1].partition("\nOr in a browser")
    assert served.splitlines()[-1].split() == ["curador", "serve", "demo"]
    lines = tried.splitlines()
    assert len(lines) == 6
    for line in lines:
        program, *words = shlex.split(line)
        if program == "cd":
            monkeypatch.chdir(words[0])
        else:
            assert program == "curador"
            invoke(*words)


@pytest.mark.parametrize("epsilon", ["1/3", "0.05", "2"])
def test_the_charge_is_exactly_what_was_asked(invoke: Invoke, epsilon: str) -> None:
    invoke("demo", "--epsilon", epsilon, "--folder", "d")
    curator = Curator("d/study.toml")
    (charge,) = curator.history()
    assert 0 <= Fraction(epsilon) - pure_epsilon(charge.event) < Fraction(1, 10**12)  # never more
    curator.close()
    with pytest.raises(InvalidParameter, match="is for epsilon"):
        invoke("demo", "--epsilon", "0.7", "--folder", "d")


@pytest.mark.parametrize("bad", ["x", "0", "-1", "nan", "inf", "", "1e9"])
def test_a_bad_epsilon_is_one_clear_message_and_leaves_no_folder(invoke: Invoke, bad: str) -> None:
    with pytest.raises(InvalidParameter, match="epsilon"):
        invoke("demo", f"--epsilon={bad}")
    assert list(Path().iterdir()) == []


def test_a_promise_of_nothing_is_refused(invoke: Invoke) -> None:
    with pytest.raises(QuestionRefused, match="next to nothing"):
        invoke("demo", "--epsilon", "10")
    assert list(Path().iterdir()) == []


def test_exit_code_and_words_of_a_refusal(tmp_path: Path) -> None:
    shown = run("demo", "--epsilon=-1", "--folder", str(tmp_path / "d"))
    assert shown.returncode == 1
    for said in ("epsilon", "To do", "nothing was drawn"):
        assert said in shown.stderr
    assert "Traceback" not in shown.stderr


def test_files_that_were_changed_are_left_alone(tmp_path: Path) -> None:
    demo.lay_out(tmp_path)
    study = tmp_path / "study.toml"
    study.write_text(study.read_text().replace("epsilon = 2", "epsilon = 3"))
    demo.lay_out(tmp_path)
    assert tomllib.loads(study.read_text())["budget"]["epsilon"] == 3


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidParameter, match="cannot be written"):
        demo.lay_out(tmp_path / "file" / "d")


def test_the_truth_is_that_of_the_rows(tmp_path: Path) -> None:
    demo.lay_out(tmp_path)
    rows = np.loadtxt(tmp_path / "salaries.csv", skiprows=1)
    assert len(rows) == len(samples.salaries())
    found = demo.truth()
    assert found["mean"] == pytest.approx(rows.mean(), rel=1e-12)
    assert found["median"] == np.median(rows)
    assert found["above"] == (rows > demo.THRESHOLD).sum()


@pytest.mark.slow
def test_the_dashboard_is_right_about_its_errors(tmp_path: Path) -> None:
    # 120 runs at 95 %: more than 20 misses of one interval have a chance below 1e-6, and no miss at all of the two
    # counts, whose intervals are as narrow as integers let them be, one of about 1e-5.
    board, truth = read_dashboard(demo.lay_out(tmp_path)), demo.truth()
    curator = Curator(board.study, budget=PureDP(200), ledger="memory:")
    missed = dict.fromkeys(("people", "above", "mean"), 0)
    batch = board.batch(curator)
    for _ in range(120):
        found = curator.publish(batch, fresh=True)
        for name in missed:
            low, high = found[name].interval(found[name].outputs[0])
            missed[name] += not low <= truth[name] <= high
    curator.close()
    assert max(missed.values()) <= 20
    assert missed["people"] + missed["above"] > 0


@pytest.mark.parametrize("full_sync", ["none", "works", "not on this disk"])
def test_it_runs_where_the_system_is_not_linux(tmp_path: Path, full_sync: str) -> None:
    """macOS lacks fdatasync, locks of an open file and a thread's clock; not every disk has a full sync."""
    mac = f"""
import errno, fcntl, os, time
del os.fdatasync, fcntl.F_OFD_SETLK, fcntl.F_OFD_GETLK, time.pthread_getcpuclockid
plain, full = [], []
def fsync(file, real=os.fsync):
    plain.append(file)
    real(file)
def control(file, command, *rest, real=fcntl.fcntl):
    if command != 51:
        return real(file, command, *rest)
    full.append(file)
    if {full_sync!r} != "works":
        raise OSError(errno.ENOTSUP, "not supported")
os.fsync, fcntl.fcntl = fsync, control
if {full_sync!r} != "none":
    fcntl.F_FULLFSYNC = 51
from curador.cli.app import main
try:
    main()
finally:
    print(bool(plain), bool(full))
"""
    done = subprocess.run(
        [sys.executable, "-c", mac, "demo", "--folder", str(tmp_path / "d")],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert "remaining epsilon 1." in done.stdout
    synced = {"none": "True False", "works": "False True", "not on this disk": "True True"}
    assert done.stdout.splitlines()[-1] == synced[full_sync]


def test_a_full_sync_that_fails_is_no_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system says so once: a second, weaker sync would pass."""

    def fails(*_: object) -> int:
        raise OSError(errno.EIO, "input/output error")

    monkeypatch.setattr(files, "_FULL_SYNC", 51)
    monkeypatch.setattr("curador.show.files.fcntl.fcntl", fails)
    with tempfile.TemporaryFile() as file, pytest.raises(OSError, match="input/output"):
        files.sync(file.fileno())
