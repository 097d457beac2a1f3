"""A gauge, as SVG: how much of something is used; as wide as the place it stands in."""

from __future__ import annotations

from curador.show.pages.svg import escaped, number

WIDTH, HEIGHT = 1000, 12

NEARLY = 0.9
"""The share from which a gauge is in the colour of alarm."""


def gauge(share: float, name: str) -> str:
    """A bar that is filled by a share; ``name`` is read aloud and says the number.

    >>> gauge(0.25, "a <quarter>")[:60]
    '<svg class="gauge" viewBox="0 0 1000 12" preserveAspectRatio'
    """
    filled = min(max(share, 0.0), 1.0) * WIDTH
    kind = "alarm" if share >= NEARLY else "bar"
    return (
        f'<svg class="gauge" viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" role="img" '
        f'aria-label="{escaped(name)}"><rect class="track" width="{WIDTH}" height="{HEIGHT}"/>'
        f'<rect class="{kind}" width="{number(filled)}" height="{HEIGHT}"/></svg>'
    )
