"""Parse messages of any origin: a batch at a time, refused one by one.

The worst that a message can do is to be counted as refused.  No line ends the run.  No line takes more memory than a
message of the task needs, and none is dropped without a count.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import select
import time
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from curador.errors import MessageRefused
from curador.forks import cached_property
from curador.local.collect.stop import Stop
from curador.local.collect.wire import (
    TOKEN_BYTES,
    Reason,
    message_parts,
    reason_of,
    refused,
    sound_reports,
    to_base64,
)
from curador.local.task.task import Task

SPARE = 1024
"""The bytes that a message may have beside its epsilon and report: names, token, and spaces that some write."""
SHORTEST = len('{"task":"","epsilon":"","token":"","report":""}')
"""The fewest bytes of a message: a shorter text lacks some names, so it is counted as refused and never parsed."""
CHUNK = 1 << 16
SECONDS = 1.0
"""The longest time that messages from a pipe wait to be written together, in no order."""
MARK = b"\xef\xbb\xbf"
"""The byte order mark that some programs write first."""
_TOKEN = f"[0-9a-f]{{{2 * TOKEN_BYTES}}}"
_TEXT, _GAP = r'"(?:[^"\\\x00-\x1f]++|\\.)*+"', r"[ \t\r\n]*+"
_PART = rf"{_GAP}{_TEXT}{_GAP}:{_GAP}{_TEXT}{_GAP}"
_FLAT = re.compile(rf"{_GAP}\{{{_PART}(?:,{_PART}){{3}}\}}{_GAP}")
"""The JSON of an object of four texts, in any order and spacing; read in one pass, never twice."""


class Pause:
    """A marker among messages that are still arriving: write the messages before it now."""


PAUSE = Pause()


@dataclass(frozen=True, eq=False)
class MessageBatch:
    """Reports that the task's randomizer can make, by rising token, and counts of the refused messages.

    Of several messages with one token the first to arrive counts.  The order of arrival is not kept otherwise.
    """

    tokens: NDArray[np.uint64]
    """Two columns: the first and the last eight bytes of each token, as integers."""
    reports: NDArray[np.uint8]
    refused: Counter[Reason]


@dataclass(frozen=True)
class Intake:
    """Reads messages on one task.

    A message is a mapping, or its JSON as text or UTF-8 bytes.  Anything else is refused: duplicate keys, NaN, or lines
    longer than ``longest``.

    >>> from curador.local import KRR
    >>> from curador.local.collect.wire import messages
    >>> task = KRR(keys=["a", "b"], epsilon=1)
    >>> sent = messages(task, task.randomize(["a", "b"]))
    >>> batch = Intake(task).read([*sent, sent[0], "[[[", b"\\xff", {**sent[0], "task": "?"}])
    >>> len(batch.reports), dict(batch.refused)
    (2, {'malformed': 2, 'another task': 1, 'replayed': 1})
    """

    task: Task

    @property
    def longest(self) -> int:
        """The largest number of bytes in a line."""
        return SPARE + len(str(self.task.epsilon)) + self._text

    @property
    def _text(self) -> int:
        return len(to_base64(bytes(self.task.layout.size)))

    @property
    def _report(self) -> str:
        """The pattern of a report's text; the unused bits of its last character must be 0."""
        return f"[A-Za-z0-9_-]{{{self._text}}}"

    @cached_property
    def _usual(self) -> re.Pattern[bytes]:
        """The pattern of a line as our own clients write it, which needs no JSON parser."""
        parts = {
            "task": re.escape(self.task.id),
            "epsilon": re.escape(str(self.task.epsilon)),
            "token": f"({_TOKEN})",
            "report": f"({self._report})",
        }
        inner = ", ?".join(f'"{name}": ?"{part}"' for name, part in parts.items())
        return re.compile(rf"\{{{inner}\}}\r?\n?".encode())

    def read(self, messages: Iterable[Any]) -> MessageBatch:
        """Return the sound reports among these messages, and the counts of all others."""
        counts: Counter[Reason] = Counter()
        tokens, texts = list[bytes](), list[bytes]()
        usual, longest = self._usual.fullmatch, self.longest
        for message in messages:
            if isinstance(message, str | bytes) and len(message) < SHORTEST:
                counts["malformed"] += 1
                continue
            if isinstance(message, str) and len(message) <= longest:
                message = message.encode("utf-8", "surrogatepass")  # a lone surrogate is refused below
            hit = usual(message) if isinstance(message, bytes) else None
            if hit is not None:
                token, text = hit.groups()
            else:
                try:
                    token, text = self._parts(message)
                except MessageRefused as refusal:
                    counts[reason_of(refusal)] += 1
                    continue
            tokens.append(token)
            texts.append(text)
        return self._sound(_from_hex(tokens), *_from_base64(texts, self._text, self.task.layout.size), counts)

    def _parts(self, message: Any) -> tuple[bytes, bytes]:
        """Return the texts of token and report of any message; refuse it unless it is on this task."""
        if isinstance(message, str | bytes | bytearray):
            message = self._document(message)
        token, report = message_parts(self.task, message)
        if not re.fullmatch(_TOKEN, token) or not re.fullmatch(self._report, report):
            raise refused("malformed", f"A token has {TOKEN_BYTES} bytes, a report {self.task.layout.size}.")
        return token.encode(), report.encode()

    def _document(self, line: str | bytes | bytearray) -> Any:
        if len(line) > self.longest:
            raise refused("malformed", f"A message on this task has {self.longest} bytes at most.")
        try:
            text = line if isinstance(line, str) else line.decode("utf-8")  # JSON allows no other encoding
            if not _FLAT.fullmatch(text):  # a parser takes a hundred times as long for a line of brackets
                raise ValueError("not an object of four texts")
            return strict_json(text)
        except ValueError:
            raise refused("malformed", "A message is a JSON object.") from None

    def _sound(
        self,
        tokens: NDArray[np.uint64],
        reports: NDArray[np.uint8],
        exact: NDArray[np.bool_],
        counts: Counter[Reason],
    ) -> MessageBatch:
        counts["malformed"] += int((~exact).sum())
        tokens, reports = tokens[exact], reports[exact]
        sound = sound_reports(self.task, reports)
        counts["not a report"] += int((~sound).sum())
        tokens, reports = tokens[sound], reports[sound]
        order = np.lexsort((tokens[:, 1], tokens[:, 0]))  # stable: the first to arrive stays first
        tokens, reports = tokens[order], reports[order]
        new = np.append(True, (tokens[1:] != tokens[:-1]).any(axis=1))[: len(tokens)]
        counts["replayed"] += int((~new).sum())
        return MessageBatch(tokens[new], reports[new], +counts)


def incoming(file: BinaryIO, task: Task, stop: Stop, *, packed: bool = False) -> Iterator[bytes | Pause]:
    """Yield the lines of a file up to its end or to the stop.

    A pipe also yields pauses, at which the messages that arrived are written.  Both may begin with a byte order mark.
    The operator states whether the input is gzip (``packed``).  The first bytes are not asked: they come from a
    stranger, who could have all other messages unpacked.

    >>> from io import BytesIO
    >>> from curador.local import KRR
    >>> list(incoming(BytesIO(b"ab\\ncd"), KRR(keys=2, epsilon=1), Stop(reader=0)))
    [b'ab\\n', b'cd']
    """
    longest = Intake(task).longest
    if not file.seekable():
        return _strip_mark(arriving(file.fileno(), longest, SECONDS, stop.reader, packed=packed))
    opened = cast(BinaryIO, gzip.GzipFile(fileobj=file)) if packed else file
    return takewhile(lambda _: not stop.signal, _strip_mark(lines(opened, longest)))


def _strip_mark(messages: Iterator[Any]) -> Iterator[Any]:
    """Drop a byte order mark; report a broken compressed file as one that cannot be read further."""
    try:
        for first in messages:
            yield first.removeprefix(MARK) if isinstance(first, bytes) else first
            if isinstance(first, bytes):
                break
        yield from messages
    except (EOFError, zlib.error, gzip.BadGzipFile):  # the last quotes the file, which is people's messages
        raise OSError("the compressed data is broken") from None


def lines(file: BinaryIO, longest: int) -> Iterator[bytes]:
    """Yield the lines of a file, each cut to ``longest`` + 1 bytes: the rest of a longer line is skipped.

    >>> from io import BytesIO
    >>> list(lines(BytesIO(b"ab\\n" + b"x" * 100 + b"\\ncd"), 5))
    [b'ab\\n', b'xxxxxx', b'cd']
    """
    while line := file.readline(longest + 1):
        rest = line
        while len(rest) > longest and not rest.endswith(b"\n"):
            rest = file.readline(longest + 1)
        yield line


def arriving(
    source: int, longest: int, seconds: float, stop: int | None = None, *, packed: bool = False
) -> Iterator[bytes | Pause]:
    """Yield the lines of a pipe, given its descriptor, with a :data:`PAUSE` at least every ``seconds``.

    Lines are cut as in :func:`lines`.  Reading ends with the pipe, or as soon as ``stop`` becomes readable.

    >>> reader, writer = os.pipe()
    >>> _ = os.write(writer, b"ab\\n" + b"x" * 100 + b"\\ncd")
    >>> coming = arriving(reader, 5, 0.01)
    >>> next(coming), next(coming), isinstance(next(coming), Pause)
    (b'ab', b'xxxxxx', True)
    >>> os.close(writer)
    >>> list(coming)
    [b'cd']
    >>> os.close(reader)
    """
    line, ends = bytearray(), time.monotonic() + seconds
    unpack = _Unpack() if packed else None
    watched = [source] if stop is None else [source, stop]
    while True:
        ready, _, _ = select.select(watched, [], [], max(0.0, ends - time.monotonic()))
        if stop in ready:
            return  # an incomplete line is not a message
        if source in ready:
            data = os.read(source, CHUNK)
            if not data:
                if unpack is not None:
                    unpack.end()
                break
            for piece in (data,) if unpack is None else unpack(data):
                for i, part in enumerate(piece.split(b"\n")):
                    if i:
                        yield bytes(line)
                        line.clear()
                    line += part[: longest + 1 - len(line)]
        if time.monotonic() >= ends:
            yield PAUSE
            ends = time.monotonic() + seconds
    if line:
        yield bytes(line)


class _Unpack:
    """Unpack pieces of a gzip stream: one or several files, perhaps with zeros after them."""

    def __init__(self) -> None:
        self.unzip, self.inside, self.begun = zlib.decompressobj(31), False, False

    def __call__(self, data: bytes) -> Iterator[bytes]:
        more = True
        while more:
            if self.begun and not self.inside:
                data = data.lstrip(b"\0")
            if not (data or self.inside):
                return
            self.begun = self.inside = True
            piece = self.unzip.decompress(data, CHUNK)
            yield piece
            data = self.unzip.unconsumed_tail
            more = bool(data) or len(piece) == CHUNK
            if self.unzip.eof:
                data, self.unzip = self.unzip.unused_data, zlib.decompressobj(31)
                self.inside, more = False, bool(data)

    def end(self) -> None:
        """Refuse a stream that ends in the middle of a file."""
        if self.inside:
            raise EOFError


def strict_json(text: str) -> Any:
    """Parse JSON that all readers understand alike: no duplicate names, no NaN, no infinite numbers.

    >>> strict_json('{"a": 1}')
    {'a': 1}
    >>> strict_json('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ValueError: duplicate name
    """
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _once(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("duplicate name")
    return found


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _from_hex(tokens: list[bytes]) -> NDArray[np.uint64]:
    data = bytes.fromhex(b"".join(tokens).decode())
    return np.frombuffer(data, ">u8").astype(np.uint64).reshape(len(tokens), 2)


def _from_base64(texts: list[bytes], text: int, size: int) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Decode texts to rows of bytes; the mask marks the texts that carry nothing beyond them."""
    fill = b"A" * (-text % 4)  # six bits of 0: the bits beyond the report must come out as 0
    data = base64.urlsafe_b64decode(b"".join([one + fill for one in texts]))
    rows = np.frombuffer(data, np.uint8).reshape(len(texts), (text + len(fill)) // 4 * 3)
    return rows[:, :size], (rows[:, size:] == 0).all(axis=1)
