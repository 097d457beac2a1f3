"""The tester's exam: pointed at peers' mechanisms and claims, without being told where they fail.

``python -m bench.audit_peers`` runs all cases in the peers' own environments and writes the table of docs/audit.md;
a part of a name runs some cases and prints them.  Peers draw their own entropy, so figures vary a little.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from bench.audit_cases import CASES, FLOATS, PeerCase
from bench.sides import ONE_THREAD, ROOT, PeerMissing, interpreter, version
from curador.audit import Finding, InputPair, table_pairs, worst
from curador.privacy import ZCDP, ApproxDP, Guarantee, PureDP

PAGE = ROOT / "docs" / "audit.md"
HEAD = """| box | claim | runs on each side | found | borne out by |
|---|---|---|---|---|"""


class Box:
    """A peer's process that runs boxes when asked."""

    def __init__(self, talk: tuple[IO[str], IO[str]]) -> None:
        self._ask, self._hear = talk
        self._worked = False

    def begin(self) -> None:
        """From here on another box: what it raises before it ever worked is a fault of the case."""
        self._worked = False

    def run(self, setup: str, value: Any, n: int) -> Any:
        self._ask.write(json.dumps({"setup": setup, "input": value, "runs": n}) + "\n")
        self._ask.flush()
        said = self._hear.readline()
        if not said:
            raise PeerMissing("its process ended")
        found = json.loads(said)
        if isinstance(found, dict) and n and self._worked:
            return [found["raised"].split(":")[0]] * n  # on this input, so that whoever asks learns of it
        if isinstance(found, dict):
            raise PeerMissing(found["raised"].split(" (")[0])  # where its files lie is nobody's business
        self._worked = True
        return found


@contextmanager
def opened(peer: str) -> Iterator[Box]:
    with subprocess.Popen(  # its end closes the pipe, at which the process ends
        [interpreter(peer), ROOT / "bench" / "audit_worker.py"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, **ONE_THREAD},
    ) as process:
        assert process.stdin
        assert process.stdout
        yield Box((process.stdin, process.stdout))


def claimed(case: PeerCase, box: Box) -> Guarantee:
    if case.rho is not None:
        return ZCDP(case.rho)
    epsilon = float(box.run(case.setup, None, 0) if case.claims else case.epsilon or 0)
    return ApproxDP(epsilon, case.delta) if case.delta else PureDP(epsilon)


def audited(case: PeerCase, box: Box) -> Finding:
    box.begin()
    told = [InputPair(f"{a!r} and {b!r}", a, b) for a, b in case.pairs]
    pairs = told or table_pairs(case.columns, neighbors=case.neighbors, hostile=case.hostile)
    return worst(
        lambda value, n: box.run(case.setup, value, n),
        pairs,
        claimed(case, box),
        n=case.n,
        subject=f"{case.peer}: {case.name}",
    )


def confirmed(case: PeerCase, found: Finding) -> bool:
    """Whether what was found is what is borne out: where that is about low bits, low bits must have shown it."""
    about_bits = case.borne_out == FLOATS
    return found.violated and bool(case.borne_out) and (not about_bits or "finest bit" in found.witness)


def line(case: PeerCase, found: Finding) -> str:
    assert found.claim is not None
    if confirmed(case, found):
        said = f"**violated**, at least {found.floor:.3g}: {found.witness}"
    elif found.violated:
        said = f"not claimed: a floor of {found.floor:.3g} that nobody confirms yet"
    else:
        said = f"nothing; would have found {found.detectable}"
    by = case.borne_out if confirmed(case, found) else ""
    return f"| {found.subject} | {found.claim.label} | {found.samples:,} | {said} | {by} |"


def main(wanted: list[str]) -> None:
    some = [case for case in CASES if not wanted or any(part in f"{case.peer}: {case.name}" for part in wanted)]
    lines, violated, unclaimed = [], 0, []
    for peer in dict.fromkeys(case.peer for case in some):
        with opened(peer) as box:
            lines.append(f"| *{version(peer, interpreter(peer))}* | | | | |")
            for case in (case for case in some if case.peer == peer):
                try:
                    found = audited(case, box)
                except (PeerMissing, OSError) as error:
                    lines.append(f"| {case.peer}: {case.name} | | | not run: {error} | |")
                else:
                    lines.append(line(case, found))
                    violated += confirmed(case, found)
                    unclaimed += [case.name] if found.violated and not confirmed(case, found) else []
                print(lines[-1], flush=True)
    print(f"{violated} violations that are borne out; not claimed: {unclaimed or 'none'}")
    if not wanted:
        page = PAGE.read_text()
        start, end = "<!-- audit:peers -->\n", "<!-- /audit:peers -->"
        before, rest = page.split(start)
        PAGE.write_text(before + start + "\n".join([HEAD, *lines]) + "\n" + end + rest.split(end)[1])


if __name__ == "__main__":
    main(sys.argv[1:])
