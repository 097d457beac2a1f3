"""Gaussian noise as wide as the data is, instead of as its bounds are."""

from curador.audit.finding import Finding
from curador.mechanisms.gaussian import Gaussian
from tests.mutants.replayed.setting import Rows, checked, read

KIND = "control-flow"
NOISE = Gaussian(100, sigma=400)


def audit(sound: bool) -> Finding:
    def total(x: Rows) -> object:
        x = read(x)
        return (NOISE if sound else Gaussian(100, sigma=10 * float(x.std()))).release(x.sum())

    return checked(total, NOISE.event)
