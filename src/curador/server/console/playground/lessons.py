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

LESSONS = {
    one.LESSON.name: one.LESSON
    for one in (laplace, accuracy, deciding, response, composing, divergence, cutting, sides, rebuilding)
}
