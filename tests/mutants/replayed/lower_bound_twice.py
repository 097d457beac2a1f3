"""The sensitivity is the size of the lower bound, which was read twice (diffprivlib's issue 105)."""

from curador.audit.finding import Finding
from curador.mechanisms.laplace import Laplace
from tests.mutants.replayed.setting import Rows, checked, read

KIND = "distance"
LOW, HIGH = -1, 100


def audit(sound: bool) -> Finding:
    noise = Laplace(max(abs(LOW), abs(HIGH) if sound else abs(LOW)), epsilon=1)

    def total(x: Rows) -> object:
        return noise.release(read(x, LOW, HIGH).sum())

    return checked(total, noise.event)
