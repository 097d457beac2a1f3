"""A guarantee in words and in odds: what an attacker could conclude, at most.

All numbers are those of ``accounting/meaning.py``, rounded against us.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from curador.accounting.convert import renyi_epsilon, zcdp_epsilon
from curador.accounting.meaning import decision, detection, posterior
from curador.accounting.rules.groups import group
from curador.errors import CuradorError
from curador.numbers import shown_down, shown_up
from curador.privacy import ZCDP, ApproxDP, Guarantee, Neighbors, PureDP, RenyiDP
from curador.show.explain import guarantee_text, whom
from curador.show.pages.charts import Axis, Track, xy_chart
from curador.show.pages.page import prose
from curador.show.report.fragments import figure_of, grid
from curador.show.report.picture import Picture
from curador.show.tables import TextColumn
from curador.show.words.say import say

PRIORS = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10))
DELTAS = (1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
"""Where the curve of a concentrated guarantee is read."""
CHANCE = 1e-6
"""How often a bound may fail where only a curve is promised."""
FAMILY = 4
HUGE = 10**6
"""More times than this are not counted any more."""
VOID = 0.999
"""A belief that may go from one half to this is hardly bounded at all."""

Protected = tuple[str | None, Neighbors]
"""Whom a guarantee is for: the id of the unit, and what neighbours are."""


SEEN = 0.55
"""A belief that stays below this from one half is as good as unmoved: a chart of it would show one line."""


def odds(guarantee: Guarantee, tight: ApproxDP | None, protects: Sequence[Protected], language: str) -> str:
    """What the guarantee allows, as sentences, a table and a chart."""
    return "".join(odds_parts(guarantee, tight, protects, language))


def odds_parts(
    guarantee: Guarantee, tight: ApproxDP | None, protects: Sequence[Protected], language: str
) -> tuple[str, str]:
    """The same in two parts: what is promised in a sentence or two, and what an attacker could conclude."""
    points = _points(guarantee, tight)
    if not points:
        return prose(say("odds-unknown", language)), ""
    said = "".join(prose(text) for text in _ratio(guarantee, points, protects, language))
    return said, "".join(_beliefs(guarantee, points, protects, language))


def _beliefs(
    guarantee: Guarantee, points: Sequence[ApproxDP], protects: Sequence[Protected], language: str
) -> list[str]:
    try:
        failure = CHANCE if isinstance(guarantee, ZCDP | RenyiDP) else None
        beliefs = [posterior(points, p, failure) for p in PRIORS]
        decided, found = decision(points), detection(points, Fraction(1, 100))
    except CuradorError:  # a delta that bounds no belief
        return [prose(say("odds-unknown", language))]
    unit, neighbors = protects[0]
    parts = [prose(say(f"odds-belief-{neighbors.value}", language, whom=whom(unit, language)))]
    columns = [
        TextColumn(say("odds-before", language), tuple(f"{float(100 * p):g} %" for p in PRIORS)),
        TextColumn(say("odds-least", language), tuple(_least(b.lower) for b in beliefs)),
        TextColumn(say("odds-most", language), tuple(_most(b.upper) for b in beliefs)),
    ]
    parts.append(grid(columns, caption=say("odds-table", language)))
    if beliefs[2].upper >= SEEN:
        parts.append(figure_of(_chart(points, failure, language)))
    if beliefs[0].failure:
        parts.append(prose(say("odds-failure", language, failure=shown_up(beliefs[0].failure, 3))))
    parts.append(prose(say("odds-decide", language, error=_least(decided.error))))
    parts.append(prose(say("odds-accuse", language, found=_most(found.tpr))))
    if beliefs[2].upper > VOID:
        parts.append(prose(say("odds-nothing", language)))
    return [*parts, *(prose(text) for text in _groups(guarantee, unit, language))]


def _points(guarantee: Guarantee, tight: ApproxDP | None) -> tuple[ApproxDP, ...]:
    """The promise as one or several (epsilon, delta); all of them hold."""
    more = () if tight is None else (tight,)
    if isinstance(guarantee, PureDP):
        return (ApproxDP(guarantee.epsilon, 0.0), *more)
    if isinstance(guarantee, ApproxDP):
        return (guarantee, *more)
    if isinstance(guarantee, ZCDP):
        return (*(ApproxDP(zcdp_epsilon(guarantee.rho, d).value, d) for d in DELTAS), *more) if guarantee.rho else ()
    if isinstance(guarantee, RenyiDP):
        return (*(ApproxDP(renyi_epsilon(guarantee, d).value, d) for d in DELTAS), *more)
    return more


def _ratio(guarantee: Guarantee, points: Sequence[ApproxDP], protects: Sequence[Protected], language: str) -> list[str]:
    unit, neighbors = protects[0]
    said = [say("epsilon-means", language)]
    said += [say("odds-units", language)] if len(protects) > 1 else []
    curved = isinstance(guarantee, ZCDP | RenyiDP)
    first = points[DELTAS.index(CHANCE)] if curved else points[0]
    times = math.exp(min(first.epsilon, 700)) * (1 + 1e-15)
    ratio = f"{Decimal(shown_up(times, 3)):,f}" if times <= HUGE else ""
    code = "odds-ratio" if neighbors is Neighbors.ADD_REMOVE else "odds-ratio-replace"
    code = code if ratio else "odds-ratio-huge"
    if curved:
        said.append(say("odds-curve", language, point=guarantee_text(first, language)))
    said.append(say(code, language, ratio=ratio, whom=whom(unit, language)))
    if first.delta:
        said.append(say("odds-ratio-delta", language, delta=shown_up(first.delta, 3)))
    return said


def _groups(guarantee: Guarantee, unit: str | None, language: str) -> list[str]:
    try:
        together = group(guarantee, FAMILY)
    except CuradorError:  # no theorem for groups of this kind
        return []
    code = "odds-group-rows" if unit is None else "odds-group-units"
    return [say(code, language, n=FAMILY, unit=unit, guarantee=guarantee_text(together, language))]


def _chart(points: Sequence[ApproxDP], failure: float | None, language: str) -> Picture:
    """The belief after the release against the belief before it."""
    x = tuple(k / 50 for k in range(51))
    found = [posterior(points, Fraction(k, 50), failure) for k in range(51)]
    tracks = [
        Track(say("odds-most", language), x, tuple(b.upper for b in found)),
        Track(say("odds-least", language), x, tuple(b.lower for b in found)),
    ]
    before, after = (
        Axis(say(code, language), percent=True, ends=(0.0, 1.0)) for code in ("odds-chart-before", "odds-chart-after")
    )
    caption = say("odds-chart", language)
    return Picture(
        caption, lambda width: xy_chart(tracks, title=caption, x=before, y=after, width=width, diagonal=True)
    )


def _most(share: float) -> str:
    return f"{shown_up(100 * Fraction(share), 3)} %"


def _least(share: float) -> str:
    return f"{shown_down(100 * Fraction(share), 3)} %"
