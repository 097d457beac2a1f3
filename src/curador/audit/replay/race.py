"""Many buyers at once, for the last of a budget: no more are answered than it pays for."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread

from curador.audit.finding import Finding
from curador.errors import BudgetExceeded
from curador.privacy import Guarantee


def replay_race(
    subject: str, buy: Callable[[], object], *, affordable: int, buyers: int, claim: Guarantee | None = None
) -> Finding:
    """Let ``buyers`` threads buy the same at once, where the budget pays for ``affordable`` of them.

    Guarantee: a violation is one: more were answered than were paid for.  Finding none proves little: which threads
        meet is the machine's choice.
    """
    answered: list[object] = []
    errors: list[BaseException] = []

    def one() -> None:
        try:
            answered.append(buy())
        except BudgetExceeded:
            pass
        except Exception as error:  # noqa: BLE001  told below, in the thread that asked
            errors.append(error)

    threads = [Thread(target=one) for _ in range(buyers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    details: dict[str, object] = {"answered": len(answered), "affordable": affordable, "buyers": buyers}
    if len(answered) > affordable:
        words = f"{len(answered)} of {buyers} buyers were answered, and the budget pays for {affordable}"
        details |= {"kind": "race", "lines": []}
        return Finding(subject, claim, float("inf"), 1.0, buyers, violated=True, witness=words, details=details)
    return Finding(subject, claim, 0.0, 1.0, buyers, details=details)
