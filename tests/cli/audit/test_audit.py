"""The commands that attack: what they print, the files they write, how they end; and the page that shows them runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from curador.audit import reconstruction
from curador.audit.doors import times
from curador.audit.finding import Finding
from curador.cli.app import app
from curador.cli.audit.reporting import report
from curador.cli.screen import console
from curador.errors import CuradorError, InvalidParameter
from curador.privacy import PureDP
from curador.show.words.say import LANGUAGES, say
from tests.cli.test_hours import HOW_TO, play

Invoke = Callable[..., str]


@pytest.fixture
def invoke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(console, "_width", 80)

    def call(*arguments: str) -> str:
        done = CliRunner().invoke(app, ["audit", *arguments])
        if isinstance(done.exception, CuradorError):
            raise done.exception
        assert done.exit_code == 0, done.output
        return done.output

    return call


def test_the_page_does_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(console, "_width", 80)
    assert play((HOW_TO / "attack-it-yourself.md").read_text(), monkeypatch) == 4
    assert (tmp_path / "game.html").read_text().startswith("<!doctype html>")


SMALL = {
    "reconstruct": ("--bits", "12", "--counts", "40"),
    "link": ("unique", "--people", "300"),
    "game": ("--plays", "200"),
}


@pytest.mark.parametrize("name", SMALL)
def test_a_report_is_text_json_and_a_page_in_both_languages(name: str, invoke: Invoke) -> None:
    for language in LANGUAGES:
        shown = invoke(name, *SMALL[name], "--language", language, "--html", "page.html")
        page = Path("page.html").read_text()
        title = say({"reconstruct": "audit-rec-title"}.get(name, f"audit-{name}-title"), language)
        assert shown.startswith(title)
        assert say("cli.page-written", language, file="page.html") in shown
        assert f'<html lang="{language}">' in page
        assert f"<h1>{title}</h1>" in page
        assert "<svg" in page
        assert max(map(len, shown.splitlines())) <= 80
    plain = json.loads(invoke(name, *SMALL[name], "--json"))
    assert plain["exhibits"][0]["charts"]
    assert plain["findings"] == []


def test_the_service_is_reported_with_times(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(times, "TIMED", {"a count": times.TIMED["a count"]})
    options = ("--door", "library", "--attack", "M3", "--limit", "1", "--turns", "2")
    plain = json.loads(invoke("service", *options, "--json"))
    assert [f["violated"] for f in plain["findings"]] == [False] * 2
    assert plain["findings"][0]["claim"]["epsilon"] == 0
    assert plain["findings"][1]["claim"] is None
    assert plain["exhibits"][0]["code"] == "times"


def test_a_violation_ends_with_1_and_comes_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import typer

    broken = Finding("a sum", PureDP(1), 1.5, 0.99, 1000, violated=True, witness="[red]an event[/red]")
    sound = Finding("a count", PureDP(1), 0.9, 0.99, 1000)
    with pytest.raises(typer.Exit) as ended:
        report("service", findings=[sound, broken], html=tmp_path / "page.html")
    assert ended.value.exit_code == 1
    shown = capsys.readouterr().out
    assert shown.index("a sum: violated") < shown.index("a count: no violation found")
    assert "[red]an event" in shown  # no markup
    assert "alarmed" in (tmp_path / "page.html").read_text()


def test_a_page_that_cannot_be_written_is_refused_before_anything_is_attacked(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconstruction, "reconstruct", None)  # would fail if it were called
    for place in ("no-such-folder/page.html", "."):
        with pytest.raises(InvalidParameter, match="cannot be written"):
            invoke("reconstruct", "--html", place)


def test_what_is_not_there_is_refused(invoke: Invoke) -> None:
    with pytest.raises(InvalidParameter, match="no door 'window'"):
        invoke("service", "--door", "window")
    with pytest.raises(InvalidParameter, match="no attack 'Q1'"):
        invoke("service", "--attack", "Q1", "--turns", "0")
    with pytest.raises(InvalidParameter, match="no attack 'weld'"):
        invoke("link", "weld")
    with pytest.raises(InvalidParameter, match="no language 'fr'"):
        invoke("link", "unique", "--people", "100", "--language", "fr")
