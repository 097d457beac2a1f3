"""A count for each group that is there, instead of each that was declared."""

import numpy as np

from curador.audit.finding import Finding
from curador.mechanisms.laplace import IntegerLaplace
from tests.mutants.replayed.setting import Rows, checked, read

KIND = "shape"
NOISE = IntegerLaplace(1, epsilon=1)


def audit(sound: bool) -> Finding:
    def counts(x: Rows) -> list[int]:
        decade = (read(x) // 10).astype(int)
        keys = np.arange(11) if sound else np.unique(decade)
        return [int(n) for n in NOISE.release([int((decade == k).sum()) for k in keys])]

    return checked(counts, NOISE.event)
