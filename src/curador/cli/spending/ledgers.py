"""Commands about the ledger itself: ledger verify, ledger redeclare, ledger restore."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curador.cli.options import STUDY, Json, Language, Study
from curador.cli.screen import emit, say, whole, words
from curador.cli.spending.budgets import show, standing
from curador.errors import InvalidParameter
from curador.show.words.say import say as worded

if TYPE_CHECKING:
    from curador import Ledger


def verify(
    release: Annotated[
        Path | None, typer.Argument(metavar="RELEASE", help="A release or publication as JSON, to be verified instead.")
    ] = None,
    study: Study = STUDY,
    language: Language = "",
    as_json: Json = False,
) -> None:
    """Read the whole ledger again: every entry, balance and answer must be as it was written.

    With RELEASE: verify that this release is as the ledger's curator made it. Another one ends with exit code 1.

    Example: curador ledger verify release.json
    """
    from curador import open_ledger

    address, keep = _where(study)
    with closing(open_ledger(address, keep=keep)) as ledger:
        if release is not None:
            _verify_release(ledger, release, language, as_json)
            return
        entries = ledger.verify()
    if as_json:
        emit({"ledger": _named(address), "entries": entries, "sound": True})
        return
    whole(words("ledger-sound", ledger=_shown(address), n=entries), "green")


BESIDE = frozenset({"repeated", "remaining", "files"})
"""What commands print beside a release: about one call, and not part of what is sealed."""


def _verify_release(ledger: Ledger, path: Path, language: str, as_json: bool) -> None:
    from curador.curator.releases.verify import verify_release

    try:
        stated = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_once)
    except (OSError, ValueError, RecursionError):
        raise InvalidParameter(f"{path.name} is not JSON that can be read.", fix="Name a release's file.") from None
    if not isinstance(stated, dict):
        raise InvalidParameter(f"{path.name} is not a release.", fix="Name a file that ask --json or publish wrote.")
    found = verify_release(ledger, {name: x for name, x in stated.items() if name not in BESIDE})
    beside = sorted(BESIDE & stated.keys())
    if as_json:
        emit({"release": str(path), "charge": found.charge, "genuine": True, "unsealed": beside})
        return
    whole(worded("release-genuine", language, file=path.name, charge=found.charge), "green")
    if beside:
        say(worded("release-beside", language, names=", ".join(beside)))


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object of JSON; refused where a name stands twice, since readers differ in which one they take."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice")
    return found


def redeclare(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="The table whose unit the study file now states anew.")],
    because: Annotated[str, typer.Option(help="The reason; it is recorded.")],
    study: Study = STUDY,
    language: Language = "",
    as_json: Json = False,
) -> None:
    """Decide that a table's budget protects another unit, or that it is public now, or private; the budget is kept.

    What was spent before was spent for the old unit: an id with ten rows has lost up to ten times that of a row.

    Example: curador ledger redeclare visits --because "a row is a person since 2027"
    """
    from curador import open_ledger
    from curador.curator.naming import unit_of
    from curador.curator.study.file import read_study

    declared = read_study(study).tables
    if table not in declared:
        raise InvalidParameter(f"{study.name} has no table {table!r}.", fix=f"It has {', '.join(declared)}.")
    address, keep = _where(study)
    with closing(open_ledger(address, keep=keep)) as ledger:
        made = ledger.redeclare(table, unit_of(declared[table]), because=because)
    if as_json:
        emit({"table": table, "unit": made.unit, "scope": made.scope, "version": made.version})
        return
    whole(words("unit-is-now", table=table, unit=made.unit), "green")


def restore(
    because: Annotated[str, typer.Option(help="The reason; it is recorded.")],
    study: Study = STUDY,
    language: Language = "",
    as_json: Json = False,
) -> None:
    """Take a ledger from a backup into use again; what it has forgotten is charged, or closed.

    Put the copy in the ledger's place first, and leave the folder with its key and anchor as it is.

    Example: curador ledger restore --because "the disk failed"
    """
    from curador import restore_ledger

    address, keep = _where(study, lost=True)
    with closing(restore_ledger(address, because=because, keep=keep)) as ledger:
        found = standing(ledger)
    if as_json:
        emit({"ledger": _named(address), "closed": [b.scope for b in found if b.closed]})
        return
    whole(words("ledger-restored", ledger=_shown(address)))
    say(words("back-it-up"))
    show(found)
    if any(b.closed for b in found):
        say(words("closed-for-ever"), "yellow")


def _where(study: Path, lost: bool = False) -> tuple[str, Path | None]:
    """A study's ledger, which must be there; one that was ``lost`` is known by its key."""
    from curador.curator.study.file import read_study

    stated = read_study(study)
    known = [Path(stated.ledger)] + [(stated.keep or Path(f"{stated.ledger}.keep")) / "key"] * lost
    if "://" not in stated.ledger and not any(path.exists() for path in known):
        raise InvalidParameter(
            f"{study.name} has no ledger yet.", fix="Ask something first; or put its file where [ledger] says."
        )
    return stated.ledger, stated.keep


def _named(address: str) -> str:
    """The ledger for programs: never the address of a server, which may hold a password."""
    return "The ledger" if "://" in address else address


def _shown(address: str) -> str:
    """The same for people."""
    return words("the-ledger") if "://" in address else address
