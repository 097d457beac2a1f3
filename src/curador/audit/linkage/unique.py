"""Zip code, birth date and sex: how many people have them for themselves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from curador.audit.linkage.people import OLDEST, SEXES, TODAY, Population, population
from curador.audit.stage import MadeUp, released_bars, staged
from curador.privacy import PureDP
from curador.show.pages.bars import Bar
from curador.show.pages.charts import Axis
from curador.show.pages.exhibits import Drawing, Exhibit, Part


def unique_share(codes: NDArray[np.int64]) -> float:
    """The share of people whose code nobody else has.

    >>> unique_share(np.array([1, 1, 2, 3]))
    0.5
    """
    _, counts = np.unique(codes, return_counts=True)
    return float((counts == 1).sum() / len(codes))


def link_unique(people: int = 50_000, seed: int = 0) -> Exhibit:
    """How many made-up people are alone with their zip code, birth date and sex, as [Swe00] counted real ones.

    >>> found = link_unique(people=600)
    >>> found.facts["sex"] < found.facts["all"] <= 1
    True
    """
    made = population(people, seed)
    shares = {
        "sex": unique_share(made.sex),
        "zip_sex": unique_share(made.zip * 2 + made.sex),
        "year": unique_share((made.zip * 200 + made.age) * 2 + made.sex),
        "date": unique_share(made.born),
        "all": unique_share(made.quasi),
    }
    bars = tuple(Bar(f"@unique-{name.replace('_', '-')}", value) for name, value in shares.items())
    chart = Drawing("unique-chart", bars=bars, x=Axis("@people-share", percent=True, ends=(0, 1)))
    asked, drawing = _privately(made)
    return Exhibit(
        "unique",
        {"people": len(made), "zips": len(made.zips), **shares, **asked},
        (
            Part("the-attack", ("unique-how", "unique-found"), (chart,)),
            Part("privately", ("unique-private", "unique-victim"), (drawing,)),
        ),
    )


def _privately(made: Population) -> tuple[dict[str, object], Drawing]:
    """The same columns under a curator: people by zip code, and then one person's own cell."""
    columns = {
        "zip": {"type": "text", "keys": list(made.zips), "nullable": False},
        "born": {"type": "date", "bounds": [TODAY.replace(year=TODAY.year - OLDEST - 1), TODAY]},
        "sex": {"type": "text", "keys": list(SEXES), "nullable": False},
    }
    values = {
        "zip": [made.zips[k] for k in made.zip],
        "born": [made.birth(i) for i in range(len(made))],
        "sex": [SEXES[k] for k in made.sex],
    }
    _, first, counts = np.unique(made.quasi, return_index=True, return_counts=True)
    victim = int(first[np.argmin(counts)])  # the first who is alone
    place, born, sex = (values[name][victim] for name in ("zip", "born", "sex"))
    own = f"zip = '{place}' AND born = DATE '{born}' AND sex = '{sex}'"
    with staged({"people": MadeUp(columns, values)}, PureDP(1)) as curator:
        places = curator.ask("SELECT zip, COUNT(*) AS n FROM people GROUP BY zip", epsilon="0.5")
        alone = curator.ask(f"SELECT COUNT(*) AS n FROM people WHERE {own}", epsilon="0.5")
        low, high = alone.interval("n")
    exact = {place: float((made.zip == k).sum()) for k, place in enumerate(made.zips)}
    bars, reach = released_bars(places, exact)
    facts: dict[str, object] = {"reach": reach, "released": alone.value, "low": int(low), "high": int(high)}
    return facts, Drawing("unique-private-chart", bars=bars, mark="@true-value")
