"""What commands print exists in both languages: no command holds a sentence of its own, and one variable decides."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from curador.cli.reference import commands
from curador.cli.screen import LANGUAGE, decide_language, loss, loss_left, spoken, words
from curador.cli.start import run
from curador.errors import InvalidParameter
from curador.privacy import ApproxDP, PureDP, RenyiDP
from curador.show.words.say import LANGUAGES, texts
from tests.cli import test_cli
from tests.cli.test_cli import Invoke
from tests.show.test_words import blanks

invoke = test_cli.invoke  # the fixture

TEXTS = {code: tuple(said.values()) for code, said in texts("cli").items()}
COMMANDS = Path(__file__).parents[2] / "src" / "curador" / "cli"
FILES = sorted(COMMANDS.rglob("*.py"))
PRINTING = {"say", "whole", "bullet", "print", "echo", "confirm", "add_column", "add_row", "assemble"}
SENTENCE = re.compile(r"[A-Za-z]{2,}[,:;.]? +[A-Za-z]{2,}|[A-Za-z]{2,}[:.] $")
LINE = re.compile(r" *(curador|curl|cd|--study|--epsilon) ")
"""A line to be typed, which has no language."""
UNREAD = {"words", "Option", "Argument", "Typer", "Annotated"}
"""Calls whose texts are codes and facts, or the help, which is English as the options are."""

KEPT = {
    "asking.py": {
        "nothing was spent": "what a refusal cost is English, as all of it",
        " is kept, with its answers": "the same",
    },
    "audit/door.py": {"--because=an attack": "typed by an attack", "exit code ": "compared, not read"},
    "audit/web_door.py": {"an attack": "sent by an attack"},
    "local/commands.py": {"acknowledged ": "read by the program that sends"},
    "serving.py": {"/v1/session -H 'content-type: application/json' -d '{\"code\": \"": "a line to be typed"},
    "spending/ledgers.py": {"The ledger": "the value of a name in JSON"},
    "studies.py": {"no keys": "what the library notes, compared", "not in the source": "the same"},
}
"""Texts that stay in the commands, by file, each with its reason."""


def test_the_languages_say_the_same_things() -> None:
    for code, said in TEXTS.items():
        assert re.fullmatch(r"[a-z0-9-]+", code)
        assert len(said) == len(LANGUAGES), code
        assert all(text.strip() for text in said), code
        assert len({frozenset(blanks(text)) for text in said}) == 1, code
        plain = re.findall("[a-z]+", re.sub(r"\{[^}]*\}", "", said[0]))
        assert len(plain) <= 2 or len(set(said)) == len(said), f"{code} was not translated"


def codes(tree: ast.AST) -> Iterator[str]:
    """What is said by its code, where that is written out: also the two of an if."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "words":
            first = node.args[0]
            for said in [first.body, first.orelse] if isinstance(first, ast.IfExp) else [first]:
                if isinstance(said, ast.Constant):
                    yield str(said.value)


def test_every_code_that_a_command_says_has_a_text_and_few_have_no_command() -> None:
    found = {code for file in FILES for code in codes(ast.parse(file.read_text()))}
    assert len(found) > 100
    assert found <= set(TEXTS)
    sources = "\n".join(file.read_text() for file in FILES)
    unsaid = {code for code in TEXTS if code not in found and f'"{code}"' not in sources}
    # Said by a code that is put together: of a setting, a role, a decision, a reason, a note, a number of things.
    made = r"(needed|role|decided|reason|cli)-.*|.*-means|bits?|bytes?|type-missing|no-bounds|no-keys|epsilon|delta|rho"
    assert {code for code in unsaid if not re.fullmatch(made, code)} <= {"page-written"}


def sentences(tree: ast.AST) -> Iterator[str]:
    """The texts of several words that functions hold themselves, but for docstrings, help and what is raised."""
    skipped: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            skipped |= set(ast.walk(node))
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in UNREAD:
                skipped |= set(ast.walk(node))
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        headed = set(ast.walk(function.args))
        for node in ast.walk(function):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in skipped | headed:
                yield node.value


def printed(tree: ast.AST) -> Iterator[str]:
    """What stands written out in a call that prints, even a single word; its style is no text."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in PRINTING:
            first = node.args[0]
            parts = first.values if isinstance(first, ast.JoinedStr) else [first]
            yield from (x.value for x in parts if isinstance(x, ast.Constant) and isinstance(x.value, str))


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(COMMANDS)))
def test_no_command_holds_a_sentence(file: Path) -> None:
    tree = ast.parse(file.read_text())
    found = {text for text in sentences(tree) if SENTENCE.search(text)}
    found |= {text for text in printed(tree) if re.search("[A-Za-z]{2}", text)}
    kept = KEPT.get(str(file.relative_to(COMMANDS)), {})
    assert {text for text in found if not LINE.match(text)} == set(kept)


def test_a_sentence_in_a_command_is_seen() -> None:
    for line in ('say("Nothing is left.")', 'say(f"Report: {x}")', 'x = "Nothing is left."', 'print(f"{n} of them")'):
        tree = ast.parse(f"def command():\n    {line}\n")
        assert [*filter(SENTENCE.search, sentences(tree))] or [*printed(tree)]
    assert [*printed(ast.parse('table.add_column("budget")'))] == ["budget"]
    assert not [*printed(ast.parse('say(words("budget"), "bold")'))]


# ---- one place decides ----------------------------------------------------------------------------------------------


def test_the_option_comes_before_the_variable_and_english_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(LANGUAGE, raising=False)
    assert decide_language() == spoken() == "en"
    monkeypatch.setenv(LANGUAGE, "es")
    assert decide_language() == spoken() == "es"
    assert words("nothing-spent") == "No se ha gastado nada."
    assert decide_language("en") == spoken() == "en"


@pytest.mark.parametrize("language", ["fr", "ES", "español"])
def test_another_language_is_one_clear_error(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidParameter, match=r"There is no language .* Set --language to en or es"):
        decide_language(language)
    monkeypatch.setenv(LANGUAGE, language)
    with pytest.raises(InvalidParameter, match=rf"There is no language .* Set {LANGUAGE} to en or es"):
        decide_language()


def test_every_command_takes_a_language() -> None:
    without = {name for name, command in commands() if not any("-l" in p.opts for p in command.params)}
    assert without == {"curador local client"}  # whose language is that of a program


def test_the_numbers_of_a_guarantee_are_named_in_the_language() -> None:
    decide_language("es")
    assert loss(ApproxDP(1, 1e-6)) == "épsilon 1, delta 1e-06"
    assert loss(RenyiDP({2: 0.5, 8: 3})) == "épsilon 0.5 en el orden 2 … épsilon 3 en el orden 8"
    assert loss_left(PureDP(0.1212625)) == "épsilon 0.121262"


HEADINGS = {
    "demo": ("statistic", "released", "interval", "together", "What an attacker", "Try next", "Budget", "remaining"),
    "check": ("column", "stored as", "public", "note", "protects", "budget", "Questions"),
    "budget": ("budget", "spent", "remaining"),
    "history": ("charge", "when", "cost", "asked", "decided", "because"),
    "explain": ("expected", "It fits", "Nothing was spent", "what remains"),
    "ask": ("interval ", "Remaining"),
}
"""What commands are headed with in English; some of it is part of a Spanish word."""


def test_commands_in_spanish_show_no_english_heading(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    def seen(*line: str) -> str:
        english, spanish = invoke(*line), invoke(*line, "--language", "es")
        for heading in HEADINGS[line[0]]:
            word = rf"(?<![\w\"]){re.escape(heading)}(?!\w)"
            assert re.search(word, english), heading
            assert not re.search(word, spanish), heading
        return spanish

    assert "Pruebe ahora" in seen("demo")
    monkeypatch.chdir("curador-demo")
    assert "guardada como" in seen("check")
    assert "queda" in seen("budget")
    assert "cuándo (UTC)" in seen("history")
    asked = ("SELECT COUNT(*) AS n FROM salaries", "--epsilon", "0.1")
    assert "No se ha gastado nada." in seen("explain", *asked)
    assert "Queda: population épsilon" in seen("ask", *asked)


def test_the_variable_decides_and_a_command_s_own_option_comes_first(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    english = json.loads(invoke("demo", "--json"))
    monkeypatch.setenv(LANGUAGE, "es")
    monkeypatch.chdir("curador-demo")
    assert "presupuesto" in invoke("budget")
    assert "remaining" in invoke("--language", "en", "budget")
    assert json.loads(invoke("budget", "--json"))[0].keys() >= {"budget", "spent", "remaining"}
    assert json.loads(invoke("history", "--json"))["charges"][0]["cost_in_words"] == "epsilon 1"
    assert "Remaining: population epsilon" in invoke(
        "ask", "SELECT COUNT(*) FROM salaries", "--epsilon=0.1", "-l", "en"
    )
    monkeypatch.chdir("..")
    assert json.loads(invoke("demo", "--json"))["meaning"] == english["meaning"]


@pytest.mark.parametrize("line", [["budget", "--study", "none.toml"], ["ask", "SELECT 1", "--study", "none.toml"]])
def test_a_refusal_is_headed_in_the_language_and_an_unknown_one_is_refused(
    line: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Through both parsers: that of all commands, and that of a plain ask."""
    monkeypatch.chdir(tmp_path)

    def refused(language: str) -> str:
        monkeypatch.setenv(LANGUAGE, language)
        with pytest.raises(SystemExit, match="1"):
            run(line)
        shown = capsys.readouterr()
        assert shown.out == ""
        return shown.err

    spanish = refused("es")
    assert "\n  Qué hacer: " in spanish
    assert "\n  Costo: " in spanish
    decide_language("en")
    assert refused("fr").startswith(f"There is no language 'fr'.\n  To do: Set {LANGUAGE} to en or es.\n")
