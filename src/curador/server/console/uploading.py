"""A file of rows that a curator brings through the browser: written as it comes, below the study's folder.

A script sends the file as the body of a request; a browser without scripts sends it in a form.

Nothing of it is looked at here: a table is declared from it by the steps of the wizard, which say what they read.

Guarantee: only a curator's own page sends one; its name is made safe, and numbered where it is taken: no file is
replaced.  Nobody but the server's account may read it, and what does not come whole is removed.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlencode

from fastapi import Response
from fastapi.responses import JSONResponse
from starlette.requests import ClientDisconnect

from curador.curator.study.draft import named_after
from curador.errors import InvalidParameter
from curador.server.access.auth import new_request_id
from curador.server.console.declaring.sent import sent_form
from curador.server.console.genuine import page_router
from curador.server.console.visit import HEADERS, Visit, Visiting
from curador.server.gate.guard import CONSOLE, UPLOAD, UPLOAD_FORM
from curador.server.gate.refusals import refused
from curador.server.service import Holder
from curador.show.files import sync

router = page_router()

FOLDER = "uploads"
"""Where such files are, below the study's folder."""

ENDINGS = (".csv", ".csv.gz", ".parquet")
LONGEST_NAME = 100
MOST_ALIKE = 1000
"""Files of one name, which are numbered."""

PIECE = 1 << 20
"""Bytes that are written at a time."""


@router.post(UPLOAD.removeprefix(CONSOLE), response_class=Response)
async def upload(visit: Visiting, caller: Holder) -> Response:
    """Take a file as it comes; its path, for the steps that declare a table from it."""
    name = safe_name(unquote(visit.request.headers.get("x-file-name", "")))
    declared = named_after(name) if named_after(name) in visit.serving.curator.tables else ""
    kept = await _kept(visit, name, visit.request.stream())
    made = {"source": f"{FOLDER}/{kept.kept}", "bytes": kept.size, "declared": declared}
    return JSONResponse(made, 201, headers=HEADERS)


@router.post(UPLOAD_FORM.removeprefix(CONSOLE), response_class=Response)
async def upload_form(visit: Visiting, caller: Holder) -> Response:
    """Take a file out of a form, as browsers without scripts send one, and go on with it."""
    sent = await sent_form(visit.request)
    kept = await _kept(visit, safe_name(sent.file_name or ""), sent.file())
    return visit.to(f"{CONSOLE}/tables/new?{urlencode({'source': f'{FOLDER}/{kept.kept}'})}")


async def _kept(visit: Visit, name: str, pieces: AsyncIterator[bytes]) -> Arriving:
    """The file, written as it comes."""
    study = visit.serving.curator.study_file
    if study is None:
        raise refused("This study has no file.", "Declare the table where the curator is made.", "no-study-file")
    arriving = Arriving(study.parent / FOLDER, name)
    await visit.serving.work(arriving.begin)
    whole = False
    try:
        async for piece in pieces:
            arriving.waiting += piece
            if len(arriving.waiting) >= PIECE:
                await visit.serving.work(arriving.write)
        await visit.serving.work(arriving.finish)
        whole = True
    except ClientDisconnect:
        raise refused("The connection ended.", "Send the file again.", "upload-ended") from None
    finally:
        if not whole:
            await visit.serving.work(arriving.drop)
    return arriving


def safe_name(given: str) -> str:
    """A name that is safe in a folder, in a study file and on a page.

    >>> safe_name("Visitas médicas (2024).CSV"), safe_name("../../study.toml.csv")
    ('visitas_medicas_2024.csv', 'study_toml.csv')
    """
    plain = unicodedata.normalize("NFKD", re.split(r"[/\\]", given)[-1]).encode("ascii", "ignore").decode().lower()
    ending = next((one for one in ENDINGS if plain.endswith(one)), None)
    stem = "" if ending is None else re.sub(r"[^a-z0-9]+", "_", plain.removesuffix(ending)).strip("_")
    if ending is None or not stem:
        raise InvalidParameter(
            "This is not the name of a CSV or Parquet file.",
            fix=f"Choose a file that ends in {', '.join(ENDINGS)}.",
            code="upload-name",
        )
    return f"{stem[:LONGEST_NAME]}{ending}"


def waiting_files(study: Path | None) -> list[str]:
    """The files that were sent, by their names: nothing of them is read."""
    try:
        found = [] if study is None else sorted((study.parent / FOLDER).iterdir())
    except OSError:
        found = []
    return [f"{FOLDER}/{one.name}" for one in found if one.name.endswith(ENDINGS) and not one.name.startswith(".")]


def numbered(name: str, number: int) -> str:
    """The name of a file, or of the next one where that is taken.

    >>> numbered("visits.csv.gz", 1), numbered("visits.csv.gz", 2)
    ('visits.csv.gz', 'visits_2.csv.gz')
    """
    ending = next(one for one in ENDINGS if name.endswith(one))
    return name if number == 1 else f"{name.removesuffix(ending)}_{number}{ending}"


@dataclass
class Arriving:
    """A file on its way: under another name until it is whole."""

    folder: Path
    name: str
    waiting: bytearray = field(default_factory=bytearray)
    size: int = 0
    kept: str = ""
    _file: int = -1
    _part: Path = field(init=False)

    def __post_init__(self) -> None:
        self._part = self.folder / f".{new_request_id()}.part"

    def begin(self) -> None:
        """Make the file."""
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
            self._file = os.open(self._part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            raise self._unwritable(error) from None

    def write(self) -> None:
        """Write what has come."""
        try:
            while self.waiting:
                done = os.write(self._file, self.waiting)
                self.size += done
                del self.waiting[:done]
        except OSError as error:
            raise self._unwritable(error) from None

    def finish(self) -> None:
        """Give the file its name, or the next one where another file has it: none is replaced."""
        self.write()
        if not self.size:
            raise InvalidParameter("The file is empty.", fix="Choose another one.", code="upload-empty")
        try:
            sync(self._file)
            self.kept = self._named()
        except OSError as error:
            raise self._unwritable(error) from None
        self.drop()

    def _named(self) -> str:
        for number in range(1, MOST_ALIKE):
            with suppress(FileExistsError):
                name = numbered(self.name, number)
                os.link(self._part, self.folder / name)
                return name
        raise self._there()

    def drop(self) -> None:
        """Remove what is left under the other name."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        with suppress(OSError):
            self._part.unlink()

    def _there(self) -> InvalidParameter:
        return InvalidParameter(
            "Very many files of this name are in the folder already.",
            fix="Give the file another name, for none is replaced; or go on with one that is there.",
            code="upload-there",
        )

    def _unwritable(self, error: OSError) -> InvalidParameter:
        return InvalidParameter(
            f"The file cannot be written: {os.strerror(error.errno or 0)}.",
            fix="Let the server write into the folder of the study, and look at the space on its disk.",
            code="upload-unwritable",
        )
