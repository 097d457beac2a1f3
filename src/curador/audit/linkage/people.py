"""A made-up population: where people live, when they were born, their sex, their names, what they suffer from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
from numpy.typing import NDArray

from curador.numbers import whole

TODAY = date(1990, 1, 1)
OLDEST = 90
ZIP_SIZE = 8300
"""People of one zip code, about: as in the census that the 87 % are from [Swe00]."""

SEXES = ("F", "M")
DIAGNOSES = ("asthma", "cancer", "diabetes", "fracture", "heart disease", "influenza")
FIRST = ("Alba", "Bruno", "Carla", "David", "Elena", "Felix", "Greta", "Hugo", "Irene", "Jorge", "Laura", "Mateo")
LAST = (
    "Arias", "Blanco", "Castro", "Duran", "Esteve", "Flores", "Gallego", "Herrero", "Iglesias", "Jimenez", "Lozano",
    "Molina", "Navarro", "Ortega", "Pastor", "Quintana", "Ramos", "Soler", "Torres", "Vidal",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Population:
    """People as columns; ``born`` counts days before TODAY."""

    zips: tuple[str, ...]
    zip: NDArray[np.int64]
    born: NDArray[np.int64]
    sex: NDArray[np.int64]
    diagnosis: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.zip)

    @property
    def age(self) -> NDArray[np.int64]:
        """In whole years."""
        return np.minimum(self.born // 365, OLDEST - 1)

    @property
    def quasi(self) -> NDArray[np.int64]:
        """Zip code, birth date and sex as one number."""
        return np.asarray((self.zip * 40_000 + self.born) * 2 + self.sex)

    def birth(self, i: int) -> date:
        """The birth date of a person."""
        return TODAY - timedelta(days=int(self.born[i]))

    def name(self, i: int) -> str:
        """The name of a person; several have the same."""
        return f"{FIRST[self.first[i]]} {LAST[self.last[i]]}"


def population(people: int, seed: int = 0) -> Population:
    """Make people up: about as many in a zip code as in the census, ages as in a census, illness by age and place.

    >>> made = population(1000)
    >>> len(made), made.zips, made.birth(0) < TODAY
    (1000, ('01001',), True)
    """
    n, rng = whole(people, "people", 10), np.random.default_rng([seed, 1])
    places = max(1, round(n / ZIP_SIZE))
    where = rng.integers(0, places, n)
    # Evenly many of each age to 50, then fewer and fewer.
    years = np.arange(OLDEST)
    share = np.where(years < 50, 1.0, np.maximum(0.04, 1 - (years - 50) / 42))
    age = rng.choice(OLDEST, n, p=share / share.sum())
    born = age * 365 + rng.integers(0, 365, n)
    illness = np.empty(n, np.int64)
    chances = (
        (0.62, 0.01, 0.04, 0.17, 0.01, 0.15),  # below 30
        (0.08, 0.10, 0.42, 0.16, 0.14, 0.10),  # below 60
        (0.03, 0.15, 0.12, 0.05, 0.62, 0.03),
    )
    for band, chance in enumerate(chances):
        here = np.minimum(age // 30, 2) == band
        illness[here] = rng.choice(len(DIAGNOSES), int(here.sum()), p=chance)
    names = rng.integers(0, len(FIRST), n), rng.integers(0, len(LAST), n)
    zips = tuple(f"{1001 + k:05d}" for k in range(places))
    return Population(zips, where, born, rng.integers(0, 2, n), illness, *names)
