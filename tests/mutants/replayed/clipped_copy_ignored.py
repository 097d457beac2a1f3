"""The values are clipped, and the sum is of those that were not (SmartNoise SQL's issue 622)."""

from curador.audit.finding import Finding
from curador.mechanisms.laplace import Laplace
from tests.mutants.replayed.setting import Rows, checked, read

KIND = "distance"
NOISE = Laplace(100, epsilon=1)


def audit(sound: bool) -> Finding:
    def total(x: Rows) -> object:
        clipped = read(x)
        return NOISE.release(clipped.sum() if sound else x[abs(x) < 1e300].sum())

    return checked(total, NOISE.event)
