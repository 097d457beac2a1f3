"""The tables that attacks are made on: what is declared, the rows of D, and the victims that make it D'."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType

SceneRow = Mapping[str, object]

VICTIM = 5000
"""The id of the one person who is in D' and not in D."""

GROUPS, ROWS = 2, 3
"""The contribution limits of one unit, in every scene: a number of groups, and of rows in each."""


@dataclass(frozen=True)
class Scene:
    """One private table as a study declares it, and its rows in D.

    ``columns`` are settings as in a study file; ``stored`` names the Arrow type each is kept as, which need not be the
    one declared.  The unit is ``id``; ``public`` marks a table that protects no one.

    >>> SCENES["people"].id, len(SCENES["empty"].rows)
    ('pid', 0)
    """

    columns: Mapping[str, Mapping[str, object]]
    stored: Mapping[str, str]
    rows: tuple[SceneRow, ...]
    id: str = "pid"
    public: bool = False


SEXES = ("F", "M")
TOWNS = ("Lorca", "Lugo", "Vigo")
PLACES = ("bar", "gym", "inn")
SLOTS = 500
HOSTILE = "a\"b'); DROP TABLE people; --"
"""A name, and a key, that would do harm if a text were ever pasted into another."""

_PEOPLE: Mapping[str, Mapping[str, object]] = {
    "pid": {"type": "integer"},
    "age": {"type": "integer", "bounds": [0, 120]},
    "income": {"type": "real", "bounds": [0, 100_000]},
    "sex": {"type": "text", "keys": list(SEXES)},
    "town": {"type": "text"},
    "slot": {"type": "integer", "keys": list(range(SLOTS))},
    "born": {"type": "date", "bounds": ["1900-01-01", "2030-12-31"]},
    "insured": {"type": "boolean"},
    "code": {"type": "integer", "bounds": [0, 9]},
    "loose": {"type": "integer"},
    "wide": {"type": "integer", "bounds": [-(2**62), 2**62]},
}
_PEOPLE_STORED = {
    "pid": "int64",
    "age": "int64",
    "income": "double",
    "sex": "string",
    "town": "string",
    "slot": "int64",
    "born": "date32",
    "insured": "bool",
    "code": "string",  # declared an integer: what does not look like one is NULL
    "loose": "int64",
    "wide": "int64",
}


def person(pid: int, **other: object) -> SceneRow:
    """A row of the people scene; values that are not given follow from the id.

    >>> person(7, age=40)["age"], person(7)["town"]
    (40, 'Lugo')
    """
    plain = {
        "pid": pid,
        "age": 20 + pid % 50,
        "income": 1000.0 * (pid % 90) + 0.5,
        "sex": SEXES[pid % 2],
        "town": TOWNS[pid % 3],
        "slot": pid % 3,
        "born": date(1940 + pid % 60, 1 + pid % 12, 1 + pid % 28),
        "insured": pid % 4 != 0,
        "code": str(pid % 10),
        "loose": pid,
        "wide": pid * 2**40,
    }
    return MappingProxyType({**plain, **other})


_VISITS: Mapping[str, Mapping[str, object]] = {
    "pid": {"type": "integer"},
    "place": {"type": "text", "keys": list(PLACES)},
    "cost": {"type": "integer", "bounds": [0, 60]},
}


def visit(pid: int, n: int) -> SceneRow:
    """The n-th visit of a person.

    >>> visit(1, 2)["place"]
    'bar'
    """
    return MappingProxyType({"pid": pid, "place": PLACES[(pid + n) % 3], "cost": (pid + n) % 61})


_ODD: Mapping[str, Mapping[str, object]] = {
    "pid": {"type": "integer"},
    HOSTILE: {"type": "text", "keys": [HOSTILE, "'", '"', "\\", "plain"]},
    "select": {"type": "integer", "bounds": [0, 9]},
}

SCENES: Mapping[str, Scene] = MappingProxyType(
    {
        "people": Scene(_PEOPLE, _PEOPLE_STORED, tuple(person(1 + i // 2) for i in range(360))),
        "empty": Scene(_PEOPLE, _PEOPLE_STORED, ()),
        "visits": Scene(
            _VISITS,
            {"pid": "int64", "place": "string", "cost": "int64"},
            tuple(visit(1 + i // 2, i % 2) for i in range(360)),
        ),
        "odd": Scene(
            _ODD,
            {"pid": "int64", HOSTILE: "string", "select": "int64"},
            tuple({"pid": i, HOSTILE: "plain", "select": i % 10} for i in range(60)),
        ),
        "towns": Scene(
            {"town": {"type": "text"}, "coast": {"type": "boolean"}},
            {"town": "string", "coast": "bool"},
            tuple({"town": t, "coast": t != "Lugo"} for t in TOWNS),
            public=True,
        ),
    }
)

# ---- victims -------------------------------------------------------------------------------------------------

SceneRows = Mapping[str, tuple[SceneRow, ...]]
"""The rows that a victim adds, by table."""

SMALLEST, LARGEST = -(2**63), 2**63 - 1
ODD_VALUES: Mapping[str, tuple[object, ...]] = MappingProxyType(
    {
        "pid": (None, SMALLEST, LARGEST, 0),
        "age": (None, SMALLEST, LARGEST, -1, 79),
        "income": (None, math.nan, math.inf, -math.inf, -0.0, 1e308, -1e308, 5e-324),
        "sex": (None, "", "X", "f", "F ", HOSTILE, "\u202e", "F" * 5000),
        "town": (None, "", "Zamora", "lugo", "Lugo ", HOSTILE, "𝔏ugo", "L" * 5000),
        "slot": (None, -1, 499, 500, LARGEST),
        "born": (None, date(1, 1, 1), date(9999, 12, 31), date(2000, 2, 29)),
        "insured": (None,),
        "code": (None, "", "x", "1e9", "0x10", " 7", "7.0", "-0", "9" * 400, "NaN", "１", "1_0", "+3"),
        "loose": (None, SMALLEST, LARGEST, 0),
        "wide": (None, SMALLEST, LARGEST, 2**62),
    }
)
"""Values that break things, column by column (E3, E6)."""


def _odd(column: str, value: object) -> SceneRow:
    return MappingProxyType({**person(VICTIM), column: value})


_SINGLE: dict[str, SceneRows] = {
    f"{column} {i}": {"people": (_odd(column, value),), "empty": (_odd(column, value),)}
    for column, values in ODD_VALUES.items()
    for i, value in enumerate(values)
}
_EVERY = tuple(_odd(c, v) for c, values in ODD_VALUES.items() if c != "pid" for v in values)

VICTIMS: Mapping[str, SceneRows] = MappingProxyType(
    {
        # Aged 79, in a town of their own, insured, with the largest of everything.
        "plain": {
            "people": (person(VICTIM, age=79, town="Zamora", slot=77, income=1e5, wide=2**62, loose=LARGEST),),
            "empty": (person(VICTIM, age=79),),
            "visits": (visit(VICTIM, 0),),
            "odd": ({"pid": VICTIM, HOSTILE: HOSTILE, "select": 9},),
        },
        "late": {"people": (person(VICTIM, born=date(2030, 12, 31)),)},  # the others were born before 2000
        "broken": {"people": _EVERY, "empty": _EVERY},  # all odd values, in the rows of one person
        "many rows": {
            "people": tuple(person(VICTIM, town=TOWNS[i % 3], sex="F", age=120, income=1e5) for i in range(600)),
            "visits": tuple(visit(VICTIM, i) for i in range(600)),
        },
        **_SINGLE,
    }
)
