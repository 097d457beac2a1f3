"""Names of tables and analysts, and addresses of sources, in a ledger: made of nothing that was read from rows."""

from __future__ import annotations

import getpass
import glob
import hashlib
import os
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qs, unquote, urlsplit

from curador.engines.registry import engine_entry, in_file
from curador.errors import InvalidParameter
from curador.query.tables.sources import EngineTable, Files, Frame
from curador.query.tables.table import Table

ROOM = 20
"""Characters that the ledger may put before or behind a name."""

ANALYST = "analyst:"
"""Prefix of an analyst's or group's registry key.  Table names may not start with it."""

RENEWED = re.compile(r"(.+), renewed \d+")
"""The names of scopes that began with a decision to renew; no other scope may have such a name."""

LONGEST = 180
"""Characters of a name: the ledger has room for 200, and adds its prefix or the number of a renewal."""

PUBLIC = "public"
"""The unit of a public table in the ledger: nothing is protected."""

MOST_FILES = 1000
"""Of a glob over more files than this, the folders are remembered instead."""


class ConfusableName(UserWarning):
    """A new analyst has a name that looks like one that is taken."""


# ---- names ---------------------------------------------------------------------------------------------------------


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


# ---- addresses -----------------------------------------------------------------------------------------------------


def addresses(tables: Mapping[str, Table], before: Mapping[str, str]) -> dict[str, str]:
    """The address of every table's source; a source that is declared twice is two tables, each with its name.

    Which of the two has the plain one does not depend on their order: it is as it was ``before``.
    """
    plain = {name: address(name, table) for name, table in tables.items()}
    found: dict[str, str] = {}
    for name in sorted(plain, key=lambda name: before.get(name) != plain[name]):
        own = f"{plain[name]} as {name}"
        again = before.get(name) == own or plain[name] in found.values()
        found[name] = own if again else plain[name]
    return found


def address(name: str, table: Table) -> str:
    """The address of a table's source in the ledger: without a password, and no longer than the ledger accepts.

    It is the same however the source is written: a path from any folder and through links, a server with or without
    its default port, its role or ``postgres://``.

    >>> import pyarrow
    >>> address("people", Table(pyarrow.table({"age": [30]}), columns={"age": "integer"}))
    'frame:people'
    """
    source = table.source
    if isinstance(source, EngineTable):
        engine = engine_entry(source).name
        place = os.path.realpath(source.path) if in_file(source) else _server(source.url, engine)
        named = _named_in_file(source) if in_file(source) else f"{source.schema}.{source.table}"
        text = f"{engine}:{hashlib.sha256(place.encode()).hexdigest()[:16]}#{named}"
    elif isinstance(source, Files):
        text = f"file:{os.path.realpath(source.pattern)}"  # the same from whatever folder it is named
    else:
        return frame_address(name)
    return _short(text)


def frame_address(name: str) -> str:
    """The address of a frame: all that is known of it is the name that it was given."""
    return _short(f"frame:{name}")


@dataclass(frozen=True)
class Place:
    """All that shows which rows a table reads: its address, the numbers of its files and their folders, its frame.

    The disk gives a file one number: the same through hard links, globs and moves.
    """

    address: str
    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    frame: int | None = None

    @property
    def kept(self) -> tuple[str, ...]:
        """Other addresses of the source, for the ledger to remember: of very many files, their folders."""
        return self.files if len(self.files) <= MOST_FILES else self.folders

    @property
    def rows(self) -> frozenset[object]:
        """What two tables that read the same rows have in common, as far as can be seen."""
        return frozenset((self.address, *self.files, *(() if self.frame is None else (self.frame,))))


def place_of(name: str, table: Table) -> Place:
    """The place of a table's rows as it is now; nothing is read from them."""
    source, plain = table.source, address(name, table)
    if isinstance(source, Frame):
        return Place(plain, frame=id(source.data))
    if isinstance(source, Files):
        files = _files(source.pattern)
        return Place(plain, _numbers(files), _numbers(sorted({os.path.dirname(f) or "." for f in files})))
    numbers = _numbers([source.path]) if in_file(source) else ()
    return Place(plain, tuple(f"{number}#{_named_in_file(source)}" for number in numbers))


def reads_at(known: str, table: str) -> frozenset[object]:
    """What a table reads that the ledger knows by an address: its files are looked at, if they are there."""
    plain = known.removesuffix(f" as {table}")
    kind, _, pattern = plain.partition(":")
    return frozenset((plain, *(_numbers(_files(pattern)) if kind == "file" else ())))


def read_together(places: Mapping[str, Place]) -> dict[str, frozenset[str]]:
    """The tables that read what a table reads, and itself: also through a third one.

    >>> found = read_together({"a": Place("v", ("1",)), "b": Place("w", ("1", "2")), "c": Place("x", ("3",))})
    >>> sorted(found["a"]), sorted(found["c"])
    (['a', 'b'], ['c'])
    """
    groups: list[tuple[set[str], set[object]]] = []
    for name, place in places.items():
        mine = [group for group in groups if not group[1].isdisjoint(place.rows)]
        names, rows = {name}.union(*(g[0] for g in mine)), set(place.rows).union(*(g[1] for g in mine))
        groups = [*(group for group in groups if group not in mine), (names, rows)]
    return {name: frozenset(names) for names, _ in groups for name in names}


def _files(pattern: str) -> list[str]:
    return glob.glob(pattern, recursive=True) if glob.has_magic(pattern) else [pattern]


def _named_in_file(source: EngineTable) -> str:
    """A table of a DuckDB file, where names are the same in either case, also in quotes; of ASCII letters alone."""
    return re.sub("[A-Z]", lambda letter: letter[0].lower(), f"{source.schema or 'main'}.{source.table}")


def _numbers(paths: list[str]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for path in paths:
        try:
            about = os.stat(path)
        except OSError:  # a file that is not there is the engine's to report
            continue
        found[f"inode:{about.st_dev}:{about.st_ino}"] = None
    return tuple(found)


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


def _short(text: str) -> str:
    return text if len(text) <= 150 and text.isprintable() else f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
