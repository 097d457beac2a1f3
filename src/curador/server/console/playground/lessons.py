"""All lessons, in the order in which they are read."""

from __future__ import annotations

from curador.server.console.playground import (
    accuracy,
    composing,
    cutting,
    deciding,
    divergence,
    laplace,
    rebuilding,
    response,
    sides,
)

FIRST = tuple(one.LESSON for one in (deciding, accuracy, response, sides, rebuilding))
"""For everybody, to be played in this order."""

FURTHER = tuple(one.LESSON for one in (laplace, composing, cutting, divergence))
"""For the curious."""

LESSONS = {one.name: one for one in FIRST + FURTHER}
