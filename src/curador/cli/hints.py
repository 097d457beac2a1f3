"""Hints of the command line, added to refusals of the library by their codes."""

from __future__ import annotations

from collections.abc import Iterable

from curador.errors import CuradorError

HINTS = {
    "reason-needed": 'Say --because "…".',
    "override-needed": "Say --override.",
    "undeclared-value": "Say --anyway.",
    "undeclared-near": "Say --anyway.",
    "undeclared-range": "Say --anyway.",
    "budget-stated-otherwise": "`curador grant` raises a budget.",
    "delta-not-granted": '`curador grant population --delta 1e-6 --because "…"` grants one; name an analyst likewise.',
    "delta-needs-reason": 'Say --because "…".',
    "accuracy-in-ranks": 'Say --accuracy "50 ranks", or --epsilon.',
    "contribution-needed": "Say --groups-per-unit and --rows-per-unit.",
    "unit-changed": "`curador ledger redeclare` decides it.",
    "analyst-of-other-people": "`curador grant` gives one.",
    "no-study-file": "`curador init` drafts one; --study says where it is.",
    "header-unstated": "Say --header, or --no-header --names age,sex,…",
    "header-like-values": "Say --no-header --names age,sex,… for rows; --header --names age,sex,… for other names.",
    "csv-header": "With init, say --no-header --names age,sex,…",
    "csv-delimiter": "With init, say --delimiter.",
    "csv-spaces": "With init, say --trim.",
    "csv-encoding": "With init, say --encoding.",
    "name-taken": "With init, say --name.",
    "board-without-study": "Or say --at, with the address of a server.",
    "explain-asked": 'Say curador explain "SELECT …".',
    "log-unwritable": "Say --log.",
    "demo-folder": "Say --folder.",
    "task-option-missing": "Say {options}.",
    "task-option-unknown": "Leave out {options}; say {takes}.",
    "error-not-known": "Leave out --within; --users says what is known, and `curador local simulate` shows the rest.",
    "candidates-missing": "Say --candidates.",
    "candidates-refused": "Leave out --candidates.",
    "projection-unavailable": "Leave out --projected.",
    "collector-missing": "Say --task task.json.",
    "collector-unfinished": "Say --task task.json.",
    "task-missing": "Say --task task.json.",
    "not-a-task": "`curador local new-task` writes one.",
}
"""For each code the hint; ``{name}`` stands for the flags of the options that the refusal names under its facts."""

FLAGS = {"keys": "--keys, --keys-file or --size", "attributes": "--attribute"}


def with_hint(refusal: CuradorError) -> CuradorError:
    """The same refusal, whose fix also says what to type.

    >>> from curador.errors import InvalidParameter
    >>> facts = {"options": ("keys", "sampled")}
    >>> refusal = InvalidParameter("More is needed.", fix="Add it.", code="task-option-missing", facts=facts)
    >>> with_hint(refusal).fix
    'Add it. Say --keys, --keys-file or --size, --sampled.'
    """
    if refusal.code in HINTS:
        hint = HINTS[refusal.code].format(**{name: _flags(value) for name, value in refusal.facts.items()})
        refusal.fix = f"{refusal.fix} {hint}"
    return refusal


def _flags(options: object) -> str:
    names = options if isinstance(options, Iterable) else ()
    return ", ".join(FLAGS.get(name, f"--{name}") for name in names) or "--epsilon alone"
