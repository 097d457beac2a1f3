"""The client programs for devices, as text to be copied."""

from __future__ import annotations

from importlib.resources import files

from curador.errors import InvalidParameter

FILES = {"python": "curador_device.py", "js": "curador_device.js"}
"""The file of the client in each language."""


def source(language: str) -> str:
    """Return the text of the client in a language.

    >>> "getRandomValues" in source("js"), "urandom" in source("python")
    (True, True)
    """
    if language not in FILES:
        raise InvalidParameter(f"{language!r} has no client.", fix=f"Choose one of {', '.join(FILES)}.")
    return (files(__package__) / FILES[language]).read_text("utf-8")
