"""A mean with noise for a known number of rows, where rows come and go."""

from curador.audit.finding import Finding
from curador.mechanisms.laplace import Laplace
from tests.mutants.replayed.setting import Rows, checked, read

KIND = "control-flow"
SUM, COUNT = Laplace(100, epsilon="1/2"), Laplace(1, epsilon="1/2")


def audit(sound: bool) -> Finding:
    def average(x: Rows) -> object:
        x = read(x)
        if sound:
            return SUM.release(x.sum()) / max(1.0, COUNT.release(float(len(x))))
        return Laplace(100 / len(x), epsilon=1).release(x.mean())

    return checked(average, SUM.event + COUNT.event)
