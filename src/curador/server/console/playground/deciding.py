"""The decision game: is Alice in the data?  What a promise allows anyone to know, and rounds to play.

A round's coin is a keyed hash of its number: the page shows the number and the answer, and nobody has to keep the coin.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from curador import IntegerLaplace
from curador.accounting.meaning import decision, posterior
from curador.audit.game import play
from curador.server.console.playground.formula import formula, fraction, power
from curador.server.console.playground.lesson import Illustration, Knob, Lesson, at_least, at_most, few, number
from curador.show.pages.charts import Axis, Track
from curador.show.pages.exhibits import Drawing

PLAYS = 2000
MOST_PLAYED = 10**6
BEFORE = tuple(k / 40 for k in range(1, 40))


def show(epsilon: Fraction, prior: Fraction) -> Illustration:
    """Beliefs after an answer, the least error, and the trade-off of the two errors with a real attacker's tests."""
    belief, guess, game = posterior(epsilon, prior), decision(epsilon, prior), play(epsilon, PLAYS)
    after = [posterior(epsilon, p) for p in BEFORE]
    beliefs = Drawing(
        "playground.deciding-beliefs",
        "xy",
        (
            Track("@playground.deciding-most", BEFORE, tuple(b.upper for b in after)),
            Track("@playground.deciding-least", BEFORE, tuple(b.lower for b in after)),
            Track("@playground.deciding-same", BEFORE, BEFORE, "dashed"),
        ),
        x=Axis("@playground.deciding-before", percent=True, ends=(0, 1)),
        y=Axis("@playground.deciding-after", percent=True, ends=(0, 1)),
    )
    corners = guess.tradeoff.corners()
    errors = Drawing(
        "playground.deciding-tradeoff",
        "tradeoff",
        (
            Track("@playground.deciding-bound", tuple(a for a, _ in corners), tuple(b for _, b in corners)),
            Track(
                "@playground.deciding-tests", tuple(a for a, _ in game.tests), tuple(b for _, b in game.tests), "points"
            ),
        ),
        x=Axis("@playground.deciding-fpr"),
        y=Axis("@playground.deciding-fnr"),
    )
    return Illustration(
        {
            "epsilon": number(epsilon),
            "prior": few(float(prior), percent=True),
            "lower": at_least(belief.lower),
            "upper": at_most(belief.upper),
            "error": at_least(guess.error),
            "plays": f"{PLAYS:,}",
            "won": few(game.won, percent=True),
            "most": at_most(game.most),
            "scatter": f"{196 * math.sqrt(game.most * (1 - game.most) / PLAYS):.2g}",
        },
        (beliefs, errors),
        f"""from curador.accounting.meaning import decision, posterior

belief = posterior({number(epsilon)}, prior={number(prior)})
print(belief.lower, belief.upper)
print(decision({number(epsilon)}, prior={number(prior)}).error)
""",
    )


LESSON = Lesson(
    "deciding",
    formula(
        power("e", "−ε"), fraction("p", "1 − p"), "≤", fraction("P(A | x)", "P(Ā | x)"), "≤", power("e", "ε"),
        fraction("p", "1 − p"),
    ),
    (Knob("epsilon", "1", "0.01", "10"), Knob("prior", "0.5", "0.01", "0.99")),
    show,
)  # fmt: skip


@dataclass(frozen=True)
class Ending:
    """How a round ended: whether Alice was there, and who was right."""

    there: bool
    right: bool
    attacker: bool


@dataclass(frozen=True)
class Turn:
    """A round to be guessed: the count of Alice with noise; the score so far; and how the round before ended."""

    nonce: str
    answer: int
    played: int = 0
    right: int = 0
    attacker: int = 0
    before: Ending | None = None


def coin(key: str, nonce: str) -> int:
    """Whether Alice is there in the round of this number: a fair coin for whoever does not know the key.

    >>> {coin("a key", str(k)) for k in range(20)} == {0, 1}
    True
    """
    return hmac.new(key.encode(), f"playground {nonce}".encode(), hashlib.sha256).digest()[0] & 1


def drawn(key: str, nonce: str, epsilon: Fraction) -> Turn:
    """A new round: the engine counts Alice with noise."""
    return Turn(nonce, IntegerLaplace(1, epsilon).release(coin(key, nonce)))


def guessed(key: str, nonce: str, epsilon: Fraction, form: Mapping[str, str]) -> Turn:
    """The round that a form guesses, decided; and a new one with the score.  A form that is none begins anew."""
    fresh = drawn(key, nonce, epsilon)
    guess, old = form.get("guess"), form.get("nonce", "")
    score = [form.get(name, "") for name in ("answer", "played", "right", "attacker")]
    if guess not in ("in", "out") or not re.fullmatch(r"\w{1,64}", old, re.ASCII):
        return fresh
    if not all(re.fullmatch(r"-?\d{1,7}", text, re.ASCII) for text in score):
        return fresh
    answer, played, right, attacker = map(int, score)
    if not 0 <= right <= played < MOST_PLAYED or not 0 <= attacker <= played:
        return fresh
    there = bool(coin(key, old))
    ended = Ending(there, (guess == "in") == there, (answer >= 1) == there)
    return Turn(fresh.nonce, fresh.answer, played + 1, right + ended.right, attacker + ended.attacker, ended)
