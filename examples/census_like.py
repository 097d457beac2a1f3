"""Two made-up tables in the shape of census samples, named BR and MX, and Adult: all as attributes with bounds.

BR and MX are SYNTHETIC.  No row, total or correlation in them was measured anywhere; only their shape (numbers and
categories about people, incomes with a long tail) is that of the samples that studies of local privacy use.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Table:
    """People by attribute: numbers with public bounds, categories with public keys."""

    name: str
    numbers: dict[str, Array]
    bounds: dict[str, tuple[float, float]]
    categories: dict[str, Array]
    keys: dict[str, list[str]]
    target: str
    """The number that linear models learn."""
    positive: tuple[str, str] | None = None
    """The category and key that classifiers learn; None for whether the target is above ``threshold``."""
    threshold: float = 0.0
    synthetic: bool = True

    @property
    def rows(self) -> int:
        return len(next(iter(self.numbers.values())))

    def first(self, rows: int) -> Table:
        """The first rows only."""
        numbers, categories = (
            {name: column[:rows] for name, column in columns.items()} for columns in (self.numbers, self.categories)
        )
        return replace(self, numbers=numbers, categories=categories)

    def units(self) -> Array:
        """The numbers, clamped and put on the scale from -1 to 1."""
        return np.column_stack([_unit(column, *self.bounds[name]) for name, column in self.numbers.items()])

    def features(self) -> tuple[Array, list[str]]:
        """One column from -1 to 1 per number but the target, and of 0 or 1 per key of a category but the first."""
        names = [name for name in self.numbers if name != self.target]
        columns = [_unit(self.numbers[name], *self.bounds[name]) for name in names]
        for name, column in self.categories.items():
            if self.positive is None or name != self.positive[0]:
                columns += [np.where(column == key, 1.0, 0.0) for key in self.keys[name][1:]]
                names += [f"{name}={key}" for key in self.keys[name][1:]]
        return np.column_stack(columns), names

    def answers(self) -> Array:
        return _unit(self.numbers[self.target], *self.bounds[self.target])

    def labels(self) -> Array:
        if self.positive is None:
            return (self.numbers[self.target] > self.threshold).astype(int)
        return (self.categories[self.positive[0]] == self.positive[1]).astype(int)


def _unit(values: Array, low: float, high: float) -> Array:
    return (np.clip(values, low, high) - low) / (high - low) * 2 - 1


def _choose(rng: np.random.Generator, keys: list[str], weights: Array) -> Array:
    """One key per row of weights, with these odds."""
    edges = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
    return np.array(keys)[np.minimum((rng.random(len(weights))[:, None] > edges).sum(axis=1), len(keys) - 1)]


def _flat(rng: np.random.Generator, keys: list[str], weights: list[float], rows: int) -> Array:
    return rng.choice(np.array(keys), rows, p=np.array(weights) / sum(weights))


BR_KEYS = {
    "sex": ["female", "male"],
    "area": ["rural", "urban"],
    "region": ["southeast", "north", "northeast", "south", "centre-west"],
    "status": ["single", "married", "separated", "widowed"],
    "work": ["none", "employee", "own account", "employer"],
    "tenure": ["owned", "rented", "lent"],
}
BR_BOUNDS = {
    "age": (15.0, 95.0),
    "schooling": (0.0, 17.0),
    "hours": (0.0, 80.0),
    "household": (1.0, 12.0),
    "commute": (0.0, 180.0),
    "income": (0.0, 6000.0),
}


def br(rows: int = 100_000, seed: int = 55) -> Table:
    """The synthetic table BR: six numbers and six categories."""
    rng = np.random.default_rng(seed)
    age = np.clip(15 + 80 * rng.beta(1.3, 2.6, rows), 15, 95)
    male, urban = rng.random(rows) < 0.49, rng.random(rows) < 0.84
    region = _flat(rng, BR_KEYS["region"], [0.42, 0.08, 0.27, 0.15, 0.08], rows)
    poor = np.isin(region, ["north", "northeast"])
    schooling = np.clip(np.rint(rng.normal(10.5 - 0.08 * (age - 30) + 1.8 * urban - 1.3 * poor, 3.4)), 0, 17)
    busy = rng.random(rows) < 0.75 - 0.012 * np.abs(age - 38) + 0.08 * male
    hours = np.where(busy, np.clip(rng.normal(40, 9, rows), 4, 80), 0)
    boss = rng.random(rows) < 0.04 + 0.006 * schooling
    work = np.where(
        ~busy, "none", np.where(boss, "employer", _flat(rng, ["employee", "own account"], [0.7, 0.3], rows))
    )
    grown = 5.6 + 0.11 * schooling + 0.015 * np.minimum(age - 15, 35) + 0.25 * male + 0.2 * urban - 0.25 * poor
    wage = np.exp(grown + 0.45 * (work == "employer") + rng.normal(0, 0.5, rows))
    income = np.where(busy, wage * np.sqrt(hours / 40), 0.35 * wage * (age > 60))
    old = np.clip((age - 20) / 50, 0, 1)[:, None]
    status = _choose(rng, BR_KEYS["status"], np.hstack([1.2 - old, 0.5 + old, 0.15 + 0.2 * old, 0.02 + 0.4 * old**2]))
    return Table(
        "BR",
        {
            "age": age,
            "schooling": schooling,
            "hours": hours,
            "household": np.clip(1 + rng.poisson(2.3 - 0.5 * urban, rows), 1, 12).astype(float),
            "commute": np.where(busy, np.clip(rng.gamma(1.6, 22, rows) * (0.6 + 0.6 * urban), 0, 180), 0),
            "income": income,
        },
        BR_BOUNDS,
        {
            "sex": np.where(male, "male", "female"),
            "area": np.where(urban, "urban", "rural"),
            "region": region,
            "status": status,
            "work": work,
            "tenure": _flat(rng, BR_KEYS["tenure"], [0.72, 0.19, 0.09], rows),
        },
        BR_KEYS,
        target="income",
        threshold=1500.0,
    )


MX_KEYS = {
    "sex": ["female", "male"],
    "size": ["village", "town", "city"],
    "language": ["spanish", "indigenous", "both"],
    "status": ["single", "married", "union", "widowed"],
    "sector": ["none", "farming", "industry", "services"],
    "school": ["no", "yes"],
    "health": ["none", "public", "private"],
    "fuel": ["gas", "wood", "other"],
}
MX_BOUNDS = {
    "age": (12.0, 100.0),
    "schooling": (0.0, 20.0),
    "hours": (0.0, 100.0),
    "children": (0.0, 12.0),
    "income": (0.0, 20_000.0),
}


def mx(rows: int = 100_000, seed: int = 52) -> Table:
    """The synthetic table MX: five numbers and eight categories."""
    rng = np.random.default_rng(seed)
    age = np.clip(12 + 88 * rng.beta(1.1, 2.9, rows), 12, 100)
    male = rng.random(rows) < 0.485
    size = _flat(rng, MX_KEYS["size"], [0.23, 0.29, 0.48], rows)
    city, village = size == "city", size == "village"
    schooling = np.clip(np.rint(rng.normal(9.2 - 0.09 * (age - 30) + 2 * city - 2 * village, 3.6)), 0, 20)
    schooling = np.minimum(schooling, age - 6)
    busy = rng.random(rows) < np.where(male, 0.82, 0.46) - 0.012 * np.abs(age - 37)
    hours = np.where(busy, np.clip(rng.normal(44, 13, rows), 2, 100), 0)
    odds = np.column_stack([0.05 + 0.9 * village, 0.25 + 0.2 * male, 0.4 + 0.4 * city])
    sector = np.where(busy, _choose(rng, ["farming", "industry", "services"], odds), "none")
    grown = 7.2 + 0.085 * schooling + 0.012 * np.minimum(age - 12, 40) + 0.2 * male - 0.45 * (sector == "farming")
    income = np.where(busy, np.exp(grown + rng.normal(0, 0.55, rows)) * np.sqrt(hours / 44), 0)
    spoken = np.column_stack([np.ones(rows), 0.01 + 0.08 * village, 0.02 + 0.12 * village])
    paired = np.column_stack([np.exp((30 - age) / 12), np.ones(rows), 0.6 * (age < 45) + 0.2, 0.3 * (age > 60) + 0.01])
    burnt = np.column_stack([np.ones(rows), 0.02 + 1.2 * village, np.full(rows, 0.03)])
    return Table(
        "MX",
        {
            "age": age,
            "schooling": schooling,
            "hours": hours,
            "children": np.clip(rng.poisson(np.clip((age - 16) / 14, 0, 3.2)), 0, 12).astype(float),
            "income": income,
        },
        MX_BOUNDS,
        {
            "sex": np.where(male, "male", "female"),
            "size": size,
            "language": _choose(rng, MX_KEYS["language"], spoken),
            "status": _choose(rng, MX_KEYS["status"], paired),
            "sector": sector,
            "school": np.where(rng.random(rows) < np.clip((26 - age) / 12, 0.02, 0.95), "yes", "no"),
            "health": _flat(rng, MX_KEYS["health"], [0.3, 0.66, 0.04], rows),
            "fuel": _choose(rng, MX_KEYS["fuel"], burnt),
        },
        MX_KEYS,
        target="income",
        threshold=2500.0,
    )


ADULT_BOUNDS = {
    "age": (17.0, 90.0),
    "education_num": (1.0, 16.0),
    "capital_gain": (0.0, 20_000.0),
    "capital_loss": (0.0, 4_000.0),
    "hours_per_week": (1.0, 99.0),
}
ADULT_KEYS = {
    "sex": ["Female", "Male"],
    "married": ["no", "yes"],
    "work": ["other", "professional", "private", "public"],
    "income": ["<=50K", ">50K"],
}


def adult(folder: Path) -> Table | None:
    """Adult, with a few of its categories joined; None unless ``make data`` has put it there."""
    if not (folder / "adult_data.csv").is_file():
        return None
    people: list[dict[str, str]] = []
    for name in ("adult_data.csv", "adult_test.csv"):
        with (folder / name).open(newline="") as lines:
            people += csv.DictReader(lines)
    skilled = {"Exec-managerial", "Prof-specialty", "Tech-support", "Protective-serv", "Sales"}
    return Table(
        "Adult",
        {name: np.array([float(person[name]) for person in people]) for name in ADULT_BOUNDS},
        ADULT_BOUNDS,
        {
            "sex": np.array([person["sex"] for person in people]),
            "married": np.array(["yes" if p["marital_status"].startswith("Married-c") else "no" for p in people]),
            "work": np.array(
                [
                    "professional"
                    if person["occupation"] in skilled
                    else "private"
                    if person["workclass"] == "Private"
                    else "public"
                    if person["workclass"].endswith("-gov")
                    else "other"
                    for person in people
                ]
            ),
            "income": np.array([person["income"] for person in people]),
        },
        ADULT_KEYS,
        target="hours_per_week",
        positive=("income", ">50K"),
        synthetic=False,
    )
