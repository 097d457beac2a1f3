"""The command new-task: writes a task for devices, and prints its guarantee, size and error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curador.cli.options import Confidence, Json, Language
from curador.cli.screen import bullet, emit, spoken, whole, words
from curador.errors import InvalidParameter

if TYPE_CHECKING:
    from curador.local.task.keys import LocalKey
    from curador.local.task.task import Task

MECHANISMS = (
    "krr, sue, oue, olh, hadamard, subset, best, dbitflip, longitudinal, laplace, duchi, piecewise, hybrid, "
    "square-wave, duchi-vector, record, rappor, count-mean, hadamard-count-mean, heavy-hitters"
)
"""For the help alone, which loads no mechanism; a test compares it with what there is."""

Out = Annotated[Path, typer.Option(help="The file to write; it must not exist.")]


def new_task(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What is asked, in a word: part of the task's identity.")],
    mechanism: Annotated[str, typer.Argument(metavar="MECHANISM", help=f"One of {MECHANISMS}.")],
    epsilon: Annotated[str, typer.Option(help="What one report may cost, as a decimal or a fraction.")],
    keys: Annotated[str | None, typer.Option(help="The possible answers, separated by commas.")] = None,
    keys_file: Annotated[Path | None, typer.Option(help="A file with one answer a line, or a JSON list.")] = None,
    size: Annotated[int | None, typer.Option(help="How many answers there are, if they are 0, 1, 2, …")] = None,
    rest: Annotated[str | None, typer.Option(help="The key that stands for all answers that are not listed.")] = None,
    low: Annotated[str | None, typer.Option(help="The lower bound of a number.")] = None,
    high: Annotated[str | None, typer.Option(help="The upper bound of a number.")] = None,
    dimension: Annotated[int | None, typer.Option(help="How many numbers a vector has.")] = None,
    buckets: Annotated[int | None, typer.Option(help="How many buckets a distribution has.")] = None,
    attribute: Annotated[
        list[str] | None, typer.Option(help="Of a record: age=0:100, drink=tea,coffee or stars=5; once for each.")
    ] = None,
    sampled: Annotated[int | None, typer.Option(help="On how many keys or attributes each person reports.")] = None,
    values: Annotated[int | None, typer.Option(help="How many different values of a person are protected.")] = None,
    first: Annotated[str | None, typer.Option(help="What the first of many reports may cost alone.")] = None,
    rows: Annotated[int | None, typer.Option(help="How many hash functions a sketch has.")] = None,
    places: Annotated[int | None, typer.Option(help="How many places each of them has.")] = None,
    bloom: Annotated[int | None, typer.Option(help="How many bits RAPPOR's filter has.")] = None,
    hashes: Annotated[int | None, typer.Option(help="How many of them a value sets.")] = None,
    cohorts: Annotated[int | None, typer.Option(help="How many sets of hash functions RAPPOR has.")] = None,
    kind: Annotated[str | None, typer.Option(help="Heavy hitters: text or integers.")] = None,
    length: Annotated[int | None, typer.Option(help="Heavy hitters: how many bytes a value has at most.")] = None,
    period: Annotated[str | None, typer.Option(help="When it is asked, if it is asked again: 2026-11, say.")] = None,
    segment: Annotated[str | None, typer.Option(help="Which public part of the people is asked.")] = None,
    users: Annotated[
        int | None, typer.Option(help="How many people will report: says the error, chooses best.")
    ] = None,
    within: Annotated[str | None, typer.Option(help="The error wanted: says how many people are needed.")] = None,
    confidence: Confidence = 0.95,
    out: Out = Path("task.json"),
    language: Language = "",
    as_json: Json = False,
) -> None:
    """Write a task for devices to answer, and say what it promises, costs and can tell.

    best chooses the frequency oracle with the least error for that many --users.

    A task with another name, period or segment is another task: devices answer and pay it anew.

    Only the periods of longitudinal and rappor share one permanent answer and its epsilon.

    Example: curador local new-task drinks krr --keys tea,coffee,water --epsilon 1 --within 0.01
    """
    from curador.local.collect.files import write_task
    from curador.local.task.build import build_task
    from curador.show.summary import as_percent

    options = {
        "keys": _keys(keys, keys_file, size),
        "rest": rest,
        "low": low,
        "high": high,
        "dimension": dimension,
        "buckets": buckets,
        "attributes": attribute or None,
        "sampled": sampled,
        "values": values,
        "first": first,
        "rows": rows,
        "places": places,
        "bloom": bloom,
        "hashes": hashes,
        "cohorts": cohorts,
        "kind": kind,
        "length": length,
    }
    task = build_task(mechanism, epsilon, options, users=users).named(name, period=period, segment=segment)
    needed = None if within is None else task.users_needed(within, confidence)
    errors, chances = ({}, {}) if users is None else _planned(task, users, confidence)
    write_task(out, task)
    facts = {
        "file": str(out),
        "id": task.id,
        "name": task.name,
        "period": task.period,
        "segment": task.segment,
        "mechanism": task.mechanism,
        "epsilon": str(task.epsilon),
        "delivered": task.delivered,
        "report_bits": task.report_bits,
        "report_bytes": task.layout.size,
    }
    expected = {"error": max(errors.values(), default=None), "errors": errors, "chances": chances}
    planned = {"users": users, **expected, "within": within, "users_needed": needed, "confidence": confidence}
    if as_json:
        emit(
            {
                **facts,
                **planned,
                "promise": task.statement(),
                "caution": "" if task.caution is None else task.caution.text(),
            }
        )
        return
    whole(f"{out}: {task.title}, {task.mechanism}, ε = {task.epsilon}")
    bullet(task.statement(spoken()))
    bullet(words("delivers", epsilon=task.delivered))
    bullet(words("report-size", bits=_many(task.report_bits, "bit"), bytes=_many(task.layout.size, "byte")))
    how = words("with-confidence", confidence=as_percent(confidence))
    if users is not None:
        for line in _expected(task.mechanism, users, errors, chances, how):
            bullet(line)
    if needed is not None:
        code = "needed-found" if task.mechanism == "heavy-hitters" else "needed-within"
        bullet(words(code, within=within, how=how, people=_people(needed)))
    if getattr(task, "values", 1) > 1:
        bullet(words("changes"), "yellow")
    if task.caution:
        bullet(task.caution.text(spoken()))
    whole(words("then", line=f"curador local simulate {out} --users 10000"))


def _planned(task: Task, users: int, confidence: float) -> tuple[dict[str, float], dict[float, float]]:
    """The errors by attribute and the chances by frequency, as far as they are known beforehand."""
    from curador.local import HeavyHitters

    if isinstance(task, HeavyHitters):
        return {}, task.chances(users, confidence)
    try:
        return task.errors(users, confidence), {}
    except InvalidParameter as refusal:
        if refusal.code != "error-not-known":
            raise
        return {}, {}


def _expected(
    mechanism: str, users: int, errors: dict[str, float], chances: dict[float, float], how: str
) -> Iterator[str]:
    from curador.show.summary import as_percent, one_line

    if chances:
        found = ", ".join(f"{as_percent(f)}: {chance:.0%}" for f, chance in chances.items())
        yield words("found-by-share", people=_people(users), found=found)
        yield words("shorter-oftener")
    elif not errors and mechanism == "record":
        yield words("perhaps-nobody", people=_people(users))
    elif not errors:
        yield words("error-unknown", mechanism=mechanism)
    elif mechanism == "record":
        found = ", ".join(f"{one_line(name)} ±{error:.3g}" for name, error in errors.items())
        yield words("within-each", people=_people(users), how=how, found=found)
    else:
        yield words("within-all", people=_people(users), error=f"{max(errors.values()):.3g}", how=how)


def _people(number: int) -> str:
    from curador.show.summary import people

    return people(number, spoken())


def _many(number: int, thing: str) -> str:
    return words(thing if number == 1 else f"{thing}s", n=f"{number:,}")


def _keys(keys: str | None, file: Path | None, size: int | None) -> Sequence[LocalKey] | int | None:
    """The keys, which are given in one of three ways."""
    from curador.local.collect.files import read_keys
    from curador.local.task.build import split_keys

    if sum(given is not None for given in (keys, file, size)) > 1:
        raise InvalidParameter("The keys are given twice.", fix="Use one of --keys, --keys-file and --size.")
    if file is not None:
        return read_keys(file)
    return size if keys is None else split_keys(keys)
