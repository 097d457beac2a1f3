"""What an attack found about one claim: a floor under what is claimed as a ceiling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from curador.privacy import Guarantee


@dataclass(frozen=True)
class Finding:
    """One claim, attacked: what was seen can be explained only if the loss is at least ``floor``.

    * ``subject``: what was attacked; ``claim``: what it says of itself, None where it claims nothing;
    * ``floor``: the least value of the claim's own number (ε at its δ, or ρ) that is compatible with what was seen,
      at ``confidence``; 0 where nothing was found;
    * ``violated``: whether that contradicts the claim;
    * ``samples``: runs on each of the two neighbours;
    * ``witness``: the event, the neighbours or the line that show it, in words;
    * ``detectable``: the smallest error that so many runs would have found, in words; "" where that is not known;
    * ``details``: plain values for reports.

    Assumes: the runs were independent.  An audit that finds nothing proves nothing: see ``sentence``.

    >>> from curador.privacy import PureDP
    >>> found = Finding("Laplace", PureDP(1), floor=0.97, confidence=0.99, samples=30_000, detectable="5 % less noise")
    >>> print(found.sentence())
    Laplace: no violation found with n = 30,000; would have found 5 % less noise.
    """

    subject: str
    claim: Guarantee | None
    floor: float
    confidence: float
    samples: int
    violated: bool = False
    witness: str = ""
    detectable: str = ""
    details: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))

    def sentence(self) -> str:
        """The finding in words; never that something is verified."""
        if self.violated:
            return f"{self.subject}: violated, at least {self.floor:.4g} ({self.confidence:.1%}): {self.witness}."
        tail = f"; would have found {self.detectable}" if self.detectable else ""
        return f"{self.subject}: no violation found with n = {self.samples:,}{tail}."
