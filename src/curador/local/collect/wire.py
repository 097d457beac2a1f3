"""The wire format of tasks and reports: small JSON documents for devices in any language.

A task is published as {"curador": 1, "id": ..., "task": ...}.  A message is {"task", "epsilon", "token", "report"}.
These are the task's id, the epsilon that the device kept, a token drawn for this message, and the report's bytes.  A
task is published only if the device client, which imports nothing of Curador, accepts it.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from curador.errors import InvalidParameter, MessageRefused
from curador.local.devices import curador_device
from curador.local.task.identity import canonical
from curador.local.task.layout import short_words
from curador.local.task.task import Task, task_from_json
from curador.noise import SYSTEM, Entropy

VERSION = 1
TOKEN_BYTES = 16

Reason = Literal["malformed", "another task", "another epsilon", "not a report", "replayed"]
"""The reasons to refuse a message."""


def refused(reason: Reason, what: str) -> MessageRefused:
    """Make the error of a message that does not count.

    >>> reason_of(refused("malformed", "This is not a message."))
    'malformed'
    """
    fix = "It is counted as refused, and no estimate uses it."
    return MessageRefused(what, fix=fix, code="message-refused", facts={"reason": reason})


def reason_of(refusal: MessageRefused) -> Reason:
    """Return the name under which a refused message is counted."""
    return cast(Reason, refusal.facts["reason"])


def publish_task(task: Task) -> dict[str, object]:
    """Write the document for devices, of a task that has a name.

    >>> from curador.local import KRR
    >>> task = KRR(keys=["a", "b"], epsilon=1).named("letters")
    >>> read_task(publish_task(task)) == task
    True
    >>> publish_task(KRR(keys=[1, 2**60], epsilon=1).named("numbers"))
    Traceback (most recent call last):
    curador.errors.InvalidParameter: No device would answer this task: ...
    """
    if not task.name:
        raise InvalidParameter(
            "A task is published under a name, by which devices tell it from others with the same answers.",
            fix='Name it: task.named("drinks").',
            code="task-unnamed",
        )
    document = {"curador": VERSION, "id": task.id, "task": task.to_json()}
    try:
        curador_device.read_task(json.loads(canonical(document)))
    except curador_device.Refused as refusal:
        # Integers of 2**53 and more, for example, are not the same in every language.
        raise InvalidParameter(f"No device would answer this task: {refusal}", fix="Change it.") from None
    return document


def read_task(document: Mapping[str, Any]) -> Task:
    """Read the task of a document; refuse one altered after publication or one that breaks its epsilon."""
    if not isinstance(document, Mapping) or set(document) != {"curador", "id", "task"}:
        raise InvalidParameter("This is not a task.", fix="Read what publish_task() made.", code="not-a-task")
    version, body = document["curador"], document["task"]
    if type(version) is not int or version != VERSION or not isinstance(body, Mapping):
        raise InvalidParameter("This task is of another version.", fix="Upgrade Curador.")
    task = task_from_json(body)
    if document["id"] != task.id:
        raise InvalidParameter("This task was altered after it was published.", fix="Fetch it again.")
    return task


@dataclass(frozen=True)
class Message:
    """A decoded message: the report's bytes, a token that is used once, and nothing else.

    >>> Message(bytes(16), b"\\x05").token.hex()
    '00000000000000000000000000000000'
    """

    token: bytes
    report: bytes


def messages(task: Task, reports: Any, *, entropy: Entropy = SYSTEM) -> list[dict[str, str]]:
    """Make the messages that as many devices would send with these reports, each with its own token.

    >>> from curador.local import KRR
    >>> task = KRR(keys=["a", "b"], epsilon=1)
    >>> sent = messages(task, task.randomize(["a"]))[0]
    >>> sorted(sent), read_message(task, sent).report in (b"\\x00", b"\\x01")
    (['epsilon', 'report', 'task', 'token'], True)
    """
    rows = task.to_bytes(reports)
    tokens = entropy.words(TOKEN_BYTES * len(rows), np.uint8).reshape(len(rows), TOKEN_BYTES)
    named, kept = task.id, str(task.epsilon)
    return [
        {"task": named, "epsilon": kept, "token": token.tobytes().hex(), "report": to_base64(row.tobytes())}
        for token, row in zip(tokens, rows, strict=True)
    ]


def read_message(task: Task, message: Any) -> Message:
    """Read a message on this task, or raise :class:`curador.errors.MessageRefused`.

    :func:`sound_reports` checks for many messages at once whether their bytes can be a report.
    """
    token, report = message_parts(task, message)
    found = Message(_from_hex(token), _from_base64(report))
    if len(found.token) != TOKEN_BYTES or len(found.report) != task.layout.size:
        raise refused("malformed", f"A token has {TOKEN_BYTES} bytes, a report on this task {task.layout.size}.")
    return found


def message_parts(task: Task, message: Any) -> tuple[str, str]:
    """Return the texts of a message's token and report; refuse it unless it is on this task.

    >>> from curador.local import KRR
    >>> task = KRR(keys=["a", "b"], epsilon=1)
    >>> message_parts(task, {"task": task.id, "epsilon": "1", "token": "00", "report": "AQ"})
    ('00', 'AQ')
    """
    if not isinstance(message, Mapping) or set(message) != {"task", "epsilon", "token", "report"}:
        raise refused("malformed", "A message has a task, an epsilon, a token and a report.")
    if not all(isinstance(part, str) for part in message.values()):
        raise refused("malformed", "A message's parts are strings.")
    if message["task"] != task.id:
        raise refused("another task", "This message is on another task.")
    if message["epsilon"] != str(task.epsilon):
        raise refused("another epsilon", f"This task is answered with epsilon = {task.epsilon}.")
    return message["token"], message["report"]


def sound_reports(task: Task, rows: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Mark the rows of bytes that the task's randomizer can make.

    >>> from curador.local import KRR
    >>> sound_reports(KRR(keys=3, epsilon=1), np.array([[0], [3], [2]], np.uint8)).tolist()
    [True, False, True]
    """
    return task._sound(short_words(task.from_bytes(rows)))


def to_base64(data: bytes) -> str:
    """Encode bytes as text that may stand in an address, without padding.

    >>> to_base64(bytes([255, 254]))
    '__4'
    """
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _from_base64(text: str) -> bytes:
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise refused("malformed", "The report is not base64.") from None
    if to_base64(data) != text:  # one text for each report: spare bits carry nothing
        raise refused("malformed", "The report is not base64.")
    return data


def _from_hex(text: str) -> bytes:
    try:
        data = bytes.fromhex(text)
    except ValueError:
        raise refused("malformed", "The token is not hexadecimal.") from None
    if data.hex() != text:
        raise refused("malformed", "The token is not hexadecimal.")
    return data
