"""Rows are shuffled and cut into batches, and charged as a Poisson sample."""

import numpy as np

from curador.audit.finding import Finding
from curador.noise import SYSTEM
from tests.mutants.replayed.descent import NOISE, STEPS, cut, sampled, slopes, summed, trained
from tests.mutants.replayed.setting import Rows

KIND = "control-flow"


def audit(sound: bool) -> Finding:
    def batches(rows: Rows) -> list[Rows]:
        shuffled = rows[np.argsort(SYSTEM.words(len(rows), np.uint64))]
        return [shuffled[i % 10 * 2 : i % 10 * 2 + 2] for i in range(STEPS)]

    def train(rows: Rows) -> Rows:
        at = np.zeros(2)
        for some in [sampled(rows) for _ in range(STEPS)] if sound else batches(rows):
            at = at - 0.1 * NOISE.release(summed(cut(slopes(some, at))))
        return at

    return trained(train)
