"""Bounds were read once and kept: redefined, the noise is for the new ones and the clip for the old."""

from curador.audit.finding import Finding
from curador.mechanisms.laplace import Laplace
from tests.mutants.replayed.setting import Rows, checked, read

KIND = "distance"


def audit(sound: bool) -> Finding:
    known: dict[str, float] = {}

    def asked(x: Rows, high: int) -> object:
        if sound:
            known.clear()
        clip = known.setdefault("age", float(high))
        return Laplace(high, epsilon=1).release(read(x, 0, clip).sum())

    def twice(x: Rows) -> list[object]:
        return [asked(x, 100), asked(x, 10)]

    return checked(twice, Laplace(100, epsilon=1).event + Laplace(10, epsilon=1).event)
