"""A sample of nobody is skipped, without noise: that it was empty shows."""

import numpy as np

from curador.audit.finding import Finding
from tests.mutants.replayed.descent import NOISE, STEPS, cut, sampled, slopes, summed, trained
from tests.mutants.replayed.setting import Rows

KIND = "control-flow"


def audit(sound: bool) -> Finding:
    def train(rows: Rows) -> Rows:
        at = np.zeros(2)
        for _ in range(STEPS):
            some = sampled(rows)
            if not sound and not len(some):
                continue
            at = at - 0.1 * NOISE.release(summed(cut(slopes(some, at))))
        return at

    return trained(train)
