"""A value that no bound allows is an error that names it."""

from curador.audit.finding import Finding
from curador.mechanisms.laplace import Laplace
from tests.mutants.replayed.setting import Rows, checked, read

KIND = "error"
NOISE = Laplace(100, epsilon=1)


def audit(sound: bool) -> Finding:
    def total(x: Rows) -> object:
        if not sound and (x > 100).any():
            raise ValueError(f"{x.max()} is above 100")
        return NOISE.release(read(x).sum())

    return checked(total, NOISE.event)
