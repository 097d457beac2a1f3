"""One draw of noise for all groups: their differences are exact."""

import numpy as np

from curador.audit.finding import Finding
from curador.mechanisms.laplace import IntegerLaplace
from tests.mutants.replayed.setting import Rows, checked, read

KIND = "answer"
NOISE = IntegerLaplace(1, epsilon=1)


def audit(sound: bool) -> Finding:
    def counts(x: Rows) -> list[int]:
        exact = np.bincount((read(x) // 10).astype(int), minlength=11)
        return list(NOISE.release(exact) if sound else exact + NOISE.release(0))

    return checked(counts, NOISE.event)
