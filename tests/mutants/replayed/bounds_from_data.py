"""The sensitivity is the largest value that there is."""

from curador.audit.finding import Finding
from curador.mechanisms.laplace import Laplace
from tests.mutants.replayed.setting import Rows, checked, read

KIND = "control-flow"
NOISE = Laplace(100, epsilon=1)


def audit(sound: bool) -> Finding:
    def total(x: Rows) -> object:
        x = read(x)
        return (NOISE if sound else Laplace(float(x.max()), epsilon=1)).release(x.sum())

    return checked(total, NOISE.event)
