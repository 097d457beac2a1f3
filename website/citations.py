"""Papers: the page that lists them from references.bib, and links to it from every key in brackets."""

from __future__ import annotations

import posixpath
import re
from functools import cache

import repository
import tree

PAGE = "references.md"
KEY = r"[A-Z][A-Za-z]+\d\d[a-z]?"
GROUP = re.compile(rf"(?<!\[)\[({KEY}\b[^\[\]]*)\](?![\[(:])")


@cache
def entries() -> dict[str, dict[str, str]]:
    """The bibliography by key."""
    text = (tree.DOCS / "references.bib").read_text()
    found = re.findall(r"^@\w+\{(\S+),\n(.*?)^\}$", text, re.MULTILINE | re.DOTALL)
    field = re.compile(r"^  (\w+) += \{(.*?)\},?$", re.MULTILINE | re.DOTALL)
    return {key: {name: _plain(value) for name, value in field.findall(body)} for key, body in found}


def _plain(value: str) -> str:
    return re.sub(r"\s+", " ", value).replace("{", "").replace("}", "").replace("--", "–")


def page() -> str:
    """Every paper, with an anchor by its key."""
    rows = []
    for key, fields in entries().items():
        place = next((fields[n] for n in ("journal", "booktitle", "howpublished", "publisher") if n in fields), "")
        link = fields.get("url") or (f"https://doi.org/{fields['doi']}" if "doi" in fields else "")
        title = f"[{fields['title']}]({link})" if link else fields["title"]
        tail = ", ".join(part for part in (place, fields["year"]) if part)
        rows.append(
            f'<a id="{key.lower()}"></a>**[{key}]** {fields["author"].replace(" and ", ", ")}: *{title}*. {tail}.'
        )
    return "# References\n\nPapers are cited by key.\n\n" + "\n\n".join(rows) + "\n"


def linked(text: str, uri: str) -> str:
    """A page's text with its keys linked to the page of papers."""
    if uri == PAGE or uri.startswith("source/"):
        return text
    to = posixpath.relpath(PAGE, posixpath.dirname(uri) or ".")

    def group(found: re.Match[str]) -> str:
        inside = re.sub(
            rf"\b{KEY}\b", lambda m: f"[{m[0]}]({to}#{m[0].lower()})" if m[0] in entries() else m[0], found[1]
        )
        return f"\\[{inside}\\]" if inside != found[1] else found[0]

    return repository.outside_code(text, lambda part: GROUP.sub(group, part))
