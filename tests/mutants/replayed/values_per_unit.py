"""A median with five values of one person in it, at the price of one."""

import numpy as np

from curador.audit.finding import Finding
from curador.mechanisms.quantiles import Quantiles
from tests.mutants.replayed.setting import AGES, Rows, checked, read

KIND = "undercharged"
NOISE = Quantiles.median(0, 100, epsilon=1)


def audit(sound: bool) -> Finding:
    def middle(x: Rows) -> Rows:
        own = x[len(AGES) :]  # of the one who came
        kept = np.concatenate([x[: len(AGES)], own[:1] if sound else own])
        return NOISE.release(read(kept))

    return checked(middle, NOISE.event, AGES, [("five more of one", np.append(AGES, np.arange(5.0)))])
