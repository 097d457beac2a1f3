"""Dashboard files, what is written of them, and the homework's: five statistics of Adult under a total epsilon of 1."""

from __future__ import annotations

import csv
import json
import re
import tomllib
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest

from curador.accounting.rules.profiles import pure_epsilon
from curador.curator.curator import Curator
from curador.curator.releases.publication import Publication
from curador.curator.study.dashboard import ENTRY, SETTINGS, read_dashboard, write
from curador.errors import BudgetExceeded, InvalidParameter
from curador.numbers import rational
from curador.privacy import PureDP
from tests.cli import test_cli
from tests.cli.test_cli import Invoke

invoke = test_cli.invoke  # the fixture

ROOT = Path(__file__).parents[3]
ADULT = ROOT / "examples" / "adult_dashboard.toml"
STUDY = """
[budget]
epsilon = 2
[tables.people]
source = "people.csv"
unit = "row"
columns = { age = { type = "integer", bounds = [0, 120] }, town = { type = "text", keys = ["Lugo", "A,b"] } }
"""
BOARD = """
title = "Two numbers"
study = "study.toml"
epsilon = 1
[questions.n]
sql = "SELECT COUNT(*) AS n FROM people"
accuracy = 20
[questions.by-town]
title = "By town"
sql = "SELECT town, COUNT(*) AS n FROM people GROUP BY town"
why = "as asked"
"""


@pytest.fixture
def board(invoke: Invoke) -> Invoke:
    Path("study.toml").write_text(STUDY)
    Path("board.toml").write_text(BOARD)
    Path("people.csv").write_text("age,town\n" + '30,"A,b"\n' * 100)
    return invoke


def test_publish_writes_what_it_prints_for_one_charge(board: Invoke) -> None:
    shown = board("publish", "board.toml")
    for said in ("Two numbers", "By town", "Lugo", "for all together", "5 files in board/", "remaining"):
        assert said.lower() in shown.lower()
    written = sorted(p.name for p in Path("board").iterdir())
    assert written == ["by-town.csv", "by-town.parquet", "n.csv", "n.parquet", "publication.json"]
    found = Publication.from_dict(json.loads(Path("board/publication.json").read_text()))
    with open("board/by-town.csv", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["town", "n", "n_lower", "n_upper"]
    assert [row[0] for row in rows] == ["Lugo", "A,b"]
    assert [int(row[1]) for row in rows] == list(found["by-town"]["n"])
    with duckdb.connect() as database:
        stored = database.execute("SELECT town, n, n_lower, n_upper FROM 'board/by-town.parquet'").fetchall()
    assert stored == list(zip(*found["by-town"].flat().values(), strict=True))
    (charge,) = json.loads(board("history", "--json"))["charges"]
    assert charge["charge"] == found.charge
    assert charge["cost"]["epsilon"] <= 1
    assert "2 questions: n, by-town" in re.sub(r"\s+", " ", board("history"))


def test_a_publication_keeps_titles_reasons_and_sql(board: Invoke) -> None:
    Path("board.toml").write_text(BOARD.replace("as asked", "as the law asks"))
    board("publish", "board.toml")
    kept = json.loads(Path("board/publication.json").read_text())
    assert kept["words"]["title"] == "Two numbers"
    entry = kept["words"]["questions"]["by-town"]
    assert entry == {
        "title": "By town",
        "why": "as the law asks",
        "sql": "SELECT town, COUNT(*) AS n FROM people GROUP BY town",
    }
    found = Publication.from_dict(kept)
    assert "By town" in str(found)
    assert "By town" in found._repr_html_()
    assert board("ledger", "verify", "board/publication.json")
    entry["sql"] = "SELECT COUNT(*) FROM people"
    Path("forged.json").write_text(json.dumps(kept))
    with pytest.raises(InvalidParameter, match="something in it was changed"):
        board("ledger", "verify", "forged.json")


def test_words_buy_nothing(board: Invoke) -> None:
    board("publish", "board.toml")
    Path("board.toml").write_text(BOARD.replace("By town", "Por ciudad"))
    again = json.loads(board("publish", "board.toml", "--json"))
    assert (again["repeated"], again["words"]["questions"]["by-town"]["title"]) == (True, "Por ciudad")


def test_files_keep_the_error_of_a_median_and_what_was_cut(invoke: Invoke) -> None:
    study = STUDY.replace('"row"', '"id"\ncontribution = { groups = 2, rows = 3 }')
    Path("study.toml").write_text(study.replace("columns = {", 'columns = { id = "integer",'))
    Path("board.toml").write_text(
        BOARD.replace("accuracy = 20", "").replace('COUNT(*) AS n FROM people"', 'MEDIAN(age) AS m FROM people"')
    )
    Path("people.csv").write_text("id,age,town\n" + "".join(f'{i},{i % 90},"A,b"\n' for i in range(200)))
    invoke("publish", "board.toml")
    with open("board/n.csv", newline="") as file:
        header, row = csv.reader(file)
    assert header == ["m", "m_lower", "m_upper", "kept"]
    assert 0 <= float(row[1]) <= float(row[0]) <= float(row[2]) <= 120
    assert row[3] == "3 rows of each 'id'"
    with duckdb.connect() as database:
        (kept,) = database.execute("SELECT DISTINCT kept FROM 'board/by-town.parquet'").fetchall()
    assert kept == ("3 rows of each 'id' in each of 2 groups",)
    shown = re.sub(r"\s+", " ", invoke("publish", "board.toml"))
    assert shown.count("What was cut is in no number and in no interval") == 2
    assert shown.count("`curador limits people --epsilon 0.1` measures what each value of it keeps") == 1


def test_explain_expects_errors_for_known_rows_and_says_how_often_it_fits(board: Invoke) -> None:
    Path("board.toml").write_text(
        BOARD.replace('COUNT(*) AS n FROM people"', 'AVG(age) AS n FROM people"').replace("accuracy = 20", "")
    )
    unknown = board("publish", "board.toml", "--explain")
    known = board("publish", "board.toml", "--explain", "--rows", "1000")
    assert "1,000 rows" in unknown
    assert re.search(r"n: ± [\d.]+, 95 % of the time", known)
    assert "It fits 2 times into what remains" in re.sub(r"\s+", " ", known)
    assert "Accounted as a whole" not in known  # it is the sum
    assert json.loads(board("publish", "board.toml", "--explain", "--json"))["fits"] == 2


def test_publishing_again_is_free_and_writes_the_same(board: Invoke) -> None:
    first = json.loads(board("publish", "board.toml", "--json", "--out", "a"))
    again = json.loads(board("publish", "board.toml", "--json", "--out", "b"))
    assert (first["repeated"], again["repeated"]) == (False, True)
    assert first["remaining"] == again["remaining"]
    for name in ("publication.json", "n.csv", "by-town.csv"):
        assert Path("a", name).read_bytes() == Path("b", name).read_bytes()


def test_explain_and_rehearse_spend_and_write_nothing(board: Invoke) -> None:
    shown = board("publish", "board.toml", "--explain")
    for said in ("as asked", "± 20", "All together, for one charge: epsilon 1.", "Nothing was spent."):
        assert said in shown
    assert json.loads(board("publish", "board.toml", "--explain", "--json"))["questions"].keys() == {"n", "by-town"}
    tried = board("publish", "board.toml", "--rehearse")
    assert "REHEARSAL" in tried
    assert "charge" not in tried
    assert not Path("board").exists()
    assert json.loads(board("history", "--json"))["charges"] == []


def test_a_place_that_is_no_folder_is_refused_before_anything_is_bought(board: Invoke) -> None:
    Path("board").write_text("a file is in the way")
    with pytest.raises(InvalidParameter, match="not a folder"):
        board("publish", "board.toml")
    assert json.loads(board("history", "--json"))["charges"] == []


def test_a_disk_that_is_full_loses_nothing(board: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("os.replace", full)
        with pytest.raises(InvalidParameter, match="could not be written") as refused:
            board("publish", "board.toml")
    assert refused.value.cost == "charge 1 is kept, with its answers"
    assert refused.value.__notes__ == ["population epsilon 1"]
    assert json.loads(board("publish", "board.toml", "--json"))["repeated"]


def test_a_batch_that_does_not_fit_is_refused_whole(board: Invoke) -> None:
    Path("board.toml").write_text(BOARD.replace("epsilon = 1", 'epsilon = 3\nbecause = "all of it"'))
    with pytest.raises(BudgetExceeded):
        board("publish", "board.toml")
    assert json.loads(board("history", "--json"))["charges"] == []
    assert not Path("board").exists()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('study = "study.toml"', "", "names no study"),
        ("epsilon = 1", "epsilom = 1", "unknown setting 'epsilom'"),
        ("epsilon = 1", "epsilon = = 1", "not TOML"),
        ("epsilon = 1", 'epsilon = 1\nconfidence = "often"', "confidence"),
        ("accuracy = 20", "accuracy = 20\nweight = 1", "a weight and an accuracy"),
        ("accuracy = 20", "weight = -1", "weight"),
        ("accuracy = 20", "colour = 1", "unknown setting 'colour'"),
        ("[questions.n]", '[questions."a/b"]', "letters and digits"),
        ('title = "By town"', "title = 3", "title must be a text"),
        ('sql = "SELECT COUNT(*) AS n FROM people"', "", "'n' has no sql"),
    ],
)
def test_a_wrong_file_is_one_clear_refusal(board: Invoke, old: str, new: str, said: str) -> None:
    assert old in BOARD
    Path("board.toml").write_text(BOARD.replace(old, new, 1))
    with pytest.raises(InvalidParameter, match=re.escape(said)):
        board("publish", "board.toml", "--explain")


def test_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(b"title = '\xe9'")
    (tmp_path / "empty.toml").write_text('study = "s.toml"')
    for name, said in (("gone", "no dashboard file"), ("latin", "cannot be read"), ("empty", "no questions")):
        with pytest.raises(InvalidParameter, match=said):
            read_dashboard(tmp_path / f"{name}.toml")


def test_a_file_appears_whole_or_not_at_all(board: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Publication.from_dict(json.loads(board("publish", "board.toml", "--json")))
    before = Path("board/n.csv").read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(InvalidParameter, match="No space left"):
        write(found, "board")
    assert Path("board/n.csv").read_bytes() == before
    assert [p for p in Path("board").iterdir() if p.name.startswith(".")] == []


def test_every_setting_is_documented() -> None:
    page = (ROOT / "docs" / "reference" / "command-line.md").read_text()
    (block,) = re.findall(r"^```toml\n(.*?)^```$", page, re.M | re.S)
    document = tomllib.loads(block)
    assert {*document, "delta", "rho"} == set(SETTINGS)
    settings = {name for entry in document["questions"].values() for name in entry}
    assert settings | {"confidence"} == set(ENTRY)


# ---- the homework's ------------------------------------------------------------------------------------------------


@pytest.fixture
def adult(tmp_path: Path) -> Callable[[], Curator]:
    return lambda: Curator(ROOT / "examples" / "adult.toml", ledger=tmp_path / "adult.ledger")


def test_the_homeworks_charges_add_up_to_one(adult: Callable[[], Curator]) -> None:
    board, curator = read_dashboard(ADULT), adult()
    batch = board.batch(curator)
    shares = {name: pure_epsilon(plan.event) for name, plan in batch.plans.items()}
    assert shares == {
        "people": Fraction(1, 10),
        "mean_age": Fraction(2, 10),
        "mean_hours": Fraction(2, 10),
        "by_sex": Fraction(1, 10),
        "by_education": Fraction(4, 10),
    }
    assert sum(shares.values()) == pure_epsilon(batch.event) == 1
    assert batch.guarantee == PureDP(1)
    curator.close()


def test_every_share_of_the_homeworks_dashboard_is_justified() -> None:
    board = read_dashboard(ADULT)
    for name, entry in board.questions.items():
        assert len(entry.why.split()) >= 10, name
    weights = [rational(weight) for weight in board.weights.values()]
    assert sum(weights) == 10
    assert board.questions["by_education"].weight == max(weights)


def test_the_homeworks_dashboard_is_published_for_all_of_the_budget(adult: Callable[[], Curator]) -> None:
    if not (ROOT / "data" / "adult_data.csv").is_file():
        pytest.skip("Adult is not here; run `make data`")
    board, curator = read_dashboard(ADULT), adult()
    # A confidence of 1 - 1e-9 for each of 21 intervals: a false alarm once in fifty million runs.
    sure = curator.batch(
        {name: entry.sql for name, entry in board.questions.items()},
        epsilon=board.budget["epsilon"],
        weights=board.weights,
        confidence=1 - 1e-9,
    )
    found = curator.publish(sure)
    charges = curator.history()
    assert sum(pure_epsilon(charge.event) for charge in charges) == 1
    assert curator.budget().spent == PureDP(1)
    assert curator.budget().remaining == PureDP(0)
    truth = {"people": 32561, "mean_age": 38.5816, "mean_hours": 40.4375}
    for name, value in truth.items():
        low, high = found[name].interval(found[name].outputs[0])
        assert low <= value <= high
    with pytest.raises(BudgetExceeded):
        curator.sql("SELECT COUNT(*) FROM adult", epsilon=1e-9)
    curator.close()


def test_the_errors_that_the_homeworks_reasons_speak_of(adult: Callable[[], Curator]) -> None:
    board, curator = read_dashboard(ADULT), adult()
    plans = board.batch(curator).plans
    assert plans["people"].expected[0].value == 30
    assert plans["by_education"].expected[0].value is not None
    assert plans["by_education"].expected[0].value < 10
    curator.close()
