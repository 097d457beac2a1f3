"""NaN passes through clip: the sum is NaN, which noise refuses, or shows."""

import numpy as np

from curador.audit.finding import Finding
from curador.mechanisms.laplace import Laplace
from tests.mutants.replayed.setting import Rows, checked, read

KIND = "error"
NOISE = Laplace(100, epsilon=1)


def audit(sound: bool) -> Finding:
    def total(x: Rows) -> object:
        return NOISE.release((read(x) if sound else np.clip(x, 0, 100)).sum())

    return checked(total, NOISE.event)
