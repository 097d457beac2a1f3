"""How much of a budget is spent, as SVG: a trough with what is spent, and what would be next."""

from __future__ import annotations

from curador.show.pages.svg import WIDE, Ruler, box, framed, label, line


def gauge(
    spent: float,
    total: float,
    *,
    title: str,
    spent_text: str,
    left_text: str,
    asked: float = 0.0,
    width: int = WIDE,
) -> str:
    """A bar of ``total`` filled up to ``spent``; paler what is ``asked`` now, with an alarm where it does not fit.

    The texts are the caller's: amounts in their currency, rounded to the safe side.

    >>> drawn = gauge(0.3, 1, title="population", spent_text="spent 0.3", left_text="remaining 0.7", asked=0.2)
    >>> drawn.count("<rect"), "remaining 0.7" in drawn
    (3, True)
    """
    across = Ruler(0.0, max(total, 1e-300), 0.0, float(width))
    used = across.at(spent)
    parts = [box(0, 4, width, 14, "trough"), box(0, 4, used, 14, "bar")]
    if asked > 0:
        end = across.at(spent + asked)
        if spent + asked > total:
            parts.append(box(used, 4, max(end - used, 2), 14, "alarm", 0.7))
        else:
            parts.append(box(used, 4, max(end - used, 2), 14, "next", 0.45))
        parts.append(line(end, 1, end, 21, "mark"))
    parts += [label(spent_text, 0, 38, "key"), label(left_text, width, 38, "value", "end")]
    return framed(parts, width, 46, title, f"{spent_text}; {left_text}")
