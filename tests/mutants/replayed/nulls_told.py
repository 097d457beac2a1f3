"""How many values were missing is told beside the answer."""

import numpy as np

from curador.audit.finding import Finding
from curador.mechanisms.laplace import Laplace
from tests.mutants.replayed.setting import Rows, checked, read

KIND = "answer"
NOISE = Laplace(100, epsilon=1)


def audit(sound: bool) -> Finding:
    def total(x: Rows) -> dict[str, float]:
        found = {"sum": NOISE.release(read(x).sum())}
        return found if sound else {**found, "missing": int(np.isnan(x).sum())}

    return checked(total, NOISE.event)
