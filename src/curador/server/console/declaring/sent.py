"""A form with a file in it, read as it comes: its fields first, which say whether the file is wanted at all.

A browser without scripts sends a file in no other way.  Guarantee: nothing is kept but a few small fields and the
piece at hand; the fields stand before the file, as the page's form has them, and nothing stands behind it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from fastapi import Request
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect

from curador.errors import CuradorError
from curador.server.gate.refusals import refused

MOST_BEFORE = 100_000
"""The most bytes before the file."""


class SentForm:
    """What has come of a form: its fields, the name of its file, and the bytes of it that wait to be written."""

    def __init__(self, content_type: str, pieces: AsyncIterator[bytes]) -> None:
        kind, options = parse_options_header(content_type)
        if kind != b"multipart/form-data" or not options.get(b"boundary"):
            raise _malformed()
        self._pieces = pieces
        self.fields: dict[str, str] = {}
        self.file_name: str | None = None
        self._waiting, self._value = bytearray(), bytearray()
        self._field, self._header, self._stated = "", b"", b""
        self._ended = False
        try:
            self._parser = MultipartParser(
                options[b"boundary"],
                {
                    "on_part_begin": self._part_begins,
                    "on_header_field": self._header_named,
                    "on_header_value": self._header_says,
                    "on_header_end": self._header_ends,
                    "on_headers_finished": self._named,
                    "on_part_data": self._data,
                    "on_part_end": self._part_ends,
                    "on_end": self._all_came,
                },
            )
        except FormParserError:  # its boundary is too long
            raise _malformed() from None

    async def fields_first(self) -> None:
        """Read until the file begins."""
        came = 0
        async for piece in self._pieces:
            self._take(piece)
            came += len(piece)
            if self.file_name is not None:
                return
            if came > MOST_BEFORE:
                break
        raise _malformed()

    async def file(self) -> AsyncIterator[bytes]:
        """The file's bytes, from where the fields ended; refused where the form breaks off."""
        yield self._taken()
        async for piece in self._pieces:
            self._take(piece)
            yield self._taken()
        if not self._ended:
            raise _malformed()

    def _take(self, piece: bytes) -> None:
        try:
            self._parser.write(piece)
        except FormParserError:
            raise _malformed() from None

    def _taken(self) -> bytes:
        found = bytes(self._waiting)
        self._waiting.clear()
        return found

    # -- what the parser tells

    def _part_begins(self) -> None:
        if self.file_name is not None:
            raise _malformed()
        self._field, self._stated = "", b""
        self._value.clear()

    def _header_named(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end].lower()

    def _header_says(self, data: bytes, start: int, end: int) -> None:
        if self._header == b"content-disposition":
            self._stated += data[start:end]

    def _header_ends(self) -> None:
        self._header = b""

    def _named(self) -> None:
        _, options = parse_options_header(self._stated)
        self._field = options.get(b"name", b"").decode(errors="replace")
        if b"filename" in options:
            self.file_name = options[b"filename"].decode(errors="replace")

    def _data(self, data: bytes, start: int, end: int) -> None:
        held = self._value if self.file_name is None else self._waiting
        held += data[start:end]

    def _part_ends(self) -> None:
        if self.file_name is None:
            self.fields[self._field] = self._value.decode(errors="replace")

    def _all_came(self) -> None:
        self._ended = True


async def sent_form(request: Request) -> SentForm:
    """The form that a request sends, read up to its file, once."""
    if not hasattr(request.state, "sent_form"):
        found = SentForm(request.headers.get("content-type", ""), request.stream())
        try:
            await found.fields_first()
        except ClientDisconnect:
            raise _malformed() from None
        request.state.sent_form = found
    form: SentForm = request.state.sent_form
    return form


def _malformed() -> CuradorError:
    return refused("This form did not come whole.", "Send it again.", "upload-ended")
