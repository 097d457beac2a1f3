"""Formulas: MathML that is well formed, with everything escaped."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from curador.server.console.playground.formula import formula, fraction, power, root
from curador.server.console.playground.lessons import LESSONS


@pytest.mark.parametrize("name", LESSONS)
def test_every_formula_is_well_formed(name: str) -> None:
    assert ElementTree.fromstring(LESSONS[name].formula).tag == "math"


def test_texts_are_cut_and_escaped() -> None:
    made = ElementTree.fromstring(formula("kε < 2,  ln", fraction("1", "b"), power("e", "x"), root("n")))
    assert [part.tag for part in made[0]] == ["mi", "mi", "mo", "mn", "mo", "mspace", "mi", "mfrac", "msup", "msqrt"]
    assert [part.text for part in made[0]][:5] == ["k", "ε", "<", "2", ","]
