"""The scenes as a study on disk: D, and D' with a victim, in the same place one after the other."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import tomlkit

from curador.audit.doors.scenes import GROUPS, ROWS, SCENES, VICTIMS
from curador.engines.duckdb.parquet import write_parquet
from curador.show.files import write_atomically

STORED = {"int64": "BIGINT", "double": "DOUBLE", "string": "VARCHAR", "date32": "DATE", "bool": "BOOLEAN"}
"""What a scene's types are called where its files are written."""

BUDGET = {"epsilon": 200_000, "delta": 1e-6}
"""More than any attack asks for: an attack is not to be stopped by another one's cost."""


class Stage(Protocol):
    """A folder with the study of the scenes, and a way to put a victim into its tables."""

    folder: Path

    def place(self, victim: str | None) -> None:
        """Make the tables D (None), or D plus a victim, and the curator a new one: no ledger, no prepared copies."""
        ...


def study_text(source: str = "{}.parquet", **more: Any) -> str:
    """The study file of the scenes: what is public about them, the same for D and D'.

    ``source`` says where a table of a name is kept; ``more`` are further sections.

    >>> study_text().startswith("[budget]")
    True
    """
    tables: dict[str, Any] = {}
    for name, scene in SCENES.items():
        tables[name] = {"source": source.format(name)}
        if scene.public:
            tables[name]["public"] = True
        else:
            tables[name] |= {"unit": {"id": scene.id}, "contribution": {"groups": GROUPS, "rows": ROWS}}
        tables[name]["columns"] = {c: dict(settings) for c, settings in scene.columns.items()}
    return tomlkit.dumps({"budget": BUDGET, **more, "tables": tables})


class ScenesOnDisk:
    """A folder with the study of the scenes, whose tables hold a victim or none.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     stage = ScenesOnDisk(Path(folder))
    ...     stage.place("plain")
    ...     sorted(p.name for p in Path(folder).iterdir())
    ['empty.parquet', 'odd.parquet', 'people.parquet', 'study.toml', 'towns.parquet', 'visits.parquet']
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        write_atomically(folder / "study.toml", study_text().encode())
        for name in SCENES:
            write_atomically(folder / f"{name}.parquet", _content(name, None))

    def place(self, victim: str | None) -> None:
        """As a stage does; public tables stay: neighbours share them."""
        own = {"study.toml", *(f"{name}.parquet" for name in SCENES)}
        for left in self.folder.iterdir():
            if left.is_dir():
                rmtree(left)
            elif left.name not in own:
                left.unlink()
        for name, scene in SCENES.items():
            if not scene.public:
                write_atomically(self.folder / f"{name}.parquet", _content(name, victim))


@cache
def _content(name: str, victim: str | None) -> bytes:
    """The file of a scene, with a victim or without; of the same rows there is one."""
    extra = () if victim is None else VICTIMS[victim].get(name, ())
    if victim is not None and not extra:
        return _content(name, None)
    scene = SCENES[name]
    rows = (*scene.rows, *extra)
    columns = {column: [row[column] for row in rows] for column in scene.stored}
    with TemporaryDirectory(prefix="curador-audit-") as folder:
        path = Path(folder) / "rows.parquet"
        write_parquet(columns, path, {column: STORED[kind] for column, kind in scene.stored.items()})
        return path.read_bytes()
