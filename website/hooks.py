"""The site, built by MkDocs from docs/ as it is, and from what stands elsewhere: ``make docs``.

Pages read the same on a code host: links are relative and lead to files of the repository; here they are led on to what
the site has.  Nothing comes from another host.  Reading order:

* hooks — what happens when, event by event
* tree — the order of pages, and what each page is called in the menu
* repository — links out of docs/, and the pages they lead to
* languages — a page's language, and the same page in the other one
* citations — keys of papers, and the page that lists them
* formulas — TeX to MathML
* figures — drawings that follow the page's colours
* tables — where long names in them are broken
* api — pages of the public names
* docstrings — docstrings as Markdown
* look — colours from tokens.css
"""

from __future__ import annotations

from typing import Any

import api
import citations
import figures
import formulas
import languages
import look
import repository
import tables
import tree
from mkdocs.structure.files import File, Files


def on_config(config: Any) -> Any:
    config.nav = tree.nav()
    return config


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages that are made: root files, sources that are linked to, public names, papers, the stylesheet."""
    made = {**repository.pages(), **api.pages(), citations.PAGE: citations.page(), look.FILE: look.css()}
    for uri, text in made.items():
        files.append(File.generated(config, uri, content=text))
    return files


def on_nav(nav: Any, config: Any, files: Files) -> Any:
    return languages.parted(nav)


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    uri = page.file.src_uri
    if uri in languages.HOME.values():
        page.meta["hide"] = ["navigation"]  # the table on it is the menu
    text = repository.spaced(markdown)
    return citations.linked(repository.relinked(text, uri), uri)


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:
    text = formulas.typeset(html, page.file.src_uri)
    return tables.breakable(figures.inlined(text, page.file.src_uri))


def on_page_context(context: Any, page: Any, config: Any, nav: Any) -> Any:
    languages.speak(page, config, context, nav)
    return context


def on_post_page(output: str, page: Any, config: Any) -> str:
    """Names the theme's box for searching, which who hears the page would else meet without a name."""
    named = {"en": "Search", "es": "Buscar"}[languages.language(page.file.src_uri)]
    box = 'data-md-component="search" role="dialog"'
    return output.replace(box, f'{box} aria-label="{named}"')
