"""Noise drawn beside any mechanism: nothing says what it was made for, and the answer moves."""

from fractions import Fraction

from curador.audit.finding import Finding
from curador.mechanisms.laplace import IntegerLaplace
from curador.noise import DiscreteLaplace
from tests.mutants.replayed.setting import Rows, checked

KIND = "answer"
NOISE = IntegerLaplace(1, epsilon=1)


def audit(sound: bool) -> Finding:
    def counted(x: Rows) -> int:
        return NOISE.release(len(x)) if sound else len(x) + DiscreteLaplace(Fraction(1)).draw()

    return checked(counted, NOISE.event)
