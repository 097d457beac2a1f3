"""Values that a question compares with and that nobody declared: named, in work that the question's length bounds."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Any

import pytest

from curador import Table
from curador.server.console.questions.values import MOST_KEYS, NAMED, undeclared


def asked(texts: list[str]) -> dict[str, Any]:
    values = [{"is": "literal", "kind": "text", "value": text} for text in texts]
    return {"table": "people", "where": {"is": "in", "operand": {"is": "name", "column": "town"}, "values": values}}


def people(keys: list[str]) -> dict[str, Table]:
    return {"people": Table("people.csv", columns={"town": {"type": "text", "keys": keys}})}


def test_hundreds_of_texts_among_many_keys_compare_few(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[SequenceMatcher[str]] = []
    ratio = SequenceMatcher.real_quick_ratio

    def counted(one: SequenceMatcher[str]) -> float:
        compared.append(one)
        return ratio(one)

    monkeypatch.setattr(SequenceMatcher, "real_quick_ratio", counted)
    texts = [f"Comuna {i:03} de la Regiom" for i in range(700)]
    named, more = undeclared(asked(texts), people([f"Comuna {i:03} de la Region" for i in range(MOST_KEYS)]))
    assert (len(named), more) == (NAMED, 700 - NAMED)
    assert named[0] == ("town", texts[0], "Comuna 000 de la Region")
    assert 0 < len(compared) <= NAMED * MOST_KEYS
    compared.clear()
    assert undeclared(asked(texts), people([f"Comuna {i:04}" for i in range(MOST_KEYS + 1)]))[0][0][2] == ""
    assert not compared


def test_another_case_is_found_among_any_number_of_keys() -> None:
    keys = [f"town {i}" for i in range(5_000)]
    assert undeclared(asked(["Town 4999", "town 1"]), people(keys)) == ([("town", "Town 4999", "town 4999")], 0)
