"""All attacks through doors to live curators: what is seen with a victim and without, as findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

from curador.audit.chances import epsilon_floor
from curador.audit.doors.run import ANSWERED, UNSENT, AttackRequest, Observation, Opens, differences, distance
from curador.audit.doors.stage import ScenesOnDisk, Stage
from curador.audit.doors.table import ATTACKS, Attack, Safe
from curador.audit.finding import Finding
from curador.errors import InvalidParameter
from curador.privacy import PureDP

NAMES: Mapping[str, str] = MappingProxyType(
    {
        "B14": "the balance as an oracle",
        "E1": "division by zero",
        "E2": "an error in one person's case",
        "E3": "domain errors and overflow",
        "E4": "the words of errors",
        "E5": "exhaustion by one value",
        "E6": "values that break things",
        "E7": "empty tables and groups",
        "H4": "requests that are too large",
        "H5": "injection",
        "M3": "extreme budgets",
        "P1": "a group of one person",
        "P2": "noise of empty groups",
        "P3": "order and limits by exact values",
        "P4": "filters on exact aggregates",
        "P5": "singling out",
        "P6": "a budget that is too large",
        "P7": "aggregates that quote rows",
        "S1": "joins that fan out",
        "S2": "limits, then other groups",
        "S3": "a person with many rows",
        "S4": "nested, united and windowed questions",
        "S5": "expressions that scale",
        "S6": "sums that overflow",
    }
)
"""What the ids of attacks stand for."""

REFUSALS = ("QuestionRefused", "InvalidParameter", "BudgetExceeded", "exit code 2")
"""How a door says no before any data is read; a command line that understands nothing ends with 2."""

AGAIN = 30
"""A difference is looked for this many times more on each side, so that it is certified."""

CONFIDENCE = 0.99
SEEN = "any difference but of noised numbers"

Progress = Callable[[str, int, int], None]
"""Told a door, how many attacks were run through it, and how many there are."""


def faults(attack: Attack, here: Observation, there: Observation, untouched: str = "") -> Iterator[str]:
    """What a safe system would not have shown; nothing, if the attack fails.

    ``untouched`` is the balance of a curator that was asked nothing: a refusal costs nothing.

    >>> no = Observation("QuestionRefused", "", (0, ()), (), "spent 0", "")
    >>> list(faults(next(a for a in ATTACKS if a.safe is Safe.REFUSED), no, no))
    []
    """
    yield from differences(here, there, shuffled=attack.safe is Safe.SHUFFLED)
    if attack.safe is Safe.REFUSED:
        if here.status not in REFUSALS:
            yield f"status: {here.status!r} where it should be refused"
        elif untouched and here.balance != untouched:
            yield "balance: a refusal was charged"
    elif here.status != ANSWERED:
        yield f"status: {here.status!r} where it should be answered"
    if attack.most is not None and here.numbers and len(here.numbers) == len(there.numbers):
        moved = distance(here.numbers, there.numbers)
        if moved > attack.most * 1.01:  # noise at such an epsilon is below a hundredth of what one unit may do
            yield f"numbers: moved by {moved:,.4g}, and one unit may move them by {attack.most:,.4g}"


def attack_service(
    doors: Mapping[str, Opens],
    attacks: Sequence[str] = (),
    *,
    limit: int | None = None,
    progress: Progress | None = None,
    stage: Callable[[Path], Stage] = ScenesOnDisk,
) -> list[Finding]:
    """Send attacks of these ids (all by default; at most ``limit`` of each) through each door, on D and on D'.

    Each finding is one kind of attack through one door.  The claim is that everything but noised numbers is the same,
    which is an epsilon of 0; a difference is looked for again, and its floor is certified at 99 % [CP34].  ``stage``
    sets the tables up in an empty folder, in files unless told otherwise.

    Assumes: a door asks as its users do.  An attack that a door cannot send (an option it does not have) is not sent.

    >>> from curador.audit.doors.run import library
    >>> (found,) = attack_service({"library": library}, ["E1"], limit=2)
    >>> found.subject, found.violated, found.samples
    ('E1 division by zero · library', False, 2)
    """
    unknown = [id for id in attacks if id not in NAMES]
    if unknown:
        raise InvalidParameter(f"There is no attack {unknown[0]!r}.", fix=f"Use {', '.join(NAMES)}.")
    sent = [a for a in _few(limit) if not attacks or a.id in attacks]
    found = []
    for name, opens in doors.items():
        with TemporaryDirectory(prefix="curador-audit-") as folder:
            scenes, by_id = stage(Path(folder)), dict.fromkeys(sorted({a.id for a in sent}), 0)
            with opens(scenes.folder) as door:
                untouched = door.ask(AttackRequest("")).balance
            broken: dict[str, Finding] = {}
            for k, attack in enumerate(sent):
                result = _attacked(attack, name, opens, scenes, untouched)
                by_id[attack.id] += result is not None
                if result is not None and result.violated:
                    broken.setdefault(attack.id, result)
                if progress is not None:
                    progress(name, k + 1, len(sent))
            found += [broken.get(id) or _nothing(id, name, n) for id, n in by_id.items() if n]
    return found


def _few(limit: int | None) -> Iterator[Attack]:
    counted: dict[str, int] = {}
    for attack in ATTACKS:
        counted[attack.id] = counted.get(attack.id, 0) + 1
        if limit is None or counted[attack.id] <= limit:
            yield attack


def _nothing(id: str, door: str, n: int) -> Finding:
    return Finding(f"{id} {NAMES[id]} · {door}", PureDP(0), 0.0, CONFIDENCE, n, detectable=SEEN)


def _attacked(attack: Attack, door: str, opens: Opens, stage: Stage, untouched: str) -> Finding | None:
    """What one attack found; None where the door cannot send it."""
    seen = [_asked(attack, victim, opens, stage) for victim in (None, attack.victim)]
    if seen[0].status == UNSENT:
        return None
    wrong = list(faults(attack, seen[0], seen[1], untouched))
    if not wrong:
        return _nothing(attack.id, door, 1)
    shuffled = attack.safe is Safe.SHUFFLED

    def like_there(x: Observation) -> bool:
        return not any(differences(seen[1], x, shuffled=shuffled))

    sides = [
        sum(like_there(_asked(attack, victim, opens, stage)) for _ in range(AGAIN)) for victim in (attack.victim, None)
    ]
    floor = epsilon_floor(sides[0], AGAIN, sides[1], AGAIN, CONFIDENCE)
    return Finding(
        f"{attack.id} {NAMES[attack.id]} · {door}",
        PureDP(0),
        floor,
        CONFIDENCE,
        AGAIN,
        violated=True,
        witness=f"{attack.name!r} ({attack.victim}): {'; '.join(wrong)}",
        details={"sql": attack.sql[:1000], "victim": attack.victim, "differences": wrong},
    )


def _asked(attack: Attack, victim: str | None, opens: Opens, stage: Stage) -> Observation:
    stage.place(victim)
    with opens(stage.folder) as door:
        return door.ask(attack.request)
