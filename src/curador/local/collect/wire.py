"""Tasks and reports on their way: small JSON documents that devices in any language can read and write.

A task is published as {"curador": 1, "id": ..., "task": ...}.  A message is {"task", "epsilon", "token", "report"}: the
task's identity, the epsilon that the device kept, a token that it drew for this message, and the report's bytes.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from curador.errors import InvalidParameter, InvalidValue
from curador.local.devices import curador_device
from curador.local.task.task import Task, task_from_json
from curador.noise import SYSTEM, Entropy

VERSION = 1
TOKEN_BYTES = 16
ID_BYTES = 16

Reason = Literal["malformed", "another task", "another epsilon", "not a report", "replayed"]
"""Why a message is refused."""


class Refused(InvalidValue):
    """A message that does not count, and why.

    >>> Refused("malformed", "This is no message.").reason
    'malformed'
    """

    def __init__(self, reason: Reason, what: str) -> None:
        super().__init__(what, fix="It is counted as refused, and no estimate uses it.")
        self.reason: Reason = reason


def canonical(document: object) -> bytes:
    """One and the same text for equal JSON documents: keys sorted, no spaces, everything beyond ASCII escaped.

    >>> canonical({"b": 1, "a": "é"})
    b'{"a":"\\\\u00e9","b":1}'
    """
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode()


def task_id(task: Task) -> str:
    """What names a task: the first 16 bytes of the SHA-256 of its canonical text, in hexadecimal.

    >>> from curador.local import KRR
    >>> len(task_id(KRR(keys=2, epsilon=1))), task_id(KRR(keys=2, epsilon=1)) == task_id(KRR(keys=2, epsilon=2))
    (32, False)
    """
    return sha256(canonical(task.to_json())).digest()[:ID_BYTES].hex()


def publish_task(task: Task) -> dict[str, object]:
    """The document to hand out to devices.

    >>> from curador.local import KRR
    >>> task = KRR(keys=["a", "b"], epsilon=1)
    >>> read_task(publish_task(task)) == task
    True
    >>> publish_task(KRR(keys=[1, 2**60], epsilon=1))
    Traceback (most recent call last):
    curador.errors.InvalidParameter: No device would answer this task: ...
    """
    document = {"curador": VERSION, "id": task_id(task), "task": task.to_json()}
    try:
        curador_device.read_task(json.loads(canonical(document)))
    except curador_device.Refused as refusal:
        # Integers of 2**53 and more, say, are not the same in every language.
        raise InvalidParameter(f"No device would answer this task: {refusal}", fix="Change it.") from None
    return document


def read_task(document: Mapping[str, Any]) -> Task:
    """The task of a document, refused if it was altered on its way or does not keep its epsilon."""
    if not isinstance(document, Mapping) or set(document) != {"curador", "id", "task"}:
        raise InvalidParameter("This is not a task.", fix="Read what `curador local new-task` wrote.")
    version, body = document["curador"], document["task"]
    if type(version) is not int or version != VERSION or not isinstance(body, Mapping):
        raise InvalidParameter("This task is of another version.", fix="Upgrade Curador.")
    task = task_from_json(body)
    if document["id"] != task_id(task):
        raise InvalidParameter("This task was altered after it was published.", fix="Fetch it again.")
    return task


@dataclass(frozen=True)
class Message:
    """A report on its way: bytes, a token that is used once, and nothing else.

    >>> Message(bytes(16), b"\\x05").token.hex()
    '00000000000000000000000000000000'
    """

    token: bytes
    report: bytes


def messages(task: Task, reports: Any, *, entropy: Entropy = SYSTEM) -> list[dict[str, str]]:
    """The messages that as many devices would send of these reports, each with a token of its own.

    >>> from curador.local import KRR
    >>> task = KRR(keys=["a", "b"], epsilon=1)
    >>> sent = messages(task, task.randomize(["a"]))[0]
    >>> sorted(sent), read_message(task, sent).report in (b"\\x00", b"\\x01")
    (['epsilon', 'report', 'task', 'token'], True)
    """
    rows = task.to_bytes(reports)
    tokens = entropy.words(TOKEN_BYTES * len(rows), np.uint8).reshape(len(rows), TOKEN_BYTES)
    named, kept = task_id(task), str(task.epsilon)
    return [
        {"task": named, "epsilon": kept, "token": token.tobytes().hex(), "report": to_base64(row.tobytes())}
        for token, row in zip(tokens, rows, strict=True)
    ]


def read_message(task: Task, message: Any, *, named: str | None = None) -> Message:
    """A message on this task, or :class:`Refused`; give ``named``, the task's id, when there are many.

    Whether the bytes are a report is told by :func:`sound_reports`, for many at once.
    """
    if not isinstance(message, Mapping) or set(message) != {"task", "epsilon", "token", "report"}:
        raise Refused("malformed", "A message has a task, an epsilon, a token and a report.")
    if not all(isinstance(part, str) for part in message.values()):
        raise Refused("malformed", "A message's parts are strings.")
    if message["task"] != (named or task_id(task)):
        raise Refused("another task", "This message is on another task.")
    if message["epsilon"] != str(task.epsilon):
        raise Refused("another epsilon", f"This task is answered with epsilon = {task.epsilon}.")
    token, report = _from_hex(message["token"]), _from_base64(message["report"])
    if len(token) != TOKEN_BYTES or len(report) != task.layout.size:
        raise Refused("malformed", f"A token has {TOKEN_BYTES} bytes, a report on this task {task.layout.size}.")
    return Message(token, report)


def sound_reports(task: Task, rows: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which of these rows of bytes could have come from the task's randomizer.

    >>> from curador.local import KRR
    >>> sound_reports(KRR(keys=3, epsilon=1), np.array([[0], [3], [2]], np.uint8)).tolist()
    [True, False, True]
    """
    sound = np.ones(len(rows), bool)
    parts = [(0, len(rows))]
    while parts:  # a part that is refused is halved until what is wrong stands alone
        start, stop = parts.pop()
        try:
            task._checked(task.from_bytes(rows[start:stop]))
        except InvalidValue:
            middle = (start + stop) // 2
            if stop - start == 1:
                sound[start] = False
            else:
                parts += [(start, middle), (middle, stop)]
    return sound


def to_base64(data: bytes) -> str:
    """Bytes as text that may stand in an address, without padding.

    >>> to_base64(bytes([255, 254]))
    '__4'
    """
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _from_base64(text: str) -> bytes:
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise Refused("malformed", "The report is not base64.") from None
    if to_base64(data) != text:  # one text for each report: bits to spare carry nothing
        raise Refused("malformed", "The report is not base64.")
    return data


def _from_hex(text: str) -> bytes:
    try:
        data = bytes.fromhex(text)
    except ValueError:
        raise Refused("malformed", "The token is not hexadecimal.") from None
    if data.hex() != text:
        raise Refused("malformed", "The token is not hexadecimal.")
    return data
