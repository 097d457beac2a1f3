"""A chart of a release, with its caption."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from curador.show.pages.svg import stamped


@dataclass(frozen=True)
class Picture:
    """A chart of a release, with its caption; drawn for the width that it is asked for."""

    caption: str
    draw: Callable[[int], str]
    stamp: str = ""

    def svg(self, width: int) -> str:
        """The chart for a width; with a word across it where its rows are made up."""
        return stamped(self.draw(width), self.stamp)
