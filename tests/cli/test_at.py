"""Commands that ask the curator of a server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from curador.cli.app import app
from curador.errors import CuradorError
from tests.server.served import SQL, Served, serving, write_study


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


def test_refusals_are_the_servers(served: Served) -> None:
    with pytest.raises(CuradorError) as refused:
        run(served, "ask", SQL, "--epsilon", "500", "--because", "x", "--override")
    assert refused.value.code == "budget-exceeded"
    done = CliRunner().invoke(app, ["ask", SQL, "--epsilon", "1", "--at", served.url], env={"CURADOR_TOKEN": ""})
    assert isinstance(done.exception, CuradorError)
    assert done.exception.code == "token-missing"
