"""Draw the figures of the course: ``python -m tests.course.figures`` writes docs/course/figures, in both languages.

What is drawn at random is the same every time, by the name of the figure, so that a test can tell whether a figure that
is kept is the one that the program draws.  People in it are made up; seeded bytes are never used for anybody's data.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from curador.noise import entropy
from examples.course_figures.figures import FIGURES
from examples.course_figures.picture import standalone
from examples.course_figures.table import table_5_1
from tests.seeded import Stream

FOLDER = Path(__file__).parents[2] / "docs" / "course" / "figures"
LANGUAGES = ("en", "es")
TABLE = "table-5-1.md"


@contextmanager
def seeded(name: str) -> Iterator[None]:
    """The same bytes for a figure every time, whoever draws it and whatever was drawn before."""
    before, stream = entropy._fresh, Stream(18)
    entropy._fresh = stream
    try:
        with stream.named(name):
            yield
    finally:
        entropy._fresh = before


def drawn(name: str, language: str) -> str:
    """The text of a figure's file."""
    with seeded(name):
        return standalone(FIGURES[name](language))


def files(names: list[str]) -> Iterator[tuple[Path, str]]:
    """Each file and its text."""
    for language in LANGUAGES:
        for name in names:
            yield FOLDER / language / f"{name}.svg", drawn(name, language)
        yield FOLDER / language / TABLE, table_5_1(language)


if __name__ == "__main__":
    for file, text in files(sys.argv[1:] or list(FIGURES)):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        print(f"{file.relative_to(FOLDER.parents[2])}  {len(text.encode()):,} bytes")
