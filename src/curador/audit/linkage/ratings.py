"""Ratings of films under a number, and a few of them that a person published elsewhere: Netflix's prize."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from curador.audit.stage import MadeUp, released_bars, staged
from curador.numbers import whole
from curador.privacy import PureDP
from curador.show.pages.charts import Axis, Track
from curador.show.pages.exhibits import Drawing, Exhibit, Part

FILMS, RATED, DAYS = 400, 30, 2000
MOST_KNOWN = 8
NEAR = 14
"""An attacker knows days to about two weeks, and stars to about one."""

ASKED = 8
"""The private question is about the most popular films."""


@dataclass(frozen=True, eq=False)
class Rated:
    """Stars and days by person and film; a day of -1 where a film was not rated."""

    stars: NDArray[np.int64]
    day: NDArray[np.int64]


def rated(people: int, seed: int = 0) -> Rated:
    """Made-up ratings: some films are seen by many, most by few.

    >>> made = rated(20)
    >>> (made.day >= 0).sum(axis=1).tolist() == [RATED] * 20
    True
    """
    n, rng = whole(people, "people", 2), np.random.default_rng([seed, 3])
    popular = np.log(1.0 / np.arange(1, FILMS + 1))
    # The largest of weights plus Gumbel noise: a sample without repeats, by popularity.
    seen = np.argsort(-(popular + rng.gumbel(size=(n, FILMS))), axis=1)[:, :RATED]
    day, stars = np.full((n, FILMS), -1, np.int64), np.zeros((n, FILMS), np.int64)
    rows = np.arange(n)[:, None]
    liked = rng.integers(2, 5, FILMS)
    day[rows, seen] = rng.integers(0, DAYS, (n, RATED))
    stars[rows, seen] = np.clip(liked[seen] + rng.integers(-2, 3, (n, RATED)), 1, 5)
    return Rated(stars, day)


def link_ratings(people: int = 3000, victims: int = 200, seed: int = 0) -> Exhibit:
    """Find people by a few ratings that are known about, with days and without [NS08].

    >>> found = link_ratings(people=300, victims=20)
    >>> found.facts["found"] > found.facts["found_without"]
    True
    """
    made, rng = rated(people, seed), np.random.default_rng([seed, 4])
    tried = rng.choice(len(made.day), min(whole(victims, "victims", 1), len(made.day)), replace=False)
    known = tuple(range(1, MOST_KNOWN + 1))
    with_days, without = (
        tuple(_found(made, tried, k, days, np.random.default_rng([seed, 5])) for k in known) for days in (True, False)
    )
    x = tuple(float(k) for k in known)
    chart = Drawing(
        "ratings-chart",
        "xy",
        (Track("@ratings-with-days", x, with_days), Track("@ratings-without-days", x, without, "dashed")),
        x=Axis("@ratings-known", ends=(1, MOST_KNOWN)),
        y=Axis("@ratings-share", percent=True, ends=(0, 1)),
    )
    reach, drawing = _privately(made)
    facts = {
        "people": len(made.day), "films": FILMS, "rated": RATED, "known": 4, "near": NEAR, "victims": len(tried),
        "found": with_days[3], "found_without": without[3], "reach": reach, "asked": ASKED,
    }  # fmt: skip
    parts = (
        Part("the-attack", ("ratings-how", "ratings-found"), (chart,)),
        Part("privately", ("ratings-private",), (drawing,)),
    )
    return Exhibit("ratings", facts, parts)


def _found(made: Rated, victims: NDArray[np.int64], known: int, days: bool, rng: np.random.Generator) -> float:
    """The share of people who are singled out, rightly, by so many of their ratings."""
    right = 0
    for person in victims:
        films = rng.choice(np.flatnonzero(made.day[person] >= 0), known, replace=False)
        day = made.day[person, films] + rng.integers(-NEAR, NEAR + 1, known)
        stars = made.stars[person, films] + rng.choice([-1, 0, 0, 0, 1], known)
        fits = (made.day[:, films] >= 0) & (np.abs(made.stars[:, films] - stars) <= 1)
        if days:
            fits &= np.abs(made.day[:, films] - day) <= NEAR
        score = fits.sum(axis=1)
        best = np.flatnonzero(score == score.max())
        right += len(best) == 1 and best[0] == person
    return float(right / len(victims))


def _privately(made: Rated) -> tuple[float, Drawing]:
    """The mean stars of the most popular films, for all ratings of a person at once."""
    people, films = np.nonzero(made.day[:, :ASKED] >= 0)
    names = [f"film {k + 1}" for k in range(ASKED)]
    columns = {
        "person": {"type": "integer", "nullable": False},
        "film": {"type": "text", "keys": names, "nullable": False},
        "stars": {"type": "integer", "bounds": [1, 5], "nullable": False},
    }
    values = {
        "person": people.tolist(),
        "film": [names[k] for k in films],
        "stars": made.stars[people, films].tolist(),
    }
    with staged({"ratings": MadeUp(columns, values, "person", (ASKED, 1))}, PureDP(1)) as curator:
        release = curator.ask("SELECT film, AVG(stars) AS mean FROM ratings GROUP BY film", epsilon=1)
    exact = {name: float(made.stars[made.day[:, k] >= 0, k].mean()) for k, name in enumerate(names)}
    bars, reach = released_bars(release, exact)
    axis = Axis("@ratings-stars", ends=(0, 5))
    return reach, Drawing("ratings-private-chart", bars=bars, x=axis, mark="@true-value")
