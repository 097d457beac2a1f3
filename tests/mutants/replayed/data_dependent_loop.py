"""As many rounds as the largest value asks for."""

from curador.audit.finding import Finding
from curador.mechanisms.laplace import Laplace
from tests.mutants.replayed.setting import Rows, checked, read

KIND = "control-flow"
NOISE = Laplace(100, epsilon="1/10")


def audit(sound: bool) -> Finding:
    def rounds(x: Rows) -> list[float]:
        x = read(x)
        return [NOISE.release(x.sum()) for _ in range(10 if sound else int(x.max() // 9))]

    return checked(rounds, 10 * NOISE.event)
