"""Docstrings as Markdown: their three words in bold, names in code, roles without their markup."""

from __future__ import annotations

import re
from typing import Any

import citations
from griffe import Extension

WORDS = ("Guarantee", "Assumes", "Fails", "Always", "Empty")


class HouseDocstrings(Extension):
    """Rewrites each docstring before it is rendered."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Once for each object, when its package has been read."""
        if obj.docstring is not None:
            obj.docstring.value = rewritten(obj.docstring.value)


def rewritten(text: str) -> str:
    """One docstring.

    >>> rewritten("Pay.\\n\\nGuarantee: odds move\\n    by ``e``.\\nFails: never.")
    'Pay.\\n\\n**Guarantee.** odds move\\nby `e`.\\n\\n**Fails.** never.'
    """
    paragraphs: list[str] = []
    session = False
    for line in [*text.splitlines(), ""]:
        if session != (now := line.startswith(">>>") or (session and bool(line.strip()))):
            paragraphs += ["", "```pycon"] if now else ["```"]
        session, word = now, line.partition(":")[0]
        if session:
            paragraphs.append(line)
        elif word in WORDS and ":" in line:
            paragraphs += ["", f"**{word}.**{line[len(word) + 1 :]}"]
        elif paragraphs and _continues(paragraphs) and line.startswith("    "):
            paragraphs.append(line.strip())
        else:
            paragraphs.append(line)
    joined = "\n".join(paragraphs).rstrip()
    joined = re.sub(r":\w+:`~?([^`]+)`", lambda m: f"`{m[1].rpartition('.')[2]}`", joined)
    joined = citations.linked(joined, "api/name.md").replace("references.md#", "references.html#")
    return re.sub(r"(?<!`)``([^`]+)``(?!`)", r"`\1`", re.sub(r"\n{3,}", "\n\n", joined))


def _continues(lines: list[str]) -> bool:
    """Whether the paragraph that is being read began with one of the words."""
    for line in reversed(lines):
        if not line:
            return False
        if line.startswith("**"):
            return True
    return False
