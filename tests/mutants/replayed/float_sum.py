"""A sum in single precision: one more unit moves it by two, where it has grown large [Cas22]."""

import numpy as np

from curador.audit.finding import Finding
from curador.mechanisms.laplace import Laplace
from tests.mutants.replayed.setting import Rows, checked

KIND = "distance"
NOISE = Laplace(1, epsilon=1)
BASE = np.array([16_777_216.0, 2.0])


def audit(sound: bool) -> Finding:
    def total(x: Rows) -> float:
        return NOISE.release(float(x.sum() if sound else x.astype(np.float32).sum(dtype=np.float32)))

    return checked(total, NOISE.event, BASE, [("one more, 1", np.append(BASE, 1.0))])
