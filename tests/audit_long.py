"""The tester at length, with the system's own bytes: everything of the house that makes a promise, then peers.

``make audit`` runs it all, about half an hour of a busy machine; ``make audit AUDIT=sparse`` what has that in its name.
Each line says what was found.  It ends with 1 if anything of the house is called violated: but for a chance of
1 - confidence each, that is a fault; run it again before you believe it, and with more runs before you do not.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial

from curador.accounting.rules.profiles import pure_epsilon
from curador.audit import Finding, InputPair, audit_mechanism, table_pairs, worst
from curador.privacy import PureDP
from tests.audit.tester.sound import (
    DOMAIN,
    FAST,
    MECHANISMS,
    QUESTIONS,
    asked,
    drawn,
    in_javascript,
    in_library,
    on_device,
)
from tests.local.devices.both import plain
from tests.local.every_task import EVERY_TASK

SURE = 0.9999
"""Some hundred audits: a false alarm in one run of a hundred at most."""

Audit = Callable[[], Finding]


def audits() -> Iterator[tuple[str, Audit]]:
    """Everything, by name."""
    for name, mechanism in MECHANISMS.items():
        n = 300_000 if name.startswith(FAST) else 10_000
        yield f"mechanism: {name}", partial(audit_mechanism, mechanism, n=n, confidence=SURE)
    pairs = table_pairs(DOMAIN, rows=2)
    for name, (_, paid) in QUESTIONS.items():
        yield (
            f"question: {name}",
            partial(worst, partial(drawn, name), pairs[:16], paid, n=4000, confidence=SURE, subject=name),
        )
        yield (
            f"page: {name}",
            partial(worst, partial(asked, name), pairs[7:8], paid, n=1000, confidence=SURE, subject=name),
        )
    for task, values in EVERY_TASK:
        given = plain(values)
        ends = [InputPair(f"{given[0]!r} and {given[-1]!r}", given[0], given[-1])]
        claim = PureDP(float(pure_epsilon(task.event)))
        for client, make in (("library", in_library), ("device", on_device), ("javascript", in_javascript)):
            n = 100_000 if client == "library" else 20_000
            yield (
                f"local: {task.mechanism} {client}",
                partial(worst, partial(make, task), ends, claim, n=n, confidence=SURE, subject=task.mechanism),
            )


def main(wanted: list[str]) -> int:
    violated = 0
    for name, audit in audits():
        if not wanted or any(part in name for part in wanted):
            found = audit()
            violated += found.violated
            print(f"{name}: floor {found.floor:.4g}; {found.sentence()}", flush=True)
    if not wanted:
        from bench.audit_peers import main as peers

        peers([])
    print(f"{violated} of the house called violated")
    return int(violated > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
