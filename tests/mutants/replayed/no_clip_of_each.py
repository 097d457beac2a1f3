"""The gradient of the whole sample is clipped, not that of each row: one row turns it round."""

import numpy as np

from curador.audit.finding import Finding
from tests.mutants.replayed.descent import NOISE, STEPS, cut, sampled, slopes, summed, trained
from tests.mutants.replayed.setting import Rows

KIND = "distance"


def audit(sound: bool) -> Finding:
    def train(rows: Rows) -> Rows:
        at = np.zeros(2)
        for _ in range(STEPS):
            each = slopes(sampled(rows), at)
            total = summed(cut(each)) if sound else cut(summed(each)[None, :])[0]
            at = at - 0.1 * NOISE.release(total)
        return at

    return trained(train)
