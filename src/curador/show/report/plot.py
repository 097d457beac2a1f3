"""Charts as an object: shown by a notebook, as SVG text, and as a file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from curador.errors import InvalidParameter
from curador.show.files import write_or_refuse
from curador.show.pages.page import chart_style, style
from curador.show.pages.svg import LINE, WIDE, escaped, label, number, wrapped
from curador.show.report.fragments import figure_of
from curador.show.report.picture import Picture
from curador.show.report.scoped import scoped

EDGE = 16.0


@dataclass(frozen=True)
class Plot:
    """The charts of a release: ``svg`` is one picture of all of them, below each other.

    A notebook shows it; ``save`` writes a file.
    """

    pictures: tuple[Picture, ...]

    @property
    def svg(self) -> str:
        """All charts as one SVG that needs no stylesheet and no network.

        Guarantee: every text is escaped; it holds no script and no address of anything but its own format.
        """
        parts, y = [], EDGE
        for one in self.pictures:
            for text in wrapped(one.caption, WIDE):
                y += LINE
                parts.append(label(text, EDGE, y, "caption"))
            y += 10
            drawn = one.svg(WIDE)
            tall = float(re.search(r' height="([\d.]+)"', drawn)[1])  # type: ignore[index]  # it has one
            parts.append(drawn.replace("<svg ", f'<svg x="{number(EDGE)}" y="{number(y)}" ', 1))
            y += tall + EDGE
        size = f'width="{number(WIDE + 2 * EDGE)}" height="{number(y)}"'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {number(WIDE + 2 * EDGE)} {number(y)}" {size} '
            f'role="img" aria-label="{escaped("; ".join(p.caption for p in self.pictures))}">'
            f"<style>{_fixed()}</style>"
            f'<rect width="100%" height="100%" fill="{_colours()["paper"]}"/>{"".join(parts)}</svg>'
        )

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return scoped("".join(map(figure_of, self.pictures)))

    def __len__(self) -> int:
        return len(self.pictures)

    def save(self, path: str | Path) -> Path:
        """Write the charts to a file: ``.svg``, or ``.png`` where resvg-py is installed."""
        file = Path(path)
        kind = file.suffix.lower()
        if kind not in (".svg", ".png"):
            raise InvalidParameter(f"{file.name} is neither SVG nor PNG.", fix="End the name in .svg or .png.")
        content = self.svg.encode() if kind == ".svg" else _png(self.svg)
        return write_or_refuse(file, content)


def plot(pictures: Sequence[Picture]) -> Plot:
    """A plot of some charts; refused where there are none."""
    if not pictures:
        raise InvalidParameter("There is nothing to draw: no output is a number.", fix="Print the release.")
    return Plot(tuple(pictures))


@cache
def _colours() -> dict[str, str]:
    """The colours of pages in the light: a picture in a file is seen on paper."""
    found = dict(re.findall(r"--(\w+): ([^;]+);", style()[: style().index("}")]))
    return {name: found[x[6:-1]] if x.startswith("var(") else x for name, x in found.items()}


FONTS = 'font-family: Arial, Helvetica, "Liberation Sans", "DejaVu Sans", "Noto Sans", sans-serif;'
"""By name: programs that draw pictures know no system font."""


def _fixed() -> str:
    """The stylesheet of charts with its colours and fonts filled in: such programs know no variables either."""
    colours = _colours()
    style = re.sub(r"var\(--(\w+)\)", lambda m: colours[m[1]], chart_style())
    style = re.sub(r"/\*.*?\*/", "", style, flags=re.DOTALL)
    style = re.sub(r"font: 12px[^;]*;", FONTS, style)
    own = f".caption {{ {FONTS} font-size: 13px; font-weight: 600; fill: {colours['ink']}; }}"
    return re.sub(r"\s+", " ", style) + own


PROBE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><style>text {{ {fonts} }}</style>'
    '<text y="15">{text}</text></svg>'
)


def _png(svg: str) -> bytes:
    """The picture as PNG; refused where there is no font, for it would have no texts."""
    try:
        drawn = import_module("resvg_py").svg_to_bytes
    except ImportError:
        raise InvalidParameter(
            "resvg-py is not installed, which draws PNG.", fix="Save as .svg; or run: pip install resvg-py"
        ) from None
    blank, written = (bytes(drawn(svg_string=PROBE.format(fonts=FONTS, text=text))) for text in ("", "M"))
    if blank == written:
        raise InvalidParameter("No font was found to write a PNG with.", fix="Save as .svg, or install a font.")
    return bytes(drawn(svg_string=svg, zoom=2))
