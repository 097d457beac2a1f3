"""Groups are shown by how many rows they have, where a person may have many."""

import numpy as np

from curador.audit.finding import Finding
from curador.mechanisms.thresholded import ThresholdedLaplace
from tests.mutants.replayed.setting import checked

KIND = "distance"
NOISE = ThresholdedLaplace(epsilon=4, delta=1e-3)
BASE = [(person, person % 3) for person in range(60)]
"""Pairs of a person and a town."""


def audit(sound: bool) -> Finding:
    def towns(rows: list[tuple[int, int]]) -> list[int]:
        counted = [town for _, town in (sorted(set(rows)) if sound else rows)]
        keys, counts = np.unique(counted, return_counts=True)
        return [int(key) for key in keys[NOISE.keep(counts)]]

    return checked(towns, NOISE.event, BASE, [("forty rows of one", [*BASE, *[(99, 7)] * 40])])
