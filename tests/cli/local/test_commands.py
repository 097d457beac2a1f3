"""`curador local`: from a task to a figure, for every mechanism, and what is said when something is wrong."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import chdir
from itertools import islice
from pathlib import Path
from typing import Any, get_args

import pyarrow
import pytest
from pyarrow import parquet
from typer.testing import CliRunner

from curador.cli.app import app
from curador.cli.hints import with_hint
from curador.cli.local.commands import _candidates
from curador.cli.local.new_task import MECHANISMS
from curador.cli.local.tables import print_summaries
from curador.cli.screen import console, print_refusal
from curador.errors import CollectorFailed, CuradorError, InvalidParameter, InvalidValue, NotPromised
from curador.local import KRR, HeavyHitters
from curador.local.collect.collector import Collector
from curador.local.collect.wire import Reason, messages, publish_task, read_task
from curador.local.task.build import mechanisms
from curador.show.summary import Summary

Invoke = Callable[..., str]

MADE: dict[str, str] = {
    **dict.fromkeys(("krr", "sue", "oue", "olh", "hadamard", "subset"), "--keys tea,coffee,water --rest water"),
    "best": "--size 40 --users 3000",
    "dbitflip": "--keys tea,coffee,water --sampled 2",
    "longitudinal": "--keys tea,coffee --values 1 --first 1",
    **dict.fromkeys(("laplace", "duchi", "piecewise", "hybrid"), "--low 0 --high 10"),
    "square-wave": "--low 0 --high 10 --buckets 32",
    "duchi-vector": "--low 0 --high 1 --dimension 3",
    "record": "--attribute age=0:100 --attribute drink=tea,coffee --attribute stars=5 --sampled 2",
    "rappor": "--bloom 64 --hashes 2 --cohorts 8",
    "count-mean": "--rows 32 --places 64",
    "hadamard-count-mean": "--rows 32 --places 64",
    "heavy-hitters": "--length 6",
}
ASKS = {"rappor", "count-mean", "hadamard-count-mean"}


@pytest.fixture
def invoke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """Run `curador local …` in an empty folder, on a terminal of 80 columns; gives what was printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(console, "_width", 80)

    def call(line: str, *more: str, code: int = 0, text: bytes | None = None) -> str:
        done = CliRunner().invoke(app, ["local", *line.split(), *more], input=text)
        if isinstance(done.exception, CuradorError):
            raise with_hint(done.exception)
        assert done.exit_code == code, done.output
        if "--json" not in line:
            assert max(map(len, done.output.splitlines())) <= 80
        return done.output

    return call


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder where 600 people have reported on three drinks: made once, and copied by each test."""
    folder = tmp_path_factory.mktemp("reported")
    with chdir(folder):
        for line in (
            "new-task q krr --keys tea,coffee,water --epsilon 2",
            "simulate task.json --users 600",
            "collect drinks messages.ndjson --task task.json",
        ):
            assert CliRunner().invoke(app, ["local", *line.split()]).exit_code == 0
    return folder


@pytest.fixture
def drinks(reported: Path, invoke: Invoke) -> Invoke:
    """The same, where 600 people have reported on three drinks."""
    shutil.copytree(reported, Path.cwd(), dirs_exist_ok=True)
    return invoke


# ---- from a task to an estimate --------------------------------------------------------------------------------------


def test_every_mechanism_is_tried() -> None:
    assert set(MADE) == set(mechanisms()) == set(MECHANISMS.split(", "))


@pytest.mark.parametrize("mechanism", MADE)
def test_every_mechanism_from_the_task_to_the_estimate(mechanism: str, invoke: Invoke) -> None:
    told = json.loads(invoke(f"new-task q {mechanism} --epsilon 3 {MADE[mechanism]} --json"))
    assert told["delivered"] <= 3
    assert "e^3 times" in told["promise"]
    task = read_task(json.loads(Path("task.json").read_text()))
    assert task.epsilon == 3
    assert mechanism in (task.mechanism, "best")
    simulated = json.loads(invoke("simulate task.json --users 1000 --json"))
    assert (simulated["simulated"], simulated["messages"]) == (True, 1000)
    collected = json.loads(invoke("collect reports messages.ndjson --task task.json --json"))
    assert collected["now"] == collected["in_all"] == {"accepted": 1000, "refused": {}}
    asked = "--candidates word-1,word-2,nobody" if mechanism in ASKS else ""
    found = json.loads(invoke(f"estimate reports {asked} --plot p.png --json"))
    assert found["users"] == 1000
    assert Path("p.png").read_bytes()[:4] == b"\x89PNG"
    for one in found["findings"]:
        assert one["estimates"] or mechanism == "heavy-hitters"
        for row in one["estimates"]:
            if "low" in row:
                assert row["low"] <= row["high"]
    printed = invoke(f"estimate reports {asked}")
    assert f"{task.mechanism}, ε = 3, n = 1,000" in printed
    assert ("Biased" in printed) == any(one["biased"] for one in found["findings"]) == (mechanism == "square-wave")


def test_intervals_cover_what_is_known(invoke: Invoke) -> None:
    """The made-up people's shares are 6, 3 and 2 of 11; intervals of such confidence never miss in a lifetime."""
    invoke("new-task q oue --keys a,b,c --epsilon 1")
    invoke("simulate task.json --users 22000")
    invoke("collect r messages.ndjson --task task.json")
    (found,) = json.loads(invoke("estimate r --confidence 0.999999999 --json"))["findings"]
    for row, truth in zip(found["estimates"], (6 / 11, 3 / 11, 2 / 11), strict=True):
        assert row["low"] < truth < row["high"]
        assert row["high"] - row["low"] < 0.25


def test_values_of_a_file(invoke: Invoke) -> None:
    Path("people.csv").write_text("drink,age,stars\n" + "tea,30,4\ncoffee,200,0\n" * 50)
    table = {"drink": ["tea", "coffee"] * 50, "age": [30.5, 200.0] * 50, "stars": [4, 0] * 50}
    parquet.write_table(pyarrow.table(table), "people.parquet")
    invoke("new-task q record --attribute age=0:100 --attribute drink=tea,coffee --attribute stars=5 --epsilon 2")
    invoke("new-task q krr --size 5 --epsilon 20 --out stars.json")
    invoke("new-task q duchi-vector --low 0 --high 100 --dimension 2 --epsilon 2 --out both.json")
    for kind in ("csv", "parquet"):
        asked = f"--values people.{kind} --out {kind}"
        assert json.loads(invoke(f"simulate task.json {asked} --json"))["messages"] == 100
        invoke(f"simulate stars.json {asked}-stars --column stars")
        invoke(f"collect {kind}-folder {kind}-stars --task stars.json")
        (found,) = json.loads(invoke(f"estimate {kind}-folder --json"))["findings"]
        assert [round(row["value"], 3) for row in found["estimates"]] == [0.5, 0, 0, 0, 0.5]  # hardly any noise
        invoke(f"simulate both.json {asked}-both --column age --column stars")
    with pytest.raises(InvalidParameter, match="No column is named"):
        invoke("simulate stars.json --values people.csv --out x")
    with pytest.raises(InvalidParameter, match="about one value of each person"):
        invoke("simulate stars.json --values people.csv --out x --column stars --column age")
    with pytest.raises(InvalidParameter, match=r"people\.csv cannot be read"):
        invoke("simulate stars.json --values people.csv --out x --column star")
    with pytest.raises(InvalidValue, match="not among the task's keys"):
        invoke("simulate stars.json --values people.csv --out x --column drink")
    with pytest.raises(InvalidParameter, match="needs people"):
        invoke("simulate stars.json --out x")
    with pytest.raises(InvalidParameter, match=r"gone\.csv cannot be read") as told:
        invoke(f"simulate stars.json --values {Path('gone.csv').absolute()} --out x --column star")
    assert str(Path.cwd()) not in told.value.what
    Path("holes.csv").write_text("stars,x\n1,1\n,2\n")
    with pytest.raises(InvalidParameter, match="rows without a value"):
        invoke("simulate stars.json --values holes.csv --out x --column stars")
    assert not Path("x").exists()


# ---- new-task --------------------------------------------------------------------------------------------------------


def test_a_new_task_says_what_it_promises_and_what_it_takes(invoke: Invoke) -> None:
    shown = " ".join(invoke("new-task q krr --keys a,b --epsilon 1/2 --within 0.05 --users 1000").split())
    assert "task.json: q, krr, ε = 1/2" in shown
    assert "no report is more than e^(1/2) times as likely" in shown
    assert "62.3% sure" in shown  # e^½/(1 + e^½) = 0.62246, rounded up
    assert "A report has 1 bit, on its way 1 byte." in shown
    task = KRR(["a", "b"], "1/2").named("q")
    assert f"±{task.error(1000):.3g}" in shown
    told = json.loads(invoke("new-task q krr --keys a,b --epsilon 1/2 --within 0.05 --out b.json --json"))
    assert task.error(told["users_needed"]) <= 0.05
    assert json.loads(Path("task.json").read_text()) == publish_task(task)
    hunted = json.loads(invoke("new-task q heavy-hitters --epsilon 4 --length 3 --within 0.1 --out h.json --json"))
    assert hunted["users_needed"] == HeavyHitters(4, length=3).users_needed("0.1")


def test_a_plan_of_a_record_for_too_few_people_says_so(invoke: Invoke) -> None:
    attributes = " ".join(f"--attribute a{i}=n,y" for i in range(30))
    shown = " ".join(invoke(f"new-task q record {attributes} --epsilon 2 --users 200").split())
    assert "From 200 people perhaps nobody reports on some attribute" in shown


@pytest.mark.parametrize("mechanism", [name for name in MADE if name != "best"])
def test_a_plan_never_keeps_the_task_from_being_written(mechanism: str, invoke: Invoke) -> None:
    line = f"new-task q {mechanism} --epsilon 3 {MADE[mechanism]} --users 50000"
    shown = " ".join(invoke(line).split())
    assert Path("task.json").exists()
    told = json.loads(invoke(f"{line} --out b.json --json"))
    assert "50,000 people" in shown or "not known beforehand" in shown
    if mechanism == "record":
        assert set(told["errors"]) == {"age", "drink", "stars"}
        assert "age ±" in shown
    if mechanism == "heavy-hitters":
        assert told["chances"]["0.2"] > 0.99 > 0.01 > told["chances"]["0.001"]
        assert "20%: 100%" in shown


def test_what_default_devices_do_with_several_values_is_said(invoke: Invoke) -> None:
    line = "new-task q longitudinal --keys tea,coffee --epsilon 3 --first 1/2"
    assert "Devices refuse this task by default" in " ".join(invoke(f"{line} --values 3").split())
    assert "by default" not in invoke(f"{line} --values 1 --out one.json")


def test_tables_are_exported(drinks: Invoke) -> None:
    drinks("estimate drinks --csv table.csv")
    rows = Path("table.csv").read_text().splitlines()
    assert rows[0] == "key,value,low,high,standard_error"
    assert [row.split(",")[0] for row in rows[1:]] == ["tea", "coffee", "water"]


def test_the_best_oracle_depends_on_the_keys(invoke: Invoke) -> None:
    few = json.loads(invoke("new-task q best --size 2 --epsilon 1 --users 100000 --out few.json --json"))
    many = json.loads(invoke("new-task q best --size 1024 --epsilon 1 --users 100000 --out many.json --json"))
    assert (few["mechanism"], many["mechanism"]) == ("krr", "olh")


def test_spaces_around_keys_are_no_part_of_them(invoke: Invoke) -> None:
    invoke("new-task q krr --epsilon 1 --keys", "tea, iced coffee ,water", "--rest", "water")
    assert read_task(json.loads(Path("task.json").read_text())) == KRR(
        ["tea", "iced coffee", "water"], 1, rest="water"
    ).named("q")


def test_keys_may_stand_in_a_file(invoke: Invoke) -> None:
    Path("k.txt").write_text("té\n水, iced\n")
    invoke("new-task q krr --keys-file k.txt --epsilon 1")
    assert read_task(json.loads(Path("task.json").read_text())) == KRR(["té", "水, iced"], 1).named("q")
    invoke("new-task q krr --size 3 --rest 2 --epsilon 1 --out three.json")
    assert read_task(json.loads(Path("three.json").read_text())) == KRR(3, 1, rest=2).named("q")
    Path("k.json").write_text('[1, "1"]')
    invoke("new-task q krr --keys-file k.json --epsilon 1 --out two.json")
    assert read_task(json.loads(Path("two.json").read_text())) == KRR([1, "1"], 1).named("q")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("crr --epsilon 1", "No mechanism is called 'crr'"),
        ("krr --epsilon 1", "needs keys.*--keys, --keys-file or --size"),
        ("best --size 3 --epsilon 1", "needs users.*--users"),
        ("duchi --low 0 --epsilon 1", "needs high.*--high"),
        (
            "krr --size 3 --low 0 --epsilon 1",
            "does not take low.*Leave out --low; say --keys",
        ),
        ("krr --size 3 --keys a,b --epsilon 1", "given twice"),
        ("krr --size 1 --epsilon 1", "2 to 16777216 keys"),
        ("krr --size 3 --epsilon 0", "epsilon"),
        ("krr --size 3 --epsilon x", "epsilon"),
        ("krr --keys-file gone --epsilon 1", "gone cannot be read"),
        ("krr --keys-file k.json --epsilon 1", "not a JSON list"),
        ("record --attribute age --epsilon 1", "is not the description of a further attribute"),
        ("record --attribute a=2 --attribute a=3 --epsilon 1", "is not the description of a further attribute"),
        ("record --attribute a=2 --epsilon 1 --within 0.1", "not known beforehand"),
        ("krr --keys tea,,coffee --epsilon 1", "A key in 'tea,,coffee' is empty"),
        ("krr --keys tea,coffee, --epsilon 1", "is empty"),
        ("record --attribute drink=tea, --epsilon 1", "A key in 'tea,' is empty"),
        ("oue --epsilon 1", "The mechanism oue needs keys"),
        ("krr --size 3 --epsilon 1 --out there", "there exists already"),
        ("krr --size 3 --epsilon 1 --out gone/task.json", "cannot be written"),
    ],
)
def test_a_wrong_task_is_one_clear_refusal(line: str, said: str, invoke: Invoke) -> None:
    Path("there").write_text("mine")
    Path("k.json").write_text('{"a": 1}')
    with pytest.raises(CuradorError, match=said):
        invoke(f"new-task q {line}")
    assert Path("there").read_text() == "mine"
    assert not Path("task.json").exists()


# ---- collect ---------------------------------------------------------------------------------------------------------


def test_refused_messages_are_counted_and_shown(drinks: Invoke) -> None:
    task = read_task(json.loads(Path("task.json").read_text()))
    new = messages(task, task.randomize(["tea"] * 3))
    lines = [json.dumps(one).encode() for one in (*new, new[0], {**new[1], "epsilon": "9"})]
    hostile = [*lines, b"[" * 5000, b"\xff\xfe", b"x" * (1 << 20), b"", b"null"]
    shown = drinks("collect drinks -", text=b"\n".join(hostile))
    assert [line.split() for line in shown.splitlines() if ":" in line or "accepted" in line][:4] == [
        ["accepted", "3", "603"],
        ["refused:", "another", "epsilon", "1", "1"],
        ["refused:", "malformed", "5", "5"],
        ["refused:", "replayed", "1", "1"],
    ]
    again = json.loads(drinks("collect drinks messages.ndjson --task task.json --json"))
    assert again["now"] == {"accepted": 0, "refused": {"replayed": 600}}
    assert again["in_all"]["refused"]["replayed"] == 601


def test_what_collect_refuses(drinks: Invoke) -> None:
    with pytest.raises(InvalidParameter, match="gone cannot be read"):
        drinks("collect drinks gone")
    with pytest.raises(CollectorFailed, match="is not a collector"):
        drinks("collect other messages.ndjson")
    drinks("new-task q krr --keys tea,coffee --epsilon 2 --out two.json")
    with pytest.raises(CollectorFailed, match="another task"):
        drinks("collect drinks messages.ndjson --task two.json")
    document = json.loads(Path("task.json").read_text())
    document["task"]["epsilon"] = "1"
    Path("altered.json").write_text(json.dumps(document))
    with pytest.raises(NotPromised, match="do not keep epsilon = 1"):
        drinks("collect new messages.ndjson --task altered.json")
    Path("junk.json").write_text("{")
    with pytest.raises(InvalidParameter, match="not a task"):
        drinks("collect new messages.ndjson --task junk.json")
    assert not Path("new").exists()


# ---- estimate --------------------------------------------------------------------------------------------------------


def test_shards_are_estimated_as_one(drinks: Invoke) -> None:
    lines = Path("messages.ndjson").read_text().splitlines(keepends=True)
    for name, part in (("north", lines[:200]), ("south", lines[200:])):
        Path(f"{name}.ndjson").write_text("".join(part))
        drinks(f"collect {name} {name}.ndjson --task task.json")
    drinks("estimate north --save-tally north.json")
    drinks("estimate south --save-tally south.json")
    whole = json.loads(drinks("estimate drinks --json"))
    assert json.loads(drinks("estimate north south --json")) == whole
    assert json.loads(drinks("estimate north.json south --json")) == whole
    assert json.loads(drinks("estimate north.json south.json --task task.json --json")) == whole
    assert json.loads(drinks("estimate north --json")) != whole
    with pytest.raises(InvalidParameter, match=r"do not contain the task.*--task task\.json"):
        drinks("estimate north.json south.json")
    with pytest.raises(InvalidParameter, match="named twice"):
        drinks("estimate north ./north")
    drinks("new-task q krr --keys a,b,c --epsilon 2 --out other.json")
    with pytest.raises(InvalidValue, match="of another task"):
        drinks("estimate north.json --task other.json")
    with pytest.raises(CollectorFailed, match="another task"):
        drinks("estimate north --task other.json")
    with pytest.raises(InvalidParameter, match="exists already"):
        drinks("estimate north --save-tally north.json")


def test_a_table_with_bars_and_intervals(drinks: Invoke) -> None:
    shown = drinks("estimate drinks --plot p.svg")
    assert "95% interval for all" in shown
    assert "█" in shown
    assert "<svg" in Path("p.svg").read_text()
    assert "95% intervals, all at once" in Path("p.svg").read_text()
    assert "99.9% interval for all" in drinks("estimate drinks --confidence 0.999")
    assert [path.name for path in Path().glob(".*")] == []
    few = drinks("estimate drinks --top 1")
    assert "… and 2 more" in few
    assert "water" not in few
    moved = drinks("estimate drinks --projected")
    assert "biased estimate" in moved
    assert "interval for all" not in moved
    (found,) = json.loads(drinks("estimate drinks --projected --json"))["findings"]
    assert found["biased"]
    assert abs(sum(row["value"] for row in found["estimates"]) - 1) < 1e-9


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("drinks --candidates a,b", "takes no candidates.*Leave out --candidates"),
        ("drinks --confidence 1.5", "onfidence"),
        ("gone", "is not a collector"),
        ("drinks --plot p.pdf", "PNG or SVG"),
        ("drinks --plot gone/p.png", "cannot be written"),
        ("drinks messages.ndjson", "not a tally"),
    ],
)
def test_what_estimate_refuses(line: str, said: str, drinks: Invoke) -> None:
    with pytest.raises(CuradorError, match=said):
        drinks(f"estimate {line}")


@pytest.mark.parametrize("top", ["0", "-3"])
def test_no_rows_are_not_a_number_of_rows(top: str, drinks: Invoke) -> None:
    drinks(f"estimate drinks --top {top}", code=2)


def test_a_figure_that_fails_leaves_the_one_before(drinks: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("p.png").write_bytes(b"before")

    def full(figure: Any, path: Path) -> None:
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("curador.show.estimates.save", full)
    with pytest.raises(InvalidParameter, match="cannot be written"):
        drinks("estimate drinks --plot p.png")
    assert Path("p.png").read_bytes() == b"before"
    assert [path.name for path in Path().glob(".*")] == []


def test_heavy_hitters_that_are_not_there(invoke: Invoke) -> None:
    invoke("new-task q heavy-hitters --length 6 --epsilon 1")
    invoke("simulate task.json --users 200")
    invoke("collect r messages.ndjson --task task.json")
    assert "Nothing was found." in invoke("estimate r --confidence 0.9999999 --plot p.svg")
    assert "nothing was found" in Path("p.svg").read_text()
    assert "interval" not in Path("p.svg").read_text()


def test_what_is_said_of_an_attribute_that_nobody_reported_on(invoke: Invoke) -> None:
    invoke("new-task q record --attribute age=0:9 --attribute drink=tea,coffee --epsilon 1")
    invoke("simulate task.json --users 1")
    invoke("collect r messages.ndjson --task task.json")
    shown = invoke("estimate r --plot p.svg")
    assert shown.count("(1 person)") == 1
    assert shown.count("(0 people)") == shown.count("Nobody reported on it.") == 1
    assert "no reports" in Path("p.svg").read_text()
    assert ", all attributes at once" in Path("p.svg").read_text()


@pytest.mark.parametrize("mechanism", ["longitudinal", "rappor"])
def test_tasks_that_are_answered_again_are_collected_a_period_at_a_time(mechanism: str, invoke: Invoke) -> None:
    def said(text: str) -> bool:
        return "A folder is for one period, with one report of each person:" in " ".join(text.split()).replace("* ", "")

    assert said(invoke(f"new-task q {mechanism} --epsilon 3 {MADE[mechanism]}"))
    invoke("simulate task.json --users 300")
    assert said(invoke("collect r messages.ndjson --task task.json"))
    assert said(json.loads(invoke("collect r messages.ndjson --json"))["caution"])
    asked = "--candidates word-1" if mechanism in ASKS else ""
    assert said(invoke(f"estimate r {asked}"))
    assert said(json.loads(invoke(f"estimate r {asked} --json"))["findings"][0]["note"])
    assert not said(invoke("new-task q krr --size 3 --epsilon 1 --out once.json"))


def test_a_name_that_stands_twice_is_refused(drinks: Invoke) -> None:
    """Two readers could take such a file for two different ones."""
    drinks("estimate drinks --save-tally t.json")
    twice = Path("t.json").read_text().replace('"users": 600', '"users": 7, "users": 600')
    Path("t.json").write_text(twice)
    with pytest.raises(InvalidParameter, match="not a tally"):
        drinks("estimate t.json --task task.json")
    Path("two.json").write_text(Path("task.json").read_text().replace('"curador": 1', '"curador": 1, "curador": 1'))
    with pytest.raises(InvalidParameter, match="not a task"):
        drinks("simulate two.json --users 9 --out x")


HOSTILE = "ag\x1b[31me\x9b2J"


def test_no_name_can_command_the_terminal(invoke: Invoke, capsys: pytest.CaptureFixture[str]) -> None:
    out = f"{HOSTILE}.json"
    texts = [
        invoke(
            "new-task q record --attribute drink=tea,coffee --epsilon 1", "--attribute", f"{HOSTILE}=0:9", "--out", out
        )
    ]
    texts.append(invoke("simulate --users 60", out))
    texts.append(invoke("collect r messages.ndjson", "--task", out))
    texts.append(invoke("estimate r --plot p.svg"))
    texts.append(invoke("estimate r --json"))
    names = {one["name"] for one in json.loads(texts[-1])["findings"]}
    assert names == {"drink", HOSTILE}  # in JSON nothing is lost
    Path("p.csv").write_text("x\n1\n")
    for as_json in (True, False):
        with pytest.raises(InvalidParameter) as refusal:
            invoke("simulate --values p.csv --out y", out, "--column", HOSTILE)
        print_refusal(refusal.value, as_json=as_json)
        texts.append(capsys.readouterr().err)
    for text in (*texts, Path("p.svg").read_text()):
        assert not set(text) & {"\x1b", "\x9b"}


def test_nothing_is_printed_as_less_than_nothing(invoke: Invoke, capsys: pytest.CaptureFixture[str]) -> None:
    print_summaries([Summary("frequencies", ("a", "b"), (-1e-9, 1.0), 9)], 20)
    printed = capsys.readouterr().out
    assert "0.00%" in printed
    assert "-0.00%" not in printed


def test_a_list_of_candidates_may_be_longer_than_a_file_name(invoke: Invoke) -> None:
    assert len(_candidates(",".join(f"word-{i}" for i in range(1000)))) == 1000
    with pytest.raises(InvalidParameter, match="is empty"):
        _candidates("a,,b")


def test_what_only_some_tasks_can_do(invoke: Invoke) -> None:
    invoke("new-task q hybrid --low 0 --high 1 --epsilon 1")
    invoke("simulate task.json --users 100")
    invoke("collect r messages.ndjson --task task.json")
    with pytest.raises(InvalidParameter, match=r"Only frequencies can be projected.*Leave out --projected"):
        invoke("estimate r --projected")
    invoke("new-task q count-mean --epsilon 4 --rows 16 --places 16 --out cm.json")
    invoke("simulate cm.json --users 100 --out cm.ndjson")
    invoke("collect cm cm.ndjson --task cm.json")
    with pytest.raises(InvalidParameter, match=r"does not list its keys.*--candidates"):
        invoke("estimate cm")
    Path("words.txt").write_text("word-1\nword-2\n")
    assert "word-2" in invoke("estimate cm --candidates words.txt")
    Path("none").write_text("")
    invoke("collect empty none --task task.json")
    with pytest.raises(InvalidParameter, match="no reports"):
        invoke("estimate empty")


def test_the_page_on_collecting_runs_as_written(invoke: Invoke, capsys: pytest.CaptureFixture[str]) -> None:
    """Every block from the first to the last, in an empty folder; but for the one that needs Spark."""
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "collect-reports.md").read_text()
    printed, ran = "", 0
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```$", page, re.M | re.S):
        if "spark" in block:
            continue
        if language == "python":
            exec(block, {})  # noqa: S102
            printed = capsys.readouterr().out
        elif block.startswith("curador"):
            for line in block.splitlines():
                invoke(line.removeprefix("curador local "))
                ran += 1
        else:
            assert block == printed
    assert ran == page.count("\ncurador local ") == 16
    assert Path("drinks.png").exists()
    assert "(ask-people.md)" in page
    reasons = re.findall(r"^\| ([a-z ]+) \| [ia-z]", page, re.M)
    assert set(get_args(Reason)) <= set(reasons)


# ---- client, and the command itself ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("language", "name"), [("python", "curador_device.py"), ("js", "curador_device.js")])
def test_the_client_is_written(language: str, name: str, invoke: Invoke) -> None:
    assert name in invoke(f"client --language {language}")
    assert len(Path(name).read_text()) > 1000
    with pytest.raises(InvalidParameter, match="exists already"):
        invoke(f"client --language {language}")
    with pytest.raises(InvalidParameter, match="has no client"):
        invoke("client --language cobol")


SLOWLY = """
import sys
from curador.cli.app import main
from curador.local.collect import intake
intake.SECONDS = 0.2
sys.argv = ["curador", "local", "collect", "drinks", *sys.argv[1:]]
main()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_pipe_is_written_while_it_is_open_and_counted_when_it_is_stopped(number: int, drinks: Invoke) -> None:
    task = read_task(json.loads(Path("task.json").read_text()))
    lines = [json.dumps(one).encode() + b"\n" for one in messages(task, task.randomize(["tea"] * 7))]
    collector = Collector.open("drinks")
    command = [sys.executable, "-c", SLOWLY, "-", "--json"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(b"".join(lines[:5]))
        child.stdin.flush()
        until = time.monotonic() + 60
        while collector.totals().accepted < 605:
            assert time.monotonic() < until
            time.sleep(0.05)
        child.stdin.write(b"".join(lines[5:]) + b'{"half')
        child.stdin.flush()
        time.sleep(0.1)  # these two are on their way, and may be seen before the signal or not
        child.send_signal(number)
        told = json.loads(child.stdout.read())
        assert child.wait() == 128 + number
    assert told["stopped"]
    assert 5 <= told["now"]["accepted"] <= 7
    assert told["in_all"]["accepted"] == collector.tally().users == 600 + told["now"]["accepted"]


def test_a_file_that_cannot_be_read_on_is_one_error_with_the_receipt(
    drinks: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    def torn(file: Any, longest: int) -> Any:
        yield from islice(file, 5)
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("curador.local.collect.intake.lines", torn)
    drinks("simulate task.json --users 9 --out more.ndjson")
    with pytest.raises(CollectorFailed, match="cannot be read: Input/output error") as told:
        drinks("collect drinks more.ndjson")
    assert told.value.cost == "the 5 messages before are processed, 5 accepted and 0 refused"
    Path("folder").mkdir()
    with pytest.raises(InvalidParameter, match="folder cannot be read: Is a directory"):
        drinks("collect drinks folder")


def test_an_empty_folder_may_be_there(drinks: Invoke) -> None:
    Path("mine").mkdir(mode=0o700)
    drinks("collect mine messages.ndjson --task task.json")
    drinks("collect mine messages.ndjson --task task.json")
    assert json.loads(drinks("estimate mine --json"))["users"] == 600
    assert Path("mine").stat().st_mode & 0o777 == 0o700


def test_the_real_command_from_end_to_end(tmp_path: Path) -> None:
    """As typed in a shell, with messages of the client that devices run, and of no one else."""
    program = str(Path(sys.executable).parent / "curador")

    def run(*words: str, code: int = 0, text: str | None = None) -> str:
        done = subprocess.run(
            [program, "local", *words], cwd=tmp_path, capture_output=True, text=True, check=False, input=text
        )
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout if code == 0 else done.stderr

    run("new-task", "q", "krr", "--keys", "tea,coffee", "--epsilon", "2")
    run("client")
    answer = (
        "import json, curador_device as d\n"
        "task = d.read_task(json.load(open('task.json')))\n"
        "for value in ['tea', 'tea', 'coffee'] * 20: print(json.dumps(d.message(task, value)))"
    )
    sent = subprocess.run(
        [sys.executable, "-c", answer], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    twice = json.loads(run("collect", "reports", "-", "--task", "task.json", "--json", text=sent * 2))
    assert twice["in_all"] == {"accepted": 60, "refused": {"replayed": 60}}
    found: Any = json.loads(run("estimate", "reports", "--json"))
    assert (found["users"], found["mechanism"]) == (60, "krr")
    assert "is not a collector" in run("estimate", "gone", code=1)
    assert json.loads(run("estimate", "gone", "--json", code=1))["error"]["kind"] == "CollectorFailed"
    run("estimate", code=2)
