"""Whether a release or a publication is as a ledger's curator made it."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import Any

from curador.curator.releases.publication import Publication, sealed_content
from curador.curator.releases.release import Release, sealed_part
from curador.errors import InvalidParameter
from curador.ledger.contract import Ledger
from curador.show.explain import has_texts, is_worded

LEDGER_DIGITS = 16
"""The digits of a seal that name its ledger."""


def verify_release(ledger: Ledger, given: Release | Publication | Mapping[str, Any]) -> Release | Publication:
    """The release or publication, if it is as this ledger's curator made it; the data is not needed.

    Guarantee: a value, interval, column, note, guarantee or charge that was changed is refused (code
    ``release-changed``), and so is a release of another ledger (``release-of-another-ledger``), one without a seal
    (``release-unsealed``), and one whose charge this copy of the ledger has not answered (``release-unknown``).
    Words are not sealed; plain values whose notes say what no language says of their codes are refused
    (``release-worded-otherwise``).
    """
    if isinstance(given, Release | Publication):
        found, content = given, given.content
    else:
        found = Publication.from_dict(given) if "releases" in given else Release.from_dict(given)
        content = sealed_content(given)  # of all that stands there, also of what is not read
    own = ledger.seal("")
    if not found.seal or not own:
        raise InvalidParameter(
            "This has no seal, or the ledger makes none.",
            fix="Verify what a durable ledger's curator released.",
            code="release-unsealed",
        )
    if found.seal[:LEDGER_DIGITS] != own[:LEDGER_DIGITS]:
        raise InvalidParameter(
            "This was released from another ledger.", fix="Verify it there.", code="release-of-another-ledger"
        )
    if not hmac.compare_digest(found.seal.encode(errors="replace"), ledger.seal(content).encode()):
        raise _changed(found.charge)
    if ledger.answer(found.charge) is None:
        raise InvalidParameter(
            "This ledger has not answered that charge.",
            fix="It may be an older copy; verify the release with the ledger in use.",
            code="release-unknown",
            facts={"charge": found.charge},
        )
    if isinstance(found, Publication):
        _require_inner_seals(ledger, given if isinstance(given, Mapping) else found.to_dict())
    inner = found.releases.values() if isinstance(found, Publication) else ()
    languages = [found.language, *(release.language for release in inner)]
    if not all(map(has_texts, languages)) or not (found is given or all(map(is_worded, _notes(given)))):
        raise InvalidParameter(
            "The notes of this are worded otherwise than their codes.",
            fix="Read the codes; or verify it with the version that wrote it.",
            code="release-worded-otherwise",
        )
    return found


def _require_inner_seals(ledger: Ledger, data: Mapping[str, Any]) -> None:
    """Refuse a publication in which the seal of a release is another: it would not verify when taken out."""
    for release in data["releases"].values():
        if release.get("seal") != ledger.seal(sealed_part(release)):
            raise _changed(data["charge"])


def _changed(charge: str) -> InvalidParameter:
    return InvalidParameter(
        "This is not as it was released: something in it was changed.",
        fix="Trust nothing in it; ask for it again.",
        code="release-changed",
        facts={"charge": charge},
    )


def _notes(data: Any) -> list[Mapping[str, Any]]:
    return [note for part in (data, *data.get("releases", {}).values()) for note in part["notes"]]
