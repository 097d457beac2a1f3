"""Commands that ask the curator of a server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from curador.cli.app import app, main
from curador.cli.opening import WITHOUT_SERVER
from curador.errors import CuradorError
from curador.learn.saved import load
from tests.server.served import JOINED, SQL, Served, serving, write_study


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(write_study(tmp_path_factory.mktemp("study"))) as found:
        yield found


def run(served: Served, *words: str, who: str = "ana") -> str:
    typed = [*words, "--at", served.url]
    done = CliRunner().invoke(app, typed, env={"CURADOR_TOKEN": served.tokens[who], "COLUMNS": "200"})
    if done.exception is not None:
        raise done.exception
    return done.output if "--json" in words else " ".join(done.output.split())


def test_a_question_is_explained_paid_and_shown_by_a_server(served: Served) -> None:
    assert "Nothing was spent" in run(served, "explain", SQL, "--epsilon", "0.2")
    found = json.loads(run(served, "ask", SQL, "--epsilon", "0.2", "--json"))
    assert found["columns"]["sex"] == ["F", "M"]
    assert list(found["remaining"]) == ["ana"]
    again = json.loads(run(served, "ask", SQL, "--epsilon", "0.2", "--json"))
    assert again["repeated"]
    assert again["columns"] == found["columns"]
    assert "0.2" in run(served, "budget")
    assert json.loads(run(served, "budget", "ana", "--json"))[0]["neighbors"] == "add-remove"
    assert "count() of people by sex" in run(served, "history")
    assert [c["charge"] for c in json.loads(run(served, "history", "--json"))["charges"]] == [found["charge"]]


def test_a_dashboard_is_published_by_a_server_with_its_words(served: Served, tmp_path: Path) -> None:
    board = tmp_path / "board.toml"
    board.write_text(
        f"""study = "study.toml"\nepsilon = 0.4\ntitle = "People"\nbecause = "the yearly report"\n"""
        f'''[questions.sexes]\nsql = "{SQL}"\ntitle = "Women and men"\nwhy = "the first table"\nweight = 3\n'''
        f"""[questions.age]\nsql = "SELECT AVG(age) AS age FROM people"\n"""
    )
    explained = json.loads(run(served, "publish", str(board), "--explain", "--json"))
    assert explained["fits"] > 1
    found = json.loads(run(served, "publish", str(board), "--out", str(tmp_path / "out"), "--json"))
    assert found["words"]["title"] == "People"
    assert found["words"]["questions"]["sexes"] == {"title": "Women and men", "why": "the first table", "sql": SQL}
    assert (tmp_path / "out").is_dir()
    assert json.loads(run(served, "publish", str(board), "--out", str(tmp_path / "out"), "--json"))["repeated"]
    assert "Women and men" in run(served, "publish", str(board), "--out", str(tmp_path / "out"))


def test_groups_of_a_public_table_are_explained_and_published_by_a_server(served: Served, tmp_path: Path) -> None:
    explained = run(served, "explain", JOINED, "--epsilon", "0.03")
    assert "word: 2 public" in explained
    assert json.loads(run(served, "explain", JOINED, "--epsilon", "0.03", "--json"))["keys"] == 2
    board = tmp_path / "words.toml"
    board.write_text(f"""epsilon = 0.05\n[questions.words]\nsql = "{JOINED}"\n[questions.n]\nsql = "{SQL}"\n""")
    out = ["--out", str(tmp_path / "out")]
    assert "words: epsilon 0.025" in run(served, "publish", str(board), "--explain", *out)
    found = json.loads(run(served, "publish", str(board), *out, "--json"))
    assert found["releases"]["words"]["columns"]["word"] == ["man", "woman"]
    with pytest.raises(CuradorError, match="names no study"):
        main_at_hand("publish", str(board), *out)


def main_at_hand(*words: str) -> None:
    done = CliRunner().invoke(app, words)
    assert done.exception is not None
    raise done.exception


RECIPE = """model = "GaussianNB"\ntable = "people"\nfeatures = ["age", "pay"]\nlabel = "sex"\nwhere = "age > 21"
[settings]\nepsilon = "0.3"\n"""


def test_a_model_is_learned_by_a_server_and_saved_here(served: Served, tmp_path: Path) -> None:
    (tmp_path / "sex.toml").write_text(RECIPE)
    assert "Nothing was spent" in run(served, "fit", str(tmp_path / "sex.toml"), "--explain")
    found = json.loads(run(served, "fit", str(tmp_path / "sex.toml"), "--because", "a trial", "--json"))
    assert not found["repeated"]
    assert list(found["remaining"]) == ["ana"]
    assert load(found["saved"]).privacy_.charge == found["charge"]
    assert "bought before: nothing was spent" in run(served, "fit", str(tmp_path / "sex.toml"))
    with pytest.raises(CuradorError, match="names no other"):
        run(served, "fit", str(tmp_path / "sex.toml"), "--analyst", "bea")


def test_limits_and_quality_are_asked_of_a_server(served: Served) -> None:
    found = json.loads(run(served, "limits", "visits", "--most", "20", "--epsilon", "0.5", "--json"))
    assert [one["limit"] for one in found["limits"]] == [1, 2, 5, 10, 20]
    assert list(found["remaining"]) == ["ana"]
    assert "before" in run(served, "limits", "visits", "--most", "20", "--epsilon", "0.5")
    explained = json.loads(run(served, "quality", "people", "--epsilon", "0.3", "--explain", "--json"))
    assert explained["fits"] > 1
    seen = json.loads(run(served, "quality", "people", "-c", "age", "--epsilon", "0.3", "--json"))
    assert seen["columns"]["column"] == ["age"]
    assert "before" in run(served, "quality", "people", "-c", "age", "--epsilon", "0.3")


def every_command() -> dict[str, set[str]]:
    """Each command by its first word, and the options that it, or the commands below it, have."""
    found: dict[str, set[str]] = {}
    for name, command in get_command(app).commands.items():  # type: ignore[attr-defined]
        below = getattr(command, "commands", {"": command}).values()
        found[name] = {option for one in below for param in one.params for option in param.opts}
    return found


def test_every_command_asks_a_server_or_says_why_not(capsys: pytest.CaptureFixture[str]) -> None:
    known = every_command()
    assert {name for name, options in known.items() if "--at" not in options} == set(WITHOUT_SERVER)
    for name in WITHOUT_SERVER:
        with pytest.raises(SystemExit):
            main([name, "--at", "https://example.org"])
        assert "Leave out --at" in " ".join(capsys.readouterr().err.split())


def test_what_a_server_does_not_show_is_not_left_out_silently(served: Served, tmp_path: Path) -> None:
    for words in (
        ["history", "bea"],
        ["budget", "bea"],
        ["ask", SQL, "--epsilon", "1", "--log", str(tmp_path / "log")],
    ):
        with pytest.raises(CuradorError, match=r"Leave (the name )?out"):
            run(served, *words)
    for age in (31, 32):
        run(served, "ask", f"SELECT COUNT(*) AS n FROM people WHERE age > {age}", "--epsilon", "0.01")
    assert run(served, "history", "--last", "0", "--json")
    assert len(json.loads(run(served, "history", "--all", "--json"))["charges"]) > 1


def test_refusals_are_the_servers(served: Served) -> None:
    with pytest.raises(CuradorError) as refused:
        run(served, "ask", SQL, "--epsilon", "500", "--because", "x", "--override")
    assert refused.value.code == "budget-exceeded"
    done = CliRunner().invoke(app, ["ask", SQL, "--epsilon", "1", "--at", served.url], env={"CURADOR_TOKEN": ""})
    assert isinstance(done.exception, CuradorError)
    assert done.exception.code == "token-missing"
