"""`curador explain`, `ask`, `prepare`, `reload`: what they print, what they charge, what they leave behind."""

from __future__ import annotations

import json
import re
import traceback
from pathlib import Path
from typing import Any

import pytest

from curador.cli.hints import with_hint
from curador.curator.curator import Curator
from curador.engines.duckdb.engine import DuckDB
from curador.errors import BudgetExceeded, EngineFailed, InvalidParameter, QuestionRefused
from tests.cli import test_cli
from tests.cli.test_cli import Invoke

invoke = test_cli.invoke  # the fixture

STUDY = """
[budget]
epsilon = 3

[policy]
largest_epsilon = 2

[tables.visits]
source = "visits.csv"
unit = "pid"
contribution = { groups = 2, rows = 1 }

[tables.visits.columns]
pid = "integer"
town = { type = "text", keys = ["Lugo", "Vigo"] }
cost = { type = "integer", bounds = [0, 100] }

[groups.health]
epsilon = 1

[analysts.ana]
epsilon = 0.5
group = "health"

[analysts.bea]
epsilon = 0.4
"""
BY_TOWN = "SELECT town, COUNT(*) AS n FROM visits GROUP BY town"
TOTAL = "SELECT COUNT(*) AS n FROM visits"


@pytest.fixture
def study(invoke: Invoke) -> Invoke:
    Path("study.toml").write_text(STUDY)
    rows = [f"{pid},{town},{pid % 100}" for pid in range(300) for town in ("Lugo", "Vigo")]
    Path("visits.csv").write_text("\n".join(["pid,town,cost", *rows]))
    return invoke


def read(call: Invoke, *arguments: str) -> Any:
    return json.loads(call(*arguments, "--json"))


def spent(call: Invoke, scope: str = "population") -> float:
    (found,) = read(call, "budget", scope)
    return float(found["spent"]["epsilon"])


def test_explain_is_free_and_says_cost_error_statements_and_how_often_it_fits(study: Invoke) -> None:
    shown = study("explain", BY_TOWN, "--epsilon", "0.5", "--sql")
    for said in ("costs      epsilon 0.5", "expected error (95 %)", "duckdb runs:", "SELECT", "It fits 6 times"):
        assert said in shown
    found = read(study, "explain", BY_TOWN, "--epsilon", "0.5")
    assert found["fits"] == 6
    assert "sql" not in found  # statements are for those who ask for them
    assert read(study, "explain", BY_TOWN, "--epsilon", "0.5", "--sql")["sql"]
    assert "SELECT" not in study("explain", BY_TOWN, "--epsilon", "0.5")
    assert found["remaining"] == {"population": {"kind": "pure", "epsilon": 3.0}} | found["remaining"]
    assert "Nothing was bought yet." in study("history")


def test_ask_pays_prints_intervals_and_says_what_remains(study: Invoke) -> None:
    shown = study("ask", BY_TOWN, "--epsilon", "0.5")
    for said in ("Lugo", "Vigo", "95 % interval", "charge 1", "Remaining: population epsilon 2.5."):
        assert said in shown
    assert spent(study) == 0.5


def test_the_same_question_is_free_and_fresh_is_not(study: Invoke) -> None:
    first = read(study, "ask", BY_TOWN, "--epsilon", "0.5")
    again = read(study, "sql", BY_TOWN.replace("SELECT", "select"), "--epsilon", "1/2")
    assert (first.pop("repeated"), again.pop("repeated")) == (False, True)
    assert first == again
    assert "Answered from the ledger" in study("ask", BY_TOWN, "--epsilon", "0.5")
    assert spent(study) == 0.5
    assert not read(study, "ask", BY_TOWN, "--epsilon", "0.5", "--fresh")["repeated"]
    assert spent(study) == 1.0


def test_an_analyst_pays_once_from_a_budget_of_their_own(study: Invoke) -> None:
    ask = ("ask", BY_TOWN, "--epsilon", "0.4")
    assert read(study, *ask, "--analyst", "ana")["remaining"]["ana"]["epsilon"] == pytest.approx(0.1)
    read(study, *ask, "--analyst", "ana")
    other = read(study, *ask, "--analyst", "bea")
    assert not other["repeated"]  # free for the population, not for bea
    assert (spent(study), spent(study, "health"), spent(study, "bea")) == (0.4, 0.4, 0.4)
    with pytest.raises(BudgetExceeded, match=r"'bea'.*asked epsilon 0.4, spent epsilon 0.4, remaining epsilon 0"):
        study(*ask, "--analyst", "bea", "--fresh")
    assert spent(study) == 0.4


def test_a_value_that_no_declaration_allows_is_bought_with_an_option(study: Invoke) -> None:
    odd = "SELECT COUNT(*) AS n FROM visits WHERE town = 'lugo'"
    assert "Did you mean 'Lugo'?" in " ".join(study("explain", odd, "--epsilon", "0.1").split())
    with pytest.raises(QuestionRefused) as refused:
        study("ask", odd, "--epsilon", "0.1")
    assert (refused.value.code, spent(study)) == ("undeclared-near", 0)
    assert with_hint(refused.value).fix.endswith("anyway=True. Say --anyway.")
    assert "Did you mean 'Lugo'?" in study("sql", odd, "--epsilon", "0.1", "--anyway")
    assert read(study, "ask", odd, "--epsilon", "0.1")["repeated"]
    assert "town" in study("ask", odd, "--epsilon", "0.2", "--rehearse", "--anyway")
    Path("board.toml").write_text(
        f'''study = "study.toml"\nepsilon = 0.2\n[questions.towns]\nsql = "{odd} OR cost = 101"\n'''
    )
    assert "towns: town has no declared value 'lugo'" in " ".join(study("publish", "board.toml", "--explain").split())
    with pytest.raises(QuestionRefused, match=r"^towns: "):
        study("publish", "board.toml")
    study("publish", "board.toml", "--anyway")
    assert spent(study) == pytest.approx(0.3)


def test_a_key_buys_once(study: Invoke) -> None:
    first = read(study, "ask", BY_TOWN, "--epsilon", "0.1", "--key", "monday")
    assert read(study, "ask", BY_TOWN, "--epsilon", "0.1", "--key", "monday")["charge"] == first["charge"]
    with pytest.raises(InvalidParameter):
        study("ask", TOTAL, "--epsilon", "0.1", "--key", "monday")
    assert spent(study) == 0.1


def test_an_accuracy_finds_the_least_epsilon(study: Invoke) -> None:
    found = read(study, "ask", TOTAL, "--accuracy", "20", "--confidence", "0.9")
    assert found["confidence"] == 0.9
    assert 0 < found["guarantee"]["epsilon"] < 1
    assert spent(study) == found["guarantee"]["epsilon"]
    (error,) = read(study, "explain", TOTAL, "--accuracy", "20", "--confidence", "0.9")["expected"]
    assert error["error"] <= 20
    mean = "SELECT AVG(cost) AS cost FROM visits"
    with pytest.raises(QuestionRefused, match="depends on how many rows"):
        study("explain", mean, "--accuracy", "5")
    assert read(study, "explain", mean, "--accuracy", "5", "--rows", "300")["rows"] == 300
    with pytest.raises(InvalidParameter, match="finds its own budget"):
        study("ask", TOTAL, "--accuracy", "20", "--epsilon", "1")


def test_reasons_and_policy(study: Invoke) -> None:
    with pytest.raises(QuestionRefused, match="needs a reason") as refused:
        study("ask", BY_TOWN, "--epsilon", "1.5")
    assert refused.value.__notes__ == ["population epsilon 3"]
    assert refused.value.cost == "nothing was drawn, nothing was spent"
    with pytest.raises(QuestionRefused, match="policy allows epsilon 2"):
        study("ask", BY_TOWN, "--epsilon", "2.5", "--because", "x")
    assert "the reason given: a law" in study("ask", BY_TOWN, "--epsilon", "1.5", "--because", "a law")
    assert "because: a law" in study("history")


def test_an_override_shows(study: Invoke) -> None:
    Path("study.toml").write_text(STUDY.replace("epsilon = 3", "epsilon = 30").replace("largest_epsilon = 2", ""))
    with pytest.raises(QuestionRefused, match="next to nothing"):
        study("ask", TOTAL, "--epsilon", "10", "--because", "x")
    assert "OVERRIDE" in study("ask", TOTAL, "--epsilon", "10", "--because", "x", "--override")


def test_a_rehearsal_needs_neither_rows_nor_ledger_and_leaves_nothing(study: Invoke) -> None:
    Path("visits.csv").unlink()
    for command in ("ask", "explain"):
        study(command, BY_TOWN, "--epsilon", "0.5", "--rehearse")
    shown = study("ask", BY_TOWN, "--epsilon", "0.5", "--rehearse", "--analyst", "cyn")
    assert "REHEARSAL on made-up rows" in shown
    assert "Nothing was spent." in shown
    assert "Remaining" not in shown
    assert [p.name for p in Path().iterdir()] == ["study.toml"]


def test_a_question_that_is_not_paid_for(study: Invoke) -> None:
    with pytest.raises(InvalidParameter, match="paid with epsilon"):
        study("ask", BY_TOWN)
    with pytest.raises(InvalidParameter, match="paid with epsilon"):
        study("ask", BY_TOWN, "--epsilon", "1", "--rho", "1")


def test_a_failure_after_the_charge_says_which_charge_is_kept(study: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a row of Lugo")

    monkeypatch.setattr(DuckDB, "run", broken)
    with pytest.raises(EngineFailed) as failed:
        study("ask", BY_TOWN, "--epsilon", "0.5")
    assert failed.value.cost == "charge 1 is kept, as for an answer"
    assert "Lugo" not in str(failed.value)
    assert failed.value.__notes__ == ["population epsilon 2.5"]
    assert "unanswered" in study("history")


# ---- the curator's own log -----------------------------------------------------------------------------------------


def test_what_the_engine_really_said_goes_to_the_log_alone(study: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    study("ask", TOTAL, "--epsilon", "0.1", "--log", "mine.log")
    log = Path("mine.log")
    assert (log.read_text(), log.stat().st_mode & 0o777) == ("", 0o600)

    def broken(*_: object) -> None:
        raise RuntimeError("could not read the row of Bob, who is 33")

    monkeypatch.setattr(DuckDB, "_exact_rows", broken)
    monkeypatch.setattr(DuckDB, "_write", broken)
    with pytest.raises(EngineFailed) as told:
        study("ask", TOTAL, "--epsilon", "0.2", "--log", "mine.log")
    assert "Bob" not in "".join(traceback.format_exception(told.value))
    written = log.read_text()
    assert re.match(r"\d{4}-\d\d-\d\dT[\d:]+\+00:00 Traceback", written)
    assert written.count("RuntimeError: could not read the row of Bob, who is 33") == 1
    assert written.count("Traceback") == 1  # not also the constant error that stands for it
    Path("board.toml").write_text(f'study = "study.toml"\nepsilon = 0.1\n[questions.n]\nsql = "{TOTAL}"\n')
    for other in (["publish", "board.toml"], ["prepare", "visits"]):
        with pytest.raises(EngineFailed):
            study(*other, "--log", "mine.log")
    assert log.read_text().count("RuntimeError: could not read") == 3
    assert log.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("mode", [0o644, 0o620, 0o604])
def test_a_log_that_others_may_read_is_refused_before_anything_is_bought(study: Invoke, mode: int) -> None:
    Path("mine.log").touch()
    Path("mine.log").chmod(mode)
    with pytest.raises(InvalidParameter, match="Others may read") as told:
        study("ask", TOTAL, "--epsilon", "0.1", "--log", "mine.log")
    assert told.value.fix == "Run: chmod 600 mine.log"
    Path("mine.log").chmod(0o600)
    Path("link").symlink_to("mine.log")
    for place in ("link", "no-such-folder/x.log", "."):
        with pytest.raises(InvalidParameter, match="cannot be written"):
            study("ask", TOTAL, "--epsilon", "0.1", "--log", place)
    assert json.loads(study("history", "--json"))["charges"] == []


# ---- prepared copies -----------------------------------------------------------------------------------------------


def test_a_prepared_copy_is_kept_and_used_by_later_commands(study: Invoke) -> None:
    assert not read(study, "explain", BY_TOWN, "--epsilon", "0.5")["prepared"]
    shown = study("prepare", "visits", "--group-by", "town")
    assert "prepared for questions by town" in shown
    for name in ("study.visits-1.prepared", "study.prepared.json"):
        assert Path(name).stat().st_mode & 0o077 == 0
    assert read(study, "explain", BY_TOWN, "--epsilon", "0.5")["prepared"]
    assert not read(study, "explain", TOTAL, "--epsilon", "0.5")["prepared"]
    found = read(study, "ask", BY_TOWN, "--epsilon", "2", "--because", "x", "--confidence", "0.999999")
    assert all(low <= 300 <= high for low, high in found["intervals"]["n"])
    assert spent(study) == 2


def test_a_copy_is_replaced_by_one_for_the_same_groups_and_stands_beside_others(study: Invoke) -> None:
    study("prepare", "visits", "-g", "town")
    study("prepare", "visits")
    study("prepare", "visits", "-g", "town")
    assert sorted(p.name for p in Path().glob("*.prepared")) == ["study.visits-2.prepared", "study.visits-3.prepared"]
    for question in (BY_TOWN, TOTAL):
        assert read(study, "explain", question, "--epsilon", "0.5")["prepared"]


def test_after_a_reload_copies_and_old_answers_are_gone_and_the_budget_is_not(study: Invoke) -> None:
    study("prepare", "visits", "-g", "town")
    study("ask", BY_TOWN, "--epsilon", "0.5")
    assert "version 2" in study("reload", "visits")
    assert list(Path().glob("*.prepared")) == []
    assert json.loads(Path("study.prepared.json").read_text()) == []
    found = read(study, "ask", BY_TOWN, "--epsilon", "0.5")
    assert not found["repeated"]
    assert spent(study) == 1.0


def test_a_copy_of_rows_that_python_reloaded_is_not_used(study: Invoke) -> None:
    study("prepare", "visits", "-g", "town")
    curator = Curator("study.toml")
    curator.reload("visits")
    curator.close()
    assert not read(study, "explain", BY_TOWN, "--epsilon", "0.5")["prepared"]


def test_a_copy_that_was_changed_is_refused_until_it_is_made_again(study: Invoke) -> None:
    study("prepare", "visits", "-g", "town")
    with open("study.visits-1.prepared", "ab") as file:
        file.write(b"x")
    with pytest.raises(InvalidParameter, match="gone or was changed"):
        study("ask", BY_TOWN, "--epsilon", "0.5")
    study("prepare", "visits", "-g", "town")
    assert read(study, "ask", BY_TOWN, "--epsilon", "0.5")["charge"] == "1"
    Path("study.prepared.json").write_text("[1]")
    with pytest.raises(InvalidParameter, match="cannot be read"):
        study("explain", BY_TOWN, "--epsilon", "0.5")


def test_copies_in_a_database(study: Invoke, postgres_url: str) -> None:
    import psycopg

    with psycopg.connect(postgres_url) as database:
        database.execute("CREATE TABLE prepared_here (pid bigint, town text, cost bigint)")
        database.execute("INSERT INTO prepared_here SELECT i, 'Vigo', 1 FROM generate_series(1, 200) AS i")
    try:
        Path("study.toml").write_text(STUDY.replace('"visits.csv"', f'"{postgres_url}#prepared_here"'))
        place = read(study, "prepare", "visits", "-g", "town")["place"]
        assert read(study, "explain", BY_TOWN, "--epsilon", "0.5")["prepared"]
        read(study, "ask", BY_TOWN, "--epsilon", "0.5")
        shown = study("reload", "visits")
        assert place in shown.replace("\n", "")
        assert "Drop copies" in shown
        assert not read(study, "explain", BY_TOWN, "--epsilon", "0.5")["prepared"]
    finally:
        with psycopg.connect(postgres_url) as database:
            database.execute("DROP TABLE prepared_here")


def test_tables_that_are_not_there(study: Invoke) -> None:
    for command in ("prepare", "reload"):
        with pytest.raises(InvalidParameter, match=r"'towns' is no(t a)? private table"):
            study(command, "towns")


def test_a_study_is_opened_from_any_folder_with_the_same_answers(
    study: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = read(study, "ask", BY_TOWN, "--epsilon", "0.5")
    Path("below").mkdir()
    monkeypatch.chdir("below")
    again = read(study, "ask", BY_TOWN, "--epsilon", "0.5", "--study", "../study.toml")
    assert again["repeated"]
    assert again["columns"] == first["columns"]


# ---- how much of one unit counts -----------------------------------------------------------------------------------


def test_limits_of_one_unit_are_given_with_a_question(study: Invoke) -> None:
    limits = ["--groups-per-unit", "1", "--rows-per-unit", "2"]
    plain = read(study, "explain", TOTAL, "--epsilon", "0.5")
    bounded = read(study, "explain", TOTAL, "--epsilon", "0.5", *limits)
    assert (plain["contribution"]["rows"], bounded["contribution"]["rows"]) == (1, 2)
    assert bounded["fits"] == plain["fits"]  # the same price, other noise
    (n,) = read(study, "ask", TOTAL, "--epsilon", "1", *limits)["columns"]["n"]
    assert abs(n - 600) < 100  # both rows of each; wrong with probability exp(-50)


def test_without_limits_a_refusal_says_what_to_type(study: Invoke) -> None:
    Path("study.toml").write_text(STUDY.replace("contribution = { groups = 2, rows = 1 }", ""))
    with pytest.raises(QuestionRefused) as refusal:
        study("ask", TOTAL, "--epsilon", "1")
    assert "--groups-per-unit" in with_hint(refusal.value).fix


BOARD = """
study = "study.toml"
epsilon = 0.6
delta = 1e-7

[questions.towns]
sql = "SELECT town, COUNT(DISTINCT pid) AS n FROM visits GROUP BY town"
"""


def test_what_is_answered_in_spanish_ends_in_spanish(study: Invoke) -> None:
    asked = ("--epsilon", "0.5", "--language", "es")
    explained = study("explain", BY_TOWN, *asked)
    assert "épsilon 3" in explained
    study("ask", BY_TOWN, *asked)
    assert "Respondido desde el registro" in study("ask", BY_TOWN, *asked)
    Path("board.toml").write_text(BOARD.replace("delta = 1e-7", ""))
    shown = study("publish", "board.toml", "--explain", "--language", "es")
    assert "épsilon 0.6" in shown
    for english in ("It fits", "Remaining", "Nothing was spent", "All together", "epsilon"):
        assert english not in explained + shown


def test_a_dashboard_shows_the_notes_of_its_questions(study: Invoke) -> None:
    """A group that is missing is no news without the note that small groups are left out."""
    text = STUDY.replace("epsilon = 3", "epsilon = 3\ndelta = 1e-6", 1).replace(
        'town = { type = "text", keys = ["Lugo", "Vigo"] }', 'town = "text"'
    )
    Path("study.toml").write_text(text)
    Path("board.toml").write_text(BOARD)
    assert "Groups of few units are left out" in study("publish", "board.toml")


def test_limits_say_what_share_of_the_rows_they_keep(study: Invoke) -> None:
    found = read(study, "limits", "visits", "--most", "5", "--epsilon", "1")
    assert [one["limit"] for one in found["limits"]] == [1, 2, 5]
    one, two, five = found["limits"]
    assert abs(one["share"] - 0.5) < 0.2  # every unit has two rows; 80 off in 600 with probability below 1e-6
    assert two["share"] > 0.8
    assert five["within"] == [1.0, 1.0]
    assert one["within"][0] <= one["share"] <= one["within"][1]
    shown = study("limits", "visits", "--most", "5", "--epsilon", "1", "--language", "es")
    assert "conserva" in shown
    assert "Respondido desde el registro" in shown
    assert spent(study) == 1.0
    groups = read(study, "limits", "visits", "--of", "COUNT(DISTINCT town)", "--most", "2", "--epsilon", "1")
    assert [one["limit"] for one in groups["limits"]] == [1, 2]
