"""The identity of a task: a name, perhaps a period and a public segment, and all its parameters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256

from curador.errors import InvalidParameter

ID_DIGITS = 32
"""The number of hexadecimal digits of the SHA-256 in the id."""
LABEL_BYTES = 256
"""The largest size of a name, a period or a segment in bytes of UTF-8."""
LABELS = ("name", "period", "segment")


def canonical(document: object) -> bytes:
    """Write a JSON document in canonical form: keys sorted, no spaces, everything beyond ASCII escaped.

    >>> canonical({"b": 1, "a": "é"})
    b'{"a":"\\\\u00e9","b":1}'
    """
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode()


def digest_of(body: Mapping[str, object]) -> str:
    """Hash a task's canonical text by SHA-256, in hexadecimal.

    >>> len(digest_of({"name": "drinks"}))
    64
    """
    return sha256(canonical(body)).hexdigest()


def checked_label(label: object, what: str) -> str:
    """Check a name, a period or a segment: a short printable text.

    >>> checked_label("2026-11", "period")
    '2026-11'
    """
    fits = isinstance(label, str) and label.isprintable() and 0 < len(label.strip()) == len(label)
    if not isinstance(label, str) or not fits or len(label.encode()) > LABEL_BYTES:
        raise InvalidParameter(
            f"The {what} of a task is a printable text of 1 to {LABEL_BYTES} bytes, without spaces around it.",
            fix="Choose a short word, such as drinks.",
        )
    return label
