"""What is replaced while a run is watched comes back, is for one thread alone, and serves no real curator."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from curador import Curator, PureDP, Table
from curador.accounting.events import FixedSizeSampled
from curador.audit.replay.movement import PathLoss, aligned, allowed, movement
from curador.audit.replay.neighbours import base_world
from curador.audit.replay.run import replay
from curador.audit.replay.seam import RELEASES, Parted, run_watched, watched
from curador.audit.replay.stage import staged
from curador.curator.purchase import Buyer
from curador.errors import InvalidParameter, NotPromised
from curador.mechanisms.laplace import IntegerLaplace, Laplace
from curador.mechanisms.response import RandomizedResponse
from curador.mechanisms.selection import ExponentialMechanism
from curador.mechanisms.sparse_vector import AboveThreshold
from curador.mechanisms.tree import ContinualCount
from curador.noise import SYSTEM, entropy
from curador.privacy import Neighbors
from tests.audit.replay.declared import people

NOISE = IntegerLaplace(1, epsilon="1/100")


def replaced() -> list[object]:
    return [*(kind.__dict__[name] for kind, name in RELEASES), Buyer.buy, entropy._fresh]


@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt])
def test_everything_comes_back_whatever_happens(error: type[BaseException]) -> None:
    before = replaced()

    def fails() -> None:
        with watched():
            assert all(a is not b for a, b in zip(before, replaced(), strict=True))
            raise error

    with pytest.raises(error):
        fails()
    assert before == replaced()


def test_noise_is_frozen_and_only_while_it_is_watched() -> None:
    here = run_watched(lambda: NOISE.release(7))
    assert {run_watched(lambda: NOISE.release(8), here).seen for _ in range(5)} == {here.seen}
    assert len({NOISE.release(7) for _ in range(20)}) > 5


def test_another_thread_has_noise_of_its_own() -> None:
    here = run_watched(lambda: NOISE.release(7))
    found: list[int] = []

    def others() -> object:
        thread = Thread(target=lambda: found.extend(NOISE.release(7) for _ in range(20)))
        thread.start()
        thread.join()
        return NOISE.release(7)

    assert run_watched(others, here).seen == here.seen
    assert len(set(found)) > 5


def test_one_run_at_a_time() -> None:
    with watched(), pytest.raises(InvalidParameter, match="Another run"), watched():
        pass


@pytest.mark.parametrize("address", ["memory:", "file"])
def test_a_curator_that_the_auditor_did_not_make_sells_nothing(tmp_path: Path, address: str) -> None:
    (tmp_path / "people.csv").write_text("age\n30\n40\n")
    ledger = "memory:" if address == "memory:" else tmp_path / "kept.ledger"
    table = Table(tmp_path / "people.csv", columns={"age": {"type": "integer", "bounds": [0, 120]}})
    with closing(Curator({"people": table}, budget=PureDP(1), ledger=ledger)) as real:

        def asked() -> object:
            return real.ask("SELECT COUNT(*) AS n FROM people", epsilon=1)

        trace = run_watched(asked)
        assert trace.status == "error"
        assert "did not make" in trace.seen
        assert real.history() == ()
        assert len(real.ask("SELECT COUNT(*) AS n FROM people", epsilon=1)) == 1


def test_a_stage_is_charged_before_it_reads() -> None:
    with closing(people()) as declared:
        world = base_world(declared, 10)

        def run() -> object:
            with staged(declared, world, PureDP(1)) as stage:
                return stage.ask("SELECT AVG(age) AS a FROM people", epsilon=1).to_dict()["columns"]

        assert [step.kind for step in run_watched(run).steps] == ["charge", "read", "release", "release"]


# ---- what parts two runs ---------------------------------------------------------------------------------------------


def parted(one: Callable[[], object], other: Callable[[], object]) -> str:
    here = run_watched(one)
    with pytest.raises(Parted) as found:
        run_watched(other, here)
    return found.value.said


def test_every_other_way_is_seen() -> None:
    def once() -> object:
        return NOISE.release(1)

    assert "one release more" in parted(once, lambda: [once(), once()])
    assert "a release less" in parted(lambda: [once(), once()], once)
    assert "other parameters" in parted(once, lambda: IntegerLaplace(1, epsilon=1).release(1))
    assert "where the recorded run had a release" in parted(once, lambda: SYSTEM.bits(8))
    assert "random bytes" in parted(lambda: SYSTEM.words(1, np.uint8), lambda: SYSTEM.words(9, np.uint8))
    assert "of shape (3,)" in parted(lambda: NOISE.release([1, 2]), lambda: NOISE.release([1, 2, 3]))


def test_random_bytes_outside_a_mechanism_are_frozen_too() -> None:
    here = run_watched(lambda: SYSTEM.words(4, np.uint64))
    assert run_watched(lambda: SYSTEM.words(4, np.uint64), here).seen == here.seen


# ---- movements -------------------------------------------------------------------------------------------------------


def test_a_monotonic_choice_must_move_one_way() -> None:
    one_way = ExponentialMechanism(1, 1, monotonic=True)
    assert not movement(one_way, [1, 2, 3], [2, 3, 3]).beyond
    assert movement(one_way, [1, 2, 3], [2, 1, 3]).beyond
    assert not movement(ExponentialMechanism(1, 1), [1, 2, 3], [2, 1, 3]).beyond


def test_groups_are_aligned_by_what_moves_least() -> None:
    assert aligned([4, 9, 2], [4, 1, 10, 2]) == [(0, 0), (None, 1), (1, 2), (2, 3)]
    assert aligned([4, 1, 9], [4, 9]) == [(0, 0), (1, None), (2, 1)]


def test_what_has_no_rule_is_refused() -> None:
    with pytest.raises(NotPromised):
        movement(object(), 0, 1)  # type: ignore[arg-type]
    with pytest.raises(NotPromised):
        allowed(FixedSizeSampled(Laplace(1, epsilon=1).event, 1, 2))


def test_randomized_answers_lose_an_epsilon_each() -> None:
    coin = RandomizedResponse(2, categories=3)
    rows = np.array([0, 1, 2, 1])
    one, two = np.array([0, 2, 2, 1]), np.array([0, 2, 2, 2])

    def answered(x: object) -> object:
        return coin.release(x)  # type: ignore[call-overload]

    sound = replay("answers", answered, rows, [("another answer", one)], charged=coin.event)
    assert not sound.violated, sound.sentence()
    assert sound.details["reach"] == 1
    found = replay("answers", answered, rows, [("two answers", two)], charged=coin.event)
    assert found.details["kind"] == "distance"
    cheap = replay("answers", answered, rows, [("one", one)], charged=RandomizedResponse(1, categories=3).event)
    assert cheap.details["kind"] == "undercharged"
    more = replay("answers", answered, rows, [("a person more", np.append(rows, 1))], charged=coin.event)
    assert more.details["kind"] == "shape"


def test_sparse_vector_loses_once_for_all_its_answers() -> None:
    """The number of answers is one of its outputs, and frozen with them; each value may move by the sensitivity."""
    watch = AboveThreshold(5, epsilon=1, sensitivity=1, cutoff=2)
    rows = [0.0, 9.0, 4.0, 30.0, 2.0]
    moved = [1.0, 8.0, 5.0, 31.0, 2.5]

    def sound(x: list[float]) -> object:
        return watch.release(v for v in x)

    found = replay("answers", sound, rows, [("all moved", moved)], charged=watch.event)
    assert not found.violated, found.sentence()
    assert found.details["reach"] == 1
    far = replay("answers", sound, rows, [("too far", [*moved[:4], 4.0])], charged=watch.event)
    assert far.details["kind"] == "distance"
    one_way = AboveThreshold(5, epsilon=1, sensitivity=1, monotonic=True)
    both = replay("answers", lambda x: one_way.release(x), rows, [("both ways", moved)], charged=one_way.event)
    assert both.details["kind"] == "distance"
    twice = replay("answers", lambda x: [sound(x), sound(x)], rows, [("all moved", moved)], charged=watch.event)
    assert twice.details["kind"] == "undercharged"


def test_sparse_vector_that_is_asked_one_by_one_is_not_mistaken_for_sound() -> None:
    """Replay has a rule for whole lists alone: an open one's draws are frozen, its answers change, and that is seen."""
    watch = AboveThreshold(5, epsilon=1000, sensitivity=1)
    found = replay("answers", lambda x: watch.open().ask(x), 0.0, [("higher", 10.0)], charged=watch.event)
    assert found.violated


def test_losses_add_up_in_two_kinds() -> None:
    event = 3 * Laplace(1, epsilon=1).event
    assert allowed(event).pure >= 3
    assert allowed(event).gaussian == 0
    assert not PathLoss(allowed(event).pure * 2).within(allowed(event))


def test_the_movement_of_a_running_total_is_that_of_its_nodes() -> None:
    """A one taken away at step 1 that becomes a one added at step 2: both raise every longer interval."""
    about = Neighbors.REPLACE
    signed = ContinualCount(8, sigma=1, neighbors=about)
    found = movement(signed, [-1, 0, 0, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0, 0, 0])
    assert found.loss == PathLoss(gaussian=Fraction(1 + 3 * 2**2))
    assert not found.beyond
    moved = movement(signed, [1, 0, 0, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0, 0, 0])
    assert moved.loss == PathLoss(gaussian=Fraction(1))  # only the first step is an interval of its own
    assert movement(signed, 0, 1).loss == PathLoss(gaussian=Fraction(4))  # streamed: one step, in four intervals
    laplace = ContinualCount(8, 2, neighbors=about)
    assert laplace.scale == 4
    assert movement(laplace, [-1, 0], [0, 1]).loss == PathLoss(Fraction(3, 4))
