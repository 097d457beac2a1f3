"""Lessons: the code that is shown runs and finds what the page says; bounds are safe at their ends."""

from __future__ import annotations

import contextlib
import io
import math
from fractions import Fraction as F

import pytest

from curador.audit.reconstruction import recovered
from curador.server.console.playground import composing, deciding, divergence, rebuilding, response, sides
from curador.server.console.playground.laplace import density
from curador.server.console.playground.lesson import Illustration, few
from curador.server.console.playground.lessons import LESSONS
from curador.show.words.say import say

SAME = {
    "laplace": ["error"],
    "accuracy": ["error"],
    "response": ["epsilon"],
    "composing": ["optimal", "pld"],
    "sides": ["central", "local"],
    "cutting": ["power"],
}
"""Facts that the code prints, too; noise apart."""


def shown(name: str, which: str = "default") -> Illustration:
    lesson = LESSONS[name]
    found: Illustration = lesson.show(**{knob.name: knob.read(getattr(knob, which)) for knob in lesson.knobs})
    return found


def printed(code: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "shown", "exec"), {})  # noqa: S102 - it is ours
    return out.getvalue()


@pytest.mark.parametrize("which", ["default", "least", "most"])
@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_is_shown_from_end_to_end_of_its_bounds(name: str, which: str) -> None:
    found = shown(name, which)
    for language in ("en", "es"):
        assert say(f"playground.{name}-says", language, **found.facts)
        assert all(drawing.svg(language).startswith("<svg") for drawing in found.drawings)
        assert "nan" not in "".join(drawing.svg(language) for drawing in found.drawings)
    assert printed(found.code).strip()


@pytest.mark.parametrize("name", SAME)
def test_the_code_finds_what_the_page_says(name: str) -> None:
    found = shown(name)
    said = [number(word) for word in printed(found.code).split() if number(word) is not None]
    for fact in SAME[name]:
        wanted = float(str(found.facts[fact]).replace(",", ""))
        assert any(x == pytest.approx(wanted, rel=0.02) for x in said), (fact, said)


def number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def test_the_code_of_the_game_and_of_the_curves() -> None:
    lower, upper, error = map(float, printed(shown("deciding").code).split())
    assert (lower, upper, error) == pytest.approx((1 / (1 + math.e), math.e / (1 + math.e), 1 / (1 + math.e)))
    curves = [float(x) for x in printed(shown("divergence").code).split()]
    assert curves == pytest.approx([math.log(0.75**4 * 4**3 + 0.25**4 * (4 / 3) ** 3) / 3, 0.8136893, 0.5], rel=1e-6)


def test_the_density_is_one() -> None:
    assert sum(density(x / 100, 0.3, 0.5) for x in range(-1000, 1001)) / 100 == pytest.approx(1, rel=1e-3)


def test_two_fair_coins_are_warners() -> None:
    assert shown("response").facts["epsilon"] == few(math.log(3))
    assert response.truth(F(1, 2)) == F(3, 4)


def test_theorems_keep_their_order() -> None:
    """Of 1 to 1,000 answers: none is above the theorem that knows less."""
    for epsilon in (F(1, 100), F(1, 10), F(1), F(2)):
        found = composing.together(epsilon, F(1, 10**6), composing.counts(1000))
        for basic, optimal, pld, advanced, zcdp, renyi in zip(
            *(found[name] for name in ("basic", "optimal", "pld", "advanced", "zcdp", "renyi")), strict=True
        ):
            assert pld <= optimal * (1 + 1e-3) <= min(basic, advanced, zcdp) * (1 + 2e-3)
            assert pld <= renyi * (1 + 1e-3)


def test_the_table_of_chapter_five() -> None:
    """Its rows for p = 3/4 and α = 4, from the printed formulas."""
    rows = shown("divergence").listings[0].rows
    epsilon, zeta = math.log(3), math.log(0.75**4 * 4**3 + 0.25**4 * (4 / 3) ** 3) / 3
    assert [row[1] for row in rows] == [few(x) for x in (0.03, epsilon, 2 * epsilon, 2 * epsilon, epsilon, 1)] + ["∞"]
    at = [few((0.01 * math.exp(zeta)) ** 0.75), few(zeta), few(2 * zeta), f"{few(3 * zeta)} (α = 2)", few(zeta)]
    assert [row[2] for row in rows][:5] == at
    assert rows[-1][2] == few(4 / 8)
    assert len(divergence.ORDERS) == 46


def test_a_curator_is_better_than_none() -> None:
    for epsilon in (F(1, 20), F(1), F(3)):
        central, local = sides.errors(epsilon, 10**6)
        assert local > 100 * central


def test_bits_are_found_without_a_budget_and_not_with_one() -> None:
    found = recovered(rebuilding.BITS, 1000, 1)
    assert found.exact == 1
    assert found.unbudgeted > 0.95
    assert found.private < 0.7  # five standard deviations of 200 guesses above one half


def test_coins_are_fair_and_rounds_are_decided_by_them() -> None:
    coins = [deciding.coin("key", f"n{k}") for k in range(4000)]
    assert abs(sum(coins) - 2000) < 300
    assert [deciding.coin("other", f"n{k}") for k in range(4000)] != coins
    for k in range(20):
        form = {"guess": "in", "nonce": f"n{k}", "answer": "1", "played": "3", "right": "1", "attacker": "2"}
        ended = deciding.guessed("key", "next", F(1), form)
        assert ended.before is not None
        assert ended.before.there == ended.before.right == ended.before.attacker == bool(coins[k])
        assert (ended.played, ended.right, ended.attacker) == (4, 1 + coins[k], 2 + coins[k])


@pytest.mark.parametrize(
    "wrong",
    [{"guess": "both"}, {"nonce": "a b"}, {"played": "x"}, {"right": "9"}, {"attacker": "-1"}, {"played": "1" * 40}],
)
def test_a_form_that_is_none_begins_anew(wrong: dict[str, str]) -> None:
    form = {"guess": "in", "nonce": "n", "answer": "1", "played": "3", "right": "1", "attacker": "2", **wrong}
    fresh = deciding.guessed("key", "next", F(1), form)
    assert (fresh.played, fresh.before) == (0, None)
