"""Two languages in one site: what a page's language is, the same page in the other one, and a menu for each."""

from __future__ import annotations

import copy
from typing import Any

NAMES = {"en": "English", "es": "Español"}
HOME = {"en": "index.md", "es": "es/index.md"}
TOGGLES = {"en": ("Dark colours", "Light colours"), "es": ("Colores oscuros", "Colores claros")}


def language(uri: str) -> str:
    """A page's language, by its place."""
    return "es" if uri.startswith("es/") or "/es/" in uri or uri.endswith(".es.md") else "en"


def counterpart(uri: str) -> str:
    """Where the same page would stand in the other language."""
    if uri in HOME.values():
        return HOME["en" if uri == HOME["es"] else "es"]
    if uri in ("es/readme.md", "project/readme.md"):
        return "project/readme.md" if uri.startswith("es/") else "es/readme.md"
    if uri.endswith(".es.md"):
        return uri.removesuffix(".es.md") + ".md"
    there = uri.replace("/es/", "/en/") if "/es/" in uri else uri.replace("/en/", "/es/")
    return there if there != uri else uri.removesuffix(".md") + ".es.md"


def _of(item: Any) -> str:
    """The language of a part of the menu: that of its first page."""
    while not getattr(item, "is_page", False):
        item = item.children[0]
    return language(item.file.src_uri)


def parted(nav: Any) -> Any:
    """A menu in which nobody is led from the last page in one language to the first in the other."""
    for page in nav.pages:
        for side in ("previous_page", "next_page"):
            other = getattr(page, side)
            if other is not None and language(other.file.src_uri) != language(page.file.src_uri):
                setattr(page, side, None)
    return nav


def speak(page: Any, config: Any, context: Any, nav: Any) -> None:
    """The theme's own words, the menu and the switch, in the page's language."""
    own = language(page.file.src_uri)
    other = "en" if own == "es" else "es"
    files = {other.file.src_uri: other.file for other in nav.pages}
    there = counterpart(page.file.src_uri)
    target = files.get(there, files[HOME[other]])
    config.theme["language"] = own
    config.extra["switch"] = {"name": NAMES[other], "lang": other, "link": target.url}
    for option, name in zip(config.theme["palette"], TOGGLES[own], strict=True):
        option["toggle"]["name"] = name
    mine = copy.copy(nav)
    mine.items = [item for item in nav.items if _of(item) == own]
    mine.homepage = files[HOME[own]].page
    context["nav"] = mine
