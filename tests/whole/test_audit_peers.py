"""The exam of peers: a box in another process is audited, and only what is borne out is claimed."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bench import audit_peers
from bench.audit_cases import CASES, FLOATS, PeerCase
from bench.audit_peers import audited, confirmed, line, opened
from bench.sides import PEERS, PeerMissing
from curador.audit import Finding
from curador.privacy import PureDP

EXACT = PeerCase("numpy", "no noise", "def run(value, n):\n    return [value] * n\n", pairs=[(0.25, 1.0)], n=400)


def test_every_case_is_well_formed() -> None:
    names = [(case.peer, case.name) for case in CASES]
    assert len(set(names)) == len(names)
    for case in CASES:
        compile(case.setup, case.name, "exec")
        assert (PEERS / f"{case.peer}.txt").exists()
        assert bool(case.pairs) != bool(case.columns)
    assert {case.peer for case in CASES} >= {"diffprivlib", "pure-ldp", "smartnoise-sql", "opendp", "dp-accounting"}


def test_a_box_in_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """These boxes draw nothing, so that nothing here is left to chance."""
    monkeypatch.setattr(audit_peers, "interpreter", lambda peer: Path(sys.executable))
    failing = "def run(value, n):\n    return [1 // value] * n\n"
    with opened("numpy") as box:
        assert audited(EXACT, box).violated
        same = replace(EXACT, setup="def run(value, n):\n    return [0.1] * n\n")
        assert not audited(same, box).violated
        found = audited(replace(EXACT, setup=failing, pairs=[(1, 0)]), box)
        assert found.violated  # that it fails on one input is seen
        assert found.details["at_most"] == pytest.approx(0.0439, abs=1e-4)  # never 1 where it fails
        with pytest.raises(PeerMissing, match="NameError"):
            audited(replace(EXACT, setup="nothing"), box)
        claimed = "\ndef claim():\n    return 3\n"
        assert audited(replace(same, setup=same.setup + claimed, claims=True), box).claim == PureDP(3)


def test_only_what_is_borne_out_is_claimed() -> None:
    shown = Finding("a box", PureDP(1), 2.0, 0.999, 1000, violated=True, witness="the finest bit of the output is low")
    other = replace(shown, witness="the output is high")
    silent, bits, told = (replace(EXACT, borne_out=words) for words in ("", FLOATS, "an issue"))
    assert [confirmed(case, shown) for case in (silent, bits, told)] == [False, True, True]
    assert [confirmed(case, other) for case in (silent, bits, told)] == [False, False, True]
    assert "not claimed" in line(silent, shown)
    assert "**violated**" in line(told, shown)
    assert "nothing; would have found" in line(told, replace(shown, violated=False, detectable="much"))
