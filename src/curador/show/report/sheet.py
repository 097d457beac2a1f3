"""The guarantee sheet, in the order of the pyramid of NIST SP 800-226; and the receipt of a ledger."""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from curador.privacy import ApproxDP, Guarantee, Neighbors
from curador.show.explain import guarantee_text, whom
from curador.show.pages.page import prose
from curador.show.pages.svg import escaped
from curador.show.report.odds import Protected
from curador.show.tables import percent
from curador.show.words.say import say

VERIFY = "curador ledger verify"
ALLOWED = ("reason", "override")
"""Notes on how a large loss was allowed: they stand with it."""


@dataclass(frozen=True)
class Sheet:
    """What a guarantee sheet is filled in with; ``notes`` are codes with their texts."""

    guarantee: Guarantee
    tight: ApproxDP | None
    protects: tuple[Protected, ...]
    mechanisms: tuple[str, ...]
    notes: tuple[tuple[str, str], ...]
    confidences: tuple[float, ...]
    language: str

    def html(self) -> str:
        """The sheet: a heading for each level, with its sentences."""
        parts = [prose(say("sheet-lead", self.language)), '<ol class="pyramid">']
        for code, texts in self._levels():
            said = "".join(map(prose, texts))
            parts.append(f"<li><h3>{escaped(say(code, self.language))}</h3>{said}</li>")
        return "".join([*parts, "</ol>"])

    def _levels(self) -> Iterable[tuple[str, list[str]]]:
        says = self.language
        yield "sheet-loss", self._loss()
        names = ", ".join(say(kind, says) for kind in self.mechanisms)
        used = [say("sheet-mechanisms", says, names=names)] if names else []
        yield "sheet-algorithms", [*used, say("sheet-exact", says)]
        confidence = ", ".join(map(percent, self.confidences))
        told = [text for code, text in self.notes if code not in ALLOWED]
        yield "sheet-utility", [say("sheet-intervals", says, confidence=confidence), *told]
        yield "sheet-trust", [say("sheet-trust-says", says)]
        yield "sheet-security", [say("sheet-security-says", says)]
        yield "sheet-collection", [say("sheet-collection-says", says)]
        yield "sheet-not", [say(f"sheet-not-{code}", says) for code in ("population", "others", "groups", "keys")]

    def _loss(self) -> list[str]:
        says, whole = self.language, guarantee_text(self.guarantee, self.language)
        texts = [say("sheet-loss-says", says, guarantee=_first_up(whole))]
        if self.tight is not None and self.tight.epsilon < getattr(self.guarantee, "epsilon", math.inf):
            texts.append(say("sheet-tight", says, tight=guarantee_text(self.tight, says)))
        for unit, neighbors in self.protects:
            texts.append(say("sheet-unit-says", says, whom=whom(unit, says), neighbors=say(neighbors.value, says)))
        if any(unit is None for unit, _ in self.protects):
            texts.append(say("sheet-unit-row", says))
        if any(neighbors is Neighbors.REPLACE for _, neighbors in self.protects):
            texts.append(say("sheet-unit-replace", says))
        return texts + [text for code, text in self.notes if code in ALLOWED]


@dataclass(frozen=True)
class LedgerReceipt:
    """Who counted a release, and how to verify it; ``ledger`` are the digits of the seal that name its ledger."""

    charge: str
    cost: Guarantee
    seal: str
    ledger: str
    rehearsal: bool
    json: str
    tables: Mapping[str, bytes]
    file: str
    language: str

    def html(self) -> str:
        """The receipt, with the release itself as files inside the page."""
        says = self.language
        if self.rehearsal:
            return prose(say("receipt-rehearsal", says))
        rows = {"receipt-charge": self.charge, "receipt-cost": guarantee_text(self.cost, says)}
        rows |= {"receipt-ledger": self.ledger} if self.ledger else {}
        rows |= {"receipt-seal": self.seal or say("receipt-unsealed", says)}
        listed = "".join(
            f"<div><dt>{escaped(say(code, says))}</dt><dd>{escaped(text)}</dd></div>" for code, text in rows.items()
        )
        parts = [f'<dl class="receipt">{listed}</dl>']
        if self.seal:
            command = escaped(f"{VERIFY} {self.file}")
            parts += [prose(say("receipt-verify", says)), f"<pre><code>{command}</code></pre>"]
            parts.append(prose(say("receipt-page", says)))
        return "".join([*parts, self._files()])

    def _files(self) -> str:
        if not self.json:
            return ""
        links = [_link(say("receipt-json", self.language), self.file, "application/json", self.json.encode())]
        for name, content in self.tables.items():
            links.append(_link(say("receipt-csv", self.language, name=name), f"{name}.csv", "text/csv", content))
        listed = "".join(f"<li>{one}</li>" for one in links)
        said = prose(say("receipt-files", self.language))
        return f'<div class="files">{said}<ul>{listed}</ul>{prose(say("receipt-csv-safe", self.language))}</div>'


def _link(text: str, file: str, kind: str, content: bytes) -> str:
    """A file inside the page: it is saved from there, without a network."""
    inside = f"data:{kind};charset=utf-8;base64,{b64encode(content).decode()}"
    return f'<a download="{escaped(file)}" href="{inside}">{escaped(text)}</a>'


def mechanisms_of(plans: Sequence[Mapping[str, Any] | None]) -> tuple[str, ...]:
    """The kinds of mechanism that some plans use, each once."""
    used = (step["mechanism"] for facts in plans if facts is not None for step in facts["steps"])
    return tuple(dict.fromkeys(kind for kind in used if kind is not None))


def _first_up(text: str) -> str:
    return text[:1].upper() + text[1:]
