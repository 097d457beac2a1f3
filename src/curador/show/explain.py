"""A plan in words, from its facts: what it costs, how that is split, with what noise, and how wrong it will be."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from textwrap import wrap
from typing import Any

from curador.numbers import shown_down, shown_up
from curador.privacy import Guarantee, guarantee_from_json
from curador.show.tables import TextColumn, percent, real_text, text_table
from curador.show.words.say import LANGUAGES, counted, say

WIDTH = 80
"""Columns that sentences are broken at."""

SMALLEST = 12
"""Digits behind the point of the smallest epsilon that is written without an exponent."""

UNDECLARED = ("undeclared-value", "undeclared-near", "undeclared-range", "undeclared-more")
"""Notes on values that a question compares with and that no declaration allows."""

Facts = Mapping[str, Any]


def explain(
    facts: Facts,
    language: str = "en",
    more: Sequence[Facts] = (),
    engine: str | None = None,
    statements: Sequence[str] = (),
) -> str:
    """The plan as text for people, from its facts, with further notes and the statements an engine would run."""
    error_heading = say("expected-error", language, confidence=percent(facts["confidence"]))
    parts = [
        *_heading(facts, language),
        "",
        *_table([say("output", language), error_heading], _errors(facts, language)),
        "",
        *_table(*step_table(facts, language)),
        "",
        *(line for text in _notes((*facts["notes"], *more), language) for line in bullet(text)),
        *([] if engine is None else ["", say("runs", language, engine=engine), *statements]),
    ]
    return "\n".join(line.rstrip() for line in parts)


def explain_batch(facts: Facts, language: str = "en") -> str:
    """A batch as text for people, from its facts: its cost, and the share and the expected error of each question."""
    cost = guarantee_text(guarantee_from_json(facts["guarantee"]), language)
    lines = [say("batch-costs", language, guarantee=cost)]
    if (tight := cheaper_as_a_whole(facts)) is not None:
        lines.append(say("batch-tight", language, guarantee=guarantee_text(tight, language)))
    for name, one in facts["questions"].items():
        errors = ", ".join(f"{output_text(e, language)} {error_text(e, language)}" for e in one["expected"])
        paid = guarantee_text(guarantee_from_json(one["guarantee"]), language)
        lines.append(say("batch-question", language, name=f"{name:<10}", guarantee=paid, errors=errors))
    return "\n".join([*lines, *(line for text in batch_notes(facts, language) for line in bullet(text))])


def cheaper_as_a_whole(facts: Facts) -> Guarantee | None:
    """What a batch costs by its privacy-loss distribution, where that is below the cost that is charged."""
    tight, charged = facts["tight"], facts["guarantee"].get("epsilon", math.inf)
    return guarantee_from_json(tight) if tight is not None and tight["epsilon"] < charged else None


def batch_notes(facts: Facts, language: str = "en") -> list[str]:
    """What to know of the questions of a batch together, in words: undeclared values, and which are made to agree."""
    named = ((f"{note['question']}: " if "question" in note else "", note) for note in facts["notes"])
    return [name + note_text(note, language) for name, note in named]


LIMITED = ("clipped-per-unit", "clipped-beside", "rows-left-out", "joined", "joined-outer", "joined-inside")
"""Notes on what limits of one unit cut: how much can be measured."""

ADVICE = ((UNDECLARED, "undeclared-asked"), (LIMITED, "limits-measure"))
"""What to do about notes of each kind."""


def _notes(notes: Sequence[Facts], language: str) -> list[str]:
    """The notes of a plan in words; after the last on undeclared values and on limits, what to do about them."""
    codes = [note["code"] for note in notes]
    last = {max(i for i, c in enumerate(codes) if c in kind): advice for kind, advice in ADVICE if {*kind} & {*codes}}
    texts: list[str] = []
    for i, note in enumerate(notes):
        texts += [note_text(note, language), *([say(last[i], language)] if i in last else [])]
    return texts


def bullet(text: str) -> list[str]:
    """A sentence behind a mark, broken into lines."""
    return wrap(text, WIDTH, initial_indent="* ", subsequent_indent="  ")


def whom(unit: str | None, language: str = "en") -> str:
    """The unit that a guarantee is for: a row, or everything that shares an id."""
    return say("unit-row", language) if unit is None else say("unit-id", language, unit=unit)


def protects_text(protected: tuple[str | None, str] | None, language: str = "en") -> str:
    """What a table protects, by its unit's column and the kind of its neighbours; None of a public one.

    >>> protects_text((None, "add-remove")), protects_text(None)
    ('one row, added or removed', 'no one, it is public')
    """
    if protected is None:
        return say("protects-nobody", language)
    unit, neighbors = protected
    return say("protects", language, unit=whom(unit, language), neighbors=say(neighbors, language))


def keys_text(n: int, language: str = "en") -> str:
    """A number of keys."""
    return counted("key", n, language)


def guarantee_text(guarantee: Guarantee, language: str = "en", *, down: bool = False) -> str:
    """A guarantee in a few words, its numbers rounded up; or ``down``, as what remains of a budget.

    >>> from curador.privacy import ApproxDP
    >>> guarantee_text(ApproxDP(1, 1e-6), "es")
    'épsilon 1, delta 1e-06'
    """
    numbers = {name: x for name, x in guarantee.to_json().items() if isinstance(x, int | float)}
    if not numbers or ("epsilon" not in numbers and "rho" not in numbers):
        return guarantee.label_down if down else guarantee.label
    rounded = shown_down if down else shown_up
    shown = (f"{say(name, language)} {_plain(rounded(x), name)}" for name, x in numbers.items() if x or name != "delta")
    return ", ".join(shown)


def _plain(number: str, name: str) -> str:
    """An epsilon without an exponent; a delta is a power of ten, and is read as one.

    >>> _plain("1e-09", "epsilon"), _plain("1e-09", "delta")
    ('0.000000001', '1e-09')
    """
    exponent = name == "epsilon" and number.partition("e-")[2]
    return f"{Decimal(number):f}" if exponent and int(exponent) <= SMALLEST else number


def stated_text(guarantee: Mapping[str, Any], language: str = "en", *, down: bool = False) -> str:
    """The same of a guarantee as plain values, as a refusal has it in its facts.

    >>> stated_text({"kind": "pure", "epsilon": 0.25}, "es", down=True)
    'épsilon 0.25'
    """
    return guarantee_text(guarantee_from_json(guarantee), language, down=down)


def checked_language(language: str) -> str:
    """The language, or a refusal where there are no texts in it."""
    say("exact", language)
    return language


def has_texts(language: object) -> bool:
    """Whether there are texts in a language."""
    return language in LANGUAGES


def is_worded(note: Facts) -> bool:
    """Whether the text that stands with a note's code is what one of the languages says of it."""
    facts = {name: x for name, x in note.items() if name != "text"}
    return any(note.get("text") == note_text(facts, language) for language in LANGUAGES)


def note_text(note: Facts, language: str = "en") -> str:
    """A note from its code and facts.

    >>> note_text({"code": "groups-selected"})
    'Groups of few units are left out; which ones are shown is random.'
    """
    facts = {name: value for name, value in note.items() if name != "code"}
    if note["code"] in ("joined", "joined-outer", "joined-inside"):
        rows = [say("rows-of", language, n=n, table=table) for table, n in facts["rows"].items()]
        facts["rows"] = say("and", language).join(rows)
    if note["code"] == "rows-left-out":
        facts = {"kept": kept_text(note, language)}
    if note["code"] == "without-keys":
        said = {code: say("or", language).join(note[code]) for code in ("other", "missing") if note[code]}
        facts = {"why": say("or", language).join(say(f"why-{code}", language, groups=x) for code, x in said.items())}
    if note["code"] == "quality-found":
        found = {code: ", ".join(note[code]) for code in ("missing", "outside") if note[code]}
        facts = {"found": "; ".join(say(f"quality-{code}", language, columns=x) for code, x in found.items())}
    return say(note["code"], language, **facts)


def kept_text(note: Facts, language: str = "en") -> str:
    """How much of one unit counts, from the note that says that more is left out.

    >>> kept_text({"unit": "pid", "rows": 10, "groups": 6}), kept_text({"unit": "pid", "rows": 1, "groups": None}, "es")
    ("10 rows of each 'pid' in each of 6 groups", "1 fila de cada 'pid'")
    """
    rows = counted("row", note["rows"], language)
    if note["groups"] is None:
        return say("kept-rows", language, rows=rows, unit=note["unit"])
    return say("kept-groups", language, rows=rows, unit=note["unit"], groups=counted("group", note["groups"], language))


def error_text(expected: Facts, language: str = "en") -> str:
    """An expected error in a few words; where it depends on the rows, for several numbers of them.

    >>> error_text({"error": 24.0, "unit": "", "by_rows": [], "fitted": False})
    '± 24'
    """
    error = expected["error"]
    if error is None and not expected["by_rows"]:
        return say("by-answers", language)
    if error is None:
        pairs = (f"± {real_text(e, 3)} ({say('at-rows', language, n=f'{n:,}')})" for n, e in expected["by_rows"])
        return " · ".join(pairs)
    if expected["unit"] == "ranks":
        reach = expected.get("interval")
        said = say("ranks", language, error=real_text(error, 4))
        return said if reach is None else f"{said}; {say('interval-ranks', language, reach=real_text(reach, 3))}"
    if expected["fitted"]:
        return say("before-fit", language, error=real_text(error, 4))
    return say("exact", language) if error == 0 else f"± {real_text(error, 4)}"


def output_text(expected: Facts, language: str = "en") -> str:
    """The name of an output, with the grouping set that an error holds in, where there are several.

    >>> output_text({"output": "n", "by": ["sex"]}), output_text({"output": "n", "by": []})
    ('n by sex', 'n in all')
    """
    if expected.get("by") is None:
        return str(expected["output"])
    code = "in-set" if expected["by"] else "in-all"
    return say(code, language, output=expected["output"], groups=", ".join(expected["by"]))


def _errors(facts: Facts, language: str) -> list[list[str]]:
    rows: list[list[str]] = []
    for expected in facts["expected"]:
        output = output_text(expected, language)
        if expected["error"] is not None or not expected["by_rows"]:
            rows.append([output, error_text(expected, language)])
            continue
        rows.append([output, say("by-rows", language)])
        counts = [say("at-rows", language, n=f"{n:,}") for n, _ in expected["by_rows"]]
        width = max(map(len, counts))
        rows += [
            ["", f"{n:>{width}}  ± {real_text(e, 3)}"] for n, (_, e) in zip(counts, expected["by_rows"], strict=True)
        ]
    return rows


def step_table(facts: Facts, language: str = "en") -> tuple[list[str], list[list[str]]]:
    """What a plan pays for: headings, and a row for each step with its share, mechanism, noise and how far it moves."""
    headings = [say(code, language) for code in ("paid-for", "share", "mechanism", "noise", "moved")]
    return headings, [_step(step, language) for step in facts["steps"]]


def _heading(facts: Facts, language: str) -> list[str]:
    lines = plan_lines(facts, language)
    width = max(10, *map(len, lines))
    return [f"{label:<{width}} {text}" for label, text in lines.items()]


def plan_lines(facts: Facts, language: str = "en") -> dict[str, str]:
    """What a plan is about, by labels: its tables, whom it protects, what it keeps of each, where, groups, cost."""
    kept, where = facts["contribution"], facts["where"]
    lines = {"label-table": ", ".join(facts["tables"])}
    lines["label-protects"] = protects_text((facts["unit"], facts["neighbors"]), language)
    if facts["unit"] is not None:
        groups = counted("group", kept["groups"], language) if facts["groups"] else say("whole-answer", language)
        when = "keeps" if where is None else "keeps-before" if facts["prepared"] else "keeps-after"
        when = "keeps-one" if facts["per_unit"] else when if facts["total"] is None else f"{when}-total"
        lines["label-keeps"] = say(when, language, rows=counted("row", kept["rows"], language), groups=groups)
    if where is not None:
        lines["label-where"] = where
    if facts["groups"]:
        code = "groups-private" if facts["keys"] is None else "groups-public"
        lines["label-groups"] = say(code, language, groups=", ".join(facts["groups"]), n=facts["keys"])
    lines["label-costs"] = say(
        "costs", language, guarantee=guarantee_text(guarantee_from_json(facts["guarantee"]), language)
    )
    return {say(code, language): text for code, text in lines.items()}


def _step(step: Facts, language: str) -> list[str]:
    share = Fraction(step["share"])
    shown = f"{float(100 * share):.3g} %" if share else say("free", language)
    mechanism = say("none-needed" if step["mechanism"] is None else step["mechanism"], language)
    return [_what(step, language), shown, mechanism, *_noise(step, language)]


def _what(step: Facts, language: str) -> str:
    if step["step"] == "noise":
        return str(step["measure"])
    quantiles = ", ".join(f"{100 * q:g} %" for q in step.get("quantiles", ()))
    return say(f"step-{step['step']}", language, quantiles=quantiles, measure=step.get("measure"), k=step.get("k"))


def _noise(step: Facts, language: str) -> tuple[str, str]:
    """The noise of a step, and how far one unit moves what it is added to."""
    if step["mechanism"] is None:
        return say("exact", language), say("not-moved", language)
    if step["step"] == "select":
        return say("sure-from", language, units=step["units"]), say("moved-unit", language)
    if step["step"] == "largest":
        moved = say("moved-count", language, moved=real_text(step["moved"]))
        return say("epsilon-each", language, epsilon=real_text(step["epsilon_each"])), moved
    if step["step"] in ("ranks", "powers"):
        ranks, groups = counted("rank", step["rows"], language), counted("group", step["groups"], language)
        noise = say("epsilon-per-row", language, epsilon=real_text(step["epsilon_per_row"]))
        return noise, say("moved-ranks", language, ranks=ranks, groups=groups)
    moved = say("moved-norm", language, norm=step["norm"], moved=real_text(step["moved"]))
    if "scale" in step:
        return say("scale", language, scale=real_text(step["scale"])), moved
    return say("sigma", language, sigma=real_text(step["sigma"], 4)), moved


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    columns = zip(head, *rows, strict=True)
    return text_table([TextColumn(first, tuple(rest), right=False) for first, *rest in columns])
