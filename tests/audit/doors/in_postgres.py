"""The scenes in a PostgreSQL database, and the ledger and prepared copies beside them."""

from __future__ import annotations

import uuid
from pathlib import Path
from shutil import rmtree

import psycopg
from psycopg import sql

from curador.audit.doors.scenes import SCENES, VICTIMS
from curador.audit.doors.stage import study_text

KINDS = {"int64": "bigint", "double": "double precision", "string": "text", "date32": "date", "bool": "boolean"}
"""What a scene's types are called there."""


def own_database(url: str) -> str:
    """The address of a new database of a server."""
    name = f"own_{uuid.uuid4().hex}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    return url.replace("/postgres?", f"/{name}?")


class ScenesInPostgres:
    """A stage whose folder holds the study file and the ledger's key; rows and charges are in a database of its own."""

    def __init__(self, url: str, folder: Path) -> None:
        self.folder, self._url = folder, url
        (folder / "study.toml").write_text(study_text(f"{url}#{{}}", ledger={"address": url, "keep": "keep"}))
        with psycopg.connect(url) as connection:
            for name, scene in SCENES.items():
                kinds = [sql.SQL("{} " + KINDS[kind]).format(sql.Identifier(c)) for c, kind in scene.stored.items()]
                columns = sql.SQL(", ").join(kinds)
                connection.execute(sql.SQL("CREATE TABLE {} ({})").format(sql.Identifier(name), columns))
                _fill(connection, name, None)

    def place(self, victim: str | None) -> None:
        """As a stage does."""
        rmtree(self.folder / "keep", ignore_errors=True)
        (self.folder / "study.prepared.json").unlink(missing_ok=True)
        with psycopg.connect(self._url) as connection:
            connection.execute("DROP SCHEMA IF EXISTS curador CASCADE")
            for name, scene in SCENES.items():
                if not scene.public:
                    connection.execute(sql.SQL("TRUNCATE {}").format(sql.Identifier(name)))
                    _fill(connection, name, victim)


def _fill(connection: psycopg.Connection[tuple[object, ...]], name: str, victim: str | None) -> None:
    extra = () if victim is None else VICTIMS[victim].get(name, ())
    with connection.cursor().copy(sql.SQL("COPY {} FROM STDIN").format(sql.Identifier(name))) as copy:
        for row in (*SCENES[name].rows, *extra):
            copy.write_row([row[column] for column in SCENES[name].stored])
