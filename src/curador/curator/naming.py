"""Names of tables and analysts in a ledger, and the units that it records: made of nothing that was read from rows."""

from __future__ import annotations

import re
import unicodedata

from curador.errors import InvalidParameter
from curador.query.tables.table import Table

ANALYST = "analyst:"
"""Prefix of an analyst's or group's registry key.  Table names may not start with it."""

RENEWED = re.compile(r"(.+), renewed \d+")
"""The names of scopes that began with a decision to renew; no other scope may have such a name."""

LONGEST = 180
"""Characters of a name: the ledger has room for 200, and adds its prefix or the number of a renewal."""

PUBLIC = "public"
"""The unit of a public table in the ledger: nothing is protected."""


class ConfusableName(UserWarning):
    """A new analyst has a name that looks like one that is taken."""


def refuse_reserved(name: str) -> None:
    """Refuse a name for a table, a group or an analyst that is reserved for the ledger, or too long for it.

    >>> refuse_reserved("people")
    """
    if name.startswith(ANALYST) or RENEWED.fullmatch(name):
        raise InvalidParameter(f"{name!r} is a name that only the ledger gives.", fix="Rename it.")
    if len(name) > LONGEST:
        raise InvalidParameter(
            f"A name has at most {LONGEST} characters, and {name[:40]!r}… has {len(name)}.",
            fix="Rename it.",
            code="name-too-long",
        )


def normal(name: str) -> str:
    """The name of an analyst or a group, in the one form in which its characters are composed (NFC).

    >>> normal("Jose" + chr(0x301)) == "Jos" + chr(0xE9)
    True
    """
    if name != name.strip():
        raise InvalidParameter(f"The name {name!r} begins or ends with a space.", fix="Leave it out.")
    return unicodedata.normalize("NFC", name)


_LOOKS = str.maketrans(
    {
        **dict(zip("аеорсухіјѕһԁԛԝвкмнтгпг", "aeopcyxijshdqwbkmhtrnr", strict=True)),
        **dict(zip("αβγεηικνορτυχω", "abyenikvoptuxw", strict=True)),
        **dict(zip("01|!", "olll", strict=True)),
    }
)
"""Letters, digits and signs, and the Latin letters that they are taken for."""


def skeleton(name: str) -> str:
    """What is left of a name for a quick eye: names with one skeleton are taken for each other.

    >>> skeleton("Ana") == skeleton(chr(0x430) + "na") == skeleton("a na"), skeleton("ana") == skeleton("bob")
    (True, False)
    """
    plain = unicodedata.normalize("NFKC", name).casefold().translate(_LOOKS)
    marks = unicodedata.normalize("NFD", plain)
    return "".join(c for c in marks if not unicodedata.combining(c) and c.isalnum())


def first(scope: str) -> str:
    """The name of a scope before it was renewed.

    >>> first("people, renewed 2"), first("people")
    ('people', 'people')
    """
    found = RENEWED.fullmatch(scope)
    return scope if found is None else found[1]


def unit_of(table: Table) -> str:
    """What a table's budget protects, as the ledger records it.

    >>> columns = {"id": "integer"}
    >>> unit_of(Table("t.csv", columns=columns, unit="id")), unit_of(Table("t.csv", columns=columns))
    ('id: id', 'row')
    """
    return PUBLIC if table.public else "row" if table.unit.id is None else f"id: {table.unit.id}"
