"""Noisy counts in the order of the exact ones."""

import numpy as np

from curador.audit.finding import Finding
from curador.mechanisms.laplace import IntegerLaplace
from tests.mutants.replayed.setting import Rows, checked, read

KIND = "answer"
NOISE = IntegerLaplace(1, epsilon=1)


def audit(sound: bool) -> Finding:
    def counts(x: Rows) -> list[tuple[int, int]]:
        exact = np.bincount((read(x) // 10).astype(int), minlength=11)
        noisy = NOISE.release(exact)
        return [(int(k), int(noisy[k])) for k in np.argsort(noisy if sound else exact, kind="stable")]

    return checked(counts, NOISE.event)
