"""Texts by code: the languages have the same codes, the same blanks, and a text for all that plans and releases say."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import Any, get_args

import pytest

from curador.errors import InvalidParameter
from curador.mechanisms.base import KINDS
from curador.privacy import Neighbors
from curador.show.explain import note_text
from curador.show.summary import EstimateKind, Summary
from curador.show.words.say import LANGUAGES, counted, say, texts
from tests.curator.test_policy import PLANS, planned

SOURCES = Path(__file__).parents[2] / "src" / "curador"
TEXTS = {
    language: {code: said[language] for code, said in texts("report", "release").items()} for language in LANGUAGES
}
EN, ES = TEXTS["en"], TEXTS["es"]


def blanks(text: str) -> set[str]:
    """The names that a text is filled in with."""
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def note_codes() -> set[str]:
    """The code of every note that plans, policies and releases write: {"code": "…"}, also the two of an if."""
    found: set[str] = set()
    for file in [*(SOURCES / "query").rglob("*.py"), *(SOURCES / "curator").rglob("*.py")]:
        for node in ast.walk(ast.parse(file.read_text())):
            if not isinstance(node, ast.Dict):
                continue
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == "code":
                    said = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
                    found |= {s.value for s in said if isinstance(s, ast.Constant) and isinstance(s.value, str)}
    return found


def spoken_codes() -> set[str]:
    """The code of every call say("…") and counted("…"), where it is written out."""
    found: set[str] = set()
    for file in SOURCES.rglob("*.py"):
        text = file.read_text()
        if "show.words" in text:
            found |= set(re.findall(r'\bsay\(\s*"([a-z-]+)"', text))
            found |= {
                code for name in re.findall(r'\bcounted\("([a-z]+)"', text) for code in (f"one-{name}", f"n-{name}s")
            }
    return found


def test_the_languages_say_the_same_things() -> None:
    assert set(TEXTS) == set(LANGUAGES)
    assert list(ES) == list(EN)  # in one order, to be read side by side
    assert {c: blanks(t) for c, t in ES.items()} == {c: blanks(t) for c, t in EN.items()}
    assert all(text.strip() for texts in TEXTS.values() for text in texts.values())


def test_sentences_are_translated() -> None:
    """A text of several words that is the same in both languages was forgotten; those of blanks and signs are not."""
    words = {code: re.sub(r"\{[^}]*\}", "", text) for code, text in EN.items()}
    same = [code for code, text in words.items() if len(re.findall("[a-z]+", text)) > 2 and ES[code] == EN[code]]
    assert same == []


def test_every_note_has_a_text() -> None:
    found = note_codes()
    assert {"covers", "joined", "joined-outer", "shared", "reason", "override", "running-day"} <= found
    assert found <= set(EN)


def test_every_code_that_is_said_has_a_text() -> None:
    found = spoken_codes()
    assert {"statement", "interval", "exact", "one-row", "n-rows"} <= found
    assert found <= set(EN)


def test_every_note_of_local_tasks_has_a_text() -> None:
    files = (file.read_text() for file in (SOURCES / "local").rglob("*.py"))
    found = {code for text in files for code in re.findall(r'\bEstimateNote\(\s*"([a-z-]+)"', text)}
    assert {"projected", "one-period", "report-keeps", "report-alone", "search-complete"} <= found
    assert found <= set(EN)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_audit_and_every_estimate_is_headed_in_the_language(language: str) -> None:
    commands = "".join(file.read_text() for file in (SOURCES / "cli" / "audit").glob("*.py"))
    audits = set(re.findall(r'\breport\(\s*"([a-z]+)"', commands))
    assert audits >= {"mechanism", "query", "model", "service", "local", "rec", "link", "game"}
    assert all(say(f"audit-{code}-{part}", language) for code in audits for part in ("title", "lead"))
    limited: tuple[dict[str, Any], ...] = ({}, {"low": (0.1,), "high": (0.9,)})
    for kind, limits in itertools.product(get_args(EstimateKind), limited):
        one = Summary(
            kind, (0,), (0.5,), 3, edges=(0.0, 1.0), confidence=0.9 if limits else None, error=(0.1,), **limits
        )
        headings, *_ = one.table(language=language)
        english = {"estimate", "key", "coordinate", "from", "to", "standard error", "90% interval"} & set(headings)
        assert bool(english) == (language == "en")


def written_out(tree: ast.AST) -> Iterator[tuple[int, dict[str, ast.expr]]]:
    """What stands beside its numbers, by language: ``_say(lang, en=…, es=…)`` and ``{"en": …, "es": …}``."""
    for node in ast.walk(tree):
        said: dict[str, ast.expr] = {}
        if isinstance(node, ast.Call):
            said = {k.arg: k.value for k in node.keywords if k.arg is not None}
        elif isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            said = {str(key.value): value for key, value in pairs if isinstance(key, ast.Constant)}
        if set(said) & set(LANGUAGES):
            yield getattr(node, "lineno", 0), said


def test_what_is_written_out_by_language_is_there_in_both_with_the_same_numbers() -> None:
    seen = 0
    for file in SOURCES.rglob("*.py"):
        for line, said in written_out(ast.parse(file.read_text())):
            where, seen = f"{file.name}:{line}", seen + 1
            assert set(said) == set(LANGUAGES), where
            blanks_of = [
                {ast.unparse(part.value) for part in ast.walk(value) if isinstance(part, ast.FormattedValue)}
                for value in said.values()
            ]
            assert blanks_of[0] == blanks_of[1], where
            keys = [[ast.unparse(key) for key in v.keys if key] for v in said.values() if isinstance(v, ast.Dict)]
            assert all(one == keys[0] for one in keys), where
    assert seen >= 8  # what guarantees mean, composition, shuffling, the labels of curves


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_mechanism_of_plans_and_every_kind_of_neighbour_has_a_name(language: str) -> None:
    for kind in PLANS:
        plan = planned(**PLANS[kind])
        assert all(say(used, language) for used in plan.kinds)
        text = plan.explain(language)
        assert say(kind, language) in text
        for note in plan.facts["notes"]:
            assert note_text(note, language).split()[0] in text
    assert set(PLANS) <= KINDS
    assert all(say(neighbors.value, language) for neighbors in Neighbors)


def test_a_language_or_a_code_that_there_is_not_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="no language 'fr'"):
        say("exact", "fr")
    with pytest.raises(KeyError):
        say("no-such-code")


def test_numbers_of_things() -> None:
    assert [counted("group", n, "es") for n in (1, 2)] == ["1 grupo", "2 grupos"]
    assert counted("row", 12345) == "12,345 rows"


OTHER_SPANISH = re.compile(
    r"\b(costes?|agreg(?:ar\w*|an?|ó|u\w*)|recuentos?|ordenador\w*|computador\w*|fichero\w*|vosotros|libro mayor)\b",
    re.I,
)
"""Words of another Spanish than the one written here: costo, añadir, conteo, equipo, archivo, ustedes, registro."""


def test_one_spanish_is_written_everywhere() -> None:
    root = Path(__file__).parents[2]
    files = [*(root / "src" / "curador" / "show" / "words").rglob("*.toml"), root / "README.es.md"]
    for folder in ("es", "course/es", "course/notebooks/es"):
        files += (root / "docs" / folder).rglob("*.md")
    found = {(file.name, word) for file in files for word in OTHER_SPANISH.findall(file.read_text(encoding="utf-8"))}
    assert len(files) > 50
    assert found == set()
    assert OTHER_SPANISH.findall("El coste se agrega: un recuento.") == ["coste", "agrega", "recuento"]
