"""A noisy sum divided by how many rows the sample really has."""

import numpy as np

from curador.audit.finding import Finding
from tests.mutants.replayed.descent import NOISE, RATE, STEPS, cut, sampled, slopes, summed, trained
from tests.mutants.replayed.setting import Rows

KIND = "answer"


def audit(sound: bool) -> Finding:
    def train(rows: Rows) -> Rows:
        at = np.zeros(2)
        for _ in range(STEPS):
            some = sampled(rows)
            size = float(20 * RATE) if sound else max(1, len(some))
            at = at - 0.1 * NOISE.release(summed(cut(slopes(some, at)))) / size
        return at

    return trained(train)
