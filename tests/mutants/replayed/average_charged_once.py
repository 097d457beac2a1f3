"""A sum and a count each with the whole epsilon, charged once."""

from curador.audit.finding import Finding
from curador.mechanisms.laplace import Laplace
from tests.mutants.replayed.setting import Rows, checked, read

KIND = "undercharged"


def audit(sound: bool) -> Finding:
    each = "1/2" if sound else "1"
    total, number = Laplace(100, epsilon=each), Laplace(1, epsilon=each)
    charged = total.event + number.event if sound else total.event

    def average(x: Rows) -> object:
        x = read(x)
        return total.release(x.sum()) / max(1.0, number.release(float(len(x))))

    return checked(average, charged)
