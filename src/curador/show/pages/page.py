"""A page in one file: HTML without a script and without a network; or the same as plain values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files

from curador.show.pages.exhibits import (
    Drawing,
    Exhibit,
    FoundClaim,
    Listing,
    Part,
    floor_drawing,
    found_plain,
    found_text,
)
from curador.show.pages.svg import NARROW, WIDE, escaped
from curador.show.tables import Cell, cell_text
from curador.show.words.say import say

_SHELL = """<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""


@cache
def chart_style() -> str:
    """The stylesheet of charts alone; a page that embeds them defines its colours, as ``tokens.css`` does.

    >>> all(line.startswith((".chart", "/*", " ")) for line in chart_style().splitlines())
    True
    """
    return (files(__package__) / "charts.css").read_text("utf-8")


@cache
def tokens_and_charts() -> str:
    """What all stylesheets begin with: colours, light and dark, and the look of charts.

    >>> "prefers-color-scheme" in tokens_and_charts()
    True
    """
    return (files(__package__) / "tokens.css").read_text("utf-8") + chart_style()


@cache
def style() -> str:
    """The stylesheet of reports."""
    return tokens_and_charts() + (files(__package__) / "style.css").read_text("utf-8")


def shell(title: str, body: str, language: str = "en", look: str = "") -> str:
    """A whole page around a body that is HTML already; only the title is escaped here.  ``look`` is more style.

    >>> shell("a <b>", "<main></main>").count("&lt;b&gt;")
    1
    """
    return _SHELL.format(language=escaped(language), title=escaped(title), style=style() + look, body=body)


def table(headings: Sequence[str], rows: Iterable[Sequence[Cell]], *, caption: str = "", cards: bool = False) -> str:
    """A table, every text escaped; wide ones scroll by themselves, and ``cards`` are stacked on a telephone.

    >>> table(["n"], [["<b>"], [1234]])[-78:]
    '<td>&lt;b&gt;</td></tr><tr><td class="n">1,234</td></tr></tbody></table></div>'
    """
    listed = [list(row) for row in rows]
    right = [all(_numeric(row[k]) for row in listed) and bool(listed) for k in range(len(headings))]
    head = "".join(f'<th{_class(r)} scope="col">{escaped(h)}</th>' for h, r in zip(headings, right, strict=True))
    body = "".join(
        f"<tr>{''.join(_cell(c, h, k, cards) for k, (c, h) in enumerate(zip(row, headings, strict=True)))}</tr>"
        for row in listed
    )
    said = f"<caption>{escaped(caption)}</caption>" if caption else ""
    kind = ' class="cards"' if cards else ""
    name = escaped(caption or ", ".join(headings))
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{name}"><table{kind}>{said}'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _numeric(cell: Cell) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool)


def _class(right: bool) -> str:
    return ' class="n"' if right else ""


def _cell(cell: Cell, heading: str, k: int, cards: bool) -> str:
    kind = ' class="n"' if _numeric(cell) else ' class="first"' if cards and k == 0 else ""
    of = f' data-of="{escaped(heading)}"' if cards else ""
    text = cell_text(float(f"{cell:.4g}") if isinstance(cell, float) else cell) if cell is not None else ""
    return f"<td{kind}{of}>{escaped(text)}</td>"


def figure(drawing: Drawing, language: str = "en") -> str:
    """A chart for a page and for a telephone, with its caption."""
    drawn = "".join(
        f'<div class="{kind}">{drawing.svg(language, width)}</div>'
        for kind, width in (("wide", WIDE), ("narrow", NARROW))
    )
    return f"<figure><figcaption>{escaped(say(drawing.code, language))}</figcaption>{drawn}</figure>"


# ---- the parts of a report ------------------------------------------------------------------------------------------


def prose(text: str) -> str:
    """A paragraph; symbols stay with their numbers.

    >>> prose("within ± 3, for ε = 1 <b>").count("\u00a0"), "<b>" in prose("<b>")
    (3, False)
    """
    kept = re.sub(r"([εδkn]) = (?=\S)", "\\1\u00a0=\u00a0", text).replace("± ", "±\u00a0").replace(" %", "\u00a0%")
    return f"<p>{escaped(kept)}</p>"


def _listed(listing: Listing, language: str) -> str:
    headings, rows = listing.worded(language)
    return table(headings, rows, caption=say(listing.code, language), cards=len(headings) > 3)


def _part(part: Part, facts: Mapping[str, object], language: str) -> str:
    said = "".join(prose(say(code, language, **facts)) for code in part.says)
    drawn = "".join(figure(drawing, language) for drawing in part.drawings)
    listed = "".join(_listed(listing, language) for listing in part.listings)
    return f"<h3>{escaped(say(part.heading, language))}</h3>{said}{drawn}{listed}"


def _exhibit(exhibit: Exhibit, language: str) -> str:
    parts = "".join(_part(part, exhibit.facts, language) for part in exhibit.parts)
    return f'<section id="{escaped(exhibit.code)}"><h2>{escaped(exhibit.title(language))}</h2>{parts}</section>'


def _findings(findings: Sequence[FoundClaim], language: str) -> str:
    """How many claims were attacked, what broke, then every claim in a row."""
    broken = [f for f in findings if f.violated]
    counts = {
        "found-claims": sum(f.claim is not None for f in findings),
        "found-broken": len(broken),
        "found-runs": sum(f.samples for f in findings),
    }
    tally = "".join(f"<div><dt>{escaped(say(c, language))}</dt><dd>{n:,}</dd></div>" for c, n in counts.items())
    seen = {f.detectable for f in findings if f.claim is not None and not f.violated}
    shared = seen.pop() if len(seen) == 1 else ""  # what all would have found is said once
    headings = [say(c, language) for c in ("found-subject", "found-claim", "found-floor", "found-n", "found-verdict")]
    head = "".join(f'<th scope="col"{_class(k in (2, 3))}>{escaped(h)}</th>' for k, h in enumerate(headings))
    listed = [*broken, *(f for f in findings if not f.violated)]
    rows = "".join(_claim_row(one, headings, "" if shared else one.detectable, language) for one in listed)
    said = [*(found_text(one, language) for one in broken), say("found-caveat", language)]
    said += [say("found-all-would", language, detectable=shared)] if shared else []
    drawing = floor_drawing(findings)
    name = escaped(say("found-title", language))
    return (
        f'<section id="findings"><h2>{name}</h2><dl class="tally">{tally}</dl>{"".join(map(prose, said))}'
        f"{'' if drawing is None else figure(drawing, language)}"
        f'<div class="scroll" role="region" tabindex="0" aria-label="{name}"><table class="cards">'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div></section>"
    )


def _claim_row(one: FoundClaim, headings: Sequence[str], detectable: str, language: str) -> str:
    """A claim in a row; below its name what the attack would have found, or what was seen where nothing is claimed."""
    below = one.witness if one.claim is None else ""
    if detectable and one.claim is not None and not one.violated:
        below = say("found-would", language, detectable=detectable).removeprefix("; ")
    cells = [
        ("first", escaped(one.subject) + (f"<small>{escaped(below)}</small>" if below else "")),
        ("keep", escaped("" if one.claim is None else one.claim.label)),
        ("n", f"{one.floor:.4g}"),
        ("n", f"{one.samples:,}"),
        ("verdict", escaped(say(_verdict(one), language))),
    ]
    row = "".join(
        f'<td class="{kind}" data-of="{escaped(h)}">{inside}</td>'
        for (kind, inside), h in zip(cells, headings, strict=True)
    )
    return f'<tr class="alarmed">{row}</tr>' if one.violated else f"<tr>{row}</tr>"


def _verdict(one: FoundClaim) -> str:
    return "verdict-violated" if one.violated else "verdict-measured" if one.claim is None else "verdict-nothing"


def report_html(
    title: str,
    lead: str,
    *,
    exhibits: Sequence[Exhibit] = (),
    findings: Sequence[FoundClaim] = (),
    language: str = "en",
    foot: str = "",
) -> str:
    """Exhibits and findings as one page.

    Guarantee: every text and name is escaped; the page loads nothing and runs nothing, and tells the browser so.

    >>> page = report_html("Attacks", "What they find.")
    >>> page.startswith("<!doctype html>"), "<script" in page, "http" in page.replace("http-equiv", "")
    (True, False, False)
    """
    named = [*([("findings", say("found-title", language))] if findings else [])]
    named += [(e.code, e.title(language)) for e in exhibits]
    links = "".join(f'<li><a href="#{escaped(code)}">{escaped(text)}</a></li>' for code, text in named)
    nav = f'<nav aria-label="{escaped(say("contents", language))}"><ol>{links}</ol></nav>' if len(named) > 1 else ""
    body = (
        f'<header><h1>{escaped(title)}</h1><p class="lead">{escaped(lead)}</p>{nav}</header><main>'
        f"{_findings(findings, language) if findings else ''}{''.join(_exhibit(e, language) for e in exhibits)}"
        f"</main><footer>{escaped(foot or say('made-by', language))}</footer>"
    )
    return shell(title, body, language)


def report_plain(
    title: str,
    lead: str,
    *,
    exhibits: Sequence[Exhibit] = (),
    findings: Sequence[FoundClaim] = (),
    language: str = "en",
) -> dict[str, object]:
    """The same as plain values, for programs.

    >>> report_plain("Attacks", "What they find.")["findings"]
    []
    """
    return {
        "title": title,
        "lead": lead,
        "language": language,
        "findings": [found_plain(f, language) for f in findings],
        "exhibits": [e.plain(language) for e in exhibits],
    }
