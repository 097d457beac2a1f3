"""Names of tables and analysts, and addresses of sources, in a ledger: made of nothing that was read from rows.

One rule rests on addresses: tables that read some of the same rows, now, charge one root.
"""

from __future__ import annotations

import getpass
import hashlib
import os
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType
from urllib.parse import parse_qs, unquote, urlsplit

from curador.engines.registry import ENGINES, engine_entry, in_file, missing_file
from curador.errors import InvalidParameter
from curador.ledger.contract import Registration
from curador.query.tables.paths import anchored, listed, located, number_of
from curador.query.tables.sources import EngineTable, Files, Frame
from curador.query.tables.table import Table

ANALYST = "analyst:"
"""Prefix of an analyst's or group's registry key.  Table names may not start with it."""

RENEWED = re.compile(r"(.+), renewed \d+")
"""The names of scopes that began with a decision to renew; no other scope may have such a name."""

LONGEST = 180
"""Characters of a name: the ledger has room for 200, and adds its prefix or the number of a renewal."""

PUBLIC = "public"
"""The unit of a public table in the ledger: nothing is protected."""

LONGEST_ADDRESS = 1500
"""Bytes of an address: a database's index has room for it, and for a table's name behind it."""

OWN = " \\as "
"""Stands before the name of a table whose source another one is declared with, too; no address has it in it."""


class ConfusableName(UserWarning):
    """A new analyst has a name that looks like one that is taken."""


# ---- names ---------------------------------------------------------------------------------------------------------


def refuse_reserved(name: str) -> None:
    """Refuse a name for a table, a group or an analyst that is reserved for the ledger, or too long for it.

    >>> refuse_reserved("people")
    """
    if name.startswith(ANALYST) or RENEWED.fullmatch(name):
        raise InvalidParameter(
            f"{name!r} is a name that only the ledger gives.",
            fix="Rename it.",
            code="name-reserved",
            facts={"name": name},
        )
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
        raise InvalidParameter(
            f"The name {name!r} begins or ends with a space.", fix="Leave it out.", code="name-spaces"
        )
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

    >>> skeleton("Ana") == skeleton(chr(0x430) + "na") == skeleton("a na") == skeleton("Anna")
    True
    >>> skeleton("ana") == skeleton("bob"), skeleton("wave 1") == skeleton("wave 11")
    (False, False)
    """
    folded = re.sub(r"([^\W\d_])\1+", r"\1", unicodedata.normalize("NFKC", name).casefold())  # letters, not numbers
    marks = unicodedata.normalize("NFD", folded.translate(_LOOKS))
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


# ---- addresses -----------------------------------------------------------------------------------------------------


def settled(table: Table) -> Table:
    """The table with the paths that it has now, wherever the process goes and links lead later."""
    source = table.source
    if isinstance(source, Files):
        return replace(table, source=replace(source, pattern=anchored(source.pattern)))
    if isinstance(source, EngineTable) and in_file(source):
        return replace(table, source=source.at(os.path.realpath(source.path)))
    return table


def addresses(tables: Mapping[str, Table], before: Mapping[str, str]) -> dict[str, str]:
    """The address of every table's source; a source that is declared twice is two tables, each with its name.

    Which of the two has the plain one does not depend on their order: it is as it was ``before``.
    """
    plain = {name: address(name, table) for name, table in tables.items()}
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in sorted(plain, key=lambda name: before.get(name) != plain[name]):
        own = f"{plain[name]}{OWN}{name}"
        found[name] = own if before.get(name) == own or plain[name] in taken else plain[name]
        taken.add(found[name])
    return found


def address(name: str, table: Table) -> str:
    """The address of a table's source in the ledger: without a password, and from which files are found again.

    It is the same however the source is written: a path from any folder and through links, a server with or without
    its default port, its role or ``postgres://``.

    >>> import pyarrow
    >>> address("people", Table(pyarrow.table({"age": [30]}), columns={"age": "integer"}))
    'frame:people'
    """
    source = table.source
    if isinstance(source, Frame):
        return frame_address(name)
    if isinstance(source, Files):
        text = f"file:{_escaped(located(source.pattern))}"
    elif in_file(source):
        path = _escaped(os.path.realpath(source.path))
        text = f"{engine_entry(source).name}:{path}#{_escaped(_named_in_file(source))}"
    else:
        engine = engine_entry(source).name
        place = hashlib.sha256(_server(source.url, engine).encode()).hexdigest()[:16]
        text = f"{engine}:{place}#{_escaped(f'{source.schema}.{source.table}')}"
    if len(text.encode()) > LONGEST_ADDRESS:
        raise InvalidParameter(
            f"The address of {name!r} is longer than the {LONGEST_ADDRESS:,} bytes that a ledger holds.",
            fix="Declare it by a shorter path, not through a link.",
            code="address-too-long",
        )
    return text


def frame_address(name: str) -> str:
    """The address of a frame: all that is known of it is the name that it was given."""
    return f"frame:{_escaped(name)}"


def _escaped(text: str) -> str:
    r"""The text, printable, without ``#``, and readable back.

    >>> _escaped("/data/visits#1" + chr(0xA0) + "x.csv") == r"/data/visits\x231\xa0x.csv"
    True
    """
    return "".join(c if c.isprintable() and c not in "\\#" else _code(ord(c)) for c in text)


def _code(character: int) -> str:
    return f"\\x{character:02x}" if character < 256 else f"\\U{character:08x}"


def _read_back(text: str) -> str:
    return re.sub(r"\\(?:x(..)|U(.{8}))", lambda code: chr(int(code[1] or code[2], 16)), text)


def _server(url: str, engine: str) -> str:
    """A server's database, however its address is written: host, port and name, without role, password and options."""
    if engine != "postgresql":
        return url
    try:
        parts = urlsplit(url)
        given = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        user = given.get("user") or unquote(parts.username or "") or os.environ.get("PGUSER") or getpass.getuser()
        host = given.get("host") or unquote(parts.hostname or "") or os.environ.get("PGHOST", "")
        port = given.get("port") or str(parts.port or "") or os.environ.get("PGPORT") or "5432"
        name = given.get("dbname") or unquote(parts.path[1:]) or os.environ.get("PGDATABASE") or user
    except (ValueError, OSError, KeyError):
        return url
    here = host.lower() if host.lower() not in ("", "127.0.0.1", "::1") else "localhost"
    return f"{here}:{port}/{name}"


# ---- places --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """All that shows which rows a table reads: its address, the numbers of its files, its frame.

    The disk gives a file one number: the same through hard links, globs and moves.
    """

    address: str
    files: tuple[str, ...] = ()
    frame: int | None = None

    @property
    def rows(self) -> frozenset[object]:
        """What two tables that read the same rows have in common, as far as can be seen."""
        return frozenset((self.address, *self.files, *(() if self.frame is None else (self.frame,))))


def place_of(name: str, table: Table) -> Place:
    """The place of a table's rows as it is now; nothing is read from them."""
    if isinstance(table.source, Frame):
        return Place(address(name, table), frame=id(table.source.data))
    return place_at(address(name, table))


def place_at(known: str) -> Place:
    """The place of a table that is known by its address: its files are looked at, if they are there."""
    plain = known.partition(OWN)[0]
    kind, _, rest = plain.partition(":")
    path, _, inside = rest.partition("#")
    if kind == "file":
        return Place(plain, _numbers(listed(_read_back(path))))
    if kind in ENGINES and ENGINES[kind].in_file:
        return Place(plain, tuple(f"{number}#{inside}" for number in _numbers([_read_back(path)])))
    return Place(plain)


def read_together(places: Mapping[str, Place]) -> dict[str, frozenset[str]]:
    """The tables that read what a table reads, and itself: also through a third one.

    >>> found = read_together({"a": Place("v", ("1",)), "b": Place("w", ("1", "2")), "c": Place("x", ("3",))})
    >>> sorted(found["a"]), sorted(found["c"])
    (['a', 'b'], ['c'])
    """
    group: dict[str, set[str]] = {}
    reader: dict[object, str] = {}
    for name, place in places.items():
        group[name] = {name}
        for row in place.rows:
            fewer, more = sorted((group[name], group[reader.setdefault(row, name)]), key=len)
            if fewer is not more:
                more |= fewer
                group.update(dict.fromkeys(fewer, more))
    whole = {id(names): frozenset(names) for names in group.values()}
    return {name: whole[id(names)] for name, names in group.items()}


class Readers:
    """The tables of a study that read the same rows, now: together with those that only other studies declare.

    ``opened`` are the numbers of the files that an engine has opened, and reads from now on; ``lost`` the tables whose
    file is not there.
    """

    def __init__(self, tables: Mapping[str, Table], opened: Mapping[str, Iterable[str]] = MappingProxyType({})) -> None:
        self._look = cache(place_at)  # each is looked at once, before the ledger is locked
        self._units = {name: unit_of(table) for name, table in tables.items()}
        self.places = {name: place_of(name, table) for name, table in tables.items()}
        for name, files in opened.items():
            place = self.places[name]
            self.places[name] = replace(place, files=tuple(dict.fromkeys((*place.files, *files))))
        self.lost = {name for name, table in tables.items() if missing_file(table.source)}
        self.elsewhere: Mapping[str, Registration] = {}
        self.mates: Mapping[str, frozenset[str]] = {}

    def beside(self, elsewhere: Mapping[str, Registration]) -> Mapping[str, frozenset[str]]:
        """Who reads what each table reads, and itself: of these tables, and of those elsewhere."""
        self.elsewhere = elsewhere
        self.mates = read_together({**self.places, **{name: self.place_elsewhere(name) for name in elsewhere}})
        return self.mates

    def place_elsewhere(self, name: str) -> Place:
        """The place of a table that only another study declares, as it is now."""
        return self._look(self.elsewhere[name].source)

    def reading(self, own: Mapping[str, int], *, everywhere: bool) -> dict[str, set[int]]:
        """The data that tables read by the number of a file, now; ``own`` is the data of the tables here."""
        found: dict[str, set[int]] = {}
        places = [(data, self.places[name]) for name, data in own.items()]
        if everywhere:
            places += [(known.data, self.place_elsewhere(name)) for name, known in self.elsewhere.items()]
        for data, place in places:
            for number in place.files:
                found.setdefault(number, set()).add(data)
        return found

    def refuse_two_units(self) -> None:
        """Refuse rows that two tables protect as two units, or that one protects and another has public."""
        for name, unit in self._units.items():
            for mate in sorted(self.mates[name] - {name}):
                other = self._units[mate] if mate in self._units else self.elsewhere[mate].unit
                if other and other != unit:
                    raise two_units(name, unit, other)


def two_units(name: str, unit: str, other: str) -> InvalidParameter:
    """The refusal of rows that are protected as two units."""
    return InvalidParameter(
        f"{name!r} reads what another table reads, as {unit!r} and as {other!r}.",
        fix="Protect the same rows as one unit; what is public is read without noise, and is nobody's private rows.",
        code="unit-differs",
    )


def read_twice(table: str, fix: str) -> InvalidParameter:
    """The refusal of rows that are charged to two budgets."""
    what = f"{table!r} reads what another table reads: people in it would lose both budgets."
    return InvalidParameter(what, fix=fix, code="table-read-twice")


def elsewhere(scope: str) -> InvalidParameter:
    """The refusal of a budget that has another parent than the study says."""
    return InvalidParameter(
        f"{scope!r} is elsewhere in the ledger's tree of budgets than in the study.",
        fix="Keep one budget for all, or one for each table, as the ledger was started with.",
    )


def require_unit(known: Registration, table: Table) -> None:
    """Refuse a table that is declared with another unit than the one that was decided."""
    if known.unit and known.unit != (mine := unit_of(table)):
        raise InvalidParameter(
            f"It was decided that {known.table!r} protects the unit {known.unit!r}, and {mine!r} is declared here.",
            fix="Declare the table with that unit, and open it again.",
            code="unit-changed",
            facts={"table": known.table, "unit": known.unit, "stated": mine},
        )


def _named_in_file(source: EngineTable) -> str:
    """A table of a DuckDB file, where names are the same in either case, also in quotes; of ASCII letters alone."""
    return re.sub("[A-Z]", lambda letter: letter[0].lower(), f"{source.schema or 'main'}.{source.table}")


def _numbers(paths: list[str]) -> tuple[str, ...]:
    # A file that is not there is the engine's to report.
    return tuple(dict.fromkeys(number for path in paths if (number := number_of(path)) is not None))


def no_tables_yet() -> InvalidParameter:
    """The refusal of what needs a table, in a study that has none."""
    return InvalidParameter("This study has no tables yet.", fix="Declare one first.", code="no-tables-yet")


def storable(text: str) -> bool:
    """Whether a text can be written down; half a surrogate pair cannot.

    >>> storable("ñ"), storable(chr(0xD800))
    (True, False)
    """
    return not any(0xD800 <= ord(c) < 0xE000 for c in text)
