"""Papers: the page that lists them from references.bib, and links to it from every key in brackets."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from functools import cache

import repository
import tree

PAGE = "references.md"
KEY = r"[A-Z][A-Za-z]+\d\d[a-z]?"
GROUP = re.compile(rf"^\[[^\]]+\]:|(?<!\[)\[({KEY}\b[^\[\]]*)\](?![\[(])", re.MULTILINE)
"""Keys in brackets that are no link of their own; or, with no group, where a link leads to."""


@cache
def entries() -> dict[str, dict[str, str]]:
    """The bibliography by key."""
    text = (tree.DOCS / "references.bib").read_text()
    found = re.findall(r"^@\w+\{(\S+),\n(.*?)^\}$", text, re.MULTILINE | re.DOTALL)
    field = re.compile(r"^  (\w+) += \{(.*?)\},?$", re.MULTILINE | re.DOTALL)
    return {key: {name: _plain(value) for name, value in field.findall(body)} for key, body in found}


ACCENTS = {"'": "\u0301", "`": "\u0300", '"': "\u0308", "^": "\u0302", "~": "\u0303", "=": "\u0304", ".": "\u0307"}
ACCENTS |= {"v": "\u030c", "c": "\u0327", "u": "\u0306", "H": "\u030b", "k": "\u0328"}
LETTERS = {"i": "ı", "l": "ł", "o": "ø", "ss": "ß", "ae": "æ", "aa": "å", "L": "Ł", "O": "Ø"}


def _plain(value: str) -> str:
    """A field as text: TeX's accents as letters, without braces.

    >>> _plain("{Mart{\\\\'\\\\i}n} {\\\\L}ukasz")
    'Martín Łukasz'
    """
    text = re.sub(r"\\(['`\"^~=.])\s*\{?\\?([A-Za-z])\}?", lambda m: m[2] + ACCENTS[m[1]], value)
    text = re.sub(r"\\([vcuHk])(?:\s+|\{)\\?([A-Za-z])\}?", lambda m: m[2] + ACCENTS[m[1]], text)
    text = re.sub(r"\\(ss|ae|aa|[ilLoO])(?![A-Za-z])\s*", lambda m: LETTERS[m[1]], text)
    text = re.sub(r"\\([&%$#_])", r"\1", text)
    text = re.sub(r"\s+", " ", text).replace("{", "").replace("}", "").replace("--", "–").replace("~", " ")
    return unicodedata.normalize("NFC", text)


def _people(authors: str) -> str:
    """First names first.

    >>> _people("Dwork, Cynthia and Roth, Aaron")
    'Cynthia Dwork, Aaron Roth'
    """
    return ", ".join(" ".join(reversed(name.split(", ", 1))) for name in authors.split(" and "))


def page() -> str:
    """Every paper, with an anchor by its key."""
    rows = []
    for key, fields in entries().items():
        place = next((fields[n] for n in ("journal", "booktitle", "howpublished", "publisher") if n in fields), "")
        link = fields.get("url") or (f"https://doi.org/{fields['doi']}" if "doi" in fields else "")
        title = f"[{fields['title']}]({link})" if link else fields["title"]
        tail = ", ".join(part for part in (place, fields["year"]) if part)
        rows.append(f'<a id="{key.lower()}"></a>**[{key}]** {_people(fields["author"])}: *{title}*. {tail}.')
    return "# References\n\nPapers are cited by key.\n\n" + "\n\n".join(rows) + "\n"


def linked(text: str, uri: str) -> str:
    """A page's text with its keys linked to the page of papers."""
    if uri == PAGE or uri.startswith("source/"):
        return text
    to = posixpath.relpath(PAGE, posixpath.dirname(uri) or ".")

    def group(found: re.Match[str]) -> str:
        if found[0].endswith(":"):
            return found[0]
        inside = re.sub(
            rf"\b{KEY}\b", lambda m: f"[{m[0]}]({to}#{m[0].lower()})" if m[0] in entries() else m[0], found[1]
        )
        return f"\\[{inside}\\]" if inside != found[1] else found[0]

    return repository.outside_code(text, lambda part: GROUP.sub(group, part))
